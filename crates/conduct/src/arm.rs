//! A treatment inside a round: its copy of the data, its running server, and what became of it.

use crate::ConductError;
use crate::event::{Event, Watch};
use crate::supervise::supervised_on;
use rqps_machine::{Account, Lease, Workspace, remove_tree};
use rqps_model::facts::{BuildFacts, SettingsFacts};
use rqps_model::plan::TreatmentPlan;
use rqps_model::{Part, Sample, StorageEngine};
use rqps_observe::engine::storage_engine;
use rqps_observe::{Probes, Subject};
use rqps_server::{Configuration, Launch, Listen, Server, ServerError};
use rqps_store::{StoreError, Writer};
use rqps_wire::{Endpoint, Session};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time for a server to become ready; crash recovery of a large log needs minutes.
const START_TIMEOUT: Duration = Duration::from_secs(300);

/// Starts that may fail one after the other in a round; the tests left in it fail without another try.
const STARTS_FAILED_MAX: u32 = 2;

/// How long a session may take to connect.
pub(crate) const CONNECT_DEADLINE: Duration = Duration::from_secs(30);

/// Lines of a server's log that a failed sample or an error keeps.
pub(crate) const LOG_LINES: usize = 20;

/// A table that is there for a moment, to see what stores it.
const PROBE: &str = "rqps_probe";

/// A treatment as it enters every round.
#[derive(Debug)]
pub(crate) struct Contestant<'a> {
    pub(crate) plan: &'a TreatmentPlan,
    pub(crate) build: &'a BuildFacts,
    pub(crate) configuration: Configuration,
    pub(crate) account: Account,
}

impl Contestant<'_> {
    /// Starts a server of this treatment on a data folder.
    pub(crate) fn start(&self, data: &Path, log: &Path, lease: &Lease) -> Result<Server, ServerError> {
        let launch = Launch {
            build: self.build,
            data_dir: data,
            configuration: &self.configuration,
            storage: self.plan.storage,
            account: self.account,
            cpus: &[],
            listen: Listen::Socket,
            log,
            timeout: START_TIMEOUT,
        };
        Server::start(&launch, lease)
    }

    /// The settings as a running server of this treatment tells them; one that is not as written is an error, since it
    /// would make every number of the treatment a wrong one.
    pub(crate) fn settings(&self, server: &Server) -> Result<SettingsFacts, ConductError> {
        let name = &self.plan.name;
        let readback =
            server.settings().map_err(ConductError::server(format!("reading back the settings of {name}")))?;
        // Written for a server that may not have them, and this one has not.
        let mut written = self.configuration.written.clone();
        written.retain(|name, _| !readback.left_out.contains_key(name));
        let mut left_out = self.configuration.left_out.clone();
        left_out.extend(readback.left_out.into_iter().chain(readback.adjusted));
        if let Some(mismatch) = readback.mismatches.into_iter().next() {
            return Err(ConductError::Setting {
                treatment: name.clone(),
                setting: mismatch.name,
                written: mismatch.written,
                effective: mismatch.effective,
            });
        }
        Ok(SettingsFacts {
            configuration: self.configuration.name.clone(),
            written,
            left_out,
            effective: readback.effective,
            server_cpus: Vec::new(),
            client_cpus: Vec::new(),
            encoding: readback.encoding,
            collation: readback.collation,
            checksums: readback.checksums,
            storage_engine: String::new(),
            transport: String::new(),
        })
    }

    /// Makes a table as planned on a server without any, tells how it is stored and how a client connects, and removes it.
    pub(crate) fn probe(&self, endpoint: &Endpoint) -> Result<Connection, ConductError> {
        let Some(storage) = self.plan.storage else { return self.connection(endpoint) };
        let execute = |sql: &str| {
            let mut session = Session::connect(endpoint, CONNECT_DEADLINE)?;
            session.execute(sql)?;
            session.close();
            Ok(())
        };
        let trying = || format!("trying whether {} stores tables by {storage}", self.plan.name);
        let tried = |sql: &str| execute(sql).map_err(ServerError::Wire).map_err(ConductError::server(trying()));
        tried(&format!("CREATE TABLE {PROBE} (id int NOT NULL PRIMARY KEY) ENGINE={storage}"))?;
        let told = self.connection(endpoint);
        tried(&format!("DROP TABLE {PROBE}"))?;
        told
    }

    /// How a client connects to a server of this treatment, and what stores the loaded tables there; another storage
    /// engine than planned is an error, for the same reason.
    pub(crate) fn connection(&self, endpoint: &Endpoint) -> Result<Connection, ConductError> {
        let name = &self.plan.name;
        let asked = || {
            let mut session = Session::connect(endpoint, CONNECT_DEADLINE)?;
            let storage_engine = storage_engine(&mut session, endpoint.protocol())?;
            let transport = session.transport();
            session.close();
            Ok(Connection { storage_engine, transport })
        };
        let told = asked()
            .map_err(ServerError::Wire)
            .map_err(ConductError::server(format!("asking {name} what stores its tables")))?;
        match self.plan.storage {
            Some(planned) if planned.name() != told.storage_engine => Err(ConductError::StorageEngine {
                treatment: name.clone(),
                planned: planned.name().to_owned(),
                found: told.storage_engine,
            }),
            _ => Ok(told),
        }
    }
}

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

/// What a session to a server with tables shows.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// What stores the tables; empty where the engine leaves no choice.
    pub(crate) storage_engine: String,
    /// `unix` or `tcp`, with the cipher where there is one.
    pub(crate) transport: String,
}

/// A treatment in a round.
pub(crate) struct Arm<'a> {
    pub(crate) contestant: &'a Contestant<'a>,
    /// The name of its copy of the data.
    pub(crate) copy: String,
    pub(crate) data: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) server: Option<Server>,
    /// Servers started in this round so far: one, and one more after each crash.
    pub(crate) starts: u32,
    /// How many of them failed one after the other, up to now.
    pub(crate) starts_failed: u32,
    /// Whether the treatment is measured at all; if not, `failure` says why.
    pub(crate) takes_part: bool,
    /// What the work before the next test did not reach, such as pages that are still dirty.
    pub(crate) undone: Vec<String>,
    /// Why there is no server, or one that is not to be trusted: it failed a test or the work before one.
    pub(crate) failure: Option<String>,
}

impl<'a> Arm<'a> {
    /// A treatment before it has a copy or a server; one that was refused takes no part.
    pub(crate) fn idle(contestant: &'a Contestant<'a>, workspace: &Workspace, refusal: Option<&str>) -> Arm<'a> {
        Arm {
            contestant,
            copy: String::new(),
            data: workspace.path().to_owned(),
            log: workspace.join(&format!("{}.log", contestant.plan.name)),
            server: None,
            starts: 0,
            starts_failed: 0,
            undone: Vec::new(),
            takes_part: refusal.is_none(),
            failure: refusal.map(str::to_owned),
        }
    }

    /// Its log goes to the store: what a server said matters most where something went wrong.
    pub(crate) fn keep_log(&self, store: &Writer, heading: &str) -> Result<(), StoreError> {
        match File::open(&self.log) {
            Ok(mut log) => store.append_server_log(self.name(), heading, &mut log),
            Err(_) => Ok(()),
        }
    }

    /// Ends its server at once and removes its copy, which nobody reads again: no need for a shutdown that writes it back. A
    /// copy that cannot be removed is told; it goes with the workspace, at the latest.
    pub(crate) fn clear(&mut self, watch: &mut Watch<'_>) {
        self.server = None;
        let _ = std::fs::remove_file(&self.log);
        if !self.copy.is_empty()
            && let Err(error) = remove_tree(&self.data)
        {
            watch(Event::Warning { message: format!("the data of {} are left over: {error}", self.name()) });
        }
    }

    /// Ends the probes of a test: small figures go into its sample, the rest is returned.
    pub(crate) fn end(&self, probes: Probes, sample: &mut Sample) -> Vec<Part> {
        match &self.server {
            Some(server) => {
                observed(server, self.contestant.plan.storage, &self.data, |it| probes.end(Some(it), sample))
            }
            None => probes.end(None, sample),
        }
    }

    /// Notes that a test failed, with what is known of the server, and tells it all.
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
        &self.contestant.plan.name
    }

    /// Starts the server, in place of one that is there; a server that will not start is this arm's failure, not the
    /// campaign's end. Ends early when `stop` is raised: a recovery may take minutes.
    pub(crate) fn start(&mut self, lease: &Lease, stop: &AtomicBool) -> Result<(), ConductError> {
        self.server = None;
        self.starts += 1;
        let started = supervised_on(self.contestant.build.engine, &self.data, stop, || {
            Ok(self.contestant.start(&self.data, &self.log, lease))
        })?;
        match started {
            Ok(server) => (self.server, self.failure, self.starts_failed) = (Some(server), None, 0),
            Err(error) => {
                (self.server, self.failure) = (None, Some(error.to_string()));
                self.starts_failed += 1;
            }
        }
        Ok(())
    }

    /// Whether a start is worth trying: one that never becomes ready costs minutes each time.
    pub(crate) fn may_start(&self) -> bool {
        self.takes_part && self.starts_failed < STARTS_FAILED_MAX
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
