//! What an installation is: its own binaries say so; it is never guessed from its folder's name.
//!
//! In: a folder that holds an engine's programs. Out: [`BuildFacts`] with version, compiler, flags, extensions and
//! symbols. It must not change the installation.

mod info_bin;
mod mysql;
mod postgres;

use crate::program;
use crate::{BuildError, Result};
use rqps_machine::command::{self, OnParentDeath};
use rqps_machine::{Account, Lease};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for a program to say what it is.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// The end of the name of a build whose packager is unknown.
const LOCAL: &str = "local";

/// Prefixes that an installation shares with everything else on the machine.
const SHARED: [&str; 3] = ["/", "/usr", "/usr/local"];

/// What is to be inspected.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The installation folder, or the folder in it that holds the programs.
    pub folder: &'a Path,
    /// The database system that it should be.
    pub engine: Engine,
    /// Package coordinate, address, or the folder as the user gave it.
    pub origin: &'a str,
    /// Who packaged it; where that is not known, what the binary's own text says.
    pub label: Option<&'a str>,
    /// Folders inside it whose libraries its programs need.
    pub library_folders: &'a [PathBuf],
}

/// Inspects an installation.
pub fn inspect(subject: &Subject<'_>, lease: &Lease) -> Result<BuildFacts> {
    match subject.engine {
        Engine::Postgres => postgres::inspect(subject, lease),
        Engine::Mysql | Engine::Mariadb => mysql::inspect(subject),
    }
}

impl Subject<'_> {
    /// The installation folder as an absolute path without links; a folder of its programs is taken for its parent.
    fn root(&self, program_folders: &[&str]) -> Result<PathBuf> {
        let found = fs::canonicalize(self.folder).map_err(|e| self.wrong(format!("the folder itself: {e}")))?;
        let holds_program = program::names(self.engine).iter().any(|name| found.join(name).is_file());
        match (found.file_name(), found.parent()) {
            (Some(name), Some(parent)) if holds_program && program_folders.iter().any(|known| name == *known) => {
                Ok(parent.to_owned())
            }
            _ => Ok(found),
        }
    }

    fn wrong(&self, looked_for: String) -> BuildError {
        let engine = self.engine.name().to_owned();
        BuildError::NotAnInstallation { folder: self.folder.to_owned(), engine, looked_for }
    }
}

/// What the server program says of its version. It can be anybody's, so that it is run as servers are: under their
/// account.
fn banner(subject: &Subject<'_>, program: &Path, root: &Path) -> Result<String> {
    let name = program.strip_prefix(root).unwrap_or(program).display();
    let account = Account::choose();
    account.check_can_enter(program.parent().unwrap_or(Path::new("/")), "RQPS_CACHE")?;
    let mut command = command::program_with(account, OnParentDeath::Kill, program, root, subject.library_folders);
    if subject.engine != Engine::Postgres {
        // The machine's own my.cnf says nothing of this program, and could keep it from answering.
        command.arg("--no-defaults");
    }
    command.arg("--version");
    let banner = command::output_within(command, &format!("{name} --version"), ANSWER_LIMIT)
        .map_err(|e| subject.wrong(format!("a {name} that runs on this machine: {e}")))?;
    Ok(banner.trim().to_owned())
}

/// Bytes of all files below a folder; of a prefix that is shared with everything else, of what is the engine's there.
fn size_of(folder: &Path, program: &Path) -> u64 {
    if !SHARED.iter().any(|shared| folder == Path::new(shared)) {
        return size_below(folder);
    }
    let own = ["lib/mysql", "lib/mariadb", "share/mysql", "share/mariadb", "lib64/mysql", "lib64/mariadb"];
    let program = fs::metadata(program).map_or(0, |meta| meta.len());
    program + own.iter().map(|name| size_below(&folder.join(name))).sum::<u64>()
}

fn size_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .map(|(path, meta)| if meta.is_dir() { size_below(&path) } else { meta.len() })
        .sum()
}

#[cfg(test)]
mod tests;
