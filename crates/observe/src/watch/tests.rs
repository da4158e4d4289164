//! Servers that are not there or never answer. Real ones are watched in `tests/servers/watch.rs`.

use super::*;
use rqps_wire::Transport;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

fn endpoint(engine: Protocol, path: PathBuf) -> Endpoint {
    Endpoint {
        engine,
        transport: Transport::Unix { path },
        user: "bench".into(),
        password: None,
        database: "sbtest".into(),
        options: Vec::new(),
    }
}

/// Watches until a row is there, and checks that it comes and the end too when they should, and that it tells of the host.
/// A busy machine may be late to wake us, but not each time.
fn check(endpoint: &Endpoint, folder: &Path) {
    let begun = Instant::now();
    while let Err(late) = watch_once(endpoint, folder) {
        assert!(begun.elapsed() < Duration::from_secs(60), "never in time: {late}");
    }
}

fn watch_once(endpoint: &Endpoint, folder: &Path) -> Result<(), String> {
    let watcher = Watcher::begin(endpoint, None, folder);
    let has_row = watcher.shared.wait(Duration::from_secs(20), |state| !state.rows.is_empty());
    assert!(!has_row.rows.is_empty());
    drop(has_row);
    let ending = Instant::now();
    let rows = watcher.end();
    let ending = ending.elapsed();
    let WatchRow { second, host, server } = &rows[0];
    assert!(*second >= 1.0 && host.seconds > 0.0 && host.seconds <= *second, "{rows:?}");
    assert!(host.cpus >= 1 && host.context_switches > 0 && host.memory_available_bytes > 0, "{host:?}");
    assert!(server.is_empty(), "{server:?}");
    // Ending takes twice fifty milliseconds at most; a connection that is waited for takes a second.
    let is_in_time = ending < Duration::from_millis(600) && *second < 1.9 && host.seconds > 0.9;
    is_in_time.then_some(()).ok_or_else(|| format!("{ending:?} {rows:?}"))
}

#[test]
fn a_server_that_is_not_there_leaves_rows_of_the_host() {
    let folder = tempfile::tempdir().expect("a folder");
    check(&endpoint(Protocol::Postgres, folder.path().join("nobody")), folder.path());
}

#[test]
fn a_server_that_never_answers_does_not_hold_up_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("silent");
    let _listener = UnixListener::bind(&path).expect("a socket");
    check(&endpoint(Protocol::Mysql, path), folder.path());
}

#[test]
fn a_watcher_that_is_dropped_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let watcher = Watcher::begin(&endpoint(Protocol::Mysql, folder.path().join("nobody")), None, folder.path());
    let shared = Arc::downgrade(&watcher.shared);
    drop(watcher);
    let begun = Instant::now();
    while shared.strong_count() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(10), "its threads go on");
        std::thread::yield_now();
    }
}
