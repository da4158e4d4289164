//! A real MySQL or MariaDB server for tests: made in a temporary directory, gone with the process that made it.
//!
//! In: a build of the catalog, fetched once into the user's cache. Out: endpoints, on a Unix socket and on loopback, for accounts of every way to log in. A shell
//! between us and the server watches a pipe, so that the server goes away even when the test is killed. As root it runs
//! as an unprivileged user.

use std::fs::File;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSpec, Engine};
use rqps_server::{Account, Cache, Catalog, cluster, installation, plugin_folder, program};
use rqps_wire::{Endpoint, Protocol, Session, Transport};

/// The MySQL of the tests, which is small.
pub(crate) const MYSQL_BUILD: &str = "mysql:8.0.15";

/// The MariaDB of the tests: small, and with all plugins.
pub(crate) const MARIADB_BUILD: &str = "mariadb:10.11.18";

pub(crate) const PASSWORD: &str = "open sesame";
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the server, and clears all when the pipe says so.
const SCRIPT: &str = r#"
cd "$HOME"
"$PROGRAM" --no-defaults --basedir="$BASE" --datadir="$HOME/data" --lc-messages-dir="$MESSAGES" \
    --socket="$HOME/s" --pid-file="$HOME/pid" --bind-address=127.0.0.1 --port="$PORT" --skip-name-resolve \
    --innodb-buffer-pool-size=32M --innodb-flush-log-at-trx-commit=0 --max-connections=60 --local-infile=1 \
    --max-allowed-packet=64M --loose-mysqlx=OFF --loose-skip-log-bin $FLAGS &
read -r _ || true
kill -KILL $! || true
wait || true
rm -rf "$HOME"
"#;

/// What MariaDB needs for TLS and its own way to log in; MySQL makes its own certificate.
const MARIADB_FLAGS: &str = "--plugin-load-add=auth_ed25519 --ssl-cert=certificate.pem --ssl-key=key.pem";

/// A certificate that proves nothing, for tests, and its key.
const CERTIFICATE: &str = include_str!("certificate.pem");
const KEY: &str = include_str!("key.pem");

/// A running server.
pub(crate) struct LiveServer {
    pub(crate) engine: Engine,
    /// The plugins of this server with the accounts that use them.
    accounts: Vec<(&'static str, &'static str)>,
    directory: PathBuf,
    port: u16,
    guard: Child,
}

impl LiveServer {
    pub(crate) fn start(build: &BuildFacts) -> LiveServer {
        let account = Account::choose();
        let directory = tempfile::Builder::new().prefix("rqps-wire-").tempdir().unwrap().keep();
        account.own_path(&directory).unwrap();
        cluster::initialise(build, &directory.join("data"), account, true).unwrap();
        for (name, text) in [("data/certificate.pem", CERTIFICATE), ("data/key.pem", KEY)] {
            let path = directory.join(name);
            std::fs::write(&path, text).unwrap();
            account.own_path(&path).unwrap();
        }
        let mut command = if account.differs_from_us() {
            let mut command = Command::new("setpriv");
            command.arg(format!("--reuid={}", account.uid)).arg(format!("--regid={}", account.gid));
            command.args(["--clear-groups", "sh"]);
            command
        } else {
            Command::new("sh")
        };
        let port = free_port();
        let libraries = build.library_folders.iter().map(|folder| build.folder.join(folder).display().to_string());
        let has_plugins = build.engine == Engine::Mariadb && plugin_folder(build).is_some();
        let log = File::create(directory.join("log")).unwrap();
        let guard = command
            .args(["-c", SCRIPT])
            .env("HOME", &directory)
            .env("PROGRAM", program(build).unwrap())
            .env("BASE", &build.folder)
            .env("MESSAGES", messages(&build.folder))
            .env("PORT", port.to_string())
            .env("FLAGS", if has_plugins { MARIADB_FLAGS } else { "" })
            .env("LD_LIBRARY_PATH", libraries.collect::<Vec<_>>().join(":"))
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = LiveServer { engine: build.engine, accounts: Vec::new(), directory, port, guard };
        server.make_accounts();
        server
    }

    /// Accounts by plugin, all with the same password.
    fn make_accounts(&mut self) {
        let mut session = self.wait_ready();
        let wanted: &[(&str, &str)] = match self.engine {
            Engine::Mariadb => &[("mysql_native_password", "native_user"), ("ed25519", "signing_user")],
            _ => &[
                ("mysql_native_password", "native_user"),
                ("caching_sha2_password", "caching_user"),
                ("sha256_password", "sha256_user"),
            ],
        };
        let plugins =
            session.query("select plugin_name from information_schema.plugins where plugin_status = 'ACTIVE'");
        let plugins = plugins.unwrap().rows;
        let is_old = session.parameter("server_version").unwrap().starts_with("5.");
        for (plugin, user) in wanted {
            let is_native = *plugin == "mysql_native_password";
            // The old ones know how to make accounts of their own kind only.
            if !plugins.iter().any(|row| row[0].as_deref() == Some(*plugin)) || is_old && !is_native {
                continue;
            }
            let how = match self.engine {
                _ if is_native && (is_old || self.engine == Engine::Mariadb) => format!("by '{PASSWORD}'"),
                Engine::Mariadb => format!("via {plugin} using password('{PASSWORD}')"),
                _ => format!("with {plugin} by '{PASSWORD}'"),
            };
            for host in ["localhost", "127.0.0.1"] {
                session.execute(&format!("create user {user}@'{host}' identified {how}")).unwrap();
                session.execute(&format!("grant all on sbtest.* to {user}@'{host}'")).unwrap();
            }
            self.accounts.push((plugin, user));
        }
    }

    pub(crate) fn accounts(&self) -> &[(&'static str, &'static str)] {
        &self.accounts
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
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    /// An endpoint on the Unix socket, with the password that all accounts but `bench` share.
    pub(crate) fn unix(&self, user: &str) -> Endpoint {
        self.endpoint(user, Transport::Unix { path: self.directory.join("s") })
    }

    /// An endpoint on the loopback interface, with a mode of TLS.
    pub(crate) fn tcp(&self, user: &str, tls: &str) -> Endpoint {
        let mut endpoint = self.endpoint(user, Transport::Tcp { host: "127.0.0.1".into(), port: self.port });
        endpoint.options.push(("tls".into(), tls.into()));
        endpoint
    }

    fn endpoint(&self, user: &str, transport: Transport) -> Endpoint {
        Endpoint {
            engine: Protocol::Mysql,
            transport,
            user: user.into(),
            password: (user != "bench").then(|| PASSWORD.into()),
            database: "sbtest".into(),
            options: Vec::new(),
        }
    }

    /// A session of an account that may do everything.
    pub(crate) fn session(&self) -> Session {
        Session::connect(&self.unix("bench"), PATIENCE).unwrap()
    }

    /// Kills the server without mercy.
    pub(crate) fn kill(&self) {
        let file = std::fs::read_to_string(self.directory.join("pid")).unwrap();
        let id = rustix::process::Pid::from_raw(file.trim().parse().unwrap()).unwrap();
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

/// The build of a word, installed if need be.
pub(crate) fn build(word: &str) -> BuildFacts {
    let spec: BuildSpec = word.parse().unwrap();
    installation::install(&spec, &Catalog::built_in(), &Cache::open().unwrap(), &mut |_| ()).unwrap()
}

/// The folder of the server's messages in all languages.
fn messages(base: &Path) -> PathBuf {
    let places = ["share", "share/mysql", "share/mariadb"].map(|place| base.join(place));
    places.into_iter().find(|place| place.join("english/errmsg.sys").is_file()).unwrap()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
