//! What rounds that explain found besides functions: the counts of a test by kind of statement, its waits, the stacks
//! of its blocked sessions and its system calls, as tables of one form.

use super::profile::{Row, of_amount, of_calls, of_count};
use super::scene::Scene;
use crate::waits::{IDLE, RUNNING, has_running, sampled};
use crate::{blocked, metric, statement_work, syscalls};
use rqps_analysis::findings::{Amount, TestFindings};
use serde::Serialize;

/// Amounts of one kind on a build, beside those of the base.
#[derive(Clone, Serialize)]
pub(super) struct Amounts {
    title: &'static str,
    /// What the amounts are.
    unit: String,
    /// Whether other builds have one, too.
    is_named: bool,
    name: String,
    base: String,
    sampled: String,
    rows: Vec<Row>,
    warnings: Vec<String>,
}

/// Of waits and stacks.
const OF_TIME: &str = "a session's time";

pub(super) fn waits(scene: &Scene<'_>, test: &TestFindings) -> Vec<Amounts> {
    let of = |&index: &usize| {
        let waits = test.cells[index].waits.as_ref()?;
        let mut rows: Vec<Row> =
            waits.events.iter().map(|event| of_amount(event.name.clone(), &event.amount)).collect();
        rows.extend(has_running(waits).then(|| of_amount(RUNNING.to_owned(), &waits.running)));
        // Whatever it did, it is no cause.
        rows.push(of_amount(IDLE.to_owned(), &Amount { is_sure: false, ..waits.idle }));
        let per = metric::per(scene.findings, test);
        let sampled = sampled(waits, per);
        Some(table(scene, index, ("Waits", format!("{OF_TIME} per {per}"), sampled), rows, &waits.warnings))
    };
    scene.others.iter().filter_map(of).collect()
}

/// The stacks in which sessions are off the CPU.
pub(super) fn stacks(scene: &Scene<'_>, test: &TestFindings) -> Vec<Amounts> {
    let of = |&index: &usize| {
        let found = test.cells[index].blocked.as_ref()?;
        let mut rows: Vec<Row> =
            found.stacks.iter().map(|stack| of_amount(stack.name.clone(), &stack.amount)).collect();
        rows.push(of_amount(blocked::READY.to_owned(), &found.ready));
        rows.push(of_amount(IDLE.to_owned(), &Amount { is_sure: false, ..found.client }));
        let per = metric::per(scene.findings, test);
        let sampled = blocked::sampled(found, per);
        Some(table(scene, index, ("Blocked sessions", format!("{OF_TIME} per {per}"), sampled), rows, &found.warnings))
    };
    scene.others.iter().filter_map(of).collect()
}

/// What the kernel is asked for.
pub(super) fn calls(scene: &Scene<'_>, test: &TestFindings) -> Vec<Amounts> {
    let of = |&index: &usize| {
        let found = test.cells[index].syscalls.as_ref()?;
        let rows: Vec<Row> = found.calls.iter().map(|call| of_calls(call.name.clone(), &call.amount)).collect();
        let per = metric::per(scene.findings, test);
        let sampled = syscalls::recorded(found, per);
        Some(table(
            scene,
            index,
            ("System calls", format!("calls of the server per {per}"), sampled),
            rows,
            &found.warnings,
        ))
    };
    scene.others.iter().filter_map(of).collect()
}

/// What each kind of statement does.
pub(super) fn statements(scene: &Scene<'_>, test: &TestFindings) -> Vec<Amounts> {
    let of = |&index: &usize| {
        let found = test.cells[index].statement_work.as_ref()?;
        let rows: Vec<Row> = found.counts.iter().map(of_count).collect();
        let head = ("Counts by kind of statement", "per execution".to_owned(), statement_work::counted(found));
        Some(table(scene, index, head, rows, &found.warnings))
    };
    scene.others.iter().filter_map(of).collect()
}

fn table(
    scene: &Scene<'_>,
    index: usize,
    (title, unit, sampled): (&'static str, String, String),
    rows: Vec<Row>,
    warnings: &[String],
) -> Amounts {
    Amounts {
        title,
        unit,
        is_named: scene.others.len() > 1,
        name: scene.names[index].clone(),
        base: scene.names[scene.findings.base].clone(),
        sampled,
        rows,
        warnings: warnings.to_vec(),
    }
}
