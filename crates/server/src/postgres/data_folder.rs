//! A data folder of PostgreSQL: made with encoding, locale and checksums chosen and not left to a version's default.
//!
//! In: an installed build, a folder that is not there yet, an account. Out: a data folder that holds the empty database
//! `sbtest`. It must not start a server that others can reach.

use crate::Result;
use crate::login::{DATABASE, USER};
use rqps_machine::command::{self, OnParentDeath};
use rqps_machine::full_disk::full_disk;
use rqps_machine::proctree::ProcessId;
use rqps_machine::{Account, Lease};
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::Path;

/// The encoding of every database.
const ENCODING: &str = "UTF8";

/// The locale of every database: on every machine alike, and compared by code point.
const LOCALE: &str = "C.UTF-8";

/// The file by which a server shows that it has a data folder.
pub(crate) const PID_FILE: &str = "postmaster.pid";

/// Makes a data folder with the database `sbtest` in it.
pub(crate) fn initialise(
    build: &BuildFacts,
    dir: &Path,
    account: Account,
    checksums: bool,
    lease: &Lease,
) -> Result<()> {
    let bin = build.folder.join("bin");
    account.check_can_enter(&bin, "RQPS_CACHE")?;
    initdb(&bin, build.version.major(), dir, account, checksums, lease)?;
    create_database(&bin, dir, account, lease)
}

/// Makes an empty data folder.
fn initdb(bin: &Path, major: u32, dir: &Path, account: Account, checksums: bool, lease: &Lease) -> Result<()> {
    account.private_folder(dir)?;
    let parent = dir.parent().unwrap_or(Path::new("/"));
    account.check_can_enter(parent, "RQPS_DATA")?;
    let initdb = bin.join("initdb");
    let mut command = command::program(account, OnParentDeath::Kill, &initdb);
    command.arg("-D").arg(dir).args(["-U", USER, "-A", "trust", "--no-sync"]);
    command.arg(format!("--encoding={ENCODING}")).arg(format!("--locale={LOCALE}"));
    command.arg("--text-search-config=english");
    if major >= 15 {
        command.arg("--locale-provider=libc");
    }
    match checksums {
        true => drop(command.arg("--data-checksums")),
        // Older versions have no such option, and have them off by default.
        false if major >= 18 => drop(command.arg("--no-data-checksums")),
        false => {}
    }
    lease.run(dir, &initdb, command, "initdb", "").map_err(|e| full_disk(e, dir))?;
    Ok(())
}

/// By a server that runs for this alone.
fn create_database(bin: &Path, dir: &Path, account: Account, lease: &Lease) -> Result<()> {
    let server = bin.join("postgres");
    // At this signal it gives its shared memory back.
    let mut command = command::program(account, OnParentDeath::Quit, &server);
    command.arg("--single").arg("-D").arg(dir).args(["-F", "-c", "exit_on_error=on", "-c", "log_checkpoints=off"]);
    command.arg("postgres");
    let sql = format!("CREATE DATABASE {DATABASE} TEMPLATE template0\n");
    lease.run(dir, &server, command, "postgres --single", &sql).map_err(|e| full_disk(e, dir))?;
    Ok(())
}

/// The process that has a data folder, if it lives.
pub(crate) fn holder(data_dir: &Path) -> Option<ProcessId> {
    let text = fs::read_to_string(data_dir.join(PID_FILE)).ok()?;
    let process = ProcessId::of(text.lines().next()?.trim().parse::<u32>().ok()?)?;
    let folder = process.folder_and_program().map(|(folder, _)| folder);
    // The pid may have been given to another since: a server always stands in its data folder.
    (folder.is_some() && folder == fs::canonicalize(data_dir).ok()).then_some(process)
}
