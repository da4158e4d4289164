//! Getting a package through the package client that the user already has and has configured.
//!
//! In: a coordinate and a folder. Out: the package file in that folder, not yet checked against its checksum. It must
//! not know an address: which registry or mirror serves a coordinate is the client's and its user's choice.

use crate::{Result, ServerError, command};
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The plugin is named with its version, so that every user runs the same code.
const COPY_GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// How many of a client's last words an error carries.
const LAST_WORDS: usize = 6;

/// A package by coordinate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Package {
    /// A jar, fetched by `mvn`.
    Maven {
        /// Group id.
        group: String,
        /// Artifact id.
        artifact: String,
        /// Version of the package.
        version: String,
    },
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Package::Maven { group, artifact, version } => write!(f, "{group}:{artifact}:{version}:jar"),
        }
    }
}

impl Package {
    /// Fetches the package into a folder and says which file it became.
    pub fn fetch(&self, folder: &Path) -> Result<PathBuf> {
        match self {
            Package::Maven { artifact, version, .. } => {
                self.run_maven(&std::env::var_os("PATH").unwrap_or_default(), folder)?;
                let file = folder.join(format!("{artifact}-{version}.jar"));
                fs::metadata(&file).map_err(ServerError::at("find what mvn fetched:", &file))?;
                Ok(file)
            }
        }
    }

    fn run_maven(&self, path: &OsStr, folder: &Path) -> Result<()> {
        let coordinate = self.to_string();
        let Some(client) = command::find_in_path("mvn", path) else {
            return Err(ServerError::NoPackageClient { client: "mvn", package: "maven", coordinate });
        };
        // Killed with us: it must not go on writing into a folder that the next start clears.
        let mut command = command::users_program(&client);
        // In a folder without a project, so that no pom.xml of the user's current folder is read.
        command.current_dir(folder).stdin(Stdio::null());
        command.args(["--batch-mode", "--quiet", COPY_GOAL]);
        command.arg(format!("-Dartifact={coordinate}"));
        command.arg(format!("-DoutputDirectory={}", folder.display()));
        let output = command.output().map_err(ServerError::at("run", &client))?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(ServerError::Fetch { client: "mvn", coordinate, output: last_words(&String::from_utf8_lossy(&said)) })
    }
}

/// The lines that say why, without colours and the client's advice on its own flags.
fn last_words(said: &str) -> String {
    let plain = strip_escapes(said);
    let advice = ["To see the full stack", "Re-run Maven", "For more information", "[Help"];
    let lines = plain.lines().map(|line| line.trim_start_matches("[ERROR]").trim());
    let lines = lines.map(|line| line.split_once(" -> [Help").map_or(line, |(told, _)| told));
    let telling = lines.filter(|line| !line.is_empty() && !advice.iter().any(|a| line.starts_with(a)));
    let mut telling: Vec<&str> = telling.take(LAST_WORDS).collect();
    if telling.is_empty() {
        telling = plain.lines().filter(|line| !line.trim().is_empty()).take(LAST_WORDS).collect();
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
mod tests {
    use super::*;

    fn package() -> Package {
        Package::Maven { group: "g".into(), artifact: "a".into(), version: "1.0".into() }
    }

    #[test]
    fn a_missing_client_is_named_with_its_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = package().run_maven(folder.path().as_os_str(), folder.path()).expect_err("not there").to_string();
        assert_eq!(error, "`mvn` is needed to fetch g:a:1.0:jar, and is not installed; install the package `maven`");
    }

    #[test]
    fn a_failing_client_is_quoted() {
        let folder = tempfile::tempdir().expect("a folder");
        // A client that does not know the options.
        std::os::unix::fs::symlink("/bin/ls", folder.path().join("mvn")).expect("a link");
        let error = package().run_maven(folder.path().as_os_str(), folder.path()).expect_err("it fails").to_string();
        assert!(error.starts_with("`mvn` could not fetch g:a:1.0:jar: ") && error.contains("--batch-mode"), "{error}");
    }

    #[test]
    fn last_words_are_plain_and_telling() {
        let said = "[\u{1b}[1;31mERROR\u{1b}[m] Could not find artifact g:a -> [Help 1]\n[ERROR] \n\
                    [ERROR] Re-run Maven using the -X switch\n[ERROR] [Help 1] somewhere\n";
        assert_eq!(last_words(said), "Could not find artifact g:a");
        assert_eq!(last_words("\n"), "it gave no reason");
    }
}
