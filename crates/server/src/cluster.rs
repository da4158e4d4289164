//! A data folder: made, copied, put back.
//!
//! In: an installed build, a folder that is not there yet, an account. Out: a data folder with encoding, locale and
//! checksums chosen and not left to a version's default, holding the empty database `sbtest`; and copies of it. It must
//! not copy the data of a running server.

use crate::command::{self, OnParentDeath};
use crate::copy::{self, Copied, CopyMethod};
use crate::proctree::ProcessId;
use crate::{Account, Result, ServerError};
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The superuser of every data folder that rqps makes; logs in without a password over the private socket.
pub const USER: &str = "bench";

/// The database that the tests run in.
pub const DATABASE: &str = "sbtest";

/// The encoding of every database.
pub const ENCODING: &str = "UTF8";

/// The locale of every database: on every machine alike, and compared by code point.
pub const LOCALE: &str = "C.UTF-8";

/// The file by which a server shows that it has a data folder.
const PID_FILE: &str = "postmaster.pid";

/// Makes a data folder with the database `sbtest` in it. The folder must not exist or be empty.
pub fn initialise(build: &BuildFacts, dir: &Path, account: Account, checksums: bool) -> Result<()> {
    let bin = build.folder.join("bin");
    account.check_can_enter(&bin, "RQPS_CACHE")?;
    initdb(&bin, build.version.major(), dir, account, checksums)?;
    single_user(&bin, dir, account, "postgres", &format!("CREATE DATABASE {DATABASE} TEMPLATE template0\n"))?;
    Ok(())
}

/// Makes an empty data folder.
pub(crate) fn initdb(bin: &Path, major: u32, dir: &Path, account: Account, checksums: bool) -> Result<()> {
    make_private(dir, account)?;
    let parent = dir.parent().unwrap_or(Path::new("/"));
    account.check_can_enter(parent, "RQPS_DATA")?;
    let mut command = command::program(account, OnParentDeath::Kill, &bin.join("initdb"));
    command.arg("-D").arg(dir).args(["-U", USER, "-A", "trust", "--no-sync"]);
    command.arg(format!("--encoding={ENCODING}")).arg(format!("--locale={LOCALE}"));
    command.arg("--text-search-config=pg_catalog.english");
    if major >= 15 {
        command.arg("--locale-provider=libc");
    }
    match checksums {
        true => drop(command.arg("--data-checksums")),
        // Older versions have no such option, and have them off by default.
        false if major >= 18 => drop(command.arg("--no-data-checksums")),
        false => {}
    }
    command::output(command, "initdb", "").map(drop).map_err(|e| full_disk(e, dir))
}

/// What programs say when the disk is full: the system's words, and the hint where half a page could still be written.
const FULL_DISK: [&str; 2] = ["No space left on device", "Check free disk space"];

/// What a program says when the disk is full, told as what it is.
fn full_disk(error: ServerError, dir: &Path) -> ServerError {
    match &error {
        ServerError::Program { output, .. } if FULL_DISK.iter().any(|words| output.contains(words)) => {
            ServerError::io("fill", dir, std::io::Error::from(std::io::ErrorKind::StorageFull))
        }
        _ => error,
    }
}

/// Feeds statements, one a line, to a server that runs for them alone; gives what it prints.
pub(crate) fn single_user(bin: &Path, dir: &Path, account: Account, database: &str, sql: &str) -> Result<String> {
    let mut command = command::program(account, OnParentDeath::Kill, &bin.join("postgres"));
    command.arg("--single").arg("-D").arg(dir).args(["-F", "-c", "exit_on_error=on", "-c", "log_checkpoints=off"]);
    command.arg(database);
    command::output(command, "postgres --single", sql).map_err(|e| full_disk(e, dir))
}

/// Copies a data folder whose server is stopped to a place that does not exist yet.
pub fn snapshot(data_dir: &Path, to: &Path, method: CopyMethod) -> Result<Copied> {
    refuse_running(data_dir)?;
    let copied = copy::copy_tree(data_dir, to, method, &AtomicBool::new(false))?;
    // A server that was killed leaves its file; the copy is nobody's.
    let _ = fs::remove_file(to.join(PID_FILE));
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
pub(crate) fn holder(data_dir: &Path) -> Option<ProcessId> {
    let text = fs::read_to_string(data_dir.join(PID_FILE)).ok()?;
    let process = ProcessId::of(text.lines().next()?.trim().parse::<u32>().ok()?)?;
    let folder = process.folder_and_program().map(|(folder, _)| folder);
    // The pid may have been given to another since: a server always stands in its data folder.
    (folder.is_some() && folder == fs::canonicalize(data_dir).ok()).then_some(process)
}

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
