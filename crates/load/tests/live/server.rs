//! A real PostgreSQL server for tests: made in a temporary directory, gone with the process that made it.
//!
//! In: nothing but what is installed. Out: an endpoint on a Unix socket with a superuser. A shell between us and the server
//! waits on a pipe, so that the server goes away even when the test is killed. As root it runs as an unprivileged user.

use rqps_wire::{Endpoint, Protocol, Session, Transport};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nobody: initdb and postgres refuse to run as root.
const UNPRIVILEGED: u32 = 65534;

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const SCRIPT: &str = r#"
set -e
cd "$HOME"
"$BIN/initdb" -D data -U bench -A trust --encoding=UTF8 --locale=C --no-sync
"$BIN/postgres" -D data -c unix_socket_directories="$HOME" -c listen_addresses= -c fsync=off \
    -c shared_buffers=32MB -c max_connections=60 -c shared_preload_libraries=pg_stat_statements \
    -c pg_stat_statements.track=all -c deadlock_timeout=5ms -c autovacuum=off &
read -r _ || true
kill -QUIT $! || true
wait || true
rm -rf "$HOME"
"#;

/// A running server.
pub(crate) struct LiveServer {
    directory: PathBuf,
    guard: Child,
}

/// The binaries: `RQPS_TEST_POSTGRES`, or the newest that a distribution has installed.
fn binaries() -> PathBuf {
    if let Some(given) = std::env::var_os("RQPS_TEST_POSTGRES") {
        return given.into();
    }
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = installed
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, path): &(u32, PathBuf)| path.join("postgres").exists())
        .collect();
    found.sort();
    let newest = found.pop();
    newest.expect("a PostgreSQL server under /usr/lib/postgresql, or set RQPS_TEST_POSTGRES to a folder of binaries").1
}

impl LiveServer {
    pub(crate) fn start() -> LiveServer {
        let directory = tempfile::Builder::new().prefix("rqps-load-").tempdir().unwrap().keep();
        let log = File::create(directory.join("log")).unwrap();
        let mut command = if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&directory, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
            command
        } else {
            Command::new("sh")
        };
        let guard = command
            .args(["-c", SCRIPT])
            .env("HOME", &directory)
            .env("BIN", binaries())
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = LiveServer { directory, guard };
        server.wait_ready();
        server
    }

    fn wait_ready(&mut self) {
        let start = Instant::now();
        while let Err(error) = Session::connect(&self.endpoint(), PATIENCE) {
            let has_ended = self.guard.try_wait().unwrap().is_some();
            assert!(
                error.is_not_ready() && !has_ended && start.elapsed() < PATIENCE,
                "the server does not start: {error}\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What the server has logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("log")).unwrap()
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint {
            engine: Protocol::Postgres,
            transport: Transport::postgres_socket(&self.directory, 5432),
            user: "bench".into(),
            password: None,
            database: "postgres".into(),
            options: Vec::new(),
        }
    }

    /// An endpoint whose sessions start with a setting.
    pub(crate) fn endpoint_with(&self, name: &str, value: &str) -> Endpoint {
        Endpoint { options: vec![(name.into(), value.into())], ..self.endpoint() }
    }

    pub(crate) fn session(&self) -> Session {
        Session::connect(&self.endpoint(), PATIENCE).unwrap()
    }

    /// The rows of a query, as text with columns joined by a blank.
    pub(crate) fn ask(&self, sql: &str) -> Vec<String> {
        let table = self.session().query(sql).unwrap();
        let text = |row: &Vec<Option<String>>| {
            row.iter().map(|value| value.clone().unwrap_or("NULL".into())).collect::<Vec<_>>().join(" ")
        };
        table.rows.iter().map(text).collect()
    }

    fn postmaster(&self) -> i32 {
        let file = std::fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        file.lines().next().unwrap().parse().unwrap()
    }

    /// Ends the server and all its sessions at once.
    pub(crate) fn kill(&self) {
        signal(self.postmaster(), Signal::QUIT);
    }

    /// Stops or continues the server's processes.
    pub(crate) fn signal_all(&self, name: Signal) {
        let postmaster = self.postmaster();
        let children = std::fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children")).unwrap();
        for child in children.split_whitespace() {
            signal(child.parse().unwrap(), name);
        }
        signal(postmaster, name);
    }
}

fn signal(process: i32, name: Signal) {
    // A session's process may have ended meanwhile.
    let _ = kill_process(Pid::from_raw(process).unwrap(), name);
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.guard.stdin.take() {
            let _ = pipe.write_all(b"end\n");
        }
        let _ = self.guard.wait();
    }
}
