//! A treatment while its servers are up: its copy of the data, its running server, and what became of it.

use crate::ConductError;
use crate::supervise::supervised_on;
use crate::treatment::{LOG_LINES, ResolvedTreatment};
use rqps_load::suite::{Chain, Held};
use rqps_machine::{Lease, Workspace, remove_tree};
use rqps_model::facts::BuildFacts;
use rqps_model::sample::ProgramText;
use rqps_model::{Part, Sample, StorageEngine};
use rqps_observe::{Probes, Subject};
use rqps_server::Server;
use rqps_store::{StoreError, Writer};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Starts that may fail one after the other in a round; the tests left in it fail without another try.
const STARTS_FAILED_MAX: u32 = 2;

/// Acts on a server as probes see it.
pub(crate) fn observed<T>(
    server: &Server,
    storage: Option<StorageEngine>,
    data_folder: &Path,
    act: impl FnOnce(&Subject<'_>) -> T,
) -> T {
    let endpoint = server.endpoint();
    act(&Subject { endpoint: &endpoint, storage, data_folder, pids: &|| server.pids_with_ended() })
}

/// A treatment in a round.
pub(crate) struct Arm<'a> {
    pub(crate) treatment: &'a ResolvedTreatment<'a>,
    /// The name of its copy of the data.
    pub(crate) copy: String,
    pub(crate) data: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) server: Option<Server>,
    /// Its build as it is started: where its programs lie is drawn anew for each setup.
    pub(crate) program: BuildFacts,
    /// In what pages the program of the server lies.
    pub(crate) program_text: Option<ProgramText>,
    /// Servers started in this round so far: one each time that it got fresh data, and one more after each crash.
    pub(crate) starts: u32,
    /// Whether a server died and was started again on the same data.
    pub(crate) was_restarted: bool,
    /// How many of them failed one after the other, up to now.
    pub(crate) starts_failed: u32,
    /// Whether the treatment is not measured at all; `failure` says why.
    pub(crate) is_excluded: bool,
    /// What the work before the next test did not reach, such as pages that are still dirty.
    pub(crate) pending_warnings: Vec<String>,
    /// Why there is no server, or one that is not to be trusted: it failed a test or the work before one.
    pub(crate) failure: Option<String>,
    /// Where tests build on each other: what they leave with the client, and which of them failed.
    pub(crate) chain: Chain,
    pub(crate) broken: Option<String>,
    /// Where data go on from test to test: what its tables hold before the next one.
    pub(crate) held: Option<Held>,
}

impl<'a> Arm<'a> {
    /// A treatment before it has a copy or a server; one that is excluded gets neither.
    pub(crate) fn idle(
        treatment: &'a ResolvedTreatment<'a>,
        workspace: &Workspace,
        why_excluded: Option<&str>,
    ) -> Arm<'a> {
        Arm {
            treatment,
            copy: String::new(),
            data: workspace.path().to_owned(),
            log: workspace.join(&format!("{}.log", treatment.plan.name)),
            server: None,
            program: treatment.build.clone(),
            program_text: None,
            starts: 0,
            was_restarted: false,
            starts_failed: 0,
            pending_warnings: Vec::new(),
            is_excluded: why_excluded.is_some(),
            failure: why_excluded.map(str::to_owned),
            chain: Chain::default(),
            broken: None,
            held: None,
        }
    }

    /// Its log goes to the store: what a server said matters most where something went wrong.
    pub(crate) fn keep_log(&self, store: &Writer, heading: &str) -> Result<(), StoreError> {
        match File::open(&self.log) {
            Ok(mut log) => store.append_server_log(self.name(), heading, &mut log),
            Err(_) => Ok(()),
        }
    }

    /// Ends its server at once and removes its copy, unless it goes on with that: what is not read again needs no
    /// shutdown that writes it back. A copy that cannot be removed, which is told, goes with the workspace, at the
    /// latest.
    pub(crate) fn clear(&mut self, keeps_data: bool) -> Option<String> {
        self.server = None;
        let _ = std::fs::remove_file(&self.log);
        if keeps_data || self.copy.is_empty() {
            return None;
        }
        let error = remove_tree(&self.data).err()?;
        Some(format!("could not remove the data of {}: {error}", self.name()))
    }

    /// Ends the probes of a test: small figures go into its sample, the rest is returned.
    pub(crate) fn end(&self, probes: Probes, sample: &mut Sample) -> Vec<Part> {
        match &self.server {
            Some(server) => {
                observed(server, self.treatment.plan.storage, &self.data, |it| probes.end(Some(it), sample))
            }
            None => probes.end(None, sample),
        }
    }

    /// Why a test that builds on others is not run.
    pub(crate) fn why_skipped(&self) -> Option<String> {
        let failure = self.failure.as_deref();
        match &self.broken {
            Some(failed) => {
                // Enough for what only follows from it.
                let why = failure.and_then(|failure| failure.lines().next()).unwrap_or("its sample says why");
                Some(format!("{failed} failed before it in this pass: {why}"))
            }
            None if self.server.is_none() => Some(failure.unwrap_or("its server could not be started").to_owned()),
            None => None,
        }
    }

    /// Notes that a test failed, and returns that with what is known of the server.
    pub(crate) fn fail(&mut self, failure: String) -> String {
        let failure = match &self.failure {
            Some(why) => format!("{failure}; {why}"),
            None => failure,
        };
        self.failure = Some(failure.clone());
        failure
    }

    /// The treatment's name.
    pub(crate) fn name(&self) -> &str {
        &self.treatment.plan.name
    }

    /// Starts the server, in place of one that is there; a server that will not start is this arm's failure, not the
    /// campaign's end. Ends early when `stop` is raised: a recovery may take minutes.
    pub(crate) fn start(&mut self, lease: &Lease, stop: &AtomicBool) -> Result<(), ConductError> {
        self.server = None;
        self.starts += 1;
        let started = supervised_on(self.treatment.build.engine, &self.data, stop, || {
            Ok(self.treatment.start_from(&self.program, &self.data, &self.log, lease))
        })?;
        match started {
            Ok(server) => {
                self.program_text = server.program_text();
                (self.server, self.failure, self.starts_failed) = (Some(server), None, 0);
            }
            Err(error) => {
                (self.server, self.failure) = (None, Some(error.to_string()));
                self.starts_failed += 1;
            }
        }
        Ok(())
    }

    /// Whether a start is worth trying: one that never becomes ready costs minutes each time.
    pub(crate) fn may_start(&self) -> bool {
        !self.is_excluded && self.starts_failed < STARTS_FAILED_MAX
    }

    /// Notices a server that died, with its last words.
    pub(crate) fn notice_death(&mut self) {
        let Some(server) = &self.server else { return };
        if !server.is_alive() {
            let last = server.log_tail(LOG_LINES).join("\n");
            self.failure = Some(format!("the server of {} died; its log ends with:\n{last}", self.name()));
            self.server = None;
        }
    }
}
