//! Real servers: every release of the catalog starts, answers and stops; and what servers can be made to do.

use crate::mysql::MYSQL;
use crate::scene::{PATIENCE, Scene, ask, build, configuration, session, wait_dead};
use rqps_builds::fetch::Package;
use rqps_builds::{Catalog, Release};
use rqps_machine::proctree::{self, ProcessId};
use rqps_machine::{copy, program_place};
use rqps_model::{Engine, Placement};
use rqps_server::process::Stopped;
use rqps_server::{Server, ServerError, cluster, placement, program_copy};
use rqps_wire::Session;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const DEBIAN_15: &str = "postgres:/usr/lib/postgresql/15";

/// One of each way to be a server: many processes, or one with many threads.
const KINDS: [&str; 2] = ["postgres:16.15", MYSQL];

/// Initialises, starts with every setting of the profile, reads all back, stops in order.
fn lives(spec: &str) {
    let build = build(spec);
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let configuration = configuration(&build, "x10b_sync", &[("work_mem", "5MB")]);
    let mut server = scene.start_with(&build, &data, &configuration).expect("started");
    let processes = server.processes();

    let readback = server.settings().expect("read back");
    assert_eq!(readback.mismatches, [], "{spec}");
    assert_eq!((readback.encoding.as_str(), readback.collation.as_str()), ("UTF8", "C.UTF-8"), "{spec}");
    assert!(readback.checksums, "{spec}");
    for (name, value) in [("work_mem", "5MB"), ("synchronous_commit", "on"), ("listen_addresses", ""), ("jit", "off")] {
        assert_eq!(readback.effective[name], value, "{spec}");
    }
    assert_eq!(readback.effective.contains_key("io_method"), build.version.major() >= 18, "{spec}");
    assert_eq!(configuration.left_out.contains_key("io_method"), build.version.major() < 18, "{spec}");
    assert!(ask(&server, "SHOW server_version").starts_with(&build.version.to_string()), "{spec}");

    assert_eq!(server.stop().expect("stopped"), Stopped { clean: true }, "{spec}: {:?}", server.log_tail(5));
    assert!(!server.is_alive());
    drop(server);
    scene.end(&processes);
}

/// Whether a release of PostgreSQL stays where it is; Debian's unstable releases keep the newest one only.
fn stays(release: &Release) -> bool {
    !matches!(release.package, Package::Apt { .. })
}

#[test]
fn releases_with_and_without_io_method_live() {
    ["postgres:17.11", "postgres:18.6"].iter().for_each(|spec| lives(spec));
}

#[test]
#[ignore = "fetches every release that stays, and takes minutes; scripts/nightly runs it"]
fn every_release_lives() {
    let catalog = Catalog::built_in();
    let releases = catalog.releases().filter(|r| r.engine == Engine::Postgres && stays(r));
    let specs: Vec<String> = releases.map(|r| format!("{}:{}", r.engine, r.version)).collect();
    let (one, other) = specs.split_at(specs.len() / 2);
    std::thread::scope(|scope| {
        for half in [one, other] {
            scope.spawn(|| half.iter().for_each(|spec| lives(spec)));
        }
    });
}

#[test]
#[ignore = "fetches packages of Debian's unstable releases, 30 MB, which may be gone by now"]
fn every_release_of_debian_lives() {
    let catalog = Catalog::built_in();
    let releases = catalog.releases().filter(|r| r.engine == Engine::Postgres && !stays(r));
    releases.for_each(|r| lives(&format!("{}:{}", r.engine, r.version)));
}

#[test]
fn a_folder_of_the_machine_lives() {
    lives(DEBIAN_15);
}

#[test]
fn a_frozen_server_does_nothing_until_it_thaws() {
    for spec in KINDS {
        let build = build(spec);
        let scene = Scene::new();
        let data = scene.data(&build, "d");
        let mut server = scene.start(&build, &data).expect("started");
        let mut held = session(&server);
        server.freeze().expect("frozen");
        let processes = server.processes();
        assert!(processes.iter().all(|p| p.is_stopped()), "{processes:?}");
        assert!(if build.engine == Engine::Postgres { processes.len() > 3 } else { processes.len() == 1 });
        held.set_deadline(Some(Duration::from_millis(100)));
        assert!(held.query("SELECT 1").is_err(), "no answer from a frozen server");
        server.thaw().expect("thawed");
        assert!(server.processes().iter().all(|p| !p.is_stopped()));
        assert_eq!(ask(&server, "SELECT 1"), "1");

        let online = placement::available().expect("some");
        for cpus in [&online[..1], &online[..]] {
            assert_eq!(server.set_cpus(cpus).expect("placed"), cpus);
            // Processes and threads of new sessions are where the others are.
            let _session = session(&server);
            assert_eq!(server.cpus().expect("read back"), cpus);
        }
        // An end in order that it slept through would be given up after a while, and not be clean.
        server.freeze().expect("frozen again");
        assert_eq!(server.stop().expect("stopped while frozen"), Stopped { clean: true });
        drop(server);
        scene.end(&processes);
    }
}

#[test]
fn all_its_threads_are_where_they_were_put() {
    let build = build("postgres:16.15");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let server = scene.start(&build, &data).expect("started");
    let processes = server.processes();
    let online = placement::available().expect("some");
    let mut before = session(&server);
    for cpus in [&online[..1], &online[online.len() - 1..], &online[..]] {
        assert_eq!(server.set_cpus(cpus).expect("placed"), cpus);
        let after = session(&server);
        for backend in [before.backend_pid(), after.backend_pid()] {
            let status = std::fs::read_to_string(format!("/proc/{backend}/status")).expect("it runs");
            let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).expect("told").trim();
            let first = list.split(['-', ',']).next().and_then(|n| n.parse::<usize>().ok());
            assert_eq!(first, Some(cpus[0]), "{list}");
        }
        assert_eq!(before.query("SELECT 1").expect("answered").single(), Some("1"));
    }
    let (chosen, _) = placement::choose(Placement::Same, &online, 1).expect("chosen");
    assert_eq!(server.set_cpus(&chosen).expect("placed"), server.cpus().expect("read back"));
    let refused = server.set_cpus(&[1000]);
    assert!(matches!(&refused, Err(ServerError::Placement { cpus, .. }) if cpus[..] == [1000]), "{refused:?}");
    drop(server);
    scene.end(&processes);
}

#[test]
fn a_restored_folder_is_as_it_was() {
    let build = build("postgres:16.15");
    let scene = Scene::new();
    let (data, master) = (scene.data(&build, "d"), scene.workspace.join("master"));
    let method = copy::detect(scene.workspace.path()).expect("tried");
    let mut server = scene.start(&build, &data).expect("started");
    session(&server).execute("CREATE TABLE t AS SELECT generate_series(1, 1000) AS n").expect("made");
    match cluster::snapshot(&data, &master, method) {
        Err(ServerError::FolderInUse { pid, .. }) => assert_eq!(pid, server.pids()[0]),
        other => panic!("a running server is not copied: {other:?}"),
    }
    assert!(server.stop().expect("stopped").clean);
    drop(server);
    let copied = cluster::snapshot(&data, &master, method).expect("copied");
    assert!(copied.files > 500 && copied.bytes > 10 << 20, "{copied:?}");

    let mut server = scene.start(&build, &data).expect("started again");
    session(&server).execute("DELETE FROM t").expect("deleted");
    assert_eq!(ask(&server, "SELECT count(*) FROM t"), "0");
    server.stop_now().expect("ended");
    drop(server);
    cluster::restore(&master, &data, method, &AtomicBool::new(false)).expect("restored");
    let second = scene.workspace.join("second");
    cluster::restore(&master, &second, method, &AtomicBool::new(false)).expect("a second copy");
    let both = [&data, &second].map(|folder| scene.start(&build, folder).expect("started on a copy"));
    for server in &both {
        assert_eq!(ask(server, "SELECT sum(n) FROM t"), "500500");
    }
    let processes: Vec<ProcessId> = both.iter().flat_map(Server::processes).collect();
    drop(both);
    scene.end(&processes);
}

#[test]
fn a_server_that_refuses_its_settings_reports_why() {
    let build = build("postgres:17.11");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let bad = configuration(&build, "x10a", &[("work_mem", "4 apples")]);
    match scene.start_with(&build, &data, &bad) {
        Err(ServerError::DidNotStart { build, status, log }) => {
            assert_eq!((build.as_str(), status.as_str()), ("pg1711_zonky", "exit status: 1"));
            assert!(log.iter().any(|line| line.contains("invalid value for parameter \"work_mem\"")), "{log:?}");
        }
        other => panic!("{other:?}"),
    }
    // A later start does not show the log of an earlier one.
    let server = scene.start(&build, &data).expect("started with good ones");
    let log = server.log_tail(1000);
    assert!(!log.is_empty() && log.iter().all(|line| !line.contains("apples")), "{log:?}");
    let processes = server.processes();
    drop(server);
    scene.end(&processes);
}

fn assert_gone(files: &BTreeSet<PathBuf>) {
    let left: Vec<&PathBuf> = files.iter().filter(|file| file.exists()).collect();
    assert_eq!(left, Vec::<&PathBuf>::new());
}

#[test]
fn a_server_that_dies_is_noticed_and_leaves_nothing() {
    let build = build("postgres:16.15");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let server = scene.start(&build, &data).expect("started");
    let processes = server.processes();
    let mapped = shared_memory_of(&processes);
    assert!(!mapped.is_empty(), "it has shared memory");
    assert!(processes[0].signal(Signal::KILL));
    wait_dead(&server);
    let ServerError::Died { build, log } = server.check_alive().expect_err("dead") else { panic!("another error") };
    assert_eq!(build, "pg1615_zonky");
    assert!(log.iter().any(|line| line.contains("ready to accept")), "{log:?}");
    assert!(server.settings().is_err() && server.cpus().is_err());
    drop(server);
    assert_gone(&mapped);
    scene.end(&processes);
}

/// What a server makes while it works is known when nobody is left who could be asked: here that of a parallel query.
#[test]
fn shared_memory_that_came_later_does_not_stay_either() {
    let build = build("postgres:16.15");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let mut server = scene.start(&build, &data).expect("started");
    let at_start = shared_memory_of(&server.processes());
    let endpoint = server.endpoint();
    let query = std::thread::spawn(move || {
        let mut session = Session::connect(&endpoint, PATIENCE).expect("a session");
        for setting in ["debug_parallel_query = on", "max_parallel_workers = 1", "max_parallel_workers_per_gather = 1"]
        {
            session.execute(&format!("SET {setting}")).expect("set");
        }
        session.query("SELECT pg_sleep(1000)").expect_err("killed");
    });
    let deadline = Instant::now() + PATIENCE;
    while ask(&server, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'") == "0" {
        assert!(Instant::now() < deadline, "it has no worker");
    }
    server.freeze().expect("frozen");
    let processes = server.processes();
    let mapped = shared_memory_of(&processes);
    assert!(mapped.len() > at_start.len(), "{mapped:?}");
    for process in &processes {
        assert!(process.signal(Signal::KILL));
    }
    assert_eq!(proctree::wait_gone(&processes, PATIENCE), []);
    query.join().expect("its session is lost");
    drop(server);
    assert_gone(&mapped);
    scene.end(&processes);
}

/// Killed while it replays its log, as when memory runs out. What it has started stands still, and does not notice.
#[test]
fn a_server_that_dies_while_it_starts_leaves_nothing() {
    let build = build("postgres:16.15");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    // It waits for more to replay, and answers nobody.
    fs::write(data.join("standby.signal"), "").expect("written");
    let configuration = configuration(&build, "x10a", &[("hot_standby", "off")]);
    let folder = fs::canonicalize(&data).expect("it is there");
    let (mapped, processes) = std::thread::scope(|scope| {
        let starter = scope.spawn(|| scene.start_with(&build, &data, &configuration).expect_err("it never answers"));
        let deadline = Instant::now() + PATIENCE;
        let (mapped, main, others) = loop {
            assert!(Instant::now() < deadline, "no process has shared memory");
            let all: Vec<ProcessId> = proctree::standing_in(&folder).into_iter().map(|(process, _)| process).collect();
            let is_child = |process: &ProcessId| all.iter().any(|other| process.parent() == Some(other.pid));
            let (others, main): (Vec<ProcessId>, Vec<ProcessId>) = all.iter().partition(|process| is_child(process));
            let mapped = shared_memory_of(&others);
            if !mapped.is_empty() {
                break (mapped, main, others);
            }
        };
        for process in &others {
            process.signal(Signal::STOP);
        }
        assert!(main.len() == 1 && main[0].signal(Signal::KILL));
        let error = starter.join().expect("no panic");
        assert!(matches!(error, ServerError::DidNotStart { .. }), "{error}");
        (mapped, [main, others].concat())
    });
    assert_gone(&mapped);
    scene.end(&processes);
}

/// Files in shared memory that processes have mapped.
fn shared_memory_of(processes: &[ProcessId]) -> BTreeSet<PathBuf> {
    // The session that found the server ready may be leaving.
    let maps = processes.iter().map(|p| std::fs::read_to_string(format!("/proc/{}/maps", p.pid)).unwrap_or_default());
    let maps: Vec<String> = maps.collect();
    let paths = maps.iter().flat_map(|text| text.lines()).filter_map(|line| Some(&line[line.find("/dev/shm/")?..]));
    paths.map(PathBuf::from).collect()
}

#[test]
fn a_folder_in_use_is_refused() {
    for spec in KINDS {
        let build = build(spec);
        let scene = Scene::new();
        let data = scene.data(&build, "d");
        let profile = if build.engine == Engine::Postgres { "x10a" } else { "z12a" };
        let configuration = configuration(&build, profile, &[]);
        let server = scene.start_with(&build, &data, &configuration).expect("started");
        match scene.start(&build, &data) {
            Err(ServerError::FolderInUse { pid, .. }) => assert_eq!(pid, server.pids()[0]),
            other => panic!("{other:?}"),
        }
        assert!(server.is_alive(), "who asked in vain did no harm");
        let processes = server.processes();
        drop(server);
        scene.end(&processes);
    }
}

#[test]
fn a_start_outlives_the_thread_that_requested_it() {
    let build = build("postgres:18.6");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let starter = std::thread::scope(|scope| scope.spawn(|| scene.start(&build, &data).expect("started")).join());
    let server = starter.expect("no panic");
    assert_eq!(ask(&server, "SELECT 1"), "1");
    let processes = server.processes();
    drop(server);
    scene.end(&processes);
}

/// From a copy in huge pages a server answers as from its installation, and the kernel says where its text lies. Only
/// root can make the place.
#[test]
fn a_copy_in_huge_pages_lives() {
    let scene = Scene::new();
    let build = build("postgres:16.15");
    let root = tempfile::tempdir().expect("a folder");
    fs::set_permissions(root.path(), Permissions::from_mode(0o711)).expect("open to the account of the server");
    let place = root.path().join("programs");
    if let Err(error) = program_place::make(&place) {
        assert!(!rustix::process::geteuid().is_root(), "{error}");
        return;
    }
    let copy = program_copy::make(&build, &place.join("copy")).expect("copied");
    let data = scene.data(&build, "d");
    let mut server = scene.start_with(&copy, &data, &configuration(&build, "x10a", &[])).expect("started");
    let (text, version) = (server.program_text().expect("told"), ask(&server, "SHOW server_version"));
    let (stopped, processes) = (server.stop().expect("stopped"), server.processes());
    drop(server);
    program_place::remove(&place).expect("nobody uses it");
    assert_eq!((version.starts_with("16.15"), stopped), (true, Stopped { clean: true }));
    if program_place::kernel().is_some_and(|told| told != "deny") {
        assert!(text.huge_share() > 0.5, "{text:?}");
    }
    scene.end(&processes);
}
