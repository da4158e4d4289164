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
use rqps_machine::{Account, Workspace};
use rqps_model::facts::BuildFacts;
use rqps_model::plan::{Alternate, Stage, TreatmentPlan};
use rqps_observe::clock::rfc3339;
use rqps_server::Sizing;
use rqps_store::{StoreError, Writer};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

/// Bytes of a row with its share of the indexes, as PostgreSQL stores it; for sizing only.
const ROW_BYTES: u64 = 240;

/// Settings by name.
type Settings = BTreeMap<String, String>;

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
    // Dropped last, and with it all data: thousands of files.
    let workspace = Workspace::create(job.lease, job.cache, job.data_parent)
        .map_err(ConductError::server("making the folder for data"))?;
    let measured = measure_in(job, &workspace, store, watch, stop);
    if let Err(ConductError::Interrupted) = measured {
        watch(Event::Interrupted { folder: store.folder() });
    }
    measured
}

fn measure_in(
    job: &Job<'_>,
    workspace: &Workspace,
    store: &mut Writer,
    watch: &mut Watch<'_>,
    stop: &AtomicBool,
) -> Result<(), ConductError> {
    let contestants = contestants(job, workspace, store)?;
    for contestant in &contestants {
        store.write_build(&contestant.plan.name, contestant.build)?;
        for note in &contestant.configuration.notes {
            watch(Event::Warning { message: format!("{}: {note}", contestant.plan.name) });
        }
    }
    let masters = Masters::load(job, workspace, &contestants, store, watch, stop)?;

    // A failed trial is a result of the sitting that made it; a resumed campaign tries again.
    let again = if job.resumed == 0 { Failed::default() } else { Failed::found(store) };
    let sitting = Sitting { job, workspace, contestants: &contestants, masters, again, stop };
    let pace = Pace::new(job.plan, &sitting.cells(store).left());
    let mut ledger = Ledger { store, watch, pace };
    for plan in (1..=job.plan.rounds).map(|number| job.plan.round(number)) {
        if sitting.cells(ledger.store).round_done(&plan) {
            continue;
        }
        for stage in &job.plan.stages {
            check(stop)?;
            match stage.alternate {
                Alternate::SideBySide => Round::begin(&sitting, &plan, &mut ledger)?.run(&mut ledger)?,
                Alternate::OneByOne => passes(&sitting, &plan, stage, &mut ledger)?,
            }
        }
    }
    Ok(())
}

/// Each treatment with its build and its configuration for this machine.
fn contestants<'a>(job: &Job<'a>, workspace: &Workspace, store: &Writer) -> Result<Vec<Contestant<'a>>, ConductError> {
    let plan = job.plan;
    let free = rustix::fs::statvfs(workspace.path()).ok().map(|fs| fs.f_bavail * fs.f_frsize);
    let folders = plan.servers_together();
    let rows = plan.stages.iter().map(|stage| stage.rows).max().unwrap_or(0);
    let connections = |stage: &Stage| stage.clients.iter().max().map_or(1, |clients| clients * stage.connections);
    let sizing = Sizing {
        machine: plan.machine.expect("campaign settles the machine class of every plan"),
        disk_free_bytes: free.map(|bytes| bytes / folders as u64),
        data_bytes: Some(rows * ROW_BYTES),
        clients: plan.stages.iter().map(connections).max().unwrap_or(1),
    };
    let render = |(treatment, build): (&TreatmentPlan, &BuildFacts), set: &Settings| {
        job.profiles
            .render(build.engine, &treatment.profile, &build.version, treatment.storage, &sizing, set)
            .map_err(ConductError::server(format!("configuring {}", treatment.name)))
    };
    let each = || plan.treatments.iter().zip(job.builds);
    let rendered = each().map(|one| render(one, &one.0.set)).collect::<Result<Vec<_>, _>>()?;
    let kept = each().map(|(treatment, _)| Ok(store.settings(&treatment.name)?.map(|facts| facts.written)));
    let kept = kept.collect::<Result<Vec<_>, StoreError>>()?;
    let written: Vec<&Settings> = rendered.iter().map(|configuration| &configuration.written).collect();
    let earlier = as_earlier(&written, &kept);
    let contestant = |((treatment, build), (configuration, earlier))| {
        let configuration = match Settings::is_empty(&earlier) {
            true => configuration,
            false => render((treatment, build), &treatment.set.clone().into_iter().chain(earlier).collect())?,
        };
        Ok(Contestant { plan: treatment, build, configuration, account: Account::choose() })
    };
    each().zip(rendered.into_iter().zip(earlier)).map(contestant).collect()
}

/// What earlier sittings wrote otherwise than this one would. How much log a server may keep follows from the room on the disk,
/// which changes from sitting to sitting; builds that are compared must not differ in it, so the first sitting's holds. A
/// treatment that no earlier sitting came to gets what another got in place of the same value.
fn as_earlier(written: &[&Settings], kept: &[Option<Settings>]) -> Vec<Settings> {
    let otherwise = |at: usize, name: &String, now: &String| {
        let then = kept[at].as_ref()?.get(name)?;
        (written[at].get(name) == Some(now) && then != now).then(|| (name.clone(), then.clone()))
    };
    let of = |at: usize| {
        // Its own first.
        let sources: Vec<usize> = match kept[at] {
            Some(_) => vec![at],
            None => (0..kept.len()).collect(),
        };
        let setting = |(name, now)| sources.iter().find_map(|source| otherwise(*source, name, now));
        written[at].iter().filter_map(setting).collect()
    };
    (0..written.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_sitting_keeps_the_log_sizes_of_the_first() {
        let settings = |wal: &str, buffers: &str| {
            Settings::from([("max_wal_size".into(), wal.into()), ("shared_buffers".into(), buffers.into())])
        };
        let check = |now: &[Settings], kept: &[Option<Settings>], expected: &[&str]| {
            let found = as_earlier(&now.iter().collect::<Vec<_>>(), kept);
            let told: Vec<String> = found
                .iter()
                .map(|one| one.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
                .collect();
            assert_eq!(told, expected);
        };
        let now = [settings("2675MB", "6GB"), settings("2675MB", "6GB"), settings("9GB", "6GB")];
        check(&now, &[None, None, None], &["", "", ""]);
        check(&now, &[Some(now[0].clone()), None, None], &["", "", ""]);
        // The first was measured before; the second, not yet, gets the same; the third, told by its user, does not.
        let before = settings("2536MB", "6GB");
        check(&now, &[Some(before.clone()), None, None], &["max_wal_size=2536MB", "max_wal_size=2536MB", ""]);
        // What a treatment itself ran with before goes before what others did.
        check(&now, &[Some(before), Some(now[1].clone()), None], &["max_wal_size=2536MB", "", ""]);
        // A server that does not know a setting has not kept it.
        check(&now[..1], &[Some(Settings::new())], &[""]);
    }
}
