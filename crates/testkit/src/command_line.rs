//! How the server of a test is called: what it needs to be found and to be quick, then what the test wants.
//!
//! In: a build, its folder, how it shall listen, options. Out: the program with its arguments, and where its socket
//! will be. What a commit has written outlives the server's death, but not the machine's. It must not start anything.

use rqps_builds::program::server_program;
use rqps_machine::Account;
use rqps_machine::command::OnParentDeath;
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use rqps_server::cluster;
use rqps_wire::{Protocol, Transport};
use std::path::Path;
use std::process::Command;

/// The port in the name of a PostgreSQL socket whose server does not listen on loopback.
const SOCKET_PORT: u16 = 5432;

const HOST: &str = "127.0.0.1";

/// Nothing happens by itself, and a server that crashed stays down.
const POSTGRES: [&str; 5] =
    ["fsync=off", "shared_buffers=32MB", "max_connections=60", "autovacuum=off", "restart_after_crash=off"];

const MYSQL: [&str; 9] = [
    "innodb-buffer-pool-size=64M",
    "innodb-flush-log-at-trx-commit=2",
    "innodb-doublewrite=0",
    "innodb-file-per-table=1",
    "max-connections=60",
    "local-infile=1",
    "skip-name-resolve",
    "loose-mysqlx=OFF",
    "loose-skip-log-bin",
];

/// The signal that ends a server: PostgreSQL by a fast shutdown, in which it gives its shared memory back.
pub(crate) fn end(engine: Engine) -> &'static str {
    match Protocol::of(engine) {
        Protocol::Postgres => "INT",
        Protocol::Mysql => "KILL",
    }
}

/// The server of a build on the data in its folder; it dies with the shell that starts it.
pub(crate) fn command(
    build: &BuildFacts,
    folder: &Path,
    port: Option<u16>,
    account: Account,
    options: &[String],
) -> Command {
    let on_death = match Protocol::of(build.engine) {
        Protocol::Postgres => OnParentDeath::Interrupt,
        Protocol::Mysql => OnParentDeath::Kill,
    };
    let mut command = server_program(build, account, on_death).unwrap();
    let found = cluster::base_arguments(build, &folder.join("data")).unwrap();
    match Protocol::of(build.engine) {
        Protocol::Postgres => {
            let own = [
                format!("unix_socket_directories={}", folder.display()),
                format!("listen_addresses={}", if port.is_some() { HOST } else { "" }),
                format!("port={}", port.unwrap_or(SOCKET_PORT)),
            ];
            command.args(found);
            let usual = POSTGRES.map(str::to_owned);
            own.iter().chain(&usual).chain(options).for_each(|option| _ = command.args(["-c", option]));
        }
        Protocol::Mysql => {
            let mut own = vec![
                format!("socket={}", folder.join("s").display()),
                format!("pid-file={}", folder.join("own-pid").display()),
                // Debian's packages name a folder that their installation would have made.
                format!("secure-file-priv={}", folder.display()),
            ];
            own.extend(match port {
                Some(port) => vec![format!("bind-address={HOST}"), format!("port={port}")],
                None => vec!["skip-networking".to_owned()],
            });
            // This one only as the first.
            command.arg("--no-defaults").args(found);
            let usual = MYSQL.map(str::to_owned);
            own.iter().chain(&usual).chain(options).for_each(|option| _ = command.arg(format!("--{option}")));
        }
    }
    command
}

/// The socket of a server in this folder.
pub(crate) fn socket(engine: Engine, folder: &Path, port: Option<u16>) -> Transport {
    match Protocol::of(engine) {
        Protocol::Postgres => Transport::postgres_socket(folder, port.unwrap_or(SOCKET_PORT)),
        Protocol::Mysql => Transport::Unix { path: folder.join("s") },
    }
}

/// The same server on loopback.
pub(crate) fn loopback(port: u16) -> Transport {
    Transport::Tcp { host: HOST.into(), port }
}
