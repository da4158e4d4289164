//! A real PostgreSQL server for tests: made in a temporary directory, gone with the process that made it.
//!
//! In: the directory of its binaries. Out: endpoints, on a Unix socket and on loopback, for accounts that log in
//! by trust, password, md5 and SCRAM. A shell between us and the server watches a pipe, so that the server
//! goes away even when the test is killed. As root it runs as an unprivileged user.

use std::fs::File;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rqps_wire::{Endpoint, Protocol, Session, Transport};

/// The server that every machine of ours has.
pub(crate) const INSTALLED: &str = "/usr/lib/postgresql/15/bin";

/// Nobody: initdb and postgres refuse to run as root.
const UNPRIVILEGED: u32 = 65534;

pub(crate) const PASSWORD: &str = "open sesame";
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const PG_HBA: &str = "
local all clear_user password
local all md5_user md5
local all scram_user scram-sha-256
local all bench trust
host all clear_user 127.0.0.1/32 password
host all md5_user 127.0.0.1/32 md5
host all scram_user 127.0.0.1/32 scram-sha-256
host all bench 127.0.0.1/32 trust
";

const ACCOUNTS: &str = "
create role clear_user login password 'open sesame';
create role scram_user login password 'open sesame';
set password_encryption = 'md5';
create role md5_user login password 'open sesame';
";

const SCRIPT: &str = r#"
set -e
cd "$HOME"
"$BIN/initdb" -D data -U bench -A trust --encoding=UTF8 --locale=C --no-sync
cp pg_hba.conf data/pg_hba.conf
"$BIN/postgres" -D data -c unix_socket_directories="$HOME" -c listen_addresses=127.0.0.1 -c port="$PORT" \
    -c fsync=off -c shared_buffers=16MB -c password_encryption=scram-sha-256 -c max_connections=60 &
read -r _ || true
kill -QUIT $! || true
wait || true
rm -rf "$HOME"
"#;

/// A running server.
pub(crate) struct LiveServer {
    directory: PathBuf,
    pub(crate) port: u16,
    guard: Child,
}

impl LiveServer {
    pub(crate) fn start(binaries: &Path) -> LiveServer {
        assert!(
            binaries.join("postgres").exists(),
            "no PostgreSQL in {}: these tests run against a real server, install one with `apt-get install postgresql-15`",
            binaries.display()
        );
        let directory = tempfile::Builder::new().prefix("rqps-wire-").tempdir().unwrap().keep();
        std::fs::write(directory.join("pg_hba.conf"), PG_HBA).unwrap();
        let log = File::create(directory.join("log")).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let mut command = if is_root {
            let owner = Some(UNPRIVILEGED);
            std::os::unix::fs::chown(&directory, owner, owner).unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
            command
        } else {
            Command::new("sh")
        };
        let port = free_port();
        let guard = command
            .args(["-c", SCRIPT])
            .env("HOME", &directory)
            .env("BIN", binaries)
            .env("PORT", port.to_string())
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = LiveServer { directory, port, guard };
        server.wait_ready().execute(ACCOUNTS).unwrap();
        server
    }

    fn wait_ready(&mut self) -> Session {
        let start = Instant::now();
        loop {
            match Session::connect(&self.unix("bench"), PATIENCE) {
                Ok(session) => return session,
                Err(error) => {
                    let has_ended = self.guard.try_wait().unwrap().is_some();
                    let log = std::fs::read_to_string(self.directory.join("log"));
                    assert!(
                        error.is_not_ready() && !has_ended && start.elapsed() < PATIENCE,
                        "the server does not start: {error}\n{log:?}"
                    );
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        }
    }

    /// An endpoint on the Unix socket, with a password that all accounts share.
    pub(crate) fn unix(&self, user: &str) -> Endpoint {
        self.endpoint(user, Transport::postgres_socket(&self.directory, self.port))
    }

    /// An endpoint on the loopback interface.
    pub(crate) fn tcp(&self, user: &str) -> Endpoint {
        self.endpoint(user, Transport::Tcp { host: "127.0.0.1".into(), port: self.port })
    }

    fn endpoint(&self, user: &str, transport: Transport) -> Endpoint {
        Endpoint {
            engine: Protocol::Postgres,
            transport,
            user: user.into(),
            password: Some(PASSWORD.into()),
            database: "postgres".into(),
            options: vec![("application_name".into(), "rqps-wire test".into())],
        }
    }

    /// A session of the superuser.
    pub(crate) fn session(&self) -> Session {
        Session::connect(&self.unix("bench"), PATIENCE).unwrap()
    }

    /// Kills the server without mercy.
    pub(crate) fn kill(&self) {
        let file = std::fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        let id: i32 = file.lines().next().unwrap().parse().unwrap();
        let id = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
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

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
