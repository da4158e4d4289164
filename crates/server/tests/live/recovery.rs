//! After `kill -9` of the process that started a server: the server goes by itself or is cleared by the next start, and
//! nothing is left.
//!
//! The test runs itself again as the process that is killed.

use crate::scene::{PATIENCE, Scene, build, folder, initialised, what_is_left};
use rqps_machine::lease::clear_stale;
use rqps_machine::proctree::{self, ProcessId};
use rqps_machine::{Cache, Lease, Workspace};
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// For the child: where its leases go, and whether to freeze its server.
const ROOT: &str = "RQPS_TEST_RECOVERY_ROOT";
const FREEZE: &str = "RQPS_TEST_RECOVERY_FREEZE";

/// And which build.
const BUILD: &str = "RQPS_TEST_RECOVERY_BUILD";

const POSTGRES: &str = "postgres:17.11";
const MYSQL: &str = "mysql:5.7.22";

#[test]
#[ignore = "the process that the other tests here start and kill"]
fn child() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let scene = Scene::at(Path::new(&root));
    let build = build(&std::env::var(BUILD).expect("told"));
    let data = scene.data(&build, "d");
    let mut server = scene.start(&build, &data).expect("started");
    if std::env::var_os(FREEZE).is_some() {
        server.freeze().expect("frozen");
    }
    let pids: Vec<String> = server.pids().iter().map(u32::to_string).collect();
    println!("ready {} {} {}", scene.lease.id(), scene.workspace.path().display(), pids.join(","));
    std::io::stdout().flush().expect("written");
    let _ = std::io::stdin().read(&mut [0]);
    panic!("the parent kills this process before it lets go of stdin");
}

/// Makes a data folder, which the parent does not let it finish.
#[test]
#[ignore = "the process that a test here starts and kills"]
fn initialising_child() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let scene = Scene::at(Path::new(&root));
    std::fs::remove_file(initialised(Path::new(&root))).expect("what is there would not have to be made");
    println!("ready {} {} ", scene.lease.id(), scene.workspace.path().display());
    scene.data(&build(POSTGRES), "d");
    panic!("the parent kills this process before");
}

/// A real initdb whose server was writing when rqps was killed.
#[test]
fn what_made_a_data_folder_is_stopped_before_the_folder_goes() {
    let root = folder();
    build(POSTGRES);
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", "recovery::initialising_child", "--ignored", "--nocapture"]).env(ROOT, root.path());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let ready = lines.find_map(|line| Some(line.expect("read").split_once("ready ")?.1.to_owned())).expect("ready");
    let [lease, data, _] = ready.split(' ').collect::<Vec<_>>()[..] else { panic!("{ready}") };
    let data = PathBuf::from(data);
    // Held where it is, so that it still writes when rqps is long dead.
    let writer = loop {
        assert!(child.try_wait().expect("asked").is_none(), "it has ended, and was not seen to write");
        let Ok(folder) = std::fs::canonicalize(data.join("d")) else { continue };
        let found = proctree::standing_in(&folder);
        if let Some((writer, _)) = found.into_iter().find(|(_, program)| program.ends_with("bin/postgres"))
            && writer.signal(Signal::STOP)
        {
            break writer;
        }
    };
    assert!(writer.is_alive());
    child.kill().expect("killed");
    child.wait().expect("waited for");
    let cache = Cache::at(root.path()).expect("a cache");
    let cleared = clear_stale(&cache).expect("cleared");
    // Whether it was stopped here or before is left open: once the one that started it is gone, the kernel hangs up
    // on a frozen process (setpgid(2)).
    assert!(cleared.len() == 1 && cleared[0].faults.is_empty(), "{cleared:?}");
    assert!(!writer.is_alive());
    assert_eq!(what_is_left(&cache, lease, &data), Vec::<String>::new());
}

struct Killed {
    cache: Cache,
    lease: String,
    data: PathBuf,
    processes: Vec<ProcessId>,
}

/// Starts a child with a server, kills it, and returns what it had.
fn killed(root: &Path, spec: &str, freeze: bool) -> Killed {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", "recovery::child", "--ignored", "--nocapture"]).env(ROOT, root).env(BUILD, spec);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    if freeze {
        command.env(FREEZE, "1");
    }
    let mut child = command.spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let ready = lines.find_map(|line| Some(line.expect("read").split_once("ready ")?.1.to_owned())).expect("ready");
    let [lease, data, pids] = ready.split(' ').collect::<Vec<_>>()[..] else { panic!("{ready}") };
    let processes: Vec<ProcessId> =
        pids.split(',').filter_map(|pid| ProcessId::of(pid.parse().expect("a pid"))).collect();
    assert!(processes.len() > 3 || spec != POSTGRES, "{ready}");
    let cache = Cache::at(root).expect("a cache");
    assert_eq!(clear_stale(&cache).expect("looked"), [], "its owner lives");
    assert!(processes[0].is_alive());
    child.kill().expect("killed");
    child.wait().expect("waited for");
    while freeze && !processes[0].is_stopped() {
        // The kernel wakes a group that loses its parent while one in it is stopped (setpgid(2)), and a PostgreSQL that
        // is woken so kills those that still stand after five seconds.
        assert!(processes[0].signal(Signal::STOP), "a frozen server went by itself");
    }
    Killed { cache, lease: lease.to_owned(), data: PathBuf::from(data), processes }
}

#[test]
fn a_server_goes_when_its_owner_is_killed() {
    goes_when_its_owner_is_killed(POSTGRES);
}

#[test]
fn a_mysql_server_goes_when_its_owner_is_killed() {
    goes_when_its_owner_is_killed(MYSQL);
}

fn goes_when_its_owner_is_killed(spec: &str) {
    let root = folder();
    let Killed { cache, lease, data, processes } = killed(root.path(), spec, false);
    // Signalled by the kernel; nothing has been cleared yet.
    assert_eq!(proctree::wait_gone(&processes, PATIENCE), []);
    assert!(data.join("d").exists());
    let cleared = clear_stale(&cache).expect("cleared");
    assert_eq!(cleared.len(), 1, "{cleared:?}");
    assert_eq!((cleared[0].lease.as_str(), cleared[0].processes, cleared[0].folders.len()), (lease.as_str(), 0, 2));
    assert_eq!(cleared[0].faults, Vec::<String>::new());
    assert_eq!(what_is_left(&cache, &lease, &data), Vec::<String>::new());
}

#[test]
fn a_frozen_server_is_cleared_by_the_next_start() {
    let root = folder();
    let Killed { cache, lease, data, processes } = killed(root.path(), POSTGRES, true);
    assert!(processes.iter().all(|p| p.is_alive()), "frozen processes do not go by themselves");
    let bystander = Lease::open(&cache).expect("a lease of the living");
    let workspace = Workspace::create(&bystander, &cache, Some(Path::new("/var/tmp"))).expect("a workspace");
    let cleared = clear_stale(&cache).expect("cleared");
    assert_eq!((cleared.len(), cleared[0].processes), (1, processes.len()), "{cleared:?}");
    assert_eq!(proctree::wait_gone(&processes, Duration::ZERO), []);
    assert_eq!(what_is_left(&cache, &lease, &data), Vec::<String>::new());
    assert!(workspace.path().exists(), "the living keep what they have");
    drop((workspace, bystander));
}
