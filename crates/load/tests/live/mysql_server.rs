//! A real MySQL or MariaDB server for tests: made in a temporary directory, gone with the process that made it.
//!
//! In: which of the two, and options. Out: an endpoint on a Unix socket with all privileges, binary log on, and what the
//! general log saw. A shell between us and the server waits on a pipe, so that the server goes away even when the test is
//! killed. As root it runs as an unprivileged user.

use crate::builds;
use crate::server::PATIENCE;
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use rqps_wire::{Endpoint, Protocol, Session, Transport};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const UNPRIVILEGED: u32 = 65534;

const SCRIPT: &str = r#"
set -e
cd "$HOME"
printf 'CREATE DATABASE sbtest;\nCREATE USER bench@localhost;\nGRANT ALL ON *.* TO bench@localhost;\n' > init.sql
common="--no-defaults --basedir=$BASE --datadir=$HOME/data --lc-messages-dir=$MESSAGES --innodb-log-file-size=16M"
if [ -n "$INSTALL" ]; then
    mkdir data
    perl "$INSTALL" $common --force
elif [ -n "$TABLES" ]; then
    mkdir data
    (printf 'CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n'
        cat "$TABLES"_system_tables.sql "$TABLES"_performance_tables.sql "$TABLES"_system_tables_data.sql) |
        "$SERVER" $common --bootstrap
else
    "$SERVER" $common --initialize-insecure
fi
"$SERVER" $common --socket="$HOME/socket" --pid-file="$HOME/pid" --init-file="$HOME/init.sql" --skip-networking \
    --loose-mysqlx=OFF --local-infile=ON --character-set-server=latin1 --max-connections=60 \
    --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --sync-binlog=0 \
    --log-bin=binlog --server-id=1 --general-log-file="$HOME/general.log" --innodb-lock-wait-timeout=1 $OPTIONS &
read -r _ || true
kill -KILL $! || true
wait || true
rm -rf "$HOME"
"#;

/// Which product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    Mysql,
    Mariadb,
}

impl Product {
    pub(crate) const ALL: [Product; 2] = [Product::Mysql, Product::Mariadb];
}

/// A running server.
pub(crate) struct MysqlServer {
    directory: PathBuf,
    guard: Child,
}

impl MysqlServer {
    pub(crate) fn start(product: Product) -> MysqlServer {
        MysqlServer::start_with(product, "")
    }

    /// A MariaDB with its RocksDB plugin.
    pub(crate) fn start_rocksdb() -> MysqlServer {
        let build = builds::rocksdb();
        let plugins = rqps_server::plugin_folder(&build).unwrap();
        let options = "--plugin-load-add=ha_rocksdb --plugin-maturity=unknown --rocksdb-deadlock-detect=ON";
        MysqlServer::launch(&build, &format!("--plugin-dir={} {options}", plugins.display()))
    }

    /// A server with more options, separated by blanks.
    pub(crate) fn start_with(product: Product, options: &str) -> MysqlServer {
        let build = match product {
            Product::Mysql => builds::mysql(),
            Product::Mariadb => builds::mariadb(),
        };
        MysqlServer::launch(&build, options)
    }

    fn launch(build: &BuildFacts, options: &str) -> MysqlServer {
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
        let base = &build.folder;
        let messages = ["share", "share/mysql", "share/mariadb"];
        let messages = messages.iter().map(|place| base.join(place)).find(|path| path.join("english").exists());
        let messages = messages.expect("messages in the build");
        let install = Some(base.join("scripts/mysql_install_db"));
        let install = install.filter(|script| build.engine == Engine::Mysql && script.exists());
        // The scripts of MariaDB need programs that packages leave out; what they feed to the server is always there.
        let has_tables = |name: &&str| messages.join(format!("{name}_system_tables.sql")).exists();
        let tables = ["mariadb", "mysql"].into_iter().find(has_tables).filter(|_| build.engine == Engine::Mariadb);
        let libraries = build.library_folders.iter().map(|folder| base.join(folder));
        let guard = command
            .args(["-c", SCRIPT])
            .env("HOME", &directory)
            .env("BASE", base)
            .env("SERVER", rqps_server::program(build).unwrap())
            .env("MESSAGES", &messages)
            .env("INSTALL", install.unwrap_or_default())
            .env("TABLES", tables.map(|name| messages.join(name)).unwrap_or_default())
            .env("OPTIONS", options)
            .env("LC_ALL", "C")
            // A MariaDB that starts removes what looks like temporary tables there.
            .env("TMPDIR", &directory)
            .env("LD_LIBRARY_PATH", std::env::join_paths(libraries).unwrap())
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = MysqlServer { directory, guard };
        server.wait_ready();
        server
    }

    fn wait_ready(&mut self) {
        let start = Instant::now();
        // The socket is there before the account is; the first statement of the init file makes the database.
        while let Err(error) = Session::connect(&self.endpoint(), PATIENCE) {
            let has_ended = self.guard.try_wait().unwrap().is_some();
            assert!(!has_ended && start.elapsed() < PATIENCE, "the server does not start: {error}\n{}", self.log());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.directory.join("log")).unwrap()).into_owned()
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint {
            engine: Protocol::Mysql,
            transport: Transport::Unix { path: self.directory.join("socket") },
            user: "bench".into(),
            password: None,
            database: "sbtest".into(),
            options: Vec::new(),
        }
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

    /// Does `act` and returns what the server says it executed meanwhile, prepared or as text, in order.
    pub(crate) fn executed(&self, act: impl FnOnce()) -> Vec<String> {
        let path = self.directory.join("general.log");
        self.ask("SET GLOBAL general_log = 1");
        let before = std::fs::read(&path).unwrap().len();
        act();
        self.ask("SET GLOBAL general_log = 0");
        let log = String::from_utf8(std::fs::read(&path).unwrap().split_off(before)).unwrap();
        // A line is time, number of the session, and then the command and its text after a tab.
        let executed = log.lines().filter_map(|line| {
            let (head, sql) = line.rsplit_once('\t')?;
            let command = head.split_whitespace().last()?;
            (matches!(command, "Execute" | "Query") && !sql.starts_with("SET ")).then(|| sql.to_owned())
        });
        executed.collect()
    }

    /// Ends the server at once.
    pub(crate) fn kill(&self) {
        let pid = std::fs::read_to_string(self.directory.join("pid")).unwrap();
        let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
}

impl Drop for MysqlServer {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.guard.stdin.take() {
            let _ = pipe.write_all(b"end\n");
        }
        let _ = self.guard.wait();
    }
}
