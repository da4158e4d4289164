//! How a PostgreSQL server is started and ended.
//!
//! In: a [`Launch`] and its data folder. Out: a command with its configuration written, where it will listen, and the
//! signals that end it. It must not spawn anything.

use crate::Result;
use crate::launch::{Ending, Launch, Prepared};
use crate::listen::socket_folder;
use crate::login;
use rqps_machine::Lease;
use rqps_machine::command::{self, OnParentDeath};
use rqps_wire::Transport;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The port in a private socket's name; the folder distinguishes servers.
const SOCKET_PORT: u16 = 5432;

/// The configuration file that a server is started with, next to the one that initdb wrote.
const CONFIG_FILE: &str = "rqps.conf";

/// How it is ended. A fast shutdown writes everything back, which may take as long as the disk needs.
pub(crate) const ENDING: Ending = Ending {
    in_order: &[
        (Signal::INT, Duration::from_secs(120)),
        (Signal::QUIT, Duration::from_secs(5)),
        (Signal::KILL, Duration::from_secs(5)),
    ],
    at_once: &[(Signal::QUIT, Duration::from_secs(2)), (Signal::KILL, Duration::from_secs(5))],
};

/// Writes the configuration and makes the command.
pub(crate) fn prepare(launch: &Launch<'_>, data_dir: &Path, program: &Path, lease: &Lease) -> Result<Prepared> {
    let socket_folder = socket_folder(launch.account, lease, &format!(".s.PGSQL.{SOCKET_PORT}"))?;
    let config = write_config(launch, data_dir, socket_folder.path())?;
    let mut command = command::program(launch.account, OnParentDeath::Interrupt, program);
    command.arg("-D").arg(data_dir).arg("-c").arg(format!("config_file={}", config.display()));
    let transport = Transport::postgres_socket(socket_folder.path(), SOCKET_PORT);
    let endpoint = login::endpoint(launch.build.engine, transport);
    Ok(Prepared { command, endpoint, folders: vec![socket_folder], scrap: Vec::new() })
}

/// Writes the configuration next to the one that initdb wrote, which is read first and never changed.
fn write_config(launch: &Launch<'_>, data_dir: &Path, socket_folder: &Path) -> Result<PathBuf> {
    let path = data_dir.join(CONFIG_FILE);
    let own = format!(
        "include 'postgresql.conf'\n\
         listen_addresses = ''\nport = {SOCKET_PORT}\n\
         unix_socket_directories = '{}'\nunix_socket_permissions = 0700\n\
         log_destination = 'stderr'\nlogging_collector = off\nlog_line_prefix = '%m [%p] '\n\
         log_timezone = 'UTC'\ntimezone = 'UTC'\n",
        socket_folder.display(),
    );
    launch.account.write_file(&path, &(own + &launch.configuration.text()))?;
    Ok(path)
}
