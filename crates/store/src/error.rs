//! Why results cannot be written or read, by cause, each with its remedy.

use crate::damage::{Damage, list};
use rqps_model::{FORMAT, Format};
use std::fmt;
use std::path::{Path, PathBuf};

/// Everything that can go wrong with a results folder.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another rqps writes there.
    #[error("{} is in use by {owner}; wait until it ends, or choose another name or --results folder", folder.display())]
    InUse {
        /// The campaign's folder.
        folder: PathBuf,
        /// Who holds it, as far as that is known.
        owner: String,
    },
    /// A campaign of that name is there already.
    #[error("{} holds results already; continue them with `rqps resume {}`, or choose another name or --results folder", folder.display(), folder.display())]
    Exists {
        /// The campaign's folder.
        folder: PathBuf,
    },
    /// Something that rqps did not make is there.
    #[error("{} is not empty and holds no results of rqps; it was left as it is: choose another name or --results folder", folder.display())]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder to be read is no campaign.
    #[error("{} holds no results of rqps ({missing} is not there); give the folder that `rqps run` printed, such as results/NAME", folder.display())]
    NotResults {
        /// The folder.
        folder: PathBuf,
        /// The file by which results are known.
        missing: &'static str,
    },
    /// Written in a format that this rqps does not read.
    #[error("{}: {found}, which this rqps does not read (it reads format {}); {}", path.display(), rqps_model::FORMAT, found.remedy())]
    OtherFormat {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: FoundFormat,
    },
    /// Files that are not as they were written, all of them.
    #[error("{}", list(.0))]
    Damaged(Vec<Damage>),
    /// No space left, or over quota.
    #[error("no space left to write {}: {source}; make room there; nothing half-written was left", path.display())]
    DiskFull {
        /// What was being written.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The sample's accounting does not add up: a fault of rqps, found before it reached the disk.
    #[error(
        "{what}: {scheduled} events scheduled, but {succeeded} succeeded + {failed} failed + {skipped} skipped; this is a fault in rqps, please report it"
    )]
    Unbalanced {
        /// The cell and round.
        what: String,
        /// Events that were due.
        scheduled: u64,
        /// Events that completed.
        succeeded: u64,
        /// Events given up.
        failed: u64,
        /// Events never sent.
        skipped: u64,
    },
    /// A value that the files cannot hold.
    #[error("{what} cannot be written: {why}; this is a fault in rqps, please report it")]
    Unwritable {
        /// The cell and round, or the file.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A sample, treatment or test that the plan does not have.
    #[error("{what} is not in the plan of this campaign")]
    NotPlanned {
        /// What it is.
        what: String,
    },
    /// A sample that is there already; what is published is never changed.
    #[error("{} is published already; delete that folder if it is to be measured again", folder.display())]
    Published {
        /// The sample's folder.
        folder: PathBuf,
    },
    /// A word that cannot be a file's name.
    #[error(
        "`{name}` cannot be the name of {what}; use letters, digits, `.`, `_`, `-`, `=` and `,`, first a letter or digit"
    )]
    Name {
        /// The word.
        name: String,
        /// What it was to name.
        what: &'static str,
    },
    /// The file system refused.
    #[error("failed to {doing} {}: {source}", path.display())]
    Io {
        /// The act.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
}

/// A format that this program does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundFormat {
    /// That of an rqps before its first release.
    Unreleased,
    /// That of an older release.
    Older(Format),
    /// That of a newer one.
    Newer(Format),
}

impl From<Format> for FoundFormat {
    fn from(format: Format) -> FoundFormat {
        if format.major > FORMAT.major { FoundFormat::Newer(format) } else { FoundFormat::Older(format) }
    }
}

impl FoundFormat {
    fn remedy(&self) -> &'static str {
        match self {
            FoundFormat::Unreleased => "measure again",
            FoundFormat::Older(_) => "read it with the rqps that wrote it, named in its status.json",
            FoundFormat::Newer(_) => "update rqps",
        }
    }
}

impl fmt::Display for FoundFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FoundFormat::Unreleased => f.write_str("results in a format from before the first release"),
            FoundFormat::Older(format) => write!(f, "results of an older rqps (format {format})"),
            FoundFormat::Newer(format) => write!(f, "results of a newer rqps (format {format})"),
        }
    }
}

impl StoreError {
    /// Sorts an error of the file system by its cause; meant for `map_err`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
        let path = path.to_owned();
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull { path, source }
            }
            _ => StoreError::Io { doing, path, source },
        }
    }
}
