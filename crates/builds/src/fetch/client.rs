//! A package client: found, run to its end, and quoted where it fails.
//!
//! In: its name, the coordinate that it fetches, its arguments. Out: what it wrote, or the lines that explain why it
//! failed. It must not know any one client.

use crate::{BuildError, Result};
use rqps_machine::command;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many lines of a client's output an error carries.
const TOLD_LINES: usize = 6;

/// How apt-get marks an error.
const APT_ERROR: &str = "E: ";

/// A package client that is there.
pub(super) struct Client {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    pub(super) coordinate: String,
}

impl Client {
    pub(super) fn find(name: &'static str, package: &'static str, path: &OsStr, coordinate: String) -> Result<Client> {
        match command::find_in_path(name, path) {
            Some(path) => Ok(Client { name, path, coordinate }),
            None => Err(BuildError::NoPackageClient { client: name, package, coordinate }),
        }
    }

    /// Killed with us: it must not go on writing into a folder that the next start clears. In a folder without a
    /// project, so that no project file of the user's current folder is read.
    pub(super) fn command(&self, folder: &Path) -> Command {
        let mut command = command::users_program(&self.path);
        command.current_dir(folder);
        command
    }

    /// Runs it to its end and returns its stdout.
    pub(super) fn run(&self, command: &mut Command) -> Result<String> {
        self.run_with(command, "")
    }

    /// The same with input on its stdin, where other users of the machine do not see it.
    pub(super) fn run_with(&self, command: &mut Command, input: &str) -> Result<String> {
        let cannot_run = || BuildError::at("run", &self.path);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(cannot_run())?;
        if let Some(mut stdin) = child.stdin.take() {
            // A client that exits before reading everything explains itself by its status and output.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output().map_err(cannot_run())?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(stdout);
        }
        Err(self.failed(reason(&[stdout.as_str(), &String::from_utf8_lossy(&output.stderr)].concat())))
    }

    pub(super) fn failed(&self, output: String) -> BuildError {
        BuildError::Fetch { client: self.name, coordinate: self.coordinate.clone(), output }
    }
}

/// The lines that explain the failure, without colours and the clients' advice on their own flags.
pub(super) fn reason(said: &str) -> String {
    let plain = anstream::adapter::strip_str(said).to_string();
    let advice = [
        "To see the full stack",
        "Re-run Maven",
        "For more information",
        "[Help",
        "A complete log",
        "Reading package lists",
    ];
    let marks = ["[ERROR]", "npm error", "npm ERR!", "npm notice", APT_ERROR];
    let unmarked = |line: &'_ str| marks.iter().find_map(|mark| line.strip_prefix(mark).map(str::to_owned));
    // apt-get says much before its errors, and marks these.
    let only_errors = plain.lines().any(|line| line.starts_with(APT_ERROR));
    let lines = plain.lines().filter(|line| !only_errors || line.starts_with(APT_ERROR));
    let lines = lines.map(|line| unmarked(line).unwrap_or_else(|| line.to_owned()).trim().to_owned());
    let lines = lines.map(|line| line.split_once(" -> [Help").map_or(line.clone(), |(reason, _)| reason.to_owned()));
    let telling = lines.filter(|line| !line.is_empty() && !advice.iter().any(|a| line.starts_with(a)));
    let mut telling: Vec<String> = telling.take(TOLD_LINES).collect();
    if telling.is_empty() {
        telling = plain.lines().filter(|line| !line.trim().is_empty()).take(TOLD_LINES).map(str::to_owned).collect();
    }
    if telling.is_empty() { "it gave no reason".to_owned() } else { telling.join("; ") }
}
