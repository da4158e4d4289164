//! What this machine can refuse: files, folders, disks, programs.
//!
//! In: the message of the operating system or a program. Out: one lower-case sentence that names the thing, the cause
//! and, where there is one, the remedy. It must not decide whether to go on.

use std::io;
use std::path::{Path, PathBuf};

/// How to choose another folder for data.
pub const DATA_REMEDY: &str = "--data DIR or RQPS_DATA";

/// Why a file, a folder or a program is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The file system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `create`.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Files of ours could not be removed.
    #[error("cannot remove {}{}: {source}", path.display(), and_more(*more))]
    NotRemoved {
        /// The first of them.
        path: PathBuf,
        /// How many more there are.
        more: usize,
        /// What the system said.
        source: io::Error,
    },
    /// A file system is full, or would be.
    #[error("the file system of {} is full ({}{:.0} MB free); make room there, or choose another folder with {remedy}", path.display(), needed(*needed_bytes), *free_bytes as f64 / 1e6)]
    DiskFull {
        /// Where space is missing.
        path: PathBuf,
        /// Space that the act needs; 0 where that is not known.
        needed_bytes: u64,
        /// Space that is left.
        free_bytes: u64,
        /// What chooses another folder.
        remedy: &'static str,
    },
    /// The unprivileged account cannot enter a folder that the server needs.
    #[error("the server runs as uid {uid}, which cannot enter {}; choose a folder open to it ({remedy})", folder.display())]
    Unreachable {
        /// The account of the server.
        uid: u32,
        /// The folder that is closed.
        folder: PathBuf,
        /// How to choose another folder.
        remedy: &'static str,
    },
    /// A program of a build failed.
    #[error("`{program}` failed ({status}): {output}")]
    Program {
        /// The program.
        program: String,
        /// How it ended.
        status: String,
        /// The end of its output.
        output: String,
    },
}

impl MachineError {
    /// Wraps an error of the file system; a full disk becomes its own cause.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            let free_bytes = free_bytes(&path).unwrap_or(0);
            return MachineError::DiskFull { path, needed_bytes: 0, free_bytes, remedy: DATA_REMEDY };
        }
        MachineError::Io { action, path, source }
    }

    /// For `map_err`: a full disk is that of the cache, where builds and leases are.
    pub fn in_cache(self) -> Self {
        match self {
            MachineError::DiskFull { path, needed_bytes, free_bytes, .. } => {
                MachineError::DiskFull { path, needed_bytes, free_bytes, remedy: "RQPS_CACHE" }
            }
            other => other,
        }
    }

    /// For `map_err`: wraps an error of the file system.
    pub fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| MachineError::io(action, path, source)
    }
}

/// Bytes free for an unprivileged user on the file system of a path, or of its nearest parent that exists.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let existing = path.ancestors().find(|a| a.exists()).unwrap_or(Path::new("/"));
    let stat = rustix::fs::statvfs(existing)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn needed(bytes: u64) -> String {
    // Where it is not known, the system reported it during the call.
    if bytes == 0 { String::new() } else { format!("{:.0} MB needed, ", bytes as f64 / 1e6) }
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_its_own_cause() {
        let full = MachineError::io("write", "/tmp/x", io::Error::from(io::ErrorKind::StorageFull));
        assert!(matches!(full, MachineError::DiskFull { .. }), "{full}");
        assert!(full.to_string().contains("is full"));
        assert!(full.to_string().ends_with("choose another folder with --data DIR or RQPS_DATA"), "{full}");
        assert!(full.in_cache().to_string().ends_with("choose another folder with RQPS_CACHE"));
        let other = MachineError::io("write", "/tmp/x", io::Error::from(io::ErrorKind::NotFound));
        assert!(other.to_string().starts_with("cannot write /tmp/x: "), "{other}");
    }
}
