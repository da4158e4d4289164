//! What is to be inspected, and what an engine's own part finds out of it.
//!
//! In: a folder that is called an installation. Out: types, and the folder that really is one. It must not run
//! anything.

use crate::elf::ElfFacts;
use crate::{BuildError, Result, program};
use rqps_machine::Lease;
use rqps_model::{Engine, Version};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit for a program to print its version.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// What is to be inspected.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The installation folder, or the folder in it that holds the programs.
    pub folder: &'a Path,
    /// The database system that it should be.
    pub engine: Engine,
    /// Package coordinate, address, or the folder as the user gave it.
    pub origin: &'a str,
    /// Who packaged it; where that is not known, the binary's own text.
    pub label: Option<&'a str>,
    /// Folders inside it whose libraries its programs need.
    pub library_folders: &'a [PathBuf],
}

impl Subject<'_> {
    /// The installation folder as an absolute path without links; a folder of its programs is taken for its parent.
    pub(super) fn root(&self) -> Result<PathBuf> {
        let found = fs::canonicalize(self.folder).map_err(|e| self.wrong(format!("the folder itself: {e}")))?;
        let holds_program = self.engine.server_programs().iter().any(|name| found.join(name).is_file());
        match (found.file_name(), found.parent()) {
            (Some(name), Some(parent))
                if holds_program && program::PROGRAM_FOLDERS.iter().any(|known| name == *known) =>
            {
                Ok(parent.to_owned())
            }
            _ => Ok(found),
        }
    }

    pub(super) fn wrong(&self, looked_for: String) -> BuildError {
        let engine = self.engine.name().to_owned();
        BuildError::NotAnInstallation { folder: self.folder.to_owned(), engine, looked_for }
    }
}

/// The version text of a server program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Banner {
    pub(super) version: Version,
    /// Who made it, if that is not the engine's own project.
    pub(super) packager: Option<String>,
}

/// How an installation was made.
pub(super) struct Made {
    pub(super) compiler: String,
    pub(super) flags: String,
    pub(super) configure: String,
    pub(super) extensions: Vec<String>,
}

/// An engine's own part of an inspection.
pub(super) struct Part {
    /// The server program in an installation folder.
    pub(super) find: fn(&Subject<'_>, &Path) -> Result<PathBuf>,
    /// What keeps it from reading the machine's own configuration.
    pub(super) arguments: &'static [&'static str],
    /// Reads what it prints for `--version`.
    pub(super) read_banner: fn(&str) -> Option<Banner>,
    /// How it was made, from the folder of this version and the binary.
    pub(super) made: fn(&Path, &Version, &ElfFacts, &Lease) -> Result<Made>,
}

/// The names of a folder's files with an ending, without it, sorted.
pub(super) fn names_of(folder: &Path, ending: &str) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == ending));
    let mut names: Vec<String> = files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    names
}
