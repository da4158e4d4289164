//! Servers of tests come, are ill-treated, and go, whatever becomes of the test.
//!
//! The test of a killed test runs itself again as the process that is killed.

use crate::guard::Guard;
use crate::{LiveServer, PATIENCE, Wanted, on_each};
use rqps_machine::Account;
use rqps_machine::proctree::{self, ProcessId};
use rqps_wire::{Session, WireError};
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Tells the child that it is one.
const CHILD: &str = "RQPS_TEST_LIVE_CHILD";

#[test]
#[ignore = "the process that another test starts and kills"]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    // Frozen, they cannot end by themselves.
    let servers = [LiveServer::start(&Wanted::postgres()), LiveServer::start(&Wanted::mysql())];
    for server in &servers {
        let pids: Vec<String> = server.pids().iter().map(u32::to_string).collect();
        println!("runs {} {}", server.folder().display(), pids.join(","));
    }
    servers.iter().for_each(|server| server.signal_all(Signal::STOP));
    // Only once all its threads stand does the kernel hang up on a group that loses its parent.
    servers.iter().for_each(|server| wait_frozen(server.processes()[0]));
    println!("ready");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
    panic!("the parent kills this process before it lets go of stdin");
}

fn wait_frozen(process: ProcessId) {
    let deadline = Instant::now() + PATIENCE;
    let stands = |thread: &PathBuf| std::fs::read_to_string(thread.join("status")).unwrap().contains("State:\tT");
    while !process.threads().values().all(stands) {
        assert!(Instant::now() < deadline, "a stopped process goes on");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn nothing_is_left_of_a_test_that_was_killed() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::child", "--ignored", "--nocapture"]).env(CHILD, "1");
    // Masters and servers are all in this folder.
    let all = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    std::fs::set_permissions(all.path(), open).unwrap();
    let mut child = command.env("TMPDIR", all.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let lines: Vec<String> = lines.take_while(|line| line != "ready").collect();
    let mut processes = Vec::new();
    let servers: Vec<&str> = lines.iter().filter_map(|line| Some(line.split_once("runs ")?.1)).collect();
    for server in &servers {
        let (folder, pids) = server.split_once(' ').unwrap();
        assert!(Path::new(folder).starts_with(all.path()) && Path::new(folder).join("data").is_dir(), "{folder}");
        // The session that found the server ready may be gone.
        processes.extend(pids.split(',').filter_map(|pid| ProcessId::of(pid.parse().unwrap())));
    }
    // PostgreSQL alone has several.
    assert!(servers.len() == 2 && processes.len() > 4, "{lines:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(proctree::wait_gone(&processes, PATIENCE), []);
    let deadline = Instant::now() + PATIENCE;
    let left = || std::fs::read_dir(all.path()).unwrap().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    while !left().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", left());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_server_goes_with_its_value() {
    let server = LiveServer::start(&Wanted::postgres());
    let (folder, processes) = (server.folder().to_owned(), server.processes());
    server.signal_all(Signal::STOP);
    assert!(folder.join("data").is_dir() && processes.len() > 3);
    drop(server);
    assert!(!folder.exists());
    assert_eq!(proctree::wait_gone(&processes, PATIENCE), []);
}

#[test]
fn on_a_shared_server_each_has_a_database_of_its_own() {
    on_each(&["postgres", "mysql"], |engine| {
        let wanted = if engine == "mysql" { Wanted::mysql() } else { Wanted::postgres() };
        let [one, other] = [(); 2].map(|()| LiveServer::shared(&wanted));
        assert_eq!(one.pids()[0], other.pids()[0]);
        one.session().execute("create table t (n int)").unwrap();
        assert_eq!(one.number("select count(*) from t"), 0);
        assert!(matches!(other.session().query("select * from t"), Err(WireError::Server { .. })));
    });
}

#[test]
fn a_folder_goes_with_a_copy_that_is_not_yet_the_servers_own() {
    let guard = Guard::of_folder(Account::choose());
    let folder = guard.folder().to_owned();
    let inner = folder.join("data/mysql");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("user.frm"), "x").unwrap();
    drop(guard);
    assert!(!folder.exists());
}

/// Kills a server, and finds what was written on the one that is started again.
fn check_start_again(wanted: &Wanted) {
    let mut server = LiveServer::start(wanted);
    server.session().execute("create table t (n int)").unwrap();
    server.session().execute("insert into t values (7)").unwrap();
    let before = server.processes();
    server.kill();
    assert_eq!(proctree::wait_gone(&before[..1], PATIENCE), []);
    assert!(Session::connect(&server.endpoint(), PATIENCE).is_err() && server.processes().is_empty());
    server.start_again();
    assert_ne!(server.pids()[0], before[0].pid);
    server.session().execute("insert into t values (8), (null)").unwrap();
    assert_eq!(server.ask("select n, n + 1 from t order by n is null, n"), ["7 8", "8 9", "NULL NULL"]);
    assert_eq!(server.number("select count(*) from t"), 3);
    // Another begins with a data folder of its own.
    let other = LiveServer::start(wanted);
    let error = other.session().query("select * from t").unwrap_err();
    assert!(matches!(error, WireError::Server { .. }), "{error}");
}

#[test]
fn a_killed_server_starts_again_on_its_data() {
    check_start_again(&Wanted::postgres());
    check_start_again(&Wanted::mysql());
    check_start_again(&Wanted::mariadb());
}

#[test]
fn options_files_and_loopback_are_as_wanted() {
    let trust = "local all bench trust\nhost all bench 127.0.0.1/32 trust\nlocal all other trust\n";
    let wanted = Wanted::postgres().with("work_mem=17MB").with("autovacuum=on").with_file("data/pg_hba.conf", trust);
    let server = LiveServer::start(&wanted.on_loopback());
    assert_eq!(server.ask("select current_setting('work_mem'), current_setting('autovacuum')"), ["17MB on"]);
    assert_eq!(server.ask("select count(*) from pg_hba_file_rules where error is null"), ["3"]);
    let mut session = Session::connect(&server.loopback(), PATIENCE).unwrap();
    let port = session.query("select inet_server_port()").unwrap();
    assert_eq!(port.single(), server.port().map(|port| port.to_string()).as_deref());

    let wanted = Wanted::mysql().with("max-connections=7").with("log-bin=binlog").with("server-id=1").on_loopback();
    let server = LiveServer::start(&wanted.with("general-log-file=here.log"));
    let variables = "select @@max_connections, @@log_bin, @@general_log_file, @@port, current_user()";
    let port = server.port().unwrap();
    assert_eq!(server.ask(variables), [format!("7 1 here.log {port} bench@localhost")]);
    let mut session = Session::connect(&server.loopback(), PATIENCE).unwrap();
    assert_eq!(session.query("select current_user()").unwrap().single(), Some("bench@127.0.0.1"));
}

#[test]
fn workers_of_a_parallel_plan_get_the_settings_of_their_session() {
    let server = LiveServer::start(&Wanted::postgres());
    let mut session = server.session();
    session.execute("create table t as select generate_series(1, 100000) as n").unwrap();
    let parallel = "set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0";
    session.execute(parallel).unwrap();
    let plan = session.query("explain (analyze, costs off, timing off) select count(*) from t").unwrap();
    assert!(plan.rows.iter().flatten().flatten().any(|line| line.contains("Workers Launched: 2")), "{plan:?}");
}

#[test]
#[should_panic(expected = "no_such_setting")]
fn a_server_that_does_not_start_is_shown_with_its_log() {
    LiveServer::start(&Wanted::postgres().with("no_such_setting=1"));
}
