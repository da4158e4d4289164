//! The data folders that all copies are taken from: one for each kind of data folder in the campaign.
//!
//! In: the treatments. Out: stopped, checkpointed data folders with the loaded tables. Treatments whose builds can read
//! each other's files share a master, so that the arms of an A/A differ in nothing.

use crate::ConductError;
use crate::arm::{Contestant, LOG_LINES};
use crate::event::{Event, Watch};
use crate::job::Job;
use crate::supervise::{check, supervised};
use rqps_load::prepare_data::prepare_data;
use rqps_load::random::derive_seed;
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use rqps_server::{CopyMethod, Workspace, cluster, copy};
use rqps_store::Writer;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Data checksums cost throughput and their default changed in PostgreSQL 18: the published configurations have them on.
const CHECKSUMS: bool = true;

/// Log of the servers that make masters.
const MASTER_LOG: &str = "master.log";

/// Builds with the same kind can read each other's data folders: a major version of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FolderKind {
    engine: Engine,
    major: u32,
}

impl FolderKind {
    pub(crate) fn of(build: &BuildFacts) -> FolderKind {
        FolderKind { engine: build.engine, major: build.version.major() }
    }

    /// Name of the master, such as `pg17`.
    pub(crate) fn name(self) -> String {
        format!("{}{}", self.engine.prefix(), self.major)
    }
}

/// The masters of a campaign.
#[derive(Debug)]
pub(crate) struct Masters {
    folders: BTreeMap<FolderKind, PathBuf>,
    method: CopyMethod,
}

impl Masters {
    /// Initialises every master, then loads each.
    pub(crate) fn load(
        job: &Job<'_>,
        workspace: &Workspace,
        contestants: &[Contestant<'_>],
        store: &mut Writer,
        watch: &mut Watch<'_>,
        stop: &AtomicBool,
    ) -> Result<Masters, ConductError> {
        let method = copy::detect(workspace.path()).map_err(ConductError::server("trying how files can be copied"))?;
        let mut sharers: BTreeMap<FolderKind, Vec<&Contestant<'_>>> = BTreeMap::new();
        for contestant in contestants {
            sharers.entry(FolderKind::of(contestant.build)).or_default().push(contestant);
        }
        let folder = |kind: FolderKind| workspace.join(&format!("master-{}", kind.name()));
        for (kind, sharers) in &sharers {
            initialise(sharers, &folder(*kind), job, workspace, stop)?;
        }
        for (kind, sharers) in &sharers {
            check(stop)?;
            let seconds = load(job, sharers[0], &folder(*kind), workspace, watch, stop)?;
            for contestant in sharers {
                store.set_load_seconds(&contestant.plan.name, seconds)?;
            }
        }
        Ok(Masters { folders: sharers.into_keys().map(|kind| (kind, folder(kind))).collect(), method })
    }

    /// Copies the master that fits a build to `to`.
    pub(crate) fn copy(&self, build: &BuildFacts, to: &Path, stop: &AtomicBool) -> Result<(), ConductError> {
        let kind = FolderKind::of(build);
        let copied = cluster::restore(&self.folders[&kind], to, self.method, stop);
        check(stop)?;
        copied.map(drop).map_err(ConductError::server(format!("copying the data folder {}", kind.name())))
    }
}

/// Makes an empty data folder and starts every treatment on it once: what a server refuses must show before hours of
/// loading, not after.
fn initialise(
    sharers: &[&Contestant<'_>],
    folder: &Path,
    job: &Job<'_>,
    workspace: &Workspace,
    stop: &AtomicBool,
) -> Result<(), ConductError> {
    let (build, account, first) = (sharers[0].build, sharers[0].account, &sharers[0].plan.name);
    cluster::initialise(build, folder, account, CHECKSUMS)
        .map_err(ConductError::server(format!("initialising a data folder with {first}")))?;
    for contestant in sharers {
        check(stop)?;
        let name = &contestant.plan.name;
        let mut server = contestant
            .start(folder, &workspace.join(MASTER_LOG), job.lease)
            .map_err(ConductError::server(format!("starting {name} for the first time")))?;
        contestant.settings(&server)?;
        server.stop().map_err(ConductError::server(format!("stopping {name}")))?;
    }
    Ok(())
}

/// Loads one master and returns the seconds that rows and indexes took.
fn load(
    job: &Job<'_>,
    contestant: &Contestant<'_>,
    folder: &Path,
    workspace: &Workspace,
    watch: &mut Watch<'_>,
    stop: &AtomicBool,
) -> Result<f64, ConductError> {
    let name = &contestant.plan.name;
    let data = job.plan.data;
    watch(Event::Loading { treatment: name, tables: data.tables, rows: data.rows });
    let mut server = contestant
        .start(folder, &workspace.join(MASTER_LOG), job.lease)
        .map_err(ConductError::server(format!("starting {name} to load data")))?;
    let endpoint = server.endpoint();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let loaded = supervised(&server, stop, || {
        prepare_data(&endpoint, data, derive_seed(job.plan.seed, "data"), threads)
            .map_err(ConductError::load(format!("loading data with {name}")))
    });
    let report = loaded.map_err(|error| match error {
        ConductError::Interrupted => ConductError::Interrupted,
        error => ConductError::Loading { error: Box::new(error), log: server.log_tail(LOG_LINES) },
    })?;
    server.stop().map_err(ConductError::server(format!("stopping {name} after the load")))?;
    watch(Event::Loaded { treatment: name, rows: report.rows, seconds: report.load_seconds });
    Ok(report.load_seconds)
}
