//! A treatment inside a round: its copy of the data, its running server, and what became of it.

use crate::ConductError;
use rqps_model::facts::{BuildFacts, SettingsFacts};
use rqps_model::plan::TreatmentPlan;
use rqps_observe::process::ProcessMeter;
use rqps_server::{Account, Configuration, Launch, Lease, Listen, Server, ServerError};
use std::path::PathBuf;
use std::time::Duration;

/// Time for a server to become ready; crash recovery of a large log needs minutes.
const START_TIMEOUT: Duration = Duration::from_secs(300);

/// Lines of a server's log that a failed sample or an error keeps.
pub(crate) const LOG_LINES: usize = 20;

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
    pub(crate) fn start(
        &self,
        data: &std::path::Path,
        log: &std::path::Path,
        lease: &Lease,
    ) -> Result<Server, ServerError> {
        let launch = Launch {
            build: self.build,
            data_dir: data,
            configuration: &self.configuration,
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
            written: self.configuration.written.clone(),
            left_out: self.configuration.left_out.clone(),
            effective: readback.effective,
            server_cpus: Vec::new(),
            client_cpus: Vec::new(),
            encoding: readback.encoding,
            collation: readback.collation,
            checksums: readback.checksums,
            transport: "unix".to_owned(),
        })
    }
}

/// A treatment in a round.
pub(crate) struct Arm<'a> {
    pub(crate) contestant: &'a Contestant<'a>,
    /// The name of its copy of the data.
    pub(crate) copy: String,
    pub(crate) data: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) server: Option<Server>,
    pub(crate) meter: ProcessMeter,
    /// Servers started in this round so far: one, and one more after each crash.
    pub(crate) starts: u32,
    /// Why there is no server, or one that is not to be trusted: it failed a test or the work before one.
    pub(crate) failure: Option<String>,
}

impl Arm<'_> {
    /// The treatment's name.
    pub(crate) fn name(&self) -> &str {
        &self.contestant.plan.name
    }

    /// Starts the server, in place of one that is there; a server that will not start is this arm's failure, not the
    /// campaign's end.
    pub(crate) fn start(&mut self, lease: &Lease) {
        self.server = None;
        self.starts += 1;
        self.meter = ProcessMeter::new();
        match self.contestant.start(&self.data, &self.log, lease) {
            Ok(server) => (self.server, self.failure) = (Some(server), None),
            Err(error) => (self.server, self.failure) = (None, Some(error.to_string())),
        }
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
