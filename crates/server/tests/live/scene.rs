//! What the live tests share: installed builds, a lease of their own, a data folder, and the proof that nothing is
//! left.
//!
//! Builds and empty data folders come from the user's cache; what is not there is fetched or made once. Leases are kept
//! in a folder of the test, so that it can check that all of them were given back.

use rqps_builds::{Catalog, installation};
use rqps_machine::lease::clear_stale;
use rqps_machine::proctree::{self, ProcessId};
use rqps_machine::{Account, Cache, Lease, Workspace};
use rqps_model::facts::BuildFacts;
use rqps_model::settings::MachineClass;
use rqps_model::{BuildSpec, Engine, StorageEngine};
use rqps_server::{Configuration, Launch, Profiles, Server, Sizing, cluster};
use rqps_wire::Session;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

/// The build of a `--build` word, installed if need be.
pub(crate) fn build(spec: &str) -> BuildFacts {
    let spec: BuildSpec = spec.parse().expect("a build");
    let cache = Cache::open().expect("the user's cache");
    installation::install(&spec, &Catalog::built_in(), &cache, &mut |_| ()).expect("installed")
}

/// The time that anything in a test may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// One test's own place.
pub(crate) struct Scene {
    pub(crate) cache: Cache,
    pub(crate) lease: Lease,
    pub(crate) workspace: Workspace,
    root: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let folder = folder();
        let scene = Scene::at(folder.path());
        Scene { _folder: Some(folder), ..scene }
    }

    /// With the leases in a folder that outlives the scene.
    pub(crate) fn at(root: &Path) -> Scene {
        let cache = Cache::at(root).expect("a cache");
        let of_user = Cache::open().expect("the user's cache").root().join("initialised");
        std::fs::create_dir_all(&of_user).expect("a folder");
        // Another scene may have been there.
        let _ = symlink(of_user, initialised(root));
        let lease = Lease::open(&cache).expect("a lease");
        let workspace = Workspace::create(&lease, &cache, Some(Path::new("/var/tmp"))).expect("a workspace");
        Scene { cache, lease, workspace, root: root.to_owned(), _folder: None }
    }

    /// A data folder with an empty `sbtest`.
    pub(crate) fn data(&self, build: &BuildFacts, name: &str) -> PathBuf {
        let dir = self.workspace.join(name);
        cluster::initialise(build, &dir, Account::choose(), true, &self.lease).expect("initialised");
        dir
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.root.join("server.log")
    }

    /// Starts a server on a data folder, on all CPUs, with a small configuration.
    pub(crate) fn start(&self, build: &BuildFacts, data: &Path) -> rqps_server::Result<Server> {
        let profile = if build.engine == Engine::Postgres { "x10a" } else { "z12a" };
        self.start_with(build, data, &configuration(build, profile, &[]))
    }

    pub(crate) fn start_with(
        &self,
        build: &BuildFacts,
        data: &Path,
        configuration: &Configuration,
    ) -> rqps_server::Result<Server> {
        let storage = build.engine.storage_engines().first().copied();
        self.launch(build, data, configuration, storage)
    }

    pub(crate) fn launch(
        &self,
        build: &BuildFacts,
        data: &Path,
        configuration: &Configuration,
        storage: Option<StorageEngine>,
    ) -> rqps_server::Result<Server> {
        let launch = Launch {
            build,
            data_dir: data,
            configuration,
            storage,
            account: Account::choose(),
            cpus: &[],
            log: &self.log(),
            timeout: PATIENCE,
        };
        Server::start(&launch, &self.lease)
    }

    /// Ends the test: gives everything back and proves that nothing is left.
    pub(crate) fn end(self, processes: &[ProcessId]) {
        let Scene { cache, lease, workspace, .. } = self;
        let (id, data) = (lease.id(), workspace.path().to_owned());
        drop((lease, workspace));
        assert_eq!(proctree::wait_gone(processes, PATIENCE), []);
        assert_eq!(what_is_left(&cache, &id, &data), Vec::<String>::new());
    }
}

/// For the guard: whose folders it clears.
const OWNER: &str = "RQPS_TEST_SERVER_OWNER";

/// A folder for the leases of a test. Should this process be killed, its guard clears what they name, as that of rqps
/// does: a frozen server would stay for ever.
#[expect(clippy::zombie_processes, reason = "the guard ends after us")]
pub(crate) fn folder() -> tempfile::TempDir {
    static GUARD: Once = Once::new();
    let owner = ProcessId::own();
    GUARD.call_once(|| {
        let mut guard = Command::new("/proc/self/exe");
        guard.arg0("guard").args(["--exact", "scene::guard", "--ignored"]).process_group(0);
        guard.env(OWNER, format!("{} {}", owner.pid, owner.start_ticks));
        guard.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    });
    tempfile::Builder::new().prefix(&prefix(owner.pid)).tempdir().expect("a folder")
}

fn prefix(owner: u32) -> String {
    format!("rqps-server-tests-{owner}-")
}

#[test]
#[ignore = "the process that clears up after the other tests here"]
fn guard() {
    let Ok(owner) = std::env::var(OWNER) else { return };
    let (pid, start_ticks) = owner.split_once(' ').expect("a pid and a time");
    let owner = ProcessId { pid: pid.parse().expect("a pid"), start_ticks: start_ticks.parse().expect("a time") };
    owner.wait_end();
    for entry in std::fs::read_dir(std::env::temp_dir()).expect("listed").flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix(owner.pid)) {
            clear_stale(&Cache::at(&entry.path()).expect("a cache")).expect("cleared");
            std::fs::remove_dir_all(entry.path()).expect("removed");
        }
    }
}

/// Where a scene has the empty data folders that all share.
pub(crate) fn initialised(root: &Path) -> PathBuf {
    root.join("initialised")
}

/// Waits until a server that was killed has ended.
pub(crate) fn wait_dead(server: &Server) {
    let deadline = Instant::now() + PATIENCE;
    while server.is_alive() {
        assert!(Instant::now() < deadline, "killed, and not gone");
        std::thread::yield_now();
    }
}

/// Files of leases, folders, and processes in the data folders, of a lease that should be gone.
pub(crate) fn what_is_left(cache: &Cache, lease: &str, data: &Path) -> Vec<String> {
    let mut left = Vec::new();
    for folder in [std::env::temp_dir(), PathBuf::from("/var/tmp"), cache.leases()] {
        let names =
            std::fs::read_dir(&folder).expect("listed").flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        left.extend(names.filter(|name| name.contains(lease)));
    }
    let running = proctree::all().into_iter().filter_map(|p| Some((p, p.folder_and_program()?)));
    left.extend(running.filter(|(_, (folder, _))| folder.starts_with(data)).map(|(p, _)| format!("process {}", p.pid)));
    left
}

/// A profile for a machine small enough for tests to run in parallel.
pub(crate) fn configuration(build: &BuildFacts, profile: &str, set: &[(&str, &str)]) -> Configuration {
    configuration_for(build, profile, build.engine.storage_engines().first().copied(), set)
}

pub(crate) fn configuration_for(
    build: &BuildFacts,
    profile: &str,
    storage: Option<StorageEngine>,
    set: &[(&str, &str)],
) -> Configuration {
    let sizing = Sizing {
        machine: MachineClass { cores: 2, memory_bytes: 128 << 20 },
        disk_free_bytes: Some(4 << 30),
        data_bytes: None,
        clients: 1,
        alternating_builds: 2,
    };
    let set: BTreeMap<String, String> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let profiles = Profiles::built_in();
    profiles.render(build.engine, profile, &build.version, storage, &sizing, &set).expect("rendered")
}

pub(crate) fn session(server: &Server) -> Session {
    Session::connect(&server.endpoint(), PATIENCE).expect("connected")
}

/// The answer to a question that has one.
pub(crate) fn ask(server: &Server, sql: &str) -> String {
    let table = session(server).query(sql).expect("answered");
    table.single().expect("one value").to_owned()
}
