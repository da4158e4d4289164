//! Real servers of MySQL and MariaDB: they are made, start with a profile, report their settings and stop; and what
//! such servers can be made to do. Every release of the catalog is walked through by name only: together they are
//! gigabytes.

use crate::scene::{Scene, ask, build, configuration, configuration_for, session, wait_dead};
use rqps_builds::Catalog;
use rqps_builds::storage::storage_engines;
use rqps_machine::{Account, copy};
use rqps_model::facts::BuildFacts;
use rqps_model::{Engine, StorageEngine};
use rqps_server::process::Stopped;
use rqps_server::{Launch, Server, ServerError, cluster};
use rustix::process::Signal;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The smallest builds of both.
pub(crate) const MYSQL: &str = "mysql:5.7.22";
const MARIADB: &str = "mariadb:10.2.11";

/// Everything that a version must do: twice, since the second start finds what the first has left.
fn lives(build: &BuildFacts, profile: &str, storage: StorageEngine) {
    let scene = Scene::new();
    let data = scene.data(build, "d");
    let configuration = configuration_for(build, profile, Some(storage), &[]);
    let mut processes = Vec::new();
    for _ in 0..2 {
        let mut server = scene.launch(build, &data, &configuration, Some(storage)).expect("started");
        processes.extend(server.processes());
        check(&server, build, storage);
        assert_eq!(server.stop().expect("stopped"), Stopped { clean: true }, "{:?}", server.log_tail(5));
    }
    scene.end(&processes);
}

/// Settings as written, text in latin1, users as made, tables where they belong.
fn check(server: &Server, build: &BuildFacts, storage: StorageEngine) {
    let name = &build.name;
    let readback = server.settings().expect("read back");
    assert_eq!(readback.mismatches, [], "{name}");
    assert_eq!((readback.encoding.as_str(), readback.collation.as_str()), ("latin1", "latin1_swedish_ci"), "{name}");
    assert!(readback.checksums, "{name}");
    assert_eq!(readback.effective["character_set_server"], "latin1", "{name}");
    assert_eq!(readback.effective["skip_networking"], "ON", "{name}");
    assert!(ask(server, "SELECT version()").starts_with(&build.version.to_string()), "{name}");
    for (sql, expected) in [
        ("SELECT database()", "sbtest"),
        ("SELECT current_user()", "bench@localhost"),
        ("SELECT count(*) FROM mysql.user WHERE user = ''", "0"),
        ("SELECT count(*) FROM mysql.user WHERE user = 'root' AND host = 'localhost'", "1"),
        ("SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'test%'", "0"),
        ("SELECT @@session.collation_connection", "latin1_swedish_ci"),
    ] {
        assert_eq!(ask(server, sql), expected, "{name}: {sql}");
    }
    let mut session = session(server);
    session.execute("CREATE TABLE IF NOT EXISTS t (n INT PRIMARY KEY, c CHAR(9))").expect("a table");
    session.execute("REPLACE INTO t VALUES (1, 'x')").expect("a row");
    let stored = "SELECT lower(engine) FROM information_schema.tables WHERE table_name = 't'";
    assert_eq!(ask(server, stored), storage.name(), "{name}");
    let text = "SELECT character_set_name FROM information_schema.columns WHERE table_name = 't' AND column_name = 'c'";
    assert_eq!(ask(server, text), "latin1", "{name}");
}

#[test]
fn a_mysql_and_a_mariadb_live() {
    for (spec, profile) in [(MYSQL, "z12a"), (MARIADB, "z12b_bl0_sync")] {
        lives(&build(spec), profile, StorageEngine::Innodb);
    }
}

#[test]
#[ignore = "fetches every release of MySQL and MariaDB in the catalog, 2 GB, and takes minutes"]
fn every_release_lives() {
    let catalog = Catalog::built_in();
    let mut failed = Vec::new();
    for release in catalog.releases().filter(|release| release.engine != Engine::Postgres) {
        let build = build(&format!("{}:{}", release.engine, release.version));
        let storages = storage_engines(&build);
        for (storage, profile) in storages.iter().flat_map(|storage| [(*storage, "z12a"), (*storage, "z13a_bl0_sync")])
        {
            let outcome = std::panic::catch_unwind(|| lives(&build, profile, storage));
            println!("{} {profile} {storage}: {}", build.name, if outcome.is_ok() { "lives" } else { "FAILED" });
            failed.extend(outcome.is_err().then(|| format!("{} {profile} {storage}", build.name)));
        }
    }
    assert_eq!(failed, Vec::<String>::new());
}

#[test]
#[ignore = "fetches MySQL 5.5, 200 MB"]
fn a_redo_log_of_fixed_size_is_made_anew_with_another_size() {
    let build = build("mysql:5.5.34");
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let mut processes = Vec::new();
    for (size, shown) in [("16M", "16777216"), ("24M", "25165824")] {
        let configuration = configuration(&build, "z12a", &[("innodb_log_file_size", size)]);
        let mut server = scene.start_with(&build, &data, &configuration).expect("started");
        processes.extend(server.processes());
        assert_eq!(ask(&server, "SELECT @@innodb_log_file_size"), shown);
        assert!(data.join("ib_logfile0").is_file());
        assert_eq!(server.stop().expect("stopped"), Stopped { clean: true }, "{:?}", server.log_tail(5));
        assert!(!data.join("ib_logfile0").exists() && !data.join("ib_logfile1").exists());
    }
    scene.end(&processes);
}

#[test]
fn a_killed_server_recovers_and_a_copy_is_as_it_was() {
    let build = build(MARIADB);
    let scene = Scene::new();
    let (data, master) = (scene.data(&build, "d"), scene.workspace.join("master"));
    let mut server = scene.start(&build, &data).expect("started");
    let mut processes = server.processes();
    let mut session = session(&server);
    session.execute("CREATE TABLE t (n INT PRIMARY KEY)").expect("a table");
    session.execute("INSERT INTO t VALUES (1), (2), (3)").expect("rows");
    match cluster::snapshot(&data, &master, copy::CopyMethod::Plain) {
        Err(ServerError::FolderInUse { pid, .. }) => assert_eq!(pid, server.pids()[0]),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.stop_now().expect("ended"), Stopped { clean: false });
    drop((server, session));

    let mut server = scene.start(&build, &data).expect("recovered");
    processes.extend(server.processes());
    assert_eq!(ask(&server, "SELECT count(*) FROM t"), "3");
    assert_eq!(server.stop().expect("stopped"), Stopped { clean: true });
    drop(server);
    let method = copy::detect(scene.workspace.path()).expect("tried");
    cluster::snapshot(&data, &master, method).expect("copied");
    cluster::restore(&master, &data, method, &AtomicBool::new(false)).expect("put back");
    let second = scene.workspace.join("second");
    cluster::restore(&master, &second, method, &AtomicBool::new(false)).expect("a second copy");
    let both = [&data, &second].map(|folder| scene.start(&build, folder).expect("started on a copy"));
    both.iter().for_each(|server| assert_eq!(ask(server, "SELECT count(*) FROM t"), "3"));

    // One that dies is noticed, with its last words.
    assert!(both[0].processes()[0].signal(Signal::KILL));
    wait_dead(&both[0]);
    let ServerError::Died { log, .. } = both[0].check_alive().expect_err("dead") else { panic!("another error") };
    assert!(log.iter().any(|line| line.contains("ready for connections")), "{log:?}");
    processes.extend(both.iter().flat_map(Server::processes));
    drop(both);
    scene.end(&processes);
}

#[test]
fn a_server_that_cannot_start_reports_why() {
    let build = build(MYSQL);
    let scene = Scene::new();
    let data = scene.data(&build, "d");
    let mut unknown = configuration(&build, "z12a", &[]);
    unknown.lines.push("no_such_option = 1".to_owned());
    let set = |name: &str, value: &str| configuration(&build, "z12a", &[(name, value)]);
    for (bad, said) in [
        (unknown, "unknown variable 'no_such_option=1'"),
        (set("innodb_buffer_pool_size", "4 apples"), "4 apples"),
        (set("innodb_page_size", "32k"), "innodb: data file './ibdata1' uses page size 16384"),
    ] {
        match scene.start_with(&build, &data, &bad) {
            Err(ServerError::DidNotStart { build: named, log, .. }) => {
                assert_eq!(named, build.name);
                assert!(log.iter().any(|line| line.to_lowercase().contains(said)), "{said}: {log:?}");
            }
            other => panic!("{said}: {other:?}"),
        }
    }
    let configuration = configuration(&build, "z12a", &[]);
    let refused = scene.launch(&build, &data, &configuration, Some(StorageEngine::Rocksdb));
    match refused {
        Err(ServerError::NoStorageEngine { build: named, storage, .. }) => {
            assert_eq!((named, storage), (build.name.clone(), StorageEngine::Rocksdb));
        }
        other => panic!("{other:?}"),
    }

    let launch = Launch {
        build: &build,
        data_dir: &data,
        configuration: &configuration,
        storage: None,
        account: Account::choose(),
        cpus: &[],
        log: &scene.log(),
        timeout: Duration::ZERO,
    };
    match Server::start(&launch, &scene.lease) {
        Err(ServerError::NotReady { seconds: 0, .. }) => {}
        other => panic!("{other:?}"),
    }
    scene.end(&[]);
}
