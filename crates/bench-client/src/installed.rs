//! The build that clients are measured against, made ready: servers of it on the CPU of the clients or on others.
//!
//! In: a build. Out: data folders and servers on them, whose folders are gone when the value is dropped.

use crate::args::Args;
use crate::output::{say, warn};
use crate::place::Place;
use anyhow::{Context, Result, bail};
use rqps_builds::{Catalog, installation};
use rqps_campaign::vocabulary::default_profile;
use rqps_machine::{Account, Cache, Lease, Workspace, lease};
use rqps_model::facts::BuildFacts;
use rqps_model::settings::MachineClass;
use rqps_model::{Engine, Placement, StorageEngine};
use rqps_server::{Configuration, Launch, Profiles, Server, Sizing, cluster, placement};
use rqps_wire::Transport;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Memory that a server is sized for: the tables are small.
const SERVER_MEMORY_BYTES: u64 = 2 << 30;

/// A server starts within this time.
const DEADLINE: Duration = Duration::from_secs(60);

/// A build with a configuration, and a place for its data.
pub(crate) struct Installed {
    /// All CPUs that this process may use.
    pub(crate) cpus: Vec<usize>,
    /// Those of servers, and those of clients.
    of_server: Vec<usize>,
    of_clients: Vec<usize>,
    build: BuildFacts,
    configuration: Configuration,
    storage: Option<StorageEngine>,
    account: Account,
    lease: Lease,
    workspace: Workspace,
}

impl Installed {
    /// Installs it, and pins this process to the CPUs of clients.
    pub(crate) fn install(args: &Args, cpus: Vec<usize>) -> Result<Installed> {
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
        let machine = MachineClass { cores: 1, memory_bytes: SERVER_MEMORY_BYTES };
        let sizing = Sizing { machine, disk_free_bytes: None, data_bytes: None, clients: 64, alternating_builds: 1 };
        let storage = build.engine.storage_engines().contains(&StorageEngine::Innodb).then_some(StorageEngine::Innodb);
        let profile = default_profile(build.engine);
        let configuration =
            Profiles::load()?.render(build.engine, profile, &build.version, storage, &sizing, &BTreeMap::new())?;
        let account = Account::choose();
        Ok(Installed { cpus, of_server, of_clients, build, configuration, storage, account, lease, workspace })
    }

    pub(crate) fn engine(&self) -> Engine {
        self.build.engine
    }

    /// A folder for data and for what clients need.
    pub(crate) fn folder(&self) -> &Path {
        self.workspace.path()
    }

    /// Makes a data folder without tables.
    pub(crate) fn initialise(&self, name: &str) -> Result<PathBuf> {
        let data = self.workspace.join(name);
        cluster::initialise(&self.build, &data, self.account, true, &self.lease)?;
        Ok(data)
    }

    /// Starts a server on a data folder, and waits until it answers.
    pub(crate) fn start(&self, data: &Path) -> Result<Server> {
        let launch = Launch {
            build: &self.build,
            data_dir: data,
            configuration: &self.configuration,
            storage: self.storage,
            account: self.account,
            cpus: &self.of_server,
            log: &data.with_extension("log"),
            timeout: DEADLINE,
        };
        Ok(Server::start(&launch, &self.lease)?)
    }

    /// Where a server listens, whose table has so many rows.
    pub(crate) fn place(&self, server: &Server, rows: u64) -> Result<Place> {
        let endpoint = server.endpoint();
        let Transport::Unix { path: socket } = endpoint.transport else {
            bail!("the server listens on no Unix socket");
        };
        Ok(Place { engine: self.engine(), socket, user: endpoint.user, database: endpoint.database, rows })
    }

    /// Gives a server and this process all CPUs while `work` is done, as a campaign does while it loads.
    pub(crate) fn on_all_cpus<T>(&self, server: &Server, work: impl FnOnce() -> Result<T>) -> Result<T> {
        placement::pin_current(&self.cpus)?;
        server.set_cpus(&self.cpus)?;
        let done = work()?;
        server.set_cpus(&self.of_server)?;
        placement::pin_current(&self.of_clients)?;
        Ok(done)
    }
}
