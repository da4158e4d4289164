//! A real server for tests that can be killed and started again on the same data, gone with the process that made it.
//!
//! In: what is installed (PostgreSQL), or a build of the catalog (MySQL). Out: an endpoint on a Unix socket. A shell between us and
//! the server waits on a pipe, so that the server goes away even when the test is killed. As root it runs as an
//! unprivileged user.

use rqps_model::BuildSpec;
use rqps_server::{Account, Cache, Catalog, cluster, installation, program};
use rqps_wire::{Endpoint, Protocol, Session, Transport, WireError};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A MySQL that is small, and a MariaDB that has RocksDB; the variables name others, in the words of `--build`.
const MYSQL_BUILD: (&str, &str) = ("RQPS_TEST_MYSQL", "mysql:8.0.15");
const ROCKSDB_BUILD: (&str, &str) = ("RQPS_TEST_ROCKSDB", "mariadb:10.11.18");
const ROCKSDB_FLAGS: &str = "--plugin-load-add=ha_rocksdb --plugin-maturity=unknown";

/// Starts the server each time the pipe says so, and clears all when it says anything else or breaks.
const SCRIPT: &str = r#"
cd "$HOME"
eval "$INITIALISE"
while read -r word && [ "$word" = start ]; do
    wait
    eval "$SERVE &"
done
kill -$END $! || true
kill -CONT $! || true
wait || true
rm -rf "$HOME"
"#;

/// What a commit has written must outlive the server's death, though not the machine's.
const POSTGRES: [&str; 2] = [
    r#""$BIN/initdb" -D data -U bench -A trust --encoding=UTF8 --locale=C --no-sync"#,
    r#""$BIN/postgres" -D data -c unix_socket_directories="$HOME" -c listen_addresses= -c fsync=off \
       -c shared_buffers=32MB -c max_connections=60 -c autovacuum=off -c restart_after_crash=off"#,
];
const MYSQL: [&str; 2] = [
    "true",
    r#""$PROGRAM" --no-defaults --basedir="$BASE" --datadir="$HOME/data" --lc-messages-dir="$MESSAGES" \
       --socket="$HOME/s" --pid-file="$HOME/pid" --skip-networking --innodb-buffer-pool-size=64M \
       --innodb-flush-log-at-trx-commit=2 --innodb-doublewrite=0 --max-connections=60 --loose-mysqlx=OFF \
       --loose-skip-log-bin --character-set-server=latin1 $FLAGS"#,
];

/// A running server.
pub(crate) struct LiveServer {
    protocol: Protocol,
    directory: PathBuf,
    guard: Child,
}

impl LiveServer {
    /// Makes a server and starts it.
    pub(crate) fn start(protocol: Protocol) -> LiveServer {
        LiveServer::start_build(protocol, MYSQL_BUILD, "")
    }

    /// Makes a MariaDB server with RocksDB and starts it.
    pub(crate) fn start_rocksdb() -> LiveServer {
        LiveServer::start_build(Protocol::Mysql, ROCKSDB_BUILD, ROCKSDB_FLAGS)
    }

    fn start_build(protocol: Protocol, mysql_build: (&str, &str), flags: &str) -> LiveServer {
        let account = Account::choose();
        let directory = tempfile::Builder::new().prefix("rqps-insert-").tempdir().unwrap().keep();
        account.own_path(&directory).unwrap();
        let mut command = match account.differs_from_us() {
            true => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={}", account.uid)).arg(format!("--regid={}", account.gid));
                command.args(["--clear-groups", "sh"]);
                command
            }
            false => Command::new("sh"),
        };
        let ([initialise, serve], end) = match protocol {
            Protocol::Postgres => {
                command.env("BIN", binaries());
                (POSTGRES, "QUIT")
            }
            Protocol::Mysql => {
                initialise_mysql(mysql_build, &mut command, &directory, account);
                (MYSQL, "KILL")
            }
        };
        let log = File::create(directory.join("log")).unwrap();
        let guard = command
            .args(["-c", SCRIPT])
            .env("INITIALISE", initialise)
            .env("SERVE", serve)
            .env("END", end)
            .env("FLAGS", flags)
            .env("HOME", &directory)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = LiveServer { protocol, directory, guard };
        server.start_again();
        server
    }

    /// Starts it after it was killed.
    pub(crate) fn start_again(&mut self) {
        self.guard.stdin.as_mut().unwrap().write_all(b"start\n").unwrap();
        let start = Instant::now();
        while let Err(error) = Session::connect(&self.endpoint(), PATIENCE) {
            let has_ended = self.guard.try_wait().unwrap().is_some();
            let log = std::fs::read_to_string(self.directory.join("log"));
            // The killed one may have been connected to just before its socket closed.
            let is_not_yet = error.is_not_ready() || matches!(error, WireError::Lost { .. });
            assert!(
                is_not_yet && !has_ended && start.elapsed() < PATIENCE,
                "the server does not start: {error}\n{log:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        let (transport, database) = match self.protocol {
            Protocol::Postgres => (Transport::postgres_socket(&self.directory, 5432), "postgres"),
            Protocol::Mysql => (Transport::Unix { path: self.directory.join("s") }, "sbtest"),
        };
        Endpoint {
            engine: self.protocol,
            transport,
            user: "bench".into(),
            password: None,
            database: database.into(),
            options: Vec::new(),
        }
    }

    /// The rows of a query, as text with columns joined by a blank.
    pub(crate) fn ask(&self, sql: &str) -> Vec<String> {
        let table = Session::connect(&self.endpoint(), PATIENCE).unwrap().query(sql).unwrap();
        let text = |row: &Vec<Option<String>>| {
            row.iter().map(|value| value.clone().unwrap_or("NULL".into())).collect::<Vec<_>>().join(" ")
        };
        table.rows.iter().map(text).collect()
    }

    /// The one number that a query asks for.
    pub(crate) fn number(&self, sql: &str) -> u64 {
        self.ask(sql)[0].parse().unwrap()
    }

    /// The server's processes, the first of them first.
    fn processes(&self) -> Vec<i32> {
        let file = match self.protocol {
            Protocol::Postgres => self.directory.join("data/postmaster.pid"),
            Protocol::Mysql => self.directory.join("pid"),
        };
        let text = std::fs::read_to_string(file).unwrap();
        let main: i32 = text.lines().next().unwrap().trim().parse().unwrap();
        let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children")).unwrap();
        let children = children.split_whitespace().map(|child| child.parse().unwrap());
        std::iter::once(main).chain(children).collect()
    }

    /// Sends a signal to all of the server's processes.
    pub(crate) fn signal_all(&self, name: Signal) {
        for process in self.processes() {
            // A session's process may have ended meanwhile.
            let _ = kill_process(Pid::from_raw(process).unwrap(), name);
        }
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.guard.stdin.take() {
            let _ = pipe.write_all(b"end\n");
        }
        let _ = self.guard.wait();
    }
}

/// PostgreSQL's binaries: `RQPS_TEST_POSTGRES`, or the newest that a distribution has installed.
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

/// Makes the data folder, with the account and database of all tests.
fn initialise_mysql((variable, usual): (&str, &str), command: &mut Command, directory: &Path, account: Account) {
    let spec = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    let spec: BuildSpec = spec.parse().unwrap();
    let build = installation::install(&spec, &Catalog::built_in(), &Cache::open().unwrap(), &mut |_| ()).unwrap();
    cluster::initialise(&build, &directory.join("data"), account, true).unwrap();
    let places = ["share", "share/mysql", "share/mariadb"].map(|place| build.folder.join(place));
    let messages = places.into_iter().find(|place| place.join("english/errmsg.sys").is_file()).unwrap();
    let libraries = build.library_folders.iter().map(|folder| build.folder.join(folder).display().to_string());
    command
        .env("PROGRAM", program(&build).unwrap())
        .env("BASE", &build.folder)
        .env("MESSAGES", messages)
        .env("LD_LIBRARY_PATH", libraries.collect::<Vec<_>>().join(":"));
}
