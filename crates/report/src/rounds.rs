//! What a test recorded by the second has beyond a number: the sign of a missed rate, the round that a picture shows,
//! what an interval of a single round means.
//!
//! In: findings. Out: small answers that files, terminal and page share, so that a number that is marked in one of them
//! is marked in all.

use rqps_analysis::findings::{CellFindings, Findings, TestFindings, TimelineFindings};

/// Stands behind a number that was measured beside fewer background writes than planned.
pub(crate) const MISSED: &str = "*";

/// Behind a ratio: the sign of a missed target on either side, or nothing.
pub(crate) fn ratio_sign(findings: &Findings, test: &TestFindings, treatment: usize) -> &'static str {
    let is_any_missed = [treatment, findings.base].into_iter().any(|index| test.cells[index].is_sla_missed());
    if is_any_missed { MISSED } else { "" }
}

/// The round whose rate is the median: the one that a picture shows. Of an even number the slower of the two in the
/// middle; a round that failed only where all did.
pub(crate) fn median_round(cell: &CellFindings) -> Option<&TimelineFindings> {
    let operations = |round: &TimelineFindings| if round.queries > 0 { round.queries } else { round.inserted };
    let rate = |round: &TimelineFindings| operations(round) as f64 / round.seconds.max(1e-9);
    let mut rounds: Vec<&TimelineFindings> = cell.timelines.iter().filter(|round| round.failure.is_none()).collect();
    if rounds.is_empty() {
        return cell.timelines.last();
    }
    rounds.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    rounds.get((rounds.len() - 1) / 2).copied()
}

/// Seconds of all rounds in which next to nothing was inserted.
pub(crate) fn stalled_seconds(cell: &CellFindings) -> u32 {
    cell.timelines.iter().flat_map(|round| &round.stalls).map(|stall| stall.seconds).sum()
}

/// Whether any build stalled in it.
pub(crate) fn has_stall(test: &TestFindings) -> bool {
    test.cells.iter().any(|cell| stalled_seconds(cell) > 0)
}

/// Why the test failed, in the first round in which it did.
pub(crate) fn failure(cell: &CellFindings) -> Option<&str> {
    cell.timelines.iter().find_map(|round| round.failure.as_deref())
}

/// What an interval in parentheses means and does not mean.
pub(crate) const ONE_ROUND: &str = "One round: undecided. An interval in parentheses comes from the seconds inside \
                                    the two runs. It shows how steady they were, not how much two runs of \
                                    one build differ, so no verdict follows from it. Measure more rounds.";

/// What a stall is.
pub(crate) const STALL: &str =
    "A stall: seconds in which less than a tenth of the step's median rate was inserted, all clients together.";

/// Whether any cell that was recorded by the second was compared in one round only.
pub(crate) fn has_one_round(findings: &Findings) -> bool {
    let cells = findings.tests.iter().filter(|test| test.has_timelines()).flat_map(|test| &test.cells);
    cells.filter_map(|cell| cell.comparison.as_ref()).any(|comparison| comparison.n == 1)
}

#[cfg(test)]
mod tests {
    use super::median_round;
    use rqps_analysis::findings::{CellFindings, TimelineFindings};

    #[test]
    fn the_round_in_the_middle_stands_for_all() {
        let round = |round, inserted, failure: Option<&str>| TimelineFindings {
            round,
            inserted,
            seconds: 2.0,
            failure: failure.map(str::to_owned),
            ..TimelineFindings::default()
        };
        let check = |rounds: &[TimelineFindings], expected: Option<u32>| {
            let cell = CellFindings { timelines: rounds.to_vec(), ..CellFindings::default() };
            assert_eq!(median_round(&cell).map(|round| round.round), expected);
        };
        check(&[round(1, 90, None), round(2, 50, None), round(3, 70, None)], Some(3));
        check(&[round(1, 90, None), round(2, 50, None)], Some(2));
        check(&[round(1, 0, Some("gone")), round(2, 50, None)], Some(2));
        check(&[round(1, 0, Some("gone"))], Some(1));
        check(&[], None);
    }
}
