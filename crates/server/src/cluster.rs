//! A data folder: made, copied, put back.
//!
//! In: an installed build, a folder that is not there yet, an account. Out: a data folder with the empty database
//! `sbtest`, as the engine's own part makes it; and copies of it. It must not copy the data of a running server.

pub use crate::dbms::base_arguments;

use crate::dbms::{self, ending, holder};
use crate::kept::Kept;
use crate::{Result, ServerError, postgres};
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

/// Makes a data folder with the database `sbtest` in it. The folder must not exist or be empty. MySQL and MariaDB have
/// checksums by their settings alone, whatever `checksums` is. It is copied where one like it is kept in the cache,
/// and kept there where it had to be made; what makes it belongs to the lease.
pub fn initialise(build: &BuildFacts, dir: &Path, account: Account, checksums: bool, lease: &Lease) -> Result<()> {
    let kept = Kept::of(build, account, checksums, lease);
    if kept.copy_to(dir) {
        return Ok(());
    }
    dbms::initialise(build, dir, account, checksums, lease)?;
    // What cannot be kept, on a full disk or in a cache that is another's, is made again the next time.
    let _ = kept.keep(dir);
    Ok(())
}

/// What does not end at its signal in this time ignores it, as programs do that a script has started in the background.
const HEEDS_WITHIN: Duration = Duration::from_secs(5);

/// Sends whatever we have running on a data folder, be it a server or what makes the folder, the signal that ends it at
/// once: for data that is thrown away. It does not wait; `since` is the time since the first request, and after a while
/// the signal is one that cannot be ignored.
pub fn end_at_once(engine: Engine, data_dir: &Path, since: Duration) {
    let Ok(here) = fs::canonicalize(data_dir) else { return };
    let signal = if since < HEEDS_WITHIN { ending(engine).at_once[0].0 } else { Signal::KILL };
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
    // A server that was killed leaves its file; the copy has no owner.
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

/// Refuses a data folder that a server runs on.
pub(crate) fn refuse_running(data_dir: &Path) -> Result<()> {
    match holder(data_dir) {
        Some(process) => Err(ServerError::FolderInUse { folder: data_dir.to_owned(), pid: process.pid }),
        None => Ok(()),
    }
}
