//! The server that clients are measured against, on one CPU.
//!
//! In: a build and the rows of its table. Out: where it listens, answers to questions. It is
//! gone when the value is dropped.

use super::place::Place;
use crate::args::BenchClientArgs;
use crate::lab::{Lab, this_machine};
use crate::screen::Screen;
use anyhow::{Context, Result, bail};
use rqps_campaign::vocabulary::default_profile;
use rqps_load::prepare_data::prepare_data;
use rqps_machine::{Account, Lease, Workspace};
use rqps_model::StorageEngine;
use rqps_model::plan::DataShape;
use rqps_model::settings::MachineClass;
use rqps_server::{Launch, Listen, Server, Sizing, cluster};
use rqps_wire::{Endpoint, Session, Transport};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Memory that the server is sized for: the tables are small.
const SERVER_MEMORY_BYTES: u64 = 2 << 30;

/// It starts and answers within this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with a loaded table.
pub(super) struct Stand {
    /// All that this process may use.
    pub(super) cpus: Vec<usize>,
    pub(super) place: Place,
    pub(super) server: Server,
    workspace: Workspace,
}

impl Stand {
    pub(super) fn start(args: &BenchClientArgs, cpus: Vec<usize>, screen: Screen) -> Result<Stand> {
        let lab = Lab::open(screen)?;
        let build = lab.install(&args.build.parse()?, screen)?;
        let lease = Lease::open(&lab.cache)?;
        let workspace = Workspace::create(&lease, &lab.cache, None)?;
        let data = workspace.join("data");
        let account = Account::choose();
        cluster::initialise(&build, &data, account, true, &lease)?;
        let machine = MachineClass { memory_bytes: SERVER_MEMORY_BYTES, ..this_machine()? };
        let sizing = Sizing { machine, disk_free_bytes: None, data_bytes: None, clients: 64 };
        let storage = build.engine.storage_engines().contains(&StorageEngine::Innodb).then_some(StorageEngine::Innodb);
        let profile = default_profile(build.engine);
        let configuration =
            lab.profiles.render(build.engine, profile, &build.version, storage, &sizing, &BTreeMap::new())?;
        let launch = Launch {
            build: &build,
            data_dir: &data,
            configuration: &configuration,
            storage,
            account,
            cpus: &cpus[..1],
            listen: Listen::Socket,
            log: &workspace.join("server.log"),
            timeout: PATIENCE,
        };
        let server = Server::start(&launch, &lease)?;
        let endpoint = server.endpoint();
        let Transport::Unix { path: socket } = endpoint.transport.clone() else {
            bail!("the server listens on no Unix socket");
        };
        prepare_data(server.target(), DataShape { tables: 1, rows: args.rows }, 1, 1)?;
        let Endpoint { user, database, .. } = endpoint;
        let place = Place { engine: build.engine, socket, user, database, rows: args.rows };
        Ok(Stand { cpus, place, server, workspace })
    }

    /// A folder for what clients need, gone with the server.
    pub(super) fn folder(&self) -> &Path {
        self.workspace.path()
    }

    /// A column of the first row of an answer.
    pub(super) fn ask(&self, sql: &str, column: usize) -> Result<String> {
        let table = Session::connect(&self.server.endpoint(), PATIENCE)?.query(sql)?;
        let value = table.rows.first().and_then(|row| row.get(column)).and_then(Clone::clone);
        value.with_context(|| format!("the server has no answer to `{sql}`"))
    }
}
