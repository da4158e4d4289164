//! How a MySQL or MariaDB server is started and ended.
//!
//! In: a [`Launch`] and its data folder. Out: a command with its option file written, where it will listen, and the
//! signals that end it. No file of the machine's own configuration is read. It must not spawn anything.

use super::data_folder::{base_arguments, redo_log_of_fixed_size};
use super::flavour::Flavour;
use crate::launch::{Ending, Launch, Prepared};
use crate::listen::socket_folder;
use crate::login;
use crate::profile::option_value;
use crate::{Result, ServerError};
use rqps_builds::program::{self, server_program};
use rqps_builds::storage::ROCKSDB_PLUGIN;
use rqps_machine::Lease;
use rqps_machine::command::OnParentDeath;
use rqps_machine::lease::LeasedFolder;
use rqps_model::StorageEngine;
use rqps_wire::Transport;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The socket in its private folder.
const SOCKET: &str = "mysql.sock";

/// The option file that a server is started with; the data folder's other files are the server's own.
const OPTION_FILE: &str = "rqps.cnf";

/// How it is ended. On any signal it writes back all dirty pages, so that only a kill is quick.
pub(crate) const ENDING: Ending = Ending {
    in_order: &[(Signal::TERM, Duration::from_secs(600)), (Signal::KILL, Duration::from_secs(10))],
    at_once: &[(Signal::KILL, Duration::from_secs(10))],
};

/// Writes the option file and makes the command.
pub(crate) fn prepare(launch: &Launch<'_>, flavour: &Flavour, data_dir: &Path, lease: &Lease) -> Result<Prepared> {
    let plugin = plugin(launch)?;
    let socket_folder = socket_folder(launch.account, lease, SOCKET)?;
    // Next to the data: sorting for an index may need as much room as the table.
    let temporary = lease.folder(data_dir.parent().unwrap_or(Path::new("/")), "t", 0o700)?;
    launch.account.own_path(temporary.path())?;
    let file = write_option_file(launch, flavour, data_dir, socket_folder.path(), &temporary, plugin)?;
    let mut command = server_program(launch.build, launch.account, OnParentDeath::Kill)?;
    command.arg(format!("--defaults-file={}", file.display())).args(base_arguments(launch.build, data_dir)?);
    let transport = Transport::Unix { path: socket_folder.path().join(SOCKET) };
    let endpoint = login::endpoint(launch.build.engine, transport);
    let scrap = redo_log_of_fixed_size(launch.build, flavour, data_dir);
    Ok(Prepared { command, endpoint, folders: vec![socket_folder, temporary], scrap })
}

/// The plugin that the tables need, if any; an error where the build does not bring it.
fn plugin(launch: &Launch<'_>) -> Result<Option<&'static str>> {
    if launch.storage != Some(StorageEngine::Rocksdb) {
        return Ok(None);
    }
    let folder = program::plugin_folder(launch.build);
    if folder.as_ref().is_some_and(|folder| folder.join(format!("{ROCKSDB_PLUGIN}.so")).is_file()) {
        return Ok(Some(ROCKSDB_PLUGIN));
    }
    Err(ServerError::NoStorageEngine {
        build: launch.build.name.clone(),
        storage: StorageEngine::Rocksdb,
        looked_for: format!(
            "{ROCKSDB_PLUGIN}.so in {}",
            folder.map_or("no folder of plugins".into(), |f| f.display().to_string())
        ),
    })
}

fn write_option_file(
    launch: &Launch<'_>,
    flavour: &Flavour,
    data_dir: &Path,
    socket_folder: &Path,
    temporary: &LeasedFolder,
    plugin: Option<&str>,
) -> Result<PathBuf> {
    let path = data_dir.join(OPTION_FILE);
    let quoted = |path: &Path| option_value(&path.display().to_string());
    let mut lines = vec![
        "[mysqld]".to_owned(),
        format!("socket = {}", quoted(&socket_folder.join(SOCKET))),
        format!("pid_file = {}", quoted(&socket_folder.join("mysqld.pid"))),
        format!("tmpdir = {}", quoted(temporary.path())),
        format!("secure_file_priv = {}", quoted(temporary.path())),
        "default_time_zone = +00:00".to_owned(),
        "skip_name_resolve".to_owned(),
        "skip_networking".to_owned(),
        // The tables are loaded by LOAD DATA LOCAL.
        "local_infile = 1".to_owned(),
    ];
    if flavour.has_x_protocol {
        lines.push("loose_mysqlx = 0".to_owned());
    }
    lines.extend(plugin.map(|plugin| format!("plugin_load_add = {plugin}")));
    let own: String = lines.iter().map(|line| format!("{line}\n")).collect();
    launch.account.write_file(&path, &(own + &launch.configuration.text()))?;
    Ok(path)
}
