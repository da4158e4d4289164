//! The data folders that all copies are taken from: one for each kind of data folder and each data set of the campaign.
//!
//! In: the treatments. Out: stopped, checkpointed data folders with the loaded tables (empty ones where tests load
//! themselves), and the treatments that are excluded because none can be made for them. Treatments whose builds can
//! read each other's files share a master, so that the arms of an A/A differ in nothing.

use crate::ConductError;
use crate::excluded::Excluded;
use crate::given::Given;
use crate::job::{Job, Output};
use crate::progress::with_progress;
use crate::restore::restore;
use crate::supervise::{check, supervised, supervised_on};
use crate::treatment::{Connection, LOG_LINES, ResolvedTreatment};
use rqps_load::data_set;
use rqps_load::random::derive_seed;
use rqps_load::suite::{self, Inputs};
use rqps_machine::{CopyMethod, MachineError, Workspace, copy, remove_tree};
use rqps_model::facts::{LoadFacts, LoadedSet};
use rqps_model::own::InputFile;
use rqps_model::plan::{Aged, DataSet, Plan, Stage};
use rqps_model::{Engine, EventKind, StorageEngine, Version};
use rqps_observe::host::HostMeter;
use rqps_server::{Server, cluster};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

mod aging;

/// Data checksums cost throughput and their default changed in PostgreSQL 18: the published configurations have them
/// on.
const CHECKSUMS: bool = true;

/// Builds with the same kind can read each other's data folders, without changing them on the way. PostgreSQL's major
/// versions promise that, though not before they are released; MySQL and MariaDB upgrade a folder of any other version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FolderKind(String);

impl FolderKind {
    pub(crate) fn of(treatment: &ResolvedTreatment<'_>) -> FolderKind {
        let kind = FolderKind::named(treatment.build.engine, &treatment.build.version, treatment.plan.storage);
        // Whoever has data of its own shares with nobody else.
        FolderKind(treatment.only.as_ref().map_or(kind.0.clone(), |only| format!("{}-{only}", kind.0)))
    }

    fn named(engine: Engine, version: &Version, storage: Option<StorageEngine>) -> FolderKind {
        let is_released = !version.to_string().contains(|c: char| c.is_ascii_alphabetic());
        let version = match engine {
            Engine::Postgres if is_released => format!("{}{}", engine.prefix(), version.major()),
            _ => version.compact(engine),
        };
        FolderKind(storage.map_or(version.clone(), |storage| format!("{version}-{storage}")))
    }

    /// Name of the master, such as `pg17` or `my8033-innodb`.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

/// A data folder that copies are taken from.
#[derive(Debug)]
struct Master {
    data: DataSet,
    /// By what, where it is aged.
    aged: Option<Aged>,
    folder: PathBuf,
}

/// The masters of a campaign.
#[derive(Debug)]
pub(crate) struct Masters {
    folders: BTreeMap<FolderKind, Vec<Master>>,
    excluded: BTreeMap<String, String>,
    connections: BTreeMap<String, Connection>,
    method: CopyMethod,
    /// What sources of values hold, as the loaded base answered.
    inputs: Inputs,
}

impl Masters {
    /// Initialises every master, then loads each; those of stages that begin without data stay empty.
    pub(crate) fn load(
        job: &Job<'_>,
        workspace: &Workspace,
        treatments: &[ResolvedTreatment<'_>],
        output: &mut Output<'_, '_>,
        stop: &AtomicBool,
    ) -> Result<Masters, ConductError> {
        let method = copy::detect(workspace.path()).map_err(ConductError::server("trying how files can be copied"))?;
        let mut sharers: BTreeMap<FolderKind, Vec<&ResolvedTreatment<'_>>> = BTreeMap::new();
        for treatment in treatments {
            sharers.entry(FolderKind::of(treatment)).or_default().push(treatment);
        }
        let mut made = BTreeMap::new();
        let mut maker = Maker {
            job,
            workspace,
            output,
            stop,
            excluded: Excluded::default(),
            connections: BTreeMap::new(),
            loaded: BTreeMap::new(),
            inputs: Inputs::default(),
            given: Given::default(),
            base: FolderKind::of(&treatments[job.plan.base]),
        };
        for (kind, sharers) in sharers {
            let folder = workspace.join(&format!("master-{}", kind.name()));
            let accepted = maker.initialise(&sharers, &folder)?;
            made.insert(kind, (folder, accepted));
        }
        // What a server refuses must show before hours of loading, not after.
        maker.excluded.check(job.plan)?;
        let mut folders = BTreeMap::new();
        for (kind, (folder, accepted)) in made {
            folders.insert(kind, maker.fill(accepted, &folder, method)?);
        }
        maker.excluded.check(job.plan)?;
        maker.given.differences().into_iter().for_each(|told| maker.output.warn(told));
        Ok(Masters {
            folders,
            excluded: maker.excluded.reasons(),
            connections: maker.connections,
            method,
            inputs: maker.inputs,
        })
    }

    /// Why a treatment is excluded, if it is.
    pub(crate) fn why_excluded(&self, treatment: &ResolvedTreatment<'_>) -> Option<&str> {
        self.excluded.get(&treatment.plan.name).map(String::as_str)
    }

    /// What a client saw of a treatment's server, where that was tried on an empty master.
    pub(crate) fn connection(&self, treatment: &ResolvedTreatment<'_>) -> Option<&Connection> {
        self.connections.get(&treatment.plan.name)
    }

    /// What sources of values hold, the same for all builds.
    pub(crate) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Copies the master that a stage begins with to `to`. It is there for a kind that has a treatment left.
    pub(crate) fn copy(
        &self,
        kind: &FolderKind,
        stage: &Stage,
        to: &Path,
        stop: &AtomicBool,
    ) -> Result<(), ConductError> {
        copy_folder(self.master(kind, stage), to, self.method, stop)
    }

    /// The data with which a treatment goes on: at first a copy of the master, or the master itself for the last that
    /// needs it, so that no more room is taken than the data of every treatment need.
    pub(crate) fn own(
        &self,
        kind: &FolderKind,
        stage: &Stage,
        treatment: &str,
        all: &[ResolvedTreatment<'_>],
        stop: &AtomicBool,
    ) -> Result<PathBuf, ConductError> {
        let master = self.master(kind, stage);
        let own = |name: &str| PathBuf::from(format!("{}-{name}", master.display()));
        let to = own(treatment);
        if !to.exists() {
            let is_waiting = |one: &&ResolvedTreatment<'_>| {
                let is_other = one.plan.name != treatment && self.why_excluded(one).is_none();
                is_other && FolderKind::of(one) == *kind && !own(&one.plan.name).exists()
            };
            match all.iter().find(is_waiting) {
                Some(_) => copy_folder(master, &to, self.method, stop)?,
                None => std::fs::rename(master, &to)
                    .map_err(MachineError::at("move", master))
                    .map_err(ConductError::server("taking a master as it is"))?,
            }
        }
        Ok(to)
    }

    fn master(&self, kind: &FolderKind, stage: &Stage) -> &Path {
        let is_it = |master: &&Master| (&master.data, master.aged.as_ref()) == stage.begins_with();
        &self.folders[kind].iter().find(is_it).expect("every stage has its master").folder
    }
}

fn copy_folder(from: &Path, to: &Path, method: CopyMethod, stop: &AtomicBool) -> Result<(), ConductError> {
    let copied = cluster::restore(from, to, method, stop);
    check(stop)?;
    copied.map(drop).map_err(ConductError::server(format!("copying the data folder {}", from.display())))
}

/// What stages of a plan begin with, each once.
fn data_sets(plan: &Plan) -> Vec<&DataSet> {
    let mut sets: Vec<&DataSet> = Vec::new();
    for stage in &plan.stages {
        if !sets.contains(&&stage.data) {
            sets.push(&stage.data);
        }
    }
    sets
}

/// What stages of a plan begin with that is aged, each once.
fn aged_sets(plan: &Plan) -> Vec<(&DataSet, &Aged)> {
    let mut sets: Vec<(&DataSet, &Aged)> = Vec::new();
    for (data, aged) in plan.stages.iter().map(Stage::begins_with) {
        let set = aged.map(|aged| (data, aged));
        sets.extend(set.filter(|set| !sets.contains(set)));
    }
    sets
}

/// What making a master needs.
struct Maker<'a, 'o, 'w> {
    job: &'a Job<'a>,
    workspace: &'a Workspace,
    output: &'a mut Output<'o, 'w>,
    stop: &'a AtomicBool,
    excluded: Excluded,
    connections: BTreeMap<String, Connection>,
    /// What each treatment loaded so far.
    loaded: BTreeMap<String, Vec<LoadedSet>>,
    /// What sources of values hold, as the base says.
    inputs: Inputs,
    given: Given,
    base: FolderKind,
}

impl Maker<'_, '_, '_> {
    /// Makes an empty data folder, starts every treatment on it once, and gives those that did. Afterwards no treatment
    /// has failed on the folder that is there.
    fn initialise<'c>(
        &mut self,
        sharers: &[&'c ResolvedTreatment<'c>],
        folder: &Path,
    ) -> Result<Vec<&'c ResolvedTreatment<'c>>, ConductError> {
        let mut accepted: Vec<&'c ResolvedTreatment<'c>> = Vec::new();
        // A folder on which no server has started yet is not trusted, nor is one on which a treatment failed.
        let mut is_trusted = false;
        for &treatment in sharers {
            check(self.stop)?;
            let made = if is_trusted { Ok(()) } else { self.make_folder(treatment, folder) };
            let tried = made.and_then(|()| self.first_start(treatment, folder));
            is_trusted = tried.is_ok();
            match tried {
                Ok(()) => accepted.push(treatment),
                Err(error) => self.exclude(treatment, error)?,
            }
        }
        match accepted.first() {
            Some(first) if !is_trusted => self.make_folder(first, folder)?,
            _ => {}
        }
        Ok(accepted)
    }

    fn make_folder(&self, treatment: &ResolvedTreatment<'_>, folder: &Path) -> Result<(), ConductError> {
        remove_tree(folder).map_err(ConductError::server("removing a data folder that is not trusted"))?;
        let (build, account) = (treatment.build, treatment.account);
        supervised_on(build.engine, folder, self.stop, || {
            cluster::initialise(build, folder, account, CHECKSUMS, self.job.lease)
                .map_err(ConductError::server(format!("initialising a data folder with {}", treatment.plan.name)))
        })
    }

    fn first_start(&mut self, treatment: &ResolvedTreatment<'_>, folder: &Path) -> Result<(), ConductError> {
        let mut server = self.start(treatment, folder, "for the first time")?;
        // The others' folder is left in order whatever the settings are.
        let checked = treatment.settings(&server).map(drop).and_then(|()| match self.job.plan.is_chain() {
            true => treatment.probe(&server.endpoint()).map(Some),
            // A loaded master shows it.
            false => Ok(None),
        });
        self.stop_in_order(treatment, &mut server)?;
        let name = &treatment.plan.name;
        self.connections.extend(checked?.map(|connection| (name.clone(), connection)));
        Ok(())
    }

    fn start(&self, treatment: &ResolvedTreatment<'_>, folder: &Path, why: &str) -> Result<Server, ConductError> {
        supervised_on(treatment.build.engine, folder, self.stop, || {
            treatment
                .start(folder, &self.log(treatment), self.job.lease)
                .map_err(ConductError::server(format!("starting {} {why}", treatment.plan.name)))
        })
    }

    /// Stops a server whose data folder will be used again.
    fn stop_in_order(&self, treatment: &ResolvedTreatment<'_>, server: &mut Server) -> Result<(), ConductError> {
        let name = &treatment.plan.name;
        let folder = server.data_dir().to_owned();
        let stopped = supervised_on(treatment.build.engine, &folder, self.stop, || {
            server.stop().map_err(ConductError::server(format!("stopping {name}")))
        })?;
        if stopped.clean { Ok(()) } else { Err(ConductError::NotStopped { treatment: name.clone() }) }
    }

    /// Excludes a treatment, and keeps what its servers said.
    fn exclude(&mut self, treatment: &ResolvedTreatment<'_>, error: ConductError) -> Result<(), ConductError> {
        let name = &treatment.plan.name;
        let message = self.excluded.note(name, error, self.workspace.path())?;
        self.output.warn(message);
        if let Ok(mut log) = File::open(self.log(treatment)) {
            self.output.store.append_server_log(name, "before round 1", &mut log)?;
        }
        Ok(())
    }

    /// Makes a master of each data set from an empty folder, and the aged ones from those, with the treatments that
    /// share them; none where no treatment can make them all.
    fn fill(
        &mut self,
        mut sharers: Vec<&ResolvedTreatment<'_>>,
        empty: &Path,
        method: CopyMethod,
    ) -> Result<Vec<Master>, ConductError> {
        let (sets, mut seconds) = (data_sets(self.job.plan), 0.0);
        let mut masters = Vec::new();
        for (at, data) in sets.iter().enumerate() {
            if sharers.is_empty() {
                return Ok(Vec::new());
            }
            // The last is loaded into the folder itself, the others into copies of it.
            let folder = match at + 1 == sets.len() {
                true => empty.to_owned(),
                false => PathBuf::from(format!("{}-{}", empty.display(), at + 1)),
            };
            if folder != empty {
                copy_folder(empty, &folder, method, self.stop)?;
            }
            if **data != DataSet::Empty {
                seconds += self.load(&mut sharers, &folder, data)?;
            }
            masters.push(Master { data: (*data).clone(), aged: None, folder });
        }
        for (at, (data, aged)) in (1..).zip(aged_sets(self.job.plan)) {
            let loaded = &masters.iter().find(|master| master.data == *data).expect("it was loaded").folder;
            let folder = PathBuf::from(format!("{}-aged-{at}", loaded.display()));
            self.age(&mut sharers, (loaded, &folder), (data, aged), method)?;
            masters.push(Master { data: data.clone(), aged: Some(aged.clone()), folder });
        }
        // Data that every test finds aged are not needed as they were.
        let is_needed = |master: &Master| {
            let own = (&master.data, master.aged.as_ref());
            self.job.plan.stages.iter().any(|stage| stage.begins_with() == own)
        };
        for master in masters.extract_if(.., |master| !is_needed(master)) {
            remove_tree(&master.folder).map_err(ConductError::server("removing data that were only to be aged"))?;
        }
        for treatment in sharers.iter().filter(|_| seconds > 0.0) {
            self.output.store.set_load_seconds(&treatment.plan.name, seconds)?;
        }
        Ok(if sharers.is_empty() { Vec::new() } else { masters })
    }

    /// Loads a master with the first treatment that can, which others that cannot are no longer among; the seconds that
    /// rows and indexes took. Others are as good as the first, for they all started on such a folder.
    fn load(
        &mut self,
        sharers: &mut Vec<&ResolvedTreatment<'_>>,
        folder: &Path,
        data: &DataSet,
    ) -> Result<f64, ConductError> {
        while let Some(loader) = sharers.first() {
            check(self.stop)?;
            match self.load_with(loader, folder, data) {
                Ok(seconds) => return Ok(seconds),
                Err(error) => self.exclude(loader, error)?,
            }
            sharers.remove(0);
        }
        Ok(0.0)
    }

    /// Loads one master, keeps what the host did for it, and returns the seconds that rows and indexes took.
    fn load_with(
        &mut self,
        treatment: &ResolvedTreatment<'_>,
        folder: &Path,
        data: &DataSet,
    ) -> Result<f64, ConductError> {
        let name = &treatment.plan.name;
        let (tables, rows) = data.size();
        let what = matches!(data, DataSet::Warehouses(_) | DataSet::Own(_)).then(|| data.to_string());
        let rows = rows / u64::from(tables.max(1));
        self.output.emit(EventKind::Loading { treatment: name.clone(), tables, rows, what });
        let mut server = self.start(treatment, folder, "to load data")?;
        let endpoint = server.endpoint();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let seed = derive_seed(self.job.plan.seed, "data");
        let mut meter = HostMeter::open(self.workspace.path())?;
        let before = meter.read_full();
        let (lease, place) = (self.job.lease, self.workspace.path());
        let restore = |archive: &InputFile| restore(lease, place, archive);
        let load = |progress: &(dyn Fn(f64) + Sync)| {
            let mut report = data_set::load(server.target(), data, seed, threads, &restore, progress)?;
            let left = data_set::load_only_for(server.target(), data, name, &restore)?;
            report.left = report.left.into_iter().chain(left).reduce(|one, other| format!("{one}; {other}"));
            Ok(report)
        };
        let load = |progress: &(dyn Fn(f64) + Sync)| {
            load(progress).map_err(ConductError::load(format!("loading data with {name}")))
        };
        let advance = |fraction| self.output.emit(EventKind::LoadingAdvances { fraction });
        let loaded = supervised(&server, self.stop, || with_progress(load, advance));
        let report = loaded.map_err(|error| match error {
            ConductError::Interrupted => ConductError::Interrupted,
            error => ConductError::Loading { error: Box::new(error), log: server.log_tail(LOG_LINES) },
        })?;
        let host = meter.read_full().since(&before);
        let sets = self.loaded.entry(name.clone()).or_default();
        sets.push(LoadedSet {
            data: data.to_string(),
            rows: report.rows,
            load_seconds: report.load_seconds,
            index_seconds: report.index_seconds,
            analyze_seconds: report.settle_seconds,
        });
        self.output
            .store
            .write_load(name, &LoadFacts { rows: report.rows, host, sets: sets.clone(), left: report.left.clone() })?;
        treatment.connection(&endpoint)?;
        // Another build may have no such query, and without the base there is no campaign.
        if FolderKind::of(treatment) == self.base {
            let asked = suite::inputs(self.job.plan, server.target());
            self.inputs = asked.map_err(ConductError::load(format!("asking {name} for values")))?;
        }
        self.stop_in_order(treatment, &mut server)?;
        self.given.note(name, report.given);
        if let Some(left) = report.left {
            self.output.warn(format!("after loading with {name}: {left}"));
        }
        self.output.emit(EventKind::Loaded {
            treatment: name.clone(),
            rows: report.rows,
            seconds: report.load_seconds,
        });
        Ok(report.load_seconds)
    }

    /// The log of a treatment's servers before the first round.
    fn log(&self, treatment: &ResolvedTreatment<'_>) -> PathBuf {
        self.workspace.join(&format!("{}.first.log", treatment.plan.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_what_builds_read_alike() {
        let named = |engine: Engine, version: &str, storage: Option<StorageEngine>| {
            FolderKind::named(engine, &version.parse().expect("a version"), storage).name().to_owned()
        };
        let (innodb, rocksdb) = (Some(StorageEngine::Innodb), Some(StorageEngine::Rocksdb));
        for (engine, version, storage, name) in [
            (Engine::Postgres, "17.11", None, "pg17"),
            (Engine::Postgres, "17.2", None, "pg17"),
            (Engine::Postgres, "19beta1", None, "pg19b1"),
            (Engine::Postgres, "19rc1", None, "pg19rc1"),
            (Engine::Mysql, "8.0.33", innodb, "my8033-innodb"),
            (Engine::Mysql, "8.0.15", innodb, "my8015-innodb"),
            (Engine::Mariadb, "11.4.5", innodb, "ma110405-innodb"),
            (Engine::Mariadb, "11.4.5", rocksdb, "ma110405-rocksdb"),
        ] {
            assert_eq!(named(engine, version, storage), name);
        }
    }
}
