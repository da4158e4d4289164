//! Packages of Maven repositories, by `mvn`.
//!
//! In: a coordinate. Out: the file that `mvn` copied from its own store. It must not run code of a project.

use super::client::Client;
use super::package::Package;
use crate::{BuildError, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The plugin is named with its version, so that every user runs the same code.
const COPY_GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// What the user sets himself is left as it is.
const OPTIONS_VARIABLE: &str = "MAVEN_OPTS";

/// Copying one file is so little work that compiling the code of Maven well would be half of the CPU time.
const JVM_OPTIONS: &str = "-XX:+IgnoreUnrecognizedVMOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

pub(super) fn fetch(package: &Package, path: &OsStr, folder: &Path) -> Result<PathBuf> {
    let Package::Maven { artifact, version, packaging, classifier, .. } = package else {
        unreachable!("only called for a Maven package")
    };
    let client = Client::find("mvn", "maven", path, package.to_string())?;
    let mut command = client.command(folder);
    command.args(["--batch-mode", "--quiet", COPY_GOAL]);
    command.arg(format!("-Dartifact={package}"));
    command.arg(format!("-DoutputDirectory={}", folder.display()));
    if std::env::var_os(OPTIONS_VARIABLE).is_none() {
        command.env(OPTIONS_VARIABLE, JVM_OPTIONS);
    }
    client.run(&mut command)?;
    let ending = classifier.as_ref().map_or(String::new(), |classifier| format!("-{classifier}"));
    let file = folder.join(format!("{artifact}-{version}{ending}.{packaging}"));
    fs::metadata(&file).map_err(BuildError::at("find what mvn fetched:", &file))?;
    Ok(file)
}
