//! A data folder: made, copied, put back.
//!
//! In: an installed build, a folder that is not there yet, an account. Out: a data folder with the empty database `sbtest`,
//! as the engine's own part makes it; and copies of it. It must not copy the data of a running server.

use crate::kept::Kept;
use crate::process::Ending;
use crate::{Result, ServerError, mysql, postgres};
use rqps_machine::copy::{self, Copied, CopyMethod};
use rqps_machine::proctree::{self, ProcessId};
use rqps_machine::{Account, Lease, remove_tree};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The superuser of every data folder that rqps makes; logs in without a password over the private socket (and, where a
/// server was asked to listen on TCP, from this machine).
pub const USER: &str = "bench";

/// The database that the tests run in.
pub const DATABASE: &str = "sbtest";

/// Makes a data folder with the database `sbtest` in it. The folder must not exist or be empty. MySQL and MariaDB have
/// checksums whatever is asked: their settings decide. It is copied where one like it is kept in the cache, and kept there
/// where it had to be made; what makes it belongs to the lease.
pub fn initialise(build: &BuildFacts, dir: &Path, account: Account, checksums: bool, lease: &Lease) -> Result<()> {
    let kept = Kept::of(build, account, checksums, lease);
    if kept.copy_to(dir) {
        return Ok(());
    }
    match build.engine {
        Engine::Postgres => postgres::data_folder::initialise(build, dir, account, checksums, lease)?,
        Engine::Mysql | Engine::Mariadb => mysql::data_folder::initialise(build, dir, account, lease)?,
    }
    // What cannot be kept, on a full disk or in a cache that is another's, is made again the next time.
    let _ = kept.keep(dir);
    Ok(())
}

/// What every start of a build's server needs on its command line to find its data and its own files.
pub fn base_arguments(build: &BuildFacts, data_dir: &Path) -> Result<Vec<String>> {
    match build.engine {
        Engine::Postgres => Ok(vec!["-D".to_owned(), data_dir.display().to_string()]),
        Engine::Mysql | Engine::Mariadb => mysql::data_folder::base_arguments(build, data_dir),
    }
}

/// What does not end at its signal in this time ignores it, as programs do that a script has started in the background.
const HEEDS_WITHIN: Duration = Duration::from_secs(5);

/// Sends whatever we have running on a data folder, be it a server or what makes the folder, the signal that ends it at once:
/// for data that is thrown away. It does not wait; `since` is how long ago this was asked for the first time, and after a while
/// the signal is one that nobody can ignore.
pub fn end_at_once(engine: Engine, data_dir: &Path, since: Duration) {
    let Ok(here) = fs::canonicalize(data_dir) else { return };
    let signal = if since < HEEDS_WITHIN { Ending::of(engine).at_once[0].0 } else { Signal::KILL };
    for process in proctree::tree(ProcessId::own()).into_iter().skip(1) {
        if process.folder_and_program().is_some_and(|(folder, _)| folder == here) {
            process.signal(signal);
        }
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
        remove_tree(data_dir)?;
    }
    Ok(copy::copy_tree(snapshot, data_dir, method, stop)?)
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
    Ok(account.own_path(dir)?)
}
