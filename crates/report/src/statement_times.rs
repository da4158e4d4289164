//! In which statements the change of a test is, in words and as lines of a terminal.
//!
//! In: what a treatment's statements take beside the base's, in a test that sends several kinds. Out: text. It says
//! where a change is, and is told beside its causes and never in place of them.

use crate::{number, text};
use rqps_analysis::findings::{CellFindings, StatementTime};

/// A share of the change that is worth a word in the sentence of a test.
const WORTH_NAMING: f64 = 0.1;

/// Statements that a sentence names.
const NAMED: usize = 2;

/// `by statement: commit ×2.60 (2.239 to 3.042), 33.2 µs → 86.3 µs, 71 % of the change`: the largest shares.
pub(crate) fn words(cell: &CellFindings) -> Option<String> {
    let worth_naming = moved(cell).filter(|one| one.share.is_some_and(|share| share >= WORTH_NAMING));
    let named: Vec<String> = by_share(worth_naming).into_iter().take(NAMED).map(sentence_of).collect();
    (!named.is_empty()).then(|| format!("by statement: {}", named.join(", and ")))
}

/// The lines below a test: the statements that moved, those with the largest share of the change first.
pub(crate) fn lines(cell: &CellFindings, width: usize) -> Vec<String> {
    let moved = by_share(moved(cell));
    if moved.is_empty() {
        return Vec::new();
    }
    let row = |one: &&StatementTime| {
        (change(one), format!("{}, {}{}", text::plain(&one.statement), from_to(one), of_change(one)))
    };
    let rows: Vec<(String, String)> = moved.iter().map(row).collect();
    let mut lines = vec!["      response time by kind of statement:".to_owned()];
    lines.extend(text::aligned(&rows, width));
    lines
}

/// Statements with the largest share of the change first.
pub(crate) fn by_share<'a>(times: impl Iterator<Item = &'a StatementTime>) -> Vec<&'a StatementTime> {
    let mut times: Vec<&StatementTime> = times.collect();
    times.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    times
}

fn moved(cell: &CellFindings) -> impl Iterator<Item = &StatementTime> {
    cell.statement_times.iter().filter(|one| one.is_sure())
}

fn sentence_of(one: &StatementTime) -> String {
    format!("{} {}, {}{}", text::plain(&one.statement), change(one), from_to(one), of_change(one))
}

/// `+46.0 % (1.440 to 1.480)`
pub(crate) fn change(one: &StatementTime) -> String {
    let ratio = one.us / one.base_us;
    match one.low.zip(one.high) {
        Some((low, high)) => number::change_within(ratio, low, high),
        None => number::change(ratio),
    }
}

fn from_to(one: &StatementTime) -> String {
    format!("{} → {}", number::duration_us(one.base_us), number::duration_us(one.us))
}

fn of_change(one: &StatementTime) -> String {
    one.share.map_or_else(String::new, |share| format!(", {}", number::share_of_change(share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(statement: &str, (base_us, us): (f64, f64), q: f64, share: f64) -> StatementTime {
        StatementTime {
            statement: statement.to_owned(),
            base_us,
            us,
            base_us_per_op: base_us / 10.0,
            us_per_op: us / 10.0,
            low: Some(us / base_us - 0.02),
            high: Some(us / base_us + 0.02),
            q: Some(q),
            share: Some(share),
        }
    }

    #[test]
    fn statements_are_told_by_their_share_of_the_change() {
        let statement_times = vec![
            time("commit", (100.0, 110.0), 0.01, 0.25),
            time("point-select", (10.0, 10.1), 0.6, 0.05),
            time("update-index", (35.0, 52.5), 0.001, 0.6),
            time("delete", (40.0, 38.0), 0.02, -0.05),
        ];
        let cell = CellFindings { statement_times, ..CellFindings::default() };
        let expected = "by statement: update-index +50.0 % (1.480 to 1.520), 35.0 µs → 52.5 µs, 60 % of the change, \
                        and commit +10.0 % (1.080 to 1.120), 100 µs → 110 µs, 25 % of the change";
        assert_eq!(words(&cell).unwrap(), expected);
        assert_eq!(
            lines(&cell, 100),
            [
                "      response time by kind of statement:",
                "        +50.0 % (1.480 to 1.520)  update-index, 35.0 µs → 52.5 µs, 60 % of the change",
                "        +10.0 % (1.080 to 1.120)  commit, 100 µs → 110 µs, 25 % of the change",
                "        −5.0 % (0.930 to 0.970)   delete, 40.0 µs → 38.0 µs, against the change",
            ]
        );
        assert_eq!((words(&CellFindings::default()), lines(&CellFindings::default(), 80).len()), (None, 0));
    }
}
