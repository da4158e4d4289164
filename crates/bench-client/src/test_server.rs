//! The server that clients are measured against, on the CPU of the clients or on others.
//!
//! In: a build and the rows of its table. Out: where it listens, answers to queries. It is gone when the value is
//! dropped.

use crate::args::Args;
use crate::output::{say, warn};
use crate::place::Place;
use anyhow::{Context, Result, bail};
use rqps_builds::{Catalog, installation};
use rqps_campaign::vocabulary::default_profile;
use rqps_load::prepare_data::prepare_data;
use rqps_machine::{Account, Cache, Lease, Workspace, lease};
use rqps_model::plan::DataShape;
use rqps_model::settings::MachineClass;
use rqps_model::{Placement, StorageEngine};
use rqps_server::{Launch, Profiles, Server, Sizing, cluster, placement};
use rqps_wire::{Endpoint, Session, Transport};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Memory that the server is sized for: the tables are small.
const SERVER_MEMORY_BYTES: u64 = 2 << 30;

/// It starts and answers within this time.
const DEADLINE: Duration = Duration::from_secs(60);

/// A server with a loaded table.
pub(crate) struct TestServer {
    /// All that this process may use.
    pub(crate) cpus: Vec<usize>,
    /// Those of the server, and those of clients.
    of_server: Vec<usize>,
    of_clients: Vec<usize>,
    pub(crate) place: Place,
    pub(crate) process: Server,
    workspace: Workspace,
}

impl TestServer {
    /// Starts it, and pins this process to the CPUs of clients.
    pub(crate) fn start(args: &Args, cpus: Vec<usize>) -> Result<TestServer> {
        let placement = if args.split { Placement::Split } else { Placement::Same };
        let (of_server, of_clients) = placement::choose(placement, &cpus, 1)?;
        placement::pin_current(&of_clients)?;
        let cache = Cache::open().context("opening the cache (RQPS_CACHE names another folder for it)")?;
        for cleared in lease::clear_stale(&cache)? {
            cleared.faults.iter().for_each(|fault| warn(fault));
        }
        let mut show = |step| say(&format!("{}: {step:?}", args.build));
        let build = installation::install(&args.build.parse()?, &Catalog::load()?, &cache, &mut show)?;
        let lease = Lease::open(&cache)?;
        let workspace = Workspace::create(&lease, &cache, None)?;
        let data = workspace.join("data");
        let account = Account::choose();
        cluster::initialise(&build, &data, account, true, &lease)?;
        let machine = MachineClass { cores: 1, memory_bytes: SERVER_MEMORY_BYTES };
        let sizing = Sizing { machine, disk_free_bytes: None, data_bytes: None, clients: 64, alternating_builds: 1 };
        let storage = build.engine.storage_engines().contains(&StorageEngine::Innodb).then_some(StorageEngine::Innodb);
        let profile = default_profile(build.engine);
        let configuration =
            Profiles::load()?.render(build.engine, profile, &build.version, storage, &sizing, &BTreeMap::new())?;
        let launch = Launch {
            build: &build,
            data_dir: &data,
            configuration: &configuration,
            storage,
            account,
            cpus: &of_server,
            log: &workspace.join("server.log"),
            timeout: DEADLINE,
        };
        let process = Server::start(&launch, &lease)?;
        let endpoint = process.endpoint();
        let Transport::Unix { path: socket } = endpoint.transport.clone() else {
            bail!("the server listens on no Unix socket");
        };
        prepare_data(process.target(), DataShape { tables: 1, rows: args.rows }, 1, 1)?;
        let Endpoint { user, database, .. } = endpoint;
        let place = Place { engine: build.engine, socket, user, database, rows: args.rows };
        Ok(TestServer { cpus, of_server, of_clients, place, process, workspace })
    }

    /// A folder for what clients need, gone with the server.
    pub(crate) fn folder(&self) -> &Path {
        self.workspace.path()
    }

    /// Gives server and this process all CPUs while `work` is done, as a campaign does while it loads.
    pub(crate) fn on_all_cpus<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        placement::pin_current(&self.cpus)?;
        self.process.set_cpus(&self.cpus)?;
        let done = work()?;
        self.process.set_cpus(&self.of_server)?;
        placement::pin_current(&self.of_clients)?;
        Ok(done)
    }

    /// A column of the first row of an answer.
    pub(crate) fn query(&self, sql: &str, column: usize) -> Result<String> {
        let table = Session::connect(&self.process.endpoint(), DEADLINE)?.query(sql)?;
        let value = table.rows.first().and_then(|row| row.get(column)).and_then(Clone::clone);
        value.with_context(|| format!("the server has no answer to `{sql}`"))
    }
}
