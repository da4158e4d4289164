//! What the Insert Benchmark's findings have beyond those of other suites: marks, rounds, and the words for its size.
//!
//! In: findings whose cells have a step. Out: small answers that files, terminal and page share, so that a number that is
//! marked in one of them is marked in all. The published tables are in `sheet`, the columns of a step in `column`.

pub(crate) mod column;
mod files;
pub(crate) mod notes;
pub(crate) mod sheet;

pub(crate) use files::files;

use rqps_analysis::findings::{CellFindings, Findings, StepFindings, StepRound, TestFindings};
use rqps_model::counted;
use rqps_model::insert::Shape;

/// Stands behind a number that was measured beside fewer background writes than planned.
pub(crate) const MISSED: &str = "*";

/// Whether the campaign ran the Insert Benchmark.
pub(crate) const fn is_insert(findings: &Findings) -> bool {
    findings.campaign.insert.is_some()
}

/// Whether background writes fell behind in any round.
pub(crate) fn is_missed(cell: &CellFindings) -> bool {
    cell.step.as_ref().and_then(|step| step.sla).is_some_and(|sla| !sla.is_held())
}

/// Behind a ratio: the sign of a missed target on either side, or nothing.
pub(crate) fn ratio_sign(findings: &Findings, test: &TestFindings, treatment: usize) -> &'static str {
    let is_any_missed = [treatment, findings.base].into_iter().any(|index| is_missed(&test.cells[index]));
    if is_any_missed { MISSED } else { "" }
}

/// The round whose rate is the median: the one that a picture shows. Of an even number the slower of the two in the middle;
/// a round that failed only where all did.
pub(crate) fn median_round(step: &StepFindings) -> Option<&StepRound> {
    let operations = |round: &StepRound| if round.queries > 0 { round.queries } else { round.inserted };
    let rate = |round: &StepRound| operations(round) as f64 / round.seconds.max(1e-9);
    let mut rounds: Vec<&StepRound> = step.rounds.iter().filter(|round| round.failure.is_none()).collect();
    if rounds.is_empty() {
        return step.rounds.last();
    }
    rounds.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    rounds.get((rounds.len() - 1) / 2).copied()
}

/// Seconds of all rounds in which next to nothing was inserted.
pub(crate) fn stalled_seconds(step: &StepFindings) -> u32 {
    step.rounds.iter().flat_map(|round| &round.stalls).map(|stall| stall.seconds).sum()
}

/// Why the step failed, in the first round in which it did.
pub(crate) fn failure(step: &StepFindings) -> Option<&str> {
    step.rounds.iter().find_map(|round| round.failure.as_deref())
}

/// What an interval in parentheses can and cannot tell.
pub(crate) const ONE_ROUND: &str = "One round: undecided. An interval in parentheses comes from the seconds inside the two \
     runs. It tells how steady they were; it cannot tell how much two runs of one build differ, so no verdict follows from it. \
     More rounds would tell.";

/// What a stall is.
pub(crate) const STALL: &str =
    "A stall: seconds in which less than a tenth of the step's median rate was inserted, all clients together.";

/// Whether any cell was compared in one round only.
pub(crate) fn has_one_round(findings: &Findings) -> bool {
    let compared = findings.tests.iter().flat_map(|test| &test.cells).filter_map(|cell| cell.comparison.as_ref());
    is_insert(findings) && compared.into_iter().any(|comparison| comparison.n == 1)
}

/// How much data there is: `1 table, 100000 rows loaded by each client, 50000 more written`.
pub(crate) fn size(shape: &Shape, clients: u32, show: fn(f64) -> String) -> String {
    let tables = if shape.shared_table { 1 } else { clients };
    let (loaded, written) = (show(shape.rows_initial as f64), show(shape.rows_written as f64));
    let each = if clients > 1 { " by each client" } else { "" };
    format!("{}, {loaded} rows loaded{each}, {written} more written", counted(tables, "table"))
}

/// What writes behind the queries: `100, 500 and 1000 rows/s a client for 30 s`.
pub(crate) fn rates(shape: &Shape) -> String {
    let rates: Vec<String> = shape.rates_per_s.iter().map(u32::to_string).collect();
    let seconds = shape.seconds;
    match &rates[..] {
        [] => "none".to_owned(),
        [only] => format!("{only} rows/s a client for {seconds} s"),
        [front @ .., last] => format!("{} and {last} rows/s a client for {seconds} s each", front.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::median_round;
    use rqps_analysis::findings::{StepFindings, StepRound};

    #[test]
    fn the_round_in_the_middle_stands_for_all() {
        let round = |round, inserted, failure: Option<&str>| StepRound {
            round,
            inserted,
            seconds: 2.0,
            failure: failure.map(str::to_owned),
            ..StepRound::default()
        };
        let check = |rounds: &[StepRound], expected: Option<u32>| {
            let step = StepFindings { rounds: rounds.to_vec(), ..StepFindings::default() };
            assert_eq!(median_round(&step).map(|round| round.round), expected);
        };
        check(&[round(1, 90, None), round(2, 50, None), round(3, 70, None)], Some(3));
        check(&[round(1, 90, None), round(2, 50, None)], Some(2));
        check(&[round(1, 0, Some("gone")), round(2, 50, None)], Some(2));
        check(&[round(1, 0, Some("gone"))], Some(1));
        check(&[], None);
    }
}
