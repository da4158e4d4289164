//! Everything that can go wrong between a build and its ready server, sorted by cause.
//!
//! In: the message of the operating system, a program or a server. Out: one lower-case sentence that names the thing,
//! the cause and, where there is one, the remedy. It must not decide whether to go on.

use rqps_builds::BuildError;
use rqps_machine::MachineError;
use rqps_model::StorageEngine;
use std::io;
use std::path::{Path, PathBuf};

/// Why a configuration, a data folder or a server is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The machine refused something.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The build is not as it should be.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A profile cannot be understood.
    #[error("{file}: {reason}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong, with the line where known.
        reason: String,
    },
    /// No profile has this name.
    #[error("unknown profile `{name}`{}; known are {}", did_you_mean(nearest), known.join(", "))]
    UnknownProfile {
        /// The name as given.
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
    /// A socket's path is longer than the system allows.
    #[error("the socket path {} is longer than {limit} bytes; set TMPDIR to a shorter folder", path.display())]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// The system's limit.
        limit: usize,
    },
    /// A server ended before it was ready.
    #[error("the server of {build} ended before it was ready ({status}); its log ends with:{}", lines(log))]
    DidNotStart {
        /// The build.
        build: String,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        log: Vec<String>,
    },
    /// A server did not answer in time.
    #[error("the server of {build} was not ready within {seconds} s ({cause}); its log ends with:{}", lines(log))]
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
    #[error("the server of {build} died; its log ends with:{}", lines(log))]
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
        /// The name as given.
        storage: StorageEngine,
        /// The plugin, and where it should be.
        looked_for: String,
    },
    /// A build was configured without what a profile needs.
    #[error("profile {profile} needs a build that was configured {option}, and {build} was not; {remedy}")]
    MadeWithout {
        /// The build.
        build: String,
        /// The profile.
        profile: String,
        /// The option of `configure`.
        option: String,
        /// What to do.
        remedy: String,
    },
    /// A question to a server went wrong.
    #[error(transparent)]
    Wire(#[from] rqps_wire::WireError),
    /// A server answered what cannot be.
    #[error("the server of {build} answered {question} with {answer}")]
    Answer {
        /// The build.
        build: String,
        /// The question.
        question: &'static str,
        /// What came back.
        answer: String,
    },
    /// A session cannot be placed, since it has no process or thread of its own, or none that can be identified.
    #[error("cannot find what serves a session: {0}")]
    NoServingThread(String),
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
    /// Processes did not follow a signal.
    #[error("process {pid} did not {what} within {seconds} s")]
    Unresponsive {
        /// The process.
        pid: u32,
        /// What the signal meant.
        what: &'static str,
        /// The time that was allowed.
        seconds: u64,
    },
}

impl ServerError {
    /// For `map_err`: wraps an error of the file system.
    pub(crate) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let wrapped = MachineError::at(action, path);
        move |source| wrapped(source).into()
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

fn cpu_list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

fn lines(log: &[String]) -> String {
    if log.is_empty() { " (nothing)".to_owned() } else { log.iter().map(|line| format!("\n    {line}")).collect() }
}

/// The word of a list that is most like another, if any is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = (word.chars().count() / 3).max(2);
    let known = known.into_iter().map(|k| (strsim::levenshtein(word, k), k));
    known.filter(|(slips, _)| *slips <= limit).min().map(|(_, k)| k.to_owned())
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
}
