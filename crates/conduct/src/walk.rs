//! A whole campaign, from its masters to its last round.

use crate::ConductError;
use crate::arm::Contestant;
use crate::cells::{Failed, is_measured};
use crate::event::{Event, Watch};
use crate::job::Job;
use crate::master::Masters;
use crate::pace::Pace;
use crate::pass::passes;
use crate::round::Round;
use crate::sitting::{Ledger, Sitting};
use crate::supervise::check;
use rqps_model::facts::BuildFacts;
use rqps_model::insert::Shape;
use rqps_observe::clock::rfc3339;
use rqps_server::{Account, Sizing, Workspace};
use rqps_store::Writer;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

/// Bytes of a row with its share of the indexes, as PostgreSQL stores it; for sizing only.
const ROW_BYTES: u64 = 240;

/// In a pass: one that inserts, one that deletes, one that queries.
const SESSIONS_OF_A_CLIENT: u32 = 3;

/// Measures everything that the results folder does not have yet.
///
/// Call it from a thread that lives as long as the servers may: they are told to quit when it ends.
pub fn run(job: &Job<'_>, store: &mut Writer, watch: &mut Watch<'_>, stop: &AtomicBool) -> Result<(), ConductError> {
    if !is_measured(store) {
        measure_missing(job, store, watch, stop)?;
    }
    store.finish(&rfc3339(SystemTime::now()))?;
    Ok(())
}

fn measure_missing(
    job: &Job<'_>,
    store: &mut Writer,
    watch: &mut Watch<'_>,
    stop: &AtomicBool,
) -> Result<(), ConductError> {
    let workspace = Workspace::create(job.lease, job.cache, job.data_parent)
        .map_err(ConductError::server("making the folder for data"))?;
    let contestants = contestants(job, &workspace)?;
    for contestant in &contestants {
        store.write_build(&contestant.plan.name, contestant.build)?;
        for note in &contestant.configuration.notes {
            watch(Event::Warning { message: format!("{}: {note}", contestant.plan.name) });
        }
    }
    let masters = Masters::load(job, &workspace, &contestants, store, watch, stop)?;

    // A failed trial is a result of the sitting that made it; a resumed campaign tries again.
    let again = if job.resumed == 0 { Failed::default() } else { Failed::found(store) };
    let sitting = Sitting { job, workspace: &workspace, contestants: &contestants, masters, again, stop };
    let pace = Pace::new(job.plan, &sitting.cells(store).left());
    let mut ledger = Ledger { store, watch, pace };
    for plan in &job.plan.rounds {
        if sitting.cells(ledger.store).round_done(plan) {
            continue;
        }
        check(stop)?;
        match &job.plan.insert {
            None => Round::begin(&sitting, plan, &mut ledger)?.run(&mut ledger)?,
            Some(_) => passes(&sitting, plan, &mut ledger)?,
        }
    }
    Ok(())
}

/// Each treatment with its build and its configuration for this machine.
fn contestants<'a>(job: &Job<'a>, workspace: &Workspace) -> Result<Vec<Contestant<'a>>, ConductError> {
    let plan = job.plan;
    let free = rustix::fs::statvfs(workspace.path()).ok().map(|fs| fs.f_bavail * fs.f_frsize);
    // In passes there is only one at a time.
    let folders = if plan.insert.is_some() { 1 } else { plan.treatments.len() };
    let clients = plan.clients.iter().copied().max().unwrap_or(1);
    let shape = plan.insert_at(clients);
    let rows = shape.as_ref().map_or(u64::from(plan.data.tables) * plan.data.rows, Shape::rows_loaded);
    let sizing = Sizing {
        machine: plan.machine.expect("campaign settles the machine class of every plan"),
        disk_free_bytes: free.map(|bytes| bytes / folders as u64),
        data_bytes: Some(rows * ROW_BYTES),
        clients: if shape.is_some() { clients * SESSIONS_OF_A_CLIENT } else { clients },
    };
    let contestant = |(treatment, build): (&'a rqps_model::plan::TreatmentPlan, &'a BuildFacts)| {
        let configuration = job
            .profiles
            .render(build.engine, &treatment.profile, &build.version, treatment.storage, &sizing, &treatment.set)
            .map_err(ConductError::server(format!("configuring {}", treatment.name)))?;
        Ok(Contestant { plan: treatment, build, configuration, account: Account::choose() })
    };
    plan.treatments.iter().zip(job.builds).map(contestant).collect()
}
