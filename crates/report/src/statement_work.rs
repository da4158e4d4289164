//! What each kind of statement makes the server do more or less of, in words and as lines of a terminal.
//!
//! In: the work of a treatment's statements in a test. Out: text. It says in which statements a build does something
//! else, and is no share of its time.

use crate::functions::{listed, with_interval};
use crate::{text, work};
use rqps_analysis::count_title;
use rqps_analysis::findings::{PerOperation, StatementCount, StatementWorkFindings};
use rqps_model::plural;

/// Counts that a terminal shows.
const SHOWN: usize = 10;

/// The lines below a test: the counts that moved.
pub(crate) fn lines(found: &StatementWorkFindings, width: usize) -> Vec<String> {
    let moved = found.moved();
    let end = if moved.is_empty() { "" } else { ", per execution:" };
    let mut lines = text::wrap(&format!("{}{end}", counted(found)), width, "      ", "      ");
    let row = |one: &&StatementCount| (change(one), format!("{}, {}", name(one), from_to(one)));
    let mut rows: Vec<(String, String)> = moved.iter().take(SHOWN).map(row).collect();
    let more = moved.len().checked_sub(SHOWN + 1);
    rows.extend(more.map(|more| (String::new(), format!("{} more that moved", more + 1))));
    lines.extend(listed(&rows, &[], &found.warnings, width));
    lines
}

/// What was counted, and whether any of it moved.
pub(crate) fn counted(found: &StatementWorkFindings) -> String {
    if found.counts.is_empty() {
        return "no counts by kind of statement that both builds have".to_owned();
    }
    let mut words = format!("counts by kind of statement, from {}", plural(found.rounds, "round"));
    if found.rounds < 2 {
        words.push_str("; one round does not say what is more than chance");
    } else if found.moved().is_empty() {
        words.push_str("; none moved by more than chance");
    }
    words
}

/// `update-index: pages found in shared buffers`
pub(crate) fn name(one: &StatementCount) -> String {
    format!("{}: {}", text::plain(&one.statement), count_title(&one.count))
}

/// `+100, exact`, or with its interval.
pub(crate) fn change(one: &StatementCount) -> String {
    let PerOperation { difference, low, high, .. } = one.amount;
    let show = |amount: f64| {
        let sign = if amount < 0.0 { "−" } else { "+" };
        format!("{sign}{}", work::amount(&one.count, amount.abs(), 3))
    };
    // Counts of whole executions: what differs by less than this is the sum of floating-point numbers.
    match high - low < 1e-9 {
        true if difference == 0.0 => "0, exact".to_owned(),
        true => format!("{}, exact", show(difference)),
        false => with_interval([difference, low, high].map(show)),
    }
}

/// `1.000 → 101.0`
pub(crate) fn from_to(one: &StatementCount) -> String {
    let [base, own] = [one.amount.base, one.amount.own].map(|amount| work::amount(&one.count, amount, 4));
    format!("{base} → {own}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(statement: &str, count: &str, (base, own): (f64, f64), half: f64, is_sure: bool) -> StatementCount {
        let difference = own - base;
        let (low, high) = (difference - half, difference + half);
        let amount = PerOperation { base, own, difference, low, high, q: Some(0.01), is_sure };
        StatementCount { statement: statement.to_owned(), count: count.to_owned(), amount }
    }

    #[test]
    fn statements_that_do_more_are_listed_by_their_change() {
        let counts = vec![
            count("select", "buffer_hits", (4.0, 3.0), 0.0, true),
            count("update", "table_rows_read", (1.0, 101.0), 0.0, true),
            count("update", "wal_bytes", (160.0, 165.0), 9.0, false),
            count("insert", "wal_bytes", (200.0, 2000.0), 300.0, true),
        ];
        let expected = [
            "      counts by kind of statement, from 3 rounds, per execution:",
            "        +100, exact                 update: rows read from tables, 1.000 → 101.0",
            "        +1.76 KiB (+1.46 to +2.05)  insert: WAL, 200 B → 1.95 KiB",
            "        −1.00, exact                select: pages found in shared buffers, 4.000",
            "                                    → 3.000",
            "      warning: what drop does could not be told apart on b: no right",
        ];
        let refused = "what drop does could not be told apart on b: no right".to_owned();
        let found = StatementWorkFindings { rounds: 3, counts, warnings: vec![refused] };
        assert_eq!(lines(&found, 80), expected);
    }

    #[test]
    fn where_nothing_moved_that_is_said() {
        let found = |rounds| StatementWorkFindings {
            rounds,
            counts: vec![count("select", "buffer_hits", (4.0, 4.0), 0.0, false)],
            warnings: Vec::new(),
        };
        assert!(counted(&found(3)).ends_with("from 3 rounds; none moved by more than chance"));
        assert!(counted(&found(1)).ends_with("from 1 round; one round does not say what is more than chance"));
        let none = StatementWorkFindings { counts: Vec::new(), ..found(3) };
        assert_eq!(counted(&none), "no counts by kind of statement that both builds have");
    }
}
