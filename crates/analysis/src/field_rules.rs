//! Rules of the field: what an engineer reads from several figures of a test, or from several tests of a build.
//!
//! In: all tests with verdicts and causes. Out: the [`Rule`]s that hold for a treatment's losses. They say where to
//! look; the figures that they are drawn from stand beside them. docs/explain.md has them in words.

use crate::findings::{Cause, CellFindings, Comparison, Cost, Rule, TestFindings, WorkFindings};
use crate::why::{instructions, is_miss, is_switches};
use rqps_model::Verdict;

/// CPU per operation, and what the CPU counts, are the same where their interval is within this of the base's.
const SAME: f64 = 0.05;

/// What stands before the length of a range in a test's name.
const RANGE: &str = "_range=";

/// The ends of names of tests that differ in their index alone: the secondary one, and the primary key.
const SECONDARY: &str = "-si";
const PRIMARY: &str = "-pk";

/// Fewer tests of an index than this show nothing about it.
const TESTS_OF_INDEX_MIN: usize = 2;

/// Adds to each loss of a treatment the rules that hold for it.
pub(crate) fn add(tests: &mut [TestFindings], treatment: usize) {
    for at in 0..tests.len() {
        let test = &tests[at];
        if !has_lost(&test.cells[treatment]) {
            continue;
        }
        let beside: Vec<&TestFindings> = tests.iter().filter(|other| other.clients == test.clients).collect();
        let rules = [
            contention(test, treatment),
            code(&test.cells[treatment]),
            ranges(test, &beside, treatment),
            indexes(test, &beside, treatment),
        ];
        tests[at].cells[treatment].rules = rules.into_iter().flatten().collect();
    }
}

fn has_lost(cell: &CellFindings) -> bool {
    cell.comparison.as_ref().is_some_and(|comparison| comparison.verdict == Verdict::Regressed)
}

fn contention(test: &TestFindings, treatment: usize) -> Option<Rule> {
    let cell = &test.cells[treatment];
    let is_same = is_same(cell, Cost::SERVER_CPU.name)?;
    let is_more = |cause: &Cause| more_of(cause).is_some_and(is_switches);
    (test.clients > 1 && is_same && cell.causes.iter().any(is_more)).then_some(Rule::Contention)
}

fn is_same(cell: &CellFindings, measure: &str) -> Option<bool> {
    let measure = cell.measure(measure)?;
    Some(measure.low? >= 1.0 - SAME && measure.high? <= 1.0 + SAME)
}

/// Whether more code runs, or the same code slower; neither is said where both are so.
fn code(cell: &CellFindings) -> Option<Rule> {
    let more: Vec<&str> = cell.causes.iter().filter_map(more_of).collect();
    let instructions = instructions(cell)?;
    let cycles = WorkFindings::CYCLES_PER_INSTRUCTION;
    if more.contains(&instructions) && is_same(cell, cycles)? {
        return Some(Rule::MoreCode);
    }
    let misses = || more.iter().filter(|name| is_miss(name)).map(|name| (*name).to_owned()).collect();
    (more.contains(&cycles) && is_same(cell, instructions)?).then(|| Rule::SlowerCode { misses: misses() })
}

/// The measure of work of which there is more.
fn more_of(cause: &Cause) -> Option<&str> {
    match cause {
        Cause::Work { measure, moved } if moved.ratio() > 1.0 => Some(measure),
        _ => None,
    }
}

/// The family of a test and the length of its range.
fn range_of(test: &TestFindings) -> Option<(&str, u64)> {
    let (family, length) = test.name.split_once(RANGE)?;
    Some((family, length.parse().ok()?))
}

fn ranges(test: &TestFindings, beside: &[&TestFindings], treatment: usize) -> Option<Rule> {
    let (family, _) = range_of(test)?;
    let mut all: Vec<(u64, &str, Comparison)> = Vec::new();
    for other in beside {
        let Some((_, length)) = range_of(other).filter(|found| found.0 == family) else { continue };
        let cell = &other.cells[treatment];
        // What is read from the device is neither one per statement nor one per row: it goes by the pages that are not
        // in memory.
        if cell.causes.iter().any(|cause| more_of(cause) == Some(Cost::READ_KB.name)) {
            return None;
        }
        all.extend(cell.comparison.clone().map(|comparison| (length, &other.name[..], comparison)));
    }
    all.sort_by_key(|one| one.0);
    let [(_, shortest, of_short), .., (_, longest, of_long)] = &all[..] else { return None };
    let is_per_statement = match () {
        () if of_short.verdict == Verdict::Regressed && of_short.high? < of_long.low? => true,
        () if of_long.verdict == Verdict::Regressed && of_long.high? < of_short.low? => false,
        () => return None,
    };
    let named = |name: &str, comparison: &Comparison| (name.to_owned(), comparison.rqps);
    Some(Rule::Ranges { shortest: named(shortest, of_short), longest: named(longest, of_long), is_per_statement })
}

fn indexes(test: &TestFindings, beside: &[&TestFindings], treatment: usize) -> Option<Rule> {
    test.name.strip_suffix(SECONDARY)?;
    let pairs = beside.iter().filter_map(|secondary| {
        let primary = format!("{}{PRIMARY}", secondary.name.strip_suffix(SECONDARY)?);
        let primary = beside.iter().find(|other| other.name == primary)?;
        let [secondary, primary] = [secondary, primary].map(|one| &one.cells[treatment]);
        primary.comparison.as_ref().map(|_| (has_lost(secondary), has_lost(primary)))
    });
    let pairs: Vec<(bool, bool)> = pairs.collect();
    let is_so = pairs.len() >= TESTS_OF_INDEX_MIN && pairs.iter().all(|pair| *pair == (true, false));
    is_so.then_some(Rule::SecondaryIndex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{MeasureComparison, Moved};
    use rqps_model::{Group, Unit};

    /// A test on a base and a build with this rQPS, give or take a percent.
    fn test(name: &str, clients: u32, rqps: f64) -> TestFindings {
        let verdict = if rqps < 0.95 { Verdict::Regressed } else { Verdict::Equal };
        let comparison =
            Comparison { low: Some(rqps - 0.01), high: Some(rqps + 0.01), verdict, ..Comparison::undecided(rqps, 5) };
        TestFindings {
            name: name.to_owned(),
            label: name.to_owned(),
            group: Group::Point,
            unit: Unit::QueriesPerSecond,
            clients,
            interleave: None,
            statements: Vec::new(),
            cells: vec![
                CellFindings::default(),
                CellFindings { comparison: Some(comparison), ..CellFindings::default() },
            ],
        }
    }

    fn rules(mut tests: Vec<TestFindings>) -> Vec<Vec<Rule>> {
        add(&mut tests, 1);
        tests.into_iter().map(|mut test| test.cells.remove(1).rules).collect()
    }

    #[test]
    fn a_loss_that_changes_with_the_range_is_per_statement_or_per_row() {
        let of = |shortest, longest| {
            let names = ["read-only_range=10000", "read-only_range=100", "read-only_range=10", "read-write_range=10"];
            let rqps = [longest, 0.9, shortest, 0.5];
            rules(names.iter().zip(rqps).map(|(name, rqps)| test(name, 1, rqps)).collect())
        };
        let rule = |shortest, longest, is_per_statement| Rule::Ranges {
            shortest: ("read-only_range=10".to_owned(), shortest),
            longest: ("read-only_range=10000".to_owned(), longest),
            is_per_statement,
        };
        let shrinks = rule(0.8, 0.99, true);
        assert_eq!(of(0.8, 0.99), [vec![], vec![shrinks.clone()], vec![shrinks], vec![]]);
        assert_eq!(of(0.99, 0.8)[0], [rule(0.99, 0.8, false)]);
        assert_eq!(of(0.9, 0.91), [const { Vec::new() }; 4], "their intervals overlap");
    }

    #[test]
    fn a_range_that_is_read_from_the_device_says_nothing_of_statements_or_rows() {
        let of = |measure: &str| {
            let mut short = test("read-write_range=10", 2, 0.2);
            let moved = Moved { from: 0.1, to: 26.0, low: 100.0, high: 300.0 };
            short.cells[1].causes = vec![Cause::Work { measure: measure.to_owned(), moved }];
            rules(vec![short, test("read-write_range=100", 2, 0.3)]).concat().len()
        };
        assert_eq!((of("rkb_per_op"), of("server_write_bytes_per_op")), (0, 2));
    }

    #[test]
    fn only_secondary_indexes_may_have_lost() {
        let of = |secondary: [f64; 2], primary: [f64; 2]| {
            let names = ["points-covered", "range-covered"];
            let both = names.iter().zip(secondary.into_iter().zip(primary));
            let tests = both.flat_map(|(name, (secondary, primary))| {
                [test(&format!("{name}-si"), 1, secondary), test(&format!("{name}-pk"), 1, primary)]
            });
            rules(tests.collect())
        };
        assert_eq!(
            of([0.8, 0.9], [1.0, 1.0]),
            [vec![Rule::SecondaryIndex], vec![], vec![Rule::SecondaryIndex], vec![]]
        );
        assert_eq!(of([0.8, 0.9], [1.0, 0.9]), [const { Vec::new() }; 4]);
        assert_eq!(of([0.8, 1.0], [1.0, 1.0]), [const { Vec::new() }; 4]);
        assert_eq!(rules(vec![test("range-covered-si", 1, 0.8)]), [const { Vec::new() }; 1], "there is no pair");
    }

    #[test]
    fn more_switches_at_the_same_cpu_are_contention() {
        let of = |clients, cpu: f64, switches: f64| {
            let mut one = test("update-one", clients, 0.7);
            let moved = Moved { from: 1.0, to: switches, low: switches, high: switches };
            one.cells[1].causes = vec![Cause::Work { measure: "cs_per_op".to_owned(), moved }];
            one.cells[1].measures = vec![MeasureComparison {
                low: Some(cpu - 0.01),
                high: Some(cpu + 0.01),
                ..MeasureComparison::undecided("server_cpu_us", cpu, 5)
            }];
            rules(vec![one]).remove(0)
        };
        assert_eq!(of(4, 1.0, 2.0), [Rule::Contention]);
        for other in [of(1, 1.0, 2.0), of(4, 1.3, 2.0), of(4, 1.0, 0.5)] {
            assert_eq!(other, []);
        }
    }

    #[test]
    fn more_instructions_are_more_code_and_slower_ones_wait() {
        let of = |instructions: f64, cycles: f64| {
            let ratios =
                [("instructions", instructions), ("cycles_per_instruction", cycles), ("itlb_misses_user", 3.0)];
            let mut one = test("point-query", 1, 0.8);
            let moved = |ratio| Moved { from: 1.0, to: ratio, low: ratio, high: ratio };
            let cause = |(name, ratio): (&str, f64)| Cause::Work { measure: name.to_owned(), moved: moved(ratio) };
            one.cells[1].causes = ratios.into_iter().filter(|(_, ratio)| *ratio >= 1.05).map(cause).collect();
            let measure = |(name, ratio): (&str, f64)| MeasureComparison {
                low: Some(ratio - 0.01),
                high: Some(ratio + 0.01),
                ..MeasureComparison::undecided(name, ratio, 5)
            };
            one.cells[1].measures = ratios.into_iter().map(measure).collect();
            rules(vec![one]).remove(0)
        };
        assert_eq!(of(1.3, 1.0), [Rule::MoreCode]);
        assert_eq!(of(1.0, 1.3), [Rule::SlowerCode { misses: vec!["itlb_misses_user".to_owned()] }]);
        for both_or_none in [of(1.3, 1.3), of(1.0, 1.0), of(0.8, 1.3)] {
            assert_eq!(both_or_none, []);
        }
    }
}
