//! A treatment's cells → one sentence, as a performance engineer would write it.
//!
//! In: the names of the two treatments and the verdicts of all cells. Out: the counts by verdict and
//! `PostgreSQL 17.11 against 16.15: 3 tests faster (hot-points 1.884x the most), 2 slower (point-query 0.972), 4 equal
//! within 2 %.` Everything in it is computed from the same record as the table, with the table's digits, so that the
//! two cannot contradict each other. At several numbers of clients a test is compared several times, and comparisons
//! are counted: `of 10 comparisons 3 faster`.

use crate::compare::open_loop;
use crate::digits::ratio;
use crate::findings::{CellFindings, Comparison, TestFindings, TreatmentFindings};
use rqps_model::{Verdict, plural};

/// Number of cells by verdict, in the order of [`Verdict::ALL`].
pub(crate) fn counts(tests: &[TestFindings], treatment: usize) -> [u32; 4] {
    let mut counts = [0; 4];
    for (_, comparison) in compared(tests, treatment) {
        counts[Verdict::ALL.iter().position(|&v| v == comparison.verdict).expect("ALL holds every verdict")] += 1;
    }
    counts
}

/// The sentence for a treatment other than the base; `kind` says, in parentheses, what else it is than another build.
pub(crate) fn sentence(
    treatments: &[TreatmentFindings],
    treatment: usize,
    base: usize,
    tests: &[TestFindings],
    margin: f64,
    (noun, kind): (&str, &str),
) -> String {
    let (this, other) = short_names(treatments, treatment, base);
    format!("{this} against {other}{kind}: {}.", verdicts(tests, treatment, base, margin, noun))
}

fn compared(tests: &[TestFindings], treatment: usize) -> impl Iterator<Item = (&TestFindings, &Comparison)> {
    tests.iter().filter_map(move |test| Some((test, test.cells.get(treatment)?.comparison.as_ref()?)))
}

fn verdicts(tests: &[TestFindings], treatment: usize, base: usize, margin: f64, noun: &str) -> String {
    let [slower, faster, equal, undecided] = counts(tests, treatment);
    let all = slower + faster + equal + undecided;
    let within = format!("equal within {} %", trimmed(margin * 100.0));
    if all == 0 {
        return "nothing to compare yet".to_owned();
    }
    let is_several = has_several_levels(tests);
    let kind = if is_several { "comparison" } else { noun };
    let missing = tests.len() as u32 - all;
    let mut parts = Vec::new();
    let (most, least) = (extreme(tests, treatment, Verdict::Improved), extreme(tests, treatment, Verdict::Regressed));
    let mut add = |count: u32, words: &str, example: Option<String>| {
        if count > 0 {
            let number = match (parts.is_empty(), is_several) {
                (true, _) if equal == 1 && all == 1 => format!("the one {kind}"),
                (true, _) if equal == all => format!("all {all} {kind}s"),
                (true, true) => format!("of {} {count}", plural(all, kind)),
                (true, false) => plural(count, kind),
                (false, _) => count.to_string(),
            };
            let example = example.map_or_else(String::new, |example| format!(" ({example})"));
            parts.push(format!("{number} {words}{example}"));
        }
    };
    let the_most = |count: u32| if count > 1 { " the most" } else { "" };
    add(faster, "faster", most.map(|(test, rqps)| format!("{test} {}x{}", ratio(rqps), the_most(faster))));
    add(slower, "slower", least.map(|(test, rqps)| format!("{test} {}{}", ratio(rqps), the_most(slower))));
    add(equal, &within, None);
    let why = if are_steps(tests) { why_undecided(tests, treatment, base) } else { at_rate(tests, treatment, &within) };
    add(undecided, "undecided", why);
    if missing > 0 {
        parts.push(format!("{missing} without a number"));
    }
    parts.join(", ")
}

/// Whether some of them have writes at a rate beside them: they are steps, which build on each other.
fn are_steps(tests: &[TestFindings]) -> bool {
    tests.iter().flat_map(|test| &test.cells).any(|cell| cell.sla.is_some())
}

/// Why steps are undecided, where it is no matter of noise: a single round, or queries alongside too few writes.
fn why_undecided(tests: &[TestFindings], treatment: usize, base: usize) -> Option<String> {
    let has_missed = |test: &TestFindings, at: usize| test.cells[at].is_sla_missed();
    let is_spoilt = |test: &TestFindings| has_missed(test, treatment) || has_missed(test, base);
    let missed: Vec<String> =
        compared(tests, treatment).filter(|(test, _)| is_spoilt(test)).map(|(test, _)| name_of(tests, test)).collect();
    let one_round = compared(tests, treatment).all(|(_, comparison)| comparison.n == 1);
    let mut why = Vec::new();
    if one_round {
        why.push("one round only".to_owned());
    }
    if !missed.is_empty() {
        why.push(format!("{} alongside too few writes", missed.join(", ")));
    }
    (!why.is_empty()).then(|| why.join("; "))
}

/// Why tests in an open loop are undecided: both sides kept up with the requested rate. What counts is their latency.
fn at_rate(tests: &[TestFindings], treatment: usize, within: &str) -> Option<String> {
    let is_at_rate = |comparison: &Comparison| comparison.remark.as_deref() == Some(open_loop::REMARK);
    let at_rate = compared(tests, treatment).filter(|(_, comparison)| is_at_rate(comparison));
    let verdicts: Vec<Option<Verdict>> = at_rate.map(|(test, _)| of_latency(&test.cells[treatment])).collect();
    let words = |(verdict, words): (Verdict, &str)| {
        let count = verdicts.iter().filter(|&&found| found == Some(verdict)).count();
        (count > 0).then(|| format!("{words} in {count}"))
    };
    let known = [
        (Verdict::Regressed, "higher"),
        (Verdict::Improved, "lower"),
        (Verdict::Equal, within),
        (Verdict::Undecided, "undecided"),
    ];
    let told: Vec<String> = known.into_iter().filter_map(words).collect();
    match (verdicts.is_empty(), told.is_empty()) {
        (true, _) => None,
        (false, true) => Some("open loop: latency is not known".to_owned()),
        (false, false) => Some(format!("open loop: latency {}", told.join(", "))),
    }
}

/// One word for the quantiles of a cell's latency: higher if any of them is, else lower if any is.
fn of_latency(cell: &CellFindings) -> Option<Verdict> {
    let verdicts: Vec<Verdict> = cell.measures.iter().filter(|one| one.is_latency()).map(|one| one.verdict).collect();
    let changed = [Verdict::Regressed, Verdict::Improved].into_iter().find(|change| verdicts.contains(change));
    let unchanged = || match verdicts.iter().all(|&verdict| verdict == Verdict::Equal) {
        true => Verdict::Equal,
        false => Verdict::Undecided,
    };
    (!verdicts.is_empty()).then(|| changed.unwrap_or_else(unchanged))
}

/// The cell of a verdict that is furthest from 1.
fn extreme(tests: &[TestFindings], treatment: usize, verdict: Verdict) -> Option<(String, f64)> {
    let of_verdict = compared(tests, treatment).filter(|(_, comparison)| comparison.verdict == verdict);
    let distance = |comparison: &Comparison| comparison.rqps.ln().abs();
    let (test, comparison) = of_verdict.max_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
    // Steps differ in what they count.
    let unit = if are_steps(tests) { format!("{} of ", test.unit.symbol()) } else { String::new() };
    Some((format!("{unit}{}", name_of(tests, test)), comparison.rqps))
}

/// A test's name, with its clients where tests differ in that.
fn name_of(tests: &[TestFindings], test: &TestFindings) -> String {
    if !has_several_levels(tests) {
        return test.name.clone();
    }
    format!("{} at {}", test.name, plural(test.clients, "client"))
}

fn has_several_levels(tests: &[TestFindings]) -> bool {
    tests.iter().any(|test| test.clients != tests[0].clients)
}

/// The shortest names that distinguish the two and fit no other treatment: version, version and storage engine, build,
/// or the whole name. Within one engine its name stands once.
fn short_names(treatments: &[TreatmentFindings], a: usize, b: usize) -> (String, String) {
    let is_unique = |key: &dyn Fn(&TreatmentFindings) -> String, at: usize| {
        treatments.iter().filter(|other| key(other) == key(&treatments[at])).count() == 1
    };
    let engine = |t: &TreatmentFindings| t.build.engine.title();
    let version = |t: &TreatmentFindings| t.build.version.to_string();
    let with_storage = |t: &TreatmentFindings| match t.storage {
        Some(storage) => format!("{} with {}", t.build.version, storage.title()),
        None => version(t),
    };
    for naming in [&version as &dyn Fn(&TreatmentFindings) -> String, &with_storage] {
        let key = |t: &TreatmentFindings| format!("{} {}", engine(t), naming(t));
        if is_unique(&key, a) && is_unique(&key, b) {
            let same = engine(&treatments[a]) == engine(&treatments[b]);
            return (key(&treatments[a]), if same { naming(&treatments[b]) } else { key(&treatments[b]) });
        }
    }
    let build = |t: &TreatmentFindings| t.build.name.clone();
    if is_unique(&build, a) && is_unique(&build, b) {
        return (build(&treatments[a]), build(&treatments[b]));
    }
    (treatments[a].name.clone(), treatments[b].name.clone())
}

/// A number without needless zeros.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Cost, MeasureComparison, SlaFindings};
    use rqps_model::{Group, Interleave, Unit};

    fn cell(comparison: Option<(Verdict, f64)>) -> CellFindings {
        let of = |(verdict, rqps)| Comparison { verdict, ..Comparison::undecided(rqps, 5) };
        let comparison = comparison.map(of);
        CellFindings { rounds: 5, comparison, ..CellFindings::default() }
    }

    /// Test, clients, and verdict with rQPS where there is one.
    type Given<'a> = (&'a str, u32, Option<(Verdict, f64)>);

    fn tests_of(cells: &[Given<'_>]) -> Vec<TestFindings> {
        let test = |&(name, clients, comparison): &Given<'_>| TestFindings {
            name: name.to_owned(),
            label: name.to_owned(),
            group: Group::Point,
            unit: Unit::QueriesPerSecond,
            clients,
            interleave: Some(Interleave::Slices),
            statements: Vec::new(),
            cells: vec![cell(None), cell(comparison)],
        };
        cells.iter().map(test).collect()
    }

    #[test]
    fn reads_as_an_engineer_would_write() {
        use Verdict::{Equal, Improved, Regressed, Undecided};
        let check = |cells: &[Given<'_>], expected: &str| {
            assert_eq!(verdicts(&tests_of(cells), 1, 0, 0.02, "test"), expected);
        };
        check(
            &[
                ("hot-points", 1, Some((Improved, 1.884))),
                ("scan", 1, Some((Improved, 1.05))),
                ("point-query", 1, Some((Regressed, 0.972))),
                ("update-one", 1, Some((Equal, 1.001))),
                ("insert", 1, Some((Undecided, 0.93))),
            ],
            "2 tests faster (hot-points 1.884x the most), 1 slower (point-query 0.972), 1 equal within 2 %, 1 \
             undecided",
        );
        check(&[("scan", 1, Some((Regressed, 0.5)))], "1 test slower (scan 0.500)");
        check(&[("update-index", 1, Some((Regressed, 0.014_87)))], "1 test slower (update-index 0.0149)");
        check(&[("scan", 1, Some((Equal, 1.0))), ("insert", 1, Some((Equal, 1.0)))], "all 2 tests equal within 2 %");
        check(&[("scan", 1, None)], "nothing to compare yet");
        check(
            &[("scan", 1, Some((Equal, 1.0))), ("insert", 1, None), ("delete", 1, Some((Undecided, 1.0)))],
            "1 test equal within 2 %, 1 undecided, 1 without a number",
        );
        check(
            &[("scan", 1, Some((Improved, 1.2))), ("scan", 40, Some((Improved, 1.3)))],
            "of 2 comparisons 2 faster (scan at 40 clients 1.300x the most)",
        );
        let at = |clients: u32, verdict| ("scan", clients, Some((verdict, 1.25)));
        check(
            &[at(1, Improved), at(1, Undecided), at(4, Undecided), at(4, Undecided)],
            "of 4 comparisons 1 faster (scan at 1 client 1.250x), 3 undecided",
        );
        check(&[at(1, Equal), at(4, Equal)], "all 2 comparisons equal within 2 %");
    }

    #[test]
    fn steps_say_what_they_count_and_why_nothing_is_decided() {
        use Verdict::{Improved, Regressed, Undecided};
        let mut tests = tests_of(&[
            ("l.i0", 1, Some((Regressed, 0.601))),
            ("qr100", 1, Some((Improved, 1.2))),
            ("qr1000", 1, Some((Undecided, 1.3))),
            ("qp1000", 1, Some((Undecided, 1.0))),
        ]);
        tests[0].unit = Unit::RowsPerSecond;
        let sla =
            SlaFindings { target_per_s: 1000.0, reached_per_s: 412.0, least_per_s: 60.0, rounds_held: 4, rounds: 5 };
        tests[2].cells[0].sla = Some(sla);
        assert_eq!(
            verdicts(&tests, 1, 0, 0.02, "step"),
            "1 step faster (q/s of qr100 1.200x), 1 slower (rows/s of l.i0 0.601), 2 undecided (qr1000 \
             alongside too few writes)"
        );
        let comparisons = tests.iter_mut().filter_map(|test| test.cells[1].comparison.as_mut());
        comparisons.for_each(|comparison| (comparison.n, comparison.verdict) = (1, Undecided));
        let expected = "4 steps undecided (one round only; qr1000 alongside too few writes)";
        assert_eq!(verdicts(&tests, 1, 0, 0.02, "step"), expected);
    }

    #[test]
    fn an_open_loop_tells_of_latency() {
        use Verdict::{Equal, Improved, Regressed, Undecided};
        let of = |latencies: &[&[Verdict]]| {
            let mut tests = tests_of(&vec![("scan", 1, Some((Undecided, 1.0))); latencies.len()]);
            for (test, verdicts) in tests.iter_mut().zip(latencies) {
                test.cells[1].comparison.as_mut().unwrap().remark = Some(open_loop::REMARK.to_owned());
                let quantiles = MeasureComparison::LATENCY.into_iter().chain([Cost::SERVER_CPU.name]);
                let measure =
                    |(name, &verdict)| MeasureComparison { verdict, ..MeasureComparison::undecided(name, 1.0, 5) };
                test.cells[1].measures = quantiles.zip(*verdicts).map(measure).collect();
            }
            tests.extend(tests_of(&[("insert", 1, None)]));
            verdicts(&tests, 1, 0, 0.02, "test")
        };
        let unknown = "1 test undecided (open loop: latency is not known), 1 without a number";
        assert_eq!(of(&[&[]]), unknown);
        // A cost is no latency.
        let costly = [Equal, Equal, Equal, Regressed];
        assert_eq!(
            of(&[&[Equal, Improved, Regressed], &[Improved, Undecided], &[Equal, Undecided], &costly, &[Equal]]),
            "5 tests undecided (open loop: latency higher in 1, lower in 1, equal within 2 % in 2, undecided in 1), 1 \
             without a number"
        );
    }

    #[test]
    fn counts_follow_the_order_of_verdicts() {
        let tests = tests_of(&[
            ("a", 1, Some((Verdict::Undecided, 1.0))),
            ("b", 1, Some((Verdict::Regressed, 0.9))),
            ("c", 1, Some((Verdict::Undecided, 1.0))),
            ("d", 1, None),
        ]);
        assert_eq!(counts(&tests, 1), [1, 0, 0, 2]);
        assert_eq!(counts(&tests, 0), [0; 4]);
    }

    #[test]
    fn margins_lose_needless_zeros() {
        assert_eq!((trimmed(2.0), trimmed(0.5), trimmed(10.0)), ("2".to_owned(), "0.5".to_owned(), "10".to_owned()));
    }
}
