//! Warnings about statements that answer otherwise than on the base.
//!
//! In: a cell's findings of answers. Out: a warning for each statement, with the first row that differs.

use super::cell::Cell;
use super::{advised, warning};
use crate::findings::{AnswerFindings, AnswerKind, RowDifference, Warning};
use rqps_model::{WarningKind, plural};

/// Behind this stand names of columns; MySQL names one by its expression, with all values in it.
pub(crate) const COLUMNS: &str = " differs in ";

pub(super) fn against_base(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    for answer in cell.answers {
        found.push(match answer.kind {
            AnswerKind::Unstable => {
                let message = format!("{} answers differently when the base is asked again", answer.statement);
                advised(WarningKind::UnstableAnswers, message, "give it an order by a unique key to have it compared")
            }
            _ => warning(WarningKind::AnswersDiffer, told(answer)),
        });
    }
}

fn told(answer: &AnswerFindings) -> String {
    let AnswerFindings { statement, sets, of_sets, .. } = answer;
    let what = match answer.kind {
        AnswerKind::Error => "another error than on the base",
        AnswerKind::Rows => "another number of rows than on the base",
        AnswerKind::Values => "other values than on the base",
        AnswerKind::Order | AnswerKind::Unstable => "its rows in another order than on the base",
    };
    let first = match (&answer.error, &answer.row) {
        (Some(error), _) => format!(": {error}"),
        (None, Some(row)) => format!(": {}", row_told(row)),
        (None, None) => String::new(),
    };
    let of = plural(*of_sets, "set");
    format!("{statement} gives {what} for {sets} of {of} of values{first}")
}

fn row_told(row: &RowDifference) -> String {
    let place = format!("row {}", row.row);
    match (&row.own, &row.base) {
        (Some(_), None) => format!("{place} is not on the base"),
        (None, Some(_)) => format!("{place} of the base is not here"),
        _ => format!("{place}{COLUMNS}{}", row.columns.join(", ")),
    }
}
