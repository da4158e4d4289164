//! When a test was looked at while its campaign was measured, where that decided what was measured next.
//!
//! In: the rounds that began, each with what it was allotted, and how the campaign ended. Out: the looks, the last of
//! which is the one now. A test that was left out from some round on is not looked at again: its last look is the one
//! that ended it.

use rqps_model::plan::Round;
use rqps_stats::{Levels, Look, Looking};
use rqps_store::{Campaign, Status, StoreError};
use std::collections::BTreeMap;

/// From so many rounds on a look can show anything.
const FEWEST_ROUNDS: usize = 2;

/// The rounds that began, as they began.
pub(crate) fn rounds(campaign: &Campaign) -> Result<Vec<Round>, StoreError> {
    let begun = |number: u32| Ok(campaign.round(number)?.unwrap_or_else(|| campaign.plan().round(number)));
    (1..=campaign.rounds_begun()).map(begun).collect()
}

/// The levels of a campaign's intervals, by test.
pub(crate) enum LevelsOfTests {
    /// It was looked at as its plan said.
    AtLast(BTreeMap<String, Levels>),
    /// It was given more time once its results were known: intervals hold whenever one looks.
    AlwaysValid,
}

impl LevelsOfTests {
    pub(crate) fn of<'t>(rounds: &[Round], status: &Status, tests: impl Iterator<Item = &'t str>) -> LevelsOfTests {
        if status.has_grown(rounds.len() as u32) {
            return LevelsOfTests::AlwaysValid;
        }
        // Levels take a while, and most tests have the same looks.
        let mut known: Vec<(Vec<Look>, Levels)> = Vec::new();
        let of_test = |test: &'t str| {
            let looks = of_test(rounds, status, test);
            let found = known.iter().find(|(others, _)| *others == looks).map(|(_, levels)| *levels);
            let levels = found.unwrap_or_else(|| Levels::at_last(&looks));
            known.push((looks, levels));
            (test.to_owned(), levels)
        };
        LevelsOfTests::AtLast(tests.map(of_test).collect())
    }

    /// When a test was looked at.
    pub(crate) fn of_test(&self, test: &str) -> Looking {
        match self {
            LevelsOfTests::AtLast(levels) => Looking::AsPlanned(levels.get(test).copied().unwrap_or_default()),
            LevelsOfTests::AlwaysValid => Looking::AtAnyTime,
        }
    }
}

/// The looks at a test; none where nothing depended on what it showed. While a round is under way, the last one is that
/// which settled what the round measures: nothing more was spent since.
fn of_test(rounds: &[Round], status: &Status, test: &str) -> Vec<Look> {
    let (mut looks, mut measured) = (Vec::new(), 0);
    let mut look = |spent: f64, measured: usize| {
        let is_news = looks.last().is_none_or(|last: &Look| last.rounds < measured && last.spent < spent);
        if measured >= FEWEST_ROUNDS && is_news {
            looks.push(Look { spent, rounds: measured });
        }
    };
    for round in rounds {
        let Some(allotment) = &round.allotment else { return Vec::new() };
        look(allotment.spent, measured);
        measured += usize::from(round.measures(test));
    }
    look(status.spent.unwrap_or(1.0), measured);
    looks
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::plan::Allotment;

    fn rounds(allotted: &[(f64, &[&str])]) -> Vec<Round> {
        let round = |(number, (spent, tests)): (u32, &(f64, &[&str]))| {
            let seconds = tests.iter().map(|test| ((*test).to_owned(), 1.0)).collect();
            Round {
                number,
                order: vec![0, 1],
                seed: 1,
                allotment: Some(Allotment { spent: *spent, seconds, given_up: Vec::new() }),
            }
        };
        (1..).zip(allotted).map(round).collect()
    }

    fn status(spent: Option<f64>) -> Status {
        let begun = serde_json::json!({ "format": rqps_model::FORMAT, "host": "h", "state": "incomplete", "starts": [],
            "finished_at": null, "load_seconds": {}, "spent": spent });
        serde_json::from_value(begun).expect("a status")
    }

    #[test]
    fn a_test_that_was_left_out_is_not_looked_at_again() {
        let both: &[&str] = &["a", "b"];
        let rounds = rounds(&[(0.1, both), (0.2, both), (0.3, both), (0.4, &["b"]), (0.7, &["b"])]);
        let looks = |test: &str| -> Vec<(f64, usize)> {
            of_test(&rounds, &status(Some(1.0)), test).iter().map(|look| (look.spent, look.rounds)).collect()
        };
        assert_eq!(looks("a"), [(0.3, 2), (0.4, 3)]);
        assert_eq!(looks("b"), [(0.3, 2), (0.4, 3), (0.7, 4), (1.0, 5)]);
    }

    #[test]
    fn a_round_under_way_is_no_look() {
        let rounds = rounds(&[(0.1, &["a"]), (0.2, &["a"]), (0.4, &["a"]), (0.7, &["a"])]);
        let looks = |spent: f64| -> Vec<(f64, usize)> {
            of_test(&rounds, &status(Some(spent)), "a").iter().map(|look| (look.spent, look.rounds)).collect()
        };
        // What was spent when the third round ended is a little less than what was when the fourth was settled.
        assert_eq!(looks(0.69), [(0.4, 2), (0.7, 3)]);
        assert_eq!(looks(0.9), [(0.4, 2), (0.7, 3), (0.9, 4)]);
    }

    #[test]
    fn rounds_that_are_all_alike_are_looked_at_once() {
        let mut rounds = rounds(&[(0.1, &["a"]), (0.2, &["a"]), (0.3, &["a"])]);
        rounds.iter_mut().for_each(|round| round.allotment = None);
        assert!(of_test(&rounds, &status(None), "a").is_empty());
    }
}
