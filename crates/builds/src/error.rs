//! Everything that can go wrong between a build's name and its facts, sorted by cause.
//!
//! In: the message of a package client, an archive or a program. Out: one lower-case sentence that names the thing, the
//! cause and, where there is one, the remedy. It must not decide whether to go on.

use rqps_machine::{MachineError, free_bytes};
use std::io;
use std::path::{Path, PathBuf};

/// With less than this a disk is full.
const NO_ROOM_BYTES: u64 = 4 << 20;

/// Why a build is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The machine refused something.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A package client is not installed.
    #[error("`{client}` is needed to fetch {coordinate}, and is not installed; install the package `{package}`")]
    NoPackageClient {
        /// The program that was looked for.
        client: &'static str,
        /// The usual name of the package that brings it.
        package: &'static str,
        /// What was to be fetched.
        coordinate: String,
    },
    /// A package client failed.
    #[error("`{client}` could not fetch {coordinate}: {output}")]
    Fetch {
        /// The program.
        client: &'static str,
        /// What was to be fetched.
        coordinate: String,
        /// The end of its output.
        output: String,
    },
    /// A repository of git does not give what was asked of it.
    #[error("the git repository {place}: {output}")]
    Repository {
        /// Its folder or address.
        place: String,
        /// What it lacks, or the words of git.
        output: String,
    },
    /// A download does not match the catalog.
    #[error(
        "{what} does not match its checksum: expected SHA-256 {expected}, computed {computed}; nothing was installed. {remedy}"
    )]
    Checksum {
        /// The package.
        what: String,
        /// From the catalog.
        expected: String,
        /// From the file.
        computed: String,
        /// What to do about it.
        remedy: String,
    },
    /// An archive wants to write outside its folder, or holds what no package needs.
    #[error("refused to unpack {archive}: its entry `{entry}` {reason}; nothing was installed")]
    UnsafeArchive {
        /// The archive.
        archive: String,
        /// The entry in it.
        entry: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An archive cannot be read to its end.
    #[error("{archive} is not a whole archive: {reason}; nothing was installed")]
    BrokenArchive {
        /// The archive.
        archive: String,
        /// The reader's message.
        reason: String,
    },
    /// The catalog has no such release.
    #[error("the catalog has no {engine} {version}; it has {}. A build of your own is named by its folder or archive: --build {engine}:/PATH", known.join(", "))]
    UnknownRelease {
        /// The database system.
        engine: String,
        /// The name as given.
        version: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A catalog, profile or record file cannot be understood.
    #[error("{file}: {reason}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong, with the line where known.
        reason: String,
    },
    /// The user named a flavour that is not there.
    #[error("{engine} has no flavour `{name}`; it has {}. Your own go into ~/.config/rqps/flavours/", known.join(", "))]
    UnknownFlavour {
        /// The database system.
        engine: &'static str,
        /// The name as given.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The catalog has no source package of a version.
    #[error("the catalog has no source of {engine} {version}; it has {}. A tree or archive of your own is named by its path: --build {engine}:src:/PATH", known.join(", "))]
    UnknownSource {
        /// The database system.
        engine: String,
        /// The name as given.
        version: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Programs or headers that compiling needs are not on the machine.
    #[error("to compile {engine} this machine lacks {}; install the {} {} (`apt-get install {}`)", missing.join(", "), if packages.len() == 1 { "package" } else { "packages" }, packages.join(", "), packages.join(" "))]
    Lacking {
        /// The database system.
        engine: &'static str,
        /// Programs and headers.
        missing: Vec<String>,
        /// Packages of Debian that have them.
        packages: Vec<String>,
    },
    /// A place does not hold a source of the engine.
    #[error("{place} is no source of {engine}: it lacks {}", missing.join(" and "))]
    NotASource {
        /// The folder or archive as given.
        place: String,
        /// The database system.
        engine: &'static str,
        /// Files that such a source has.
        missing: Vec<String>,
    },
    /// A tree was configured in place.
    #[error("{} was configured in place ({file} is there), so a copy of it would not be its source alone; run `{undo}` there, or keep it in git", folder.display())]
    Configured {
        /// The tree.
        folder: PathBuf,
        /// What says so.
        file: String,
        /// What undoes it.
        undo: String,
    },
    /// A source has a link to what is not in it.
    #[error("{place} has a link that leads out of it, {} to {}; only what is in a source is compiled, so put a copy in the place of the link", link.display(), to.display())]
    LeadsOut {
        /// The folder, archive or address.
        place: String,
        /// The link, by its path in the source.
        link: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// Somebody worked on a source while it was copied.
    #[error("{place} was changed while it was copied; run the command again")]
    Changed {
        /// The folder or archive.
        place: String,
    },
    /// A step of compiling failed, or a patch did not apply.
    #[error("{what}: {output}{}", log.as_ref().map(|log| format!("\n    all of it is in {}", log.display())).unwrap_or_default())]
    NotCompiled {
        /// What failed, in words.
        what: String,
        /// The lines that explain it.
        output: String,
        /// Where all lines are, if they could be kept.
        log: Option<PathBuf>,
    },
    /// A folder does not hold an installation.
    #[error("{} is not a {engine} installation: looked for {looked_for}; name the folder that holds bin/", folder.display())]
    NotAnInstallation {
        /// The folder that was given.
        folder: PathBuf,
        /// The database system.
        engine: String,
        /// The files that were looked for, and what was found instead.
        looked_for: String,
    },
    /// A folder holds a different database system than named.
    #[error("{} holds {found}, not {engine}; write {prefix}: in front of it", folder.display())]
    OtherEngine {
        /// The folder that was given.
        folder: PathBuf,
        /// What it is, with its version.
        found: String,
        /// The name as given.
        engine: &'static str,
        /// The word for what it is.
        prefix: &'static str,
    },
    /// A build is not in the cache.
    #[error("no build `{name}` is installed; installed are: {}", if installed.is_empty() { "none".to_owned() } else { installed.join(", ") })]
    NotInstalled {
        /// The name as given.
        name: String,
        /// What there is.
        installed: Vec<String>,
    },
    /// Installed files are no longer what was installed.
    #[error("build {name} is damaged: {}; `rqps builds install {name}` makes it again", faults.join("; "))]
    Damaged {
        /// The build.
        name: String,
        /// File by file, what is wrong.
        faults: Vec<String>,
    },
}

impl BuildError {
    /// Wraps an error of the file system.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        MachineError::io(action, path, source).into()
    }

    /// For `map_err`: wraps an error of the file system.
    pub(crate) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let wrapped = MachineError::at(action, path);
        move |source| wrapped(source).into()
    }

    /// A folder of ours that holds no source is called as its user called it.
    pub(crate) fn of_source(self, shown: &str) -> Self {
        match self {
            BuildError::NotASource { engine, missing, .. } => {
                BuildError::NotASource { place: shown.to_owned(), engine, missing }
            }
            other => other,
        }
    }

    /// For `map_err`: a program that failed since the disk under this folder is full has that as its cause.
    pub(crate) fn on_disk_of(self, folder: &Path) -> Self {
        let said = match &self {
            BuildError::NotCompiled { output, .. }
            | BuildError::Fetch { output, .. }
            | BuildError::Repository { output, .. } => output,
            _ => return self,
        };
        // What is full may not hold the words that say so.
        if said.contains("No space left on device") || free_bytes(folder).is_ok_and(|free| free < NO_ROOM_BYTES) {
            return BuildError::io("write into", folder, io::ErrorKind::StorageFull.into());
        }
        self
    }

    /// For `map_err`: a full disk is that of the cache, where builds are.
    pub(crate) fn in_cache(self) -> Self {
        match self {
            BuildError::Machine(error) => BuildError::Machine(error.in_cache()),
            other => other,
        }
    }
}
