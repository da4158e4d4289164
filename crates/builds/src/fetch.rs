//! Getting packages through the clients that the user already has and has configured.
//!
//! In: a coordinate or an address, and a folder. Out: the package's files in that folder, not yet checked against their
//! checksums. It must not know an address of its own: which registry or mirror serves a coordinate is the client's and
//! its user's choice.

mod apt;
mod curl;
mod maven;
mod npm;

use crate::{BuildError, Result};
use rqps_machine::command;
pub(crate) use rqps_model::build::without_credentials;
use std::ffi::OsStr;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many of a client's words an error carries, in lines.
const TOLD_LINES: usize = 6;

/// A package by coordinate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Package {
    /// A jar or zip, fetched by `mvn`.
    Maven {
        /// Group id.
        group: String,
        /// Artifact id.
        artifact: String,
        /// Version of the package.
        version: String,
        /// `jar` or `zip`.
        packaging: String,
        /// Which of the artifact's files, where it has several.
        classifier: Option<String>,
    },
    /// A compressed tar, fetched by `npm`.
    Npm {
        /// Name of the package.
        name: String,
        /// Version of the package.
        version: String,
    },
    /// Debian packages that together make an installation, fetched by `apt-get`.
    Apt {
        /// Architecture, as Debian names it.
        architecture: String,
        /// The packages, in the order in which they are unpacked; the server's first.
        debs: Vec<Deb>,
    },
}

/// One Debian package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deb {
    /// Name.
    pub name: String,
    /// Version with epoch and revision.
    pub version: String,
    /// The release of Debian that has it, such as `bookworm`.
    pub suite: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

impl fmt::Display for Deb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}={}", self.suite, self.name, self.version)
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Package::Maven { group, artifact, version, packaging, classifier } => {
                write!(f, "{group}:{artifact}:{version}:{packaging}")?;
                classifier.iter().try_for_each(|classifier| write!(f, ":{classifier}"))
            }
            Package::Npm { name, version } => write!(f, "{name}@{version}"),
            Package::Apt { debs, .. } => match &debs[..] {
                [first, more @ ..] if !more.is_empty() => write!(f, "{first} and {} more", more.len()),
                debs => debs.iter().try_for_each(|deb| write!(f, "{deb}")),
            },
        }
    }
}

impl Package {
    /// Fetches the package into a folder and says which files it became.
    pub fn fetch(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        match self {
            Package::Maven { .. } => maven::fetch(self, &path, folder).map(|file| vec![file]),
            Package::Npm { .. } => npm::fetch(self, &path, folder).map(|file| vec![file]),
            Package::Apt { architecture, debs } => apt::fetch(architecture, debs, &path, folder),
        }
    }
}

/// Fetches a file from an address by the user's own `curl`.
pub fn fetch_url(url: &str, file: &Path) -> Result<()> {
    curl::fetch(url, &std::env::var_os("PATH").unwrap_or_default(), file)
}

/// A package client that is there.
struct Client {
    name: &'static str,
    path: PathBuf,
    coordinate: String,
}

impl Client {
    fn find(name: &'static str, package: &'static str, path: &OsStr, coordinate: String) -> Result<Client> {
        match command::find_in_path(name, path) {
            Some(path) => Ok(Client { name, path, coordinate }),
            None => Err(BuildError::NoPackageClient { client: name, package, coordinate }),
        }
    }

    /// Killed with us: it must not go on writing into a folder that the next start clears. In a folder without a
    /// project, so that no project file of the user's current folder is read.
    fn command(&self, folder: &Path) -> Command {
        let mut command = command::users_program(&self.path);
        command.current_dir(folder);
        command
    }

    /// Runs it to its end and gives what it wrote to stdout.
    fn run(&self, command: &mut Command) -> Result<String> {
        self.run_with(command, "")
    }

    /// The same with words on its stdin, where other users of the machine do not see them.
    fn run_with(&self, command: &mut Command, input: &str) -> Result<String> {
        let cannot_run = || BuildError::at("run", &self.path);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(cannot_run())?;
        if let Some(mut stdin) = child.stdin.take() {
            // A client that leaves before it read all says why by its status and output.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output().map_err(cannot_run())?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(stdout);
        }
        Err(self.failed(reason(&[stdout.as_str(), &String::from_utf8_lossy(&output.stderr)].concat())))
    }

    fn failed(&self, output: String) -> BuildError {
        BuildError::Fetch { client: self.name, coordinate: self.coordinate.clone(), output }
    }
}

/// The lines that say why, without colours and the clients' advice on their own flags.
fn reason(said: &str) -> String {
    let plain = strip_escapes(said);
    let advice = [
        "To see the full stack",
        "Re-run Maven",
        "For more information",
        "[Help",
        "A complete log",
        "Reading package lists",
    ];
    let marks = ["[ERROR]", "npm error", "npm ERR!", "npm notice"];
    let unmarked = |line: &'_ str| marks.iter().find_map(|mark| line.strip_prefix(mark).map(str::to_owned));
    let lines = plain.lines().map(|line| unmarked(line).unwrap_or_else(|| line.to_owned()).trim().to_owned());
    let lines = lines.map(|line| line.split_once(" -> [Help").map_or(line.clone(), |(reason, _)| reason.to_owned()));
    let telling = lines.filter(|line| !line.is_empty() && !advice.iter().any(|a| line.starts_with(a)));
    let mut telling: Vec<String> = telling.take(TOLD_LINES).collect();
    if telling.is_empty() {
        telling = plain.lines().filter(|line| !line.trim().is_empty()).take(TOLD_LINES).map(str::to_owned).collect();
    }
    if telling.is_empty() { "it gave no reason".to_owned() } else { telling.join("; ") }
}

/// Takes the terminal's colour sequences out.
fn strip_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests;
