//! Settings that differ from the base's → those that may touch a test, the likeliest first.
//!
//! In: what differs between two treatments, and what is known of a test: whether it writes, reads the device, sorts,
//! and whether its plans changed. Out: [`SettingFindings`]. Which setting touches what is data. A difference is no
//! cause: it is there in tests that did not change as well.

use super::settings::{Difference, is_computed, matches};
use crate::findings::{CellFindings, SettingFindings, TestFindings, Touch};
use std::collections::BTreeMap;

/// What settings have an effect on, a pattern and a word in each line.
const TOUCHES: &str = include_str!("../../data/settings-touch.txt");

/// A device is read where a hundredth of a KB is read per operation, as in the costs that are told.
const READS_KB: f64 = 0.01;

/// Words of statements and plans that sort, hash or keep rows aside.
const SORTING: [&str; 6] = ["order by", "group by", "distinct", "sort", "hash", "temporary"];

/// What of this kind a test does.
struct Test<'a> {
    cell: &'a CellFindings,
    found: &'a TestFindings,
    writes: bool,
}

impl Test<'_> {
    fn is_touched(&self, touch: Touch) -> bool {
        match touch {
            Touch::Plans => self.cell.plans.iter().any(|plan| plan.differs),
            Touch::Writes => self.writes,
            Touch::Reads => {
                let reads = |cell: &CellFindings| cell.cost.as_ref().is_some_and(|cost| cost.rkb_per_op >= READS_KB);
                self.found.cells.iter().any(reads)
            }
            Touch::Sorting => {
                let has = |text: &str| {
                    let text = text.to_lowercase();
                    SORTING.iter().any(|word| text.contains(word))
                };
                let statements = self.found.statements.iter().map(|(_, sql)| sql.as_str());
                statements.chain(self.cell.plans.iter().map(|plan| plan.plan.as_str())).any(has)
            }
            Touch::All => true,
        }
    }
}

/// The settings that may touch a test of a treatment.
pub(crate) fn touching(
    found: &TestFindings,
    treatment: usize,
    writes: bool,
    differing: &BTreeMap<String, Difference>,
) -> Vec<SettingFindings> {
    let test = Test { cell: &found.cells[treatment], found, writes };
    let one = |(name, (from, to)): (&String, &Difference)| {
        let touches = touch(name).filter(|touch| !is_computed(name) && test.is_touched(*touch))?;
        Some(SettingFindings { name: name.clone(), from: from.clone(), to: to.clone(), touches })
    };
    let mut found: Vec<SettingFindings> = differing.iter().filter_map(one).collect();
    // A setting that only one version has mostly names what the other one always did.
    found.sort_by_key(|setting| (setting.from.is_none() || setting.to.is_none(), setting.touches));
    found
}

/// What a setting touches, where that is known.
fn touch(name: &str) -> Option<Touch> {
    let lines = TOUCHES.lines().filter_map(|line| line.split('#').next());
    let mut known = lines.filter_map(|line| line.trim().split_once(char::is_whitespace));
    let (_, word) = known.find(|(pattern, _)| matches(pattern, name))?;
    Touch::ALL.into_iter().find(|touch| touch.name() == word.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Cost, PlanFindings};
    use rqps_model::{Group, Unit};

    fn test() -> TestFindings {
        TestFindings {
            name: "point-query".to_owned(),
            label: "point-query".to_owned(),
            group: Group::Point,
            unit: Unit::QueriesPerSecond,
            clients: 1,
            interleave: None,
            statements: vec![("point".to_owned(), "SELECT c FROM sbtest1 WHERE id = $1".to_owned())],
            cells: vec![CellFindings::default(), CellFindings::default()],
        }
    }

    fn names(test: &TestFindings, writes: bool) -> Vec<String> {
        let value = |text: &str| Some(text.to_owned());
        let differing = [
            ("work_mem", value("4MB"), value("8MB")),
            ("synchronous_commit", value("off"), value("on")),
            ("random_page_cost", value("4"), value("1")),
            ("io_method", None, value("worker")),
            ("effective_io_concurrency", value("1"), value("16")),
            ("track_io_timing", value("off"), value("on")),
            ("shared_memory_size", value("1GB"), value("2GB")),
            ("DateStyle", value("a"), value("b")),
        ];
        let differing = differing.into_iter().map(|(name, from, to)| (name.to_owned(), (from, to))).collect();
        touching(test, 1, writes, &differing).into_iter().map(|setting| setting.name).collect()
    }

    #[test]
    fn only_what_touches_the_test_is_named() {
        let mut test = test();
        assert_eq!(names(&test, false), ["track_io_timing"]);
        assert_eq!(names(&test, true), ["synchronous_commit", "track_io_timing"]);
        test.cells[0].cost = Some(Cost { rkb_per_op: 3.0, ..Cost::default() });
        let of_device = ["effective_io_concurrency", "track_io_timing", "io_method"];
        assert_eq!(names(&test, false), of_device, "what one side lacks comes last");
        test.statements[0].1.push_str(" ORDER BY c");
        let plan = PlanFindings { statement: "point".to_owned(), differs: true, ..PlanFindings::default() };
        test.cells[1].plans = vec![plan];
        let found = names(&test, false);
        assert_eq!(found[..3], ["random_page_cost", "effective_io_concurrency", "work_mem"]);
    }

    #[test]
    fn every_line_says_what_a_setting_touches() {
        let lines = TOUCHES.lines().filter_map(|line| line.split('#').next()).filter(|line| !line.trim().is_empty());
        for line in lines {
            let (pattern, _) = line.split_once(char::is_whitespace).unwrap();
            assert!(touch(&pattern.replace('*', "x")).is_some(), "{line}");
        }
    }
}
