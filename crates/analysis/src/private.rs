//! What findings say of the user's own statements, without the values in them.
//!
//! In: findings. Out: the same with `?` for each literal: in statements, plans, answers and what servers said of
//! errors. When in doubt something is hidden that might be shown. The results folder itself keeps all of it.

use crate::findings::{CellFindings, Findings, Warning};
pub use crate::literals::message;
use crate::literals::{plan, statement};
use crate::suite;
use rqps_model::Engine;

/// Findings as they may be shown to anybody.
pub fn without_literals(mut findings: Findings) -> Findings {
    if !suite::is_private(&findings) {
        return findings;
    }
    suite::hide(&mut findings);
    let engines: Vec<Engine> = findings.treatments.iter().map(|treatment| treatment.build.engine).collect();
    for test in &mut findings.tests {
        for (_, sql) in &mut test.statements {
            *sql = statement(sql, engines[0]);
        }
        test.cells.iter_mut().zip(&engines).for_each(|(cell, engine)| hide_in_cell(cell, *engine));
    }
    hide_in_warnings(&mut findings.warnings);
    findings.treatments.iter_mut().for_each(|treatment| hide_in_warnings(&mut treatment.warnings));
    findings
}

fn hide_in_cell(cell: &mut CellFindings, engine: Engine) {
    for one in &mut cell.plans {
        one.plan = plan(&one.plan, engine);
    }
    for answer in &mut cell.answers {
        answer.error = answer.error.as_deref().map(message);
        if let Some(row) = &mut answer.row {
            (row.own, row.base) = (None, None);
        }
    }
    for error in &mut cell.errors {
        error.message = message(&error.message);
    }
    hide_in_warnings(&mut cell.warnings);
}

fn hide_in_warnings(warnings: &mut [Warning]) {
    for warning in warnings {
        warning.cause = message(&warning.cause);
        warning.in_full = warning.in_full.as_deref().map(message);
    }
}
