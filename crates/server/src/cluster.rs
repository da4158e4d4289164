//! A data folder: made, copied, put back.
//!
//! In: an installed build, a folder that is not there yet, an account. Out: a data folder with the empty database `sbtest`,
//! as the engine's own part makes it; and copies of it. It must not copy the data of a running server.

pub(crate) use crate::postgres::data_folder::{initdb, single_user};

use crate::copy::{self, Copied, CopyMethod};
use crate::proctree::ProcessId;
use crate::{Account, Result, ServerError, mysql, postgres};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The superuser of every data folder that rqps makes; logs in without a password over the private socket (and, where a
/// server was asked to listen on TCP, from this machine).
pub const USER: &str = "bench";

/// The database that the tests run in.
pub const DATABASE: &str = "sbtest";

/// Makes a data folder with the database `sbtest` in it. The folder must not exist or be empty. MySQL and MariaDB have
/// checksums whatever is asked: their settings decide.
pub fn initialise(build: &BuildFacts, dir: &Path, account: Account, checksums: bool) -> Result<()> {
    match build.engine {
        Engine::Postgres => postgres::data_folder::initialise(build, dir, account, checksums),
        Engine::Mysql | Engine::Mariadb => mysql::data_folder::initialise(build, dir, account),
    }
}

/// What programs say when the disk is full: the system's words, its number, and hints where half a page could still be
/// written.
const FULL_DISK: [&str; 7] = [
    "No space left on device",
    "Check free disk space",
    "rrcode: 28",
    "rror number 28",
    "errno: 28",
    "with error 28",
    "disk is full",
];

/// What a program says when the disk is full, told as what it is.
pub(crate) fn full_disk(error: ServerError, dir: &Path) -> ServerError {
    match &error {
        ServerError::Program { output, .. } if FULL_DISK.iter().any(|words| output.contains(words)) => {
            ServerError::io("fill", dir, std::io::Error::from(std::io::ErrorKind::StorageFull))
        }
        _ => error,
    }
}

/// Copies a data folder whose server is stopped to a place that does not exist yet.
pub fn snapshot(data_dir: &Path, to: &Path, method: CopyMethod) -> Result<Copied> {
    refuse_running(data_dir)?;
    let copied = copy::copy_tree(data_dir, to, method, &AtomicBool::new(false))?;
    // A server that was killed leaves its file; the copy is nobody's.
    let _ = fs::remove_file(to.join(postgres::data_folder::PID_FILE));
    Ok(copied)
}

/// Puts a snapshot in the place of a data folder, whatever is there. Ends early, with an error, when `stop` is raised.
pub fn restore(snapshot: &Path, data_dir: &Path, method: CopyMethod, stop: &AtomicBool) -> Result<Copied> {
    if data_dir.exists() {
        refuse_running(data_dir)?;
        fs::remove_dir_all(data_dir).map_err(ServerError::at("remove", data_dir))?;
    }
    copy::copy_tree(snapshot, data_dir, method, stop)
}

/// The process that holds a data folder, if it lives.
fn holder(data_dir: &Path) -> Option<ProcessId> {
    postgres::data_folder::holder(data_dir).or_else(|| mysql::data_folder::holder(data_dir))
}

/// Refuses a data folder that a server runs on.
pub(crate) fn refuse_running(data_dir: &Path) -> Result<()> {
    match holder(data_dir) {
        Some(process) => Err(ServerError::FolderInUse { folder: data_dir.to_owned(), pid: process.pid }),
        None => Ok(()),
    }
}

/// A folder that only the account may enter, made if it is not there.
pub(crate) fn make_private(dir: &Path, account: Account) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if !dir.is_dir() {
        fs::create_dir(dir).map_err(ServerError::at("create", dir))?;
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(ServerError::at("close", dir))?;
    account.own_path(dir)
}
