//! Whether a build answers as the base does, statement by statement.
//!
//! In: the answers of both, as their samples keep them. Out: an [`AnswerFindings`] for each statement whose answers
//! differ or cannot be compared. The order of rows counts only where the statement asks for one.

use crate::findings::{AnswerFindings, AnswerKind, RowDifference};
use crate::read::measured::Measured;
use rqps_model::answers::{Answer, StatementAnswers, TestAnswers};

/// A row's values.
type Values = Vec<Option<String>>;

/// The answers of a test on a treatment: those of the first round that has them.
pub(crate) fn of_rounds(rounds: &[Option<Measured>]) -> Option<&TestAnswers> {
    rounds.iter().flatten().find_map(|measured| measured.answers.as_ref())
}

/// What differs between the answers of a treatment and the base's.
pub(crate) fn differences(own: &TestAnswers, base: &TestAnswers) -> Vec<AnswerFindings> {
    let of = |statement: &StatementAnswers| {
        let of_base = base.statements.iter().find(|one| one.statement == statement.statement)?;
        of_statement(statement, of_base)
    };
    own.statements.iter().filter_map(of).collect()
}

fn of_statement(own: &StatementAnswers, base: &StatementAnswers) -> Option<AnswerFindings> {
    let pairs = || own.answers.iter().zip(&base.answers);
    let is_unstable = |(_, base): &(&Answer, &Answer)| base.is_unstable;
    let differing: Vec<(usize, AnswerKind, (&Answer, &Answer))> = pairs()
        .enumerate()
        .filter(|(_, pair)| !is_unstable(pair))
        .filter_map(|(set, pair)| Some((set, kind(pair.0, pair.1, own.is_ordered)?, pair)))
        .collect();
    let findings = |kind, sets, row, error| AnswerFindings {
        statement: own.statement.clone(),
        kind,
        sets,
        of_sets: pairs().count() as u32,
        row,
        error,
    };
    let Some((_, kind, (first, of_base))) = differing.first() else {
        // What differs from itself on the base cannot be compared.
        let unstable = pairs().filter(is_unstable).count() as u32;
        return (unstable > 0).then(|| findings(AnswerKind::Unstable, unstable, None, None));
    };
    let error = match (&first.error, &of_base.error) {
        (Some(own), None) => Some(format!("{own}, and none on the base")),
        (None, Some(base)) => Some(format!("none, and {base} on the base")),
        (Some(own), Some(base)) => Some(format!("{own} instead of {base}")),
        (None, None) => None,
    };
    let row = first_row(first, of_base, own);
    Some(findings(*kind, differing.len() as u32, row, error))
}

/// How two answers differ.
fn kind(own: &Answer, base: &Answer, is_ordered: bool) -> Option<AnswerKind> {
    if own.error != base.error {
        return Some(AnswerKind::Error);
    }
    if own.rows != base.rows {
        return Some(AnswerKind::Rows);
    }
    if own.sum != base.sum {
        return Some(AnswerKind::Values);
    }
    (is_ordered && own.sum_in_order != base.sum_in_order).then_some(AnswerKind::Order)
}

/// The first row that one of them has and the other has not, or has in another place.
fn first_row(own: &Answer, base: &Answer, statement: &StatementAnswers) -> Option<RowDifference> {
    let columns = |ours: &Values, theirs: &Values| -> Vec<String> {
        let differs = |at: &usize| ours.get(*at) != theirs.get(*at);
        let name = |at: usize| statement.columns.get(at).cloned().unwrap_or_else(|| format!("column {}", at + 1));
        (0..ours.len().max(theirs.len())).filter(differs).map(name).collect()
    };
    let difference = |at: usize, ours: Option<&Values>, theirs: Option<&Values>| RowDifference {
        row: at as u64 + 1,
        columns: ours.zip(theirs).map_or_else(Vec::new, |(ours, theirs)| columns(ours, theirs)),
        own: ours.cloned(),
        base: theirs.cloned(),
    };
    let (ours, theirs) = (&own.first_rows, &base.first_rows);
    let at = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at))?;
    let (mut here, mut there) = (ours.get(at), theirs.get(at));
    if !statement.is_ordered {
        // Rows are sorted: one more moves those behind it, and may move the last ones out of what is kept.
        let has_all = |answer: &Answer| answer.first_rows.len() as u64 == answer.rows;
        match (here, there) {
            (Some(_), Some(there_row)) if ours.contains(there_row) => there = None,
            (Some(here_row), Some(_)) if theirs.contains(here_row) => here = None,
            (None, Some(_)) if !has_all(own) => return None,
            (Some(_), None) if !has_all(base) => return None,
            _ => {}
        }
    }
    Some(difference(at, here, there))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: &[&[&str]]) -> Answer {
        let rows: Vec<Values> =
            rows.iter().map(|row| row.iter().map(|value| Some((*value).to_owned())).collect()).collect();
        let mut sorted = rows.clone();
        sorted.sort();
        Answer {
            rows: rows.len() as u64,
            sum: format!("{sorted:?}"),
            sum_in_order: format!("{rows:?}"),
            first_rows: rows,
            ..Answer::default()
        }
    }

    fn statement(is_ordered: bool, answers: &[Answer]) -> TestAnswers {
        let statement = StatementAnswers {
            statement: "q".to_owned(),
            is_ordered,
            columns: vec!["id".to_owned(), "total".to_owned()],
            answers: answers.to_vec(),
        };
        TestAnswers { has_values: true, statements: vec![statement] }
    }

    fn found(is_ordered: bool, own: &[Answer], base: &[Answer]) -> Option<AnswerFindings> {
        differences(&statement(is_ordered, own), &statement(is_ordered, base)).pop()
    }

    #[test]
    fn a_changed_row_is_named() {
        let base = [answer(&[&["1", "10"], &["2", "20"]]), answer(&[])];
        assert_eq!(found(false, &base, &base), None);
        let own = [answer(&[&["1", "10"], &["2", "21"]]), answer(&[])];
        let told = found(false, &own, &base).expect("another value");
        assert_eq!((told.kind, told.sets, told.of_sets), (AnswerKind::Values, 1, 2));
        let row = told.row.expect("a row");
        assert_eq!((row.row, &row.columns[..]), (2, &["total".to_owned()][..]));
        assert_eq!(row.own.expect("ours")[1].as_deref(), Some("21"));
    }

    #[test]
    fn a_row_too_many_is_not_taken_for_the_last_that_was_kept() {
        let kept = |rows: &[&[&str]]| [Answer { rows: 300, ..answer(rows) }];
        let (base, own) = (kept(&[&["2", "b"], &["3", "c"]]), kept(&[&["1", "a"], &["2", "b"]]));
        let row = |own: &[Answer], base: &[Answer]| found(false, own, base).expect("a difference").row;
        let more = row(&own, &base).expect("a row");
        assert_eq!((more.row, more.own.is_some(), more.base.is_some()), (1, true, false));
        let less = row(&base, &own).expect("a row");
        assert_eq!((less.row, less.own.is_some(), less.base.is_some()), (1, false, true));
        // What is behind the rows that were kept is not known.
        assert_eq!(row(&kept(&[&["2", "b"], &["3", "c"]]), &kept(&[&["2", "b"]])), None);
    }

    #[test]
    fn the_order_counts_where_it_was_asked_for() {
        let (base, own) = ([answer(&[&["1", "a"], &["2", "b"]])], [answer(&[&["2", "b"], &["1", "a"]])]);
        assert_eq!(found(false, &own, &base), None);
        let told = found(true, &own, &base).expect("another order");
        assert_eq!((told.kind, told.row.expect("a row").row), (AnswerKind::Order, 1));
    }

    #[test]
    fn numbers_of_rows_errors_and_what_differs_from_itself_are_told_apart() {
        let base = [answer(&[&["1", "a"]])];
        let more = found(false, &[answer(&[&["1", "a"], &["2", "b"]])], &base).expect("one more");
        assert_eq!(more.kind, AnswerKind::Rows);
        let row = more.row.expect("the new one");
        assert!(row.base.is_none() && row.own.is_some() && row.columns.is_empty());
        let failed = Answer { error: Some("42883".to_owned()), ..Answer::default() };
        let told = found(false, std::slice::from_ref(&failed), &base).expect("an error");
        assert_eq!((told.kind, told.error.as_deref()), (AnswerKind::Error, Some("42883, and none on the base")));
        let unstable = [Answer { is_unstable: true, ..base[0].clone() }];
        let told = found(false, &[failed], &unstable).expect("it cannot be compared");
        assert_eq!(told.kind, AnswerKind::Unstable);
    }
}
