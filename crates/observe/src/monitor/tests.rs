//! Servers that are not there or never answer. Real ones are monitored in `tests/servers/monitor.rs`.

use super::*;
use rqps_model::Engine;
use rqps_wire::Transport;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

fn endpoint(engine: Engine, path: PathBuf) -> Endpoint {
    Endpoint {
        engine,
        transport: Transport::Unix { path },
        user: "bench".into(),
        password: None,
        database: "sbtest".into(),
        options: Vec::new(),
    }
}

/// Ending takes twice fifty milliseconds at most; a connection that is waited for takes a second.
const IN_TIME: Duration = Duration::from_millis(600);

/// Watches until a row is there, and checks that it comes and the end too when they should, and that it tells of the
/// host. A busy machine may be late to wake us, but not each time, and not by more than it says itself that someone
/// waited for a CPU: whoever is later than that is at fault, at the first time.
fn check(endpoint: &Endpoint, folder: &Path) {
    let begun = Instant::now();
    loop {
        let waited_before = waited_for_cpu();
        let late = watch_once(endpoint, folder);
        if late.by.is_zero() {
            return;
        }
        let waited = waited_for_cpu().zip(waited_before).map(|(now, before)| now.saturating_sub(before));
        assert!(
            waited.is_none_or(|waited| waited >= late.by),
            "late by {:?}, of which a CPU was waited for {waited:?}: {}",
            late.by,
            late.told
        );
        assert!(begun.elapsed() < Duration::from_secs(60), "never in time: {}", late.told);
    }
}

/// By how much the later of row and end missed its time.
struct Late {
    by: Duration,
    told: String,
}

/// A sink, and what it was given.
fn kept() -> (MonitorSink, Arc<Mutex<Vec<MonitorRow>>>) {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let given = Arc::clone(&rows);
    (MonitorSink::to(move |row: &MonitorRow| given.lock().expect("whole").push(row.clone())), rows)
}

fn watch_once(endpoint: &Endpoint, folder: &Path) -> Late {
    let (sink, rows) = kept();
    let watcher = Monitor::begin(endpoint, None, folder, &[], sink);
    let has_row = watcher.shared.wait(Duration::from_secs(20), |state| state.last.count > 0);
    assert!(has_row.last.count > 0);
    drop(has_row);
    let ending = Instant::now();
    watcher.end();
    let ending = ending.elapsed();
    let rows = rows.lock().expect("whole");
    let MonitorRow { second, host, server } = &rows[0];
    assert!(*second >= 1.0 && host.seconds > 0.0 && host.seconds <= *second, "{rows:?}");
    assert!(host.cpus >= 1 && host.context_switches > 0 && host.memory_available_bytes > 0, "{host:?}");
    assert!(server.is_empty(), "{server:?}");
    let row_late = (second - 1.9).max(0.9 - host.seconds).max(0.0);
    let by = ending.saturating_sub(IN_TIME).max(Duration::from_secs_f64(row_late));
    Late { by, told: format!("{ending:?} {rows:?}") }
}

/// How long anyone on this machine has waited for a CPU since it was booted, be it that a hypervisor gave it to others.
/// Steps that follow one another cannot have been held up for longer than this grew meanwhile. `None` where the kernel
/// does not tell.
fn waited_for_cpu() -> Option<Duration> {
    let pressure = std::fs::read_to_string("/proc/pressure/cpu").ok()?;
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let waited = Duration::from_micros(some.rsplit_once("total=")?.1.trim().parse().ok()?);
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let stolen: u64 = stat.lines().next()?.split_ascii_whitespace().nth(8)?.parse().ok()?;
    Some(waited + Duration::from_secs(stolen) / u32::try_from(rustix::param::clock_ticks_per_second()).ok()?)
}

#[test]
fn a_row_is_given_away_when_the_next_begins_and_takes_the_numbers_that_came_until_then() {
    let numbers = |value: f64| Counters::from([("log_bytes".to_owned(), value)]);
    let mut last = Last::default();
    last.answer(numbers(7.0));
    assert_eq!(last.next(1.0, HostUse::default()), None, "there is none before the first");
    for second in 1..1000 {
        let (second, is_answered) = (f64::from(second), second % 3 > 0);
        if is_answered {
            last.answer(numbers(second));
        }
        let server = if is_answered { numbers(second) } else { Counters::new() };
        let host = HostUse { page_faults: 7, ..HostUse::default() };
        let before = last.next(second + 1.0, host).expect("a row");
        assert_eq!((before.second, before.server), (second, server));
        // Only this one is still there.
        assert_eq!(last.row, Some(MonitorRow { second: second + 1.0, host, server: Counters::new() }));
    }
}

#[test]
fn rows_are_given_away_while_the_monitor_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (sink, rows) = kept();
    let watcher =
        Monitor::begin(&endpoint(Engine::Postgres, folder.path().join("nobody")), None, folder.path(), &[], sink);
    let begun = Instant::now();
    while rows.lock().expect("whole").len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no rows");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(watcher);
    let rows = rows.lock().expect("whole");
    assert!(rows.is_sorted_by(|one, next| one.second < next.second), "{rows:?}");
}

#[test]
fn a_server_that_is_not_there_leaves_rows_of_the_host() {
    let folder = tempfile::tempdir().expect("a folder");
    check(&endpoint(Engine::Postgres, folder.path().join("nobody")), folder.path());
}

#[test]
fn a_server_that_never_answers_does_not_hold_up_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("silent");
    let _listener = UnixListener::bind(&path).expect("a socket");
    check(&endpoint(Engine::Mysql, path), folder.path());
}

#[test]
fn a_watcher_that_is_dropped_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let nobody = endpoint(Engine::Mysql, folder.path().join("nobody"));
    let watcher = Monitor::begin(&nobody, None, folder.path(), &[], kept().0);
    let shared = Arc::downgrade(&watcher.shared);
    drop(watcher);
    let begun = Instant::now();
    while shared.strong_count() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "its threads go on");
        std::thread::yield_now();
    }
}
