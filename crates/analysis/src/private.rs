//! What findings say of the user's own statements, without the values in them.
//!
//! In: findings. Out: the same with `?` for each literal: in statements, plans, answers and what servers said of
//! errors. When in doubt something is hidden that might be shown. The results folder itself keeps all of it.

use crate::findings::{CellFindings, Findings, Warning};
pub use crate::literals::message;
use crate::literals::{error, plan, statement};
use crate::suite;
use crate::warnings::answers::COLUMNS;
use rqps_model::plan::SuitePlan;
use rqps_model::{Engine, WarningKind};
use rqps_sql::{Dialect, redact};

/// Findings as they may be shown to anybody.
pub fn without_literals(mut findings: Findings) -> Findings {
    if !suite::is_private(&findings.campaign.suite) {
        return findings;
    }
    suite::hide(&mut findings);
    let engines: Vec<Engine> = findings.treatments.iter().map(|treatment| treatment.build.engine).collect();
    for test in &mut findings.tests {
        for (_, sql) in &mut test.statements {
            // Whose they are is not noted, and what is a name to one engine is a literal to another.
            *sql = engines.iter().fold(std::mem::take(sql), |sql, engine| statement(&sql, *engine));
        }
        test.cells.iter_mut().zip(&engines).for_each(|(cell, engine)| hide_in_cell(cell, *engine));
    }
    for form in findings.forced.iter_mut().filter(|form| form.what.starts_with("statement ")) {
        form.forms.iter_mut().for_each(|(engine, sql)| *sql = statement(sql, *engine));
    }
    hide_in_warnings(&mut findings.warnings);
    findings.treatments.iter_mut().for_each(|treatment| hide_in_warnings(&mut treatment.warnings));
    findings
}

/// What was said of a campaign of this suite, as it may be shown to anybody.
pub fn told_of(suite: &SuitePlan, text: &str) -> String {
    if suite::is_private(suite) { message(text) } else { text.to_owned() }
}

fn hide_in_cell(cell: &mut CellFindings, engine: Engine) {
    for one in &mut cell.plans {
        one.plan = plan(&one.plan, engine);
    }
    for answer in &mut cell.answers {
        if let Some(row) = &mut answer.row {
            (row.own, row.base) = (None, None);
            row.columns.iter_mut().for_each(|column| *column = columns(column));
        }
    }
    for one in &mut cell.errors {
        one.message = error(&one.code, &one.message);
    }
    // Why a server is not asked, or refuses, it says itself.
    cell.not_sampled.iter_mut().for_each(|one| one.why = message(&one.why));
    let untold = cell.statement_work.iter_mut().flat_map(|found| &mut found.warnings);
    untold.for_each(|one| *one = message(one));
    hide_in_warnings(&mut cell.warnings);
}

fn hide_in_warnings(warnings: &mut [Warning]) {
    for warning in warnings {
        warning.cause = told(warning.kind, &warning.cause);
        warning.in_full = warning.in_full.as_deref().map(|text| told(warning.kind, text));
    }
}

/// The words of a warning.
fn told(kind: WarningKind, text: &str) -> String {
    match text.split_once(COLUMNS) {
        Some((before, named)) if kind == WarningKind::AnswersDiffer => {
            format!("{}{COLUMNS}{}", message(before), columns(named))
        }
        _ => message(text),
    }
}

/// Names of columns, as MySQL reads them: it names one by its expression.
fn columns(named: &str) -> String {
    redact(named, Dialect::Mysql)
}
