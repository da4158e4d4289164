//! A treatment with everything that its servers are started with: its build, and its configuration for this machine.
//!
//! In: the plan, the builds, the profiles, and what an earlier run of the campaign wrote. Out: [`ResolvedTreatment`]s,
//! which start servers, read back their settings and look how they store tables. A server that is not as planned is an
//! error.

use crate::ConductError;
use crate::job::Job;
use rqps_machine::{Account, Lease, Workspace};
use rqps_model::facts::{BuildFacts, SettingsFacts};
use rqps_model::plan::{DataSet, Stage, TreatmentPlan};
use rqps_observe::engine::storage_engine;
use rqps_server::{Configuration, Launch, Server, ServerError, Sizing};
use rqps_store::{StoreError, Writer};
use rqps_wire::{Endpoint, Session};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Time for a server to become ready; crash recovery of a large log needs minutes.
const START_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a session may take to connect.
const CONNECT_DEADLINE: Duration = Duration::from_secs(30);

/// Lines of a server's log that a failed sample or an error keeps.
pub(crate) const LOG_LINES: usize = 20;

/// A table that is there for a moment, to see what stores it.
const PROBE: &str = "rqps_probe";

/// Bytes of a row with its share of the indexes, as PostgreSQL stores it; for sizing only.
const ROW_BYTES: u64 = 240;

/// Settings by name.
type Settings = BTreeMap<String, String>;

/// A treatment as it enters every round.
#[derive(Debug)]
pub(crate) struct ResolvedTreatment<'a> {
    pub(crate) plan: &'a TreatmentPlan,
    pub(crate) build: &'a BuildFacts,
    pub(crate) configuration: Configuration,
    pub(crate) account: Account,
    /// The name by which a plan gives it data that others do not get.
    pub(crate) only: Option<String>,
    /// Whether its tables are the user's own, who says what stores them.
    pub(crate) has_own_data: bool,
}

impl ResolvedTreatment<'_> {
    /// Starts a server of this treatment on a data folder.
    pub(crate) fn start(&self, data: &Path, log: &Path, lease: &Lease) -> Result<Server, ServerError> {
        self.start_from(self.build, data, log, lease)
    }

    /// The same from a copy of its build.
    pub(crate) fn start_from(
        &self,
        build: &BuildFacts,
        data: &Path,
        log: &Path,
        lease: &Lease,
    ) -> Result<Server, ServerError> {
        let launch = Launch {
            build,
            data_dir: data,
            configuration: &self.configuration,
            storage: self.plan.storage,
            account: self.account,
            cpus: &[],
            log,
            timeout: START_TIMEOUT,
        };
        Server::start(&launch, lease)
    }

    /// The settings as a running server of this treatment reports them; one that is not as written is an error, since
    /// it would make every number of the treatment a wrong one.
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

    /// Makes a table as planned on a server without any, reads how it is stored and how a client connects, and removes
    /// it.
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
        let found = self.connection(endpoint);
        tried(&format!("DROP TABLE {PROBE}"))?;
        found
    }

    /// How a client connects to a server of this treatment, and what stores the loaded tables there; another storage
    /// engine than planned is an error, for the same reason.
    pub(crate) fn connection(&self, endpoint: &Endpoint) -> Result<Connection, ConductError> {
        let name = &self.plan.name;
        let read = || {
            let mut session = Session::connect(endpoint, CONNECT_DEADLINE)?;
            let storage_engine = storage_engine(&mut session, endpoint.protocol())?;
            let transport = session.transport();
            session.close();
            Ok(Connection { storage_engine, transport })
        };
        let found = read()
            .map_err(ServerError::Wire)
            .map_err(ConductError::server(format!("reading what stores the tables of {name}")))?;
        match self.plan.storage {
            Some(planned) if planned.name() != found.storage_engine && !self.has_own_data => {
                Err(ConductError::StorageEngine {
                    treatment: name.clone(),
                    planned: planned.name().to_owned(),
                    found: found.storage_engine,
                })
            }
            _ => Ok(found),
        }
    }
}

/// What a session to a server with tables shows.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    /// What stores the tables; empty where the engine leaves no choice.
    pub(crate) storage_engine: String,
    /// `unix` or `tcp`, with the cipher where there is one.
    pub(crate) transport: String,
}

/// Each treatment with its build and its configuration for this machine.
pub(crate) fn resolve<'a>(
    job: &Job<'a>,
    workspace: &Workspace,
    store: &Writer,
) -> Result<Vec<ResolvedTreatment<'a>>, ConductError> {
    let plan = job.plan;
    let free = rustix::fs::statvfs(workspace.path()).ok().map(|fs| fs.f_bavail * fs.f_frsize);
    let folders = plan.folders_together();
    let rows = plan.stages.iter().map(|stage| stage.rows).max().unwrap_or(0);
    let connections = |stage: &Stage| stage.clients.iter().max().map_or(1, |clients| clients * stage.connections);
    let sizing = Sizing {
        machine: plan.machine.expect("campaign settles the machine class of every plan"),
        disk_free_bytes: free.map(|bytes| bytes / folders as u64),
        data_bytes: Some(rows * ROW_BYTES),
        clients: plan.stages.iter().map(connections).max().unwrap_or(1),
        alternating_builds: plan.alternating_builds() as u32,
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
    let resolved = |((treatment, build), (configuration, earlier))| {
        let configuration = match Settings::is_empty(&earlier) {
            true => configuration,
            false => render((treatment, build), &treatment.set.clone().into_iter().chain(earlier).collect())?,
        };
        let has_own_data = job.plan.stages.iter().any(|stage| matches!(stage.data, DataSet::Own(_)));
        let only = job.plan.stages.iter().find_map(|stage| stage.data.only_for(&treatment.name)).map(str::to_owned);
        Ok(ResolvedTreatment { plan: treatment, build, configuration, account: Account::choose(), only, has_own_data })
    };
    each().zip(rendered.into_iter().zip(earlier)).map(resolved).collect()
}

/// What earlier runs of the campaign wrote otherwise than this one would. How much log a server may keep follows from
/// the room on the disk, which changes from run to run; builds that are compared must not differ in it, so the first
/// run's holds. A treatment that no earlier run came to gets what another got in place of the same value.
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
    fn a_later_run_keeps_the_log_sizes_of_the_first() {
        let settings = |wal: &str, buffers: &str| {
            Settings::from([("max_wal_size".into(), wal.into()), ("shared_buffers".into(), buffers.into())])
        };
        let check = |now: &[Settings], kept: &[Option<Settings>], expected: &[&str]| {
            let found = as_earlier(&now.iter().collect::<Vec<_>>(), kept);
            let texts: Vec<String> = found
                .iter()
                .map(|one| one.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
                .collect();
            assert_eq!(texts, expected);
        };
        let now = [settings("2675MB", "6GB"), settings("2675MB", "6GB"), settings("9GB", "6GB")];
        check(&now, &[None, None, None], &["", "", ""]);
        check(&now, &[Some(now[0].clone()), None, None], &["", "", ""]);
        // The first was measured before; the second, not yet, gets the same; the third, set by its user, does not.
        let before = settings("2536MB", "6GB");
        check(&now, &[Some(before.clone()), None, None], &["max_wal_size=2536MB", "max_wal_size=2536MB", ""]);
        // What a treatment itself ran with before goes before what others did.
        check(&now, &[Some(before), Some(now[1].clone()), None], &["max_wal_size=2536MB", "", ""]);
        // A server that does not know a setting has not kept it.
        check(&now[..1], &[Some(Settings::new())], &[""]);
    }
}
