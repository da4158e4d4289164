//! The Python program that rqps is measured against as an inserter: which Python has a driver, and the command to run
//! it.
//!
//! In: an engine, where its server listens. Out: a command that tells its figures as a part of our own does, or the
//! words that say how to install what is missing.

use crate::engine::kind;
use crate::place::Place;
use anyhow::{Context, Result};
use rqps_model::Engine;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program.
const PROGRAM: &str = include_str!("inserter.py");

/// Where a Python may be: the user's own, then the distribution's, which has the drivers of its packages.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// A Python that has a driver for an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inserter {
    python: &'static str,
    program: PathBuf,
    protocol: &'static str,
    /// What the driver is called, such as `psycopg2`.
    pub(crate) name: String,
    /// Driver and Python with their versions.
    pub(crate) versions: String,
}

impl Inserter {
    /// Writes the program into `folder` and looks for a Python that can run it against `engine`; `None` if there is
    /// none.
    pub(crate) fn find(engine: Engine, folder: &Path) -> Result<Option<Inserter>> {
        let program = folder.join("inserter.py");
        std::fs::write(&program, PROGRAM).with_context(|| format!("cannot write {}", program.display()))?;
        let protocol = kind(engine).inserter;
        let found = PYTHONS.into_iter().find_map(|python| {
            let told = Command::new(python).arg(&program).args([protocol, "--driver"]).output().ok()?;
            let versions = String::from_utf8_lossy(&told.stdout).trim().to_owned();
            let module = versions.split(' ').next()?;
            // The package is called otherwise than its module.
            let name = if module == "MySQLdb" { "mysqlclient" } else { module }.to_owned();
            told.status.success().then(|| Inserter { python, program: program.clone(), protocol, name, versions })
        });
        Ok(found)
    }

    /// The command that fills `pi1` with the rows of `place`.
    pub(crate) fn command(&self, place: &Place) -> Command {
        let mut command = Command::new(self.python);
        command.arg(&self.program).arg(self.protocol).arg("--socket").arg(&place.socket);
        command.arg(format!("--user={}", place.user)).arg(format!("--database={}", place.database));
        command.arg(format!("--rows={}", place.rows));
        command
    }
}
