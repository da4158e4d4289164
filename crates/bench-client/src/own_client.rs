//! A client of rqps as a measured process: this program, or another that was built from rqps, started with a request.
//!
//! In: a part and where the server listens. Out: what the kernel charged for the process, and the figures that it
//! printed. What a part does is in `part`.

use crate::child;
use crate::place::Place;
use crate::request::PartRequest;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the client of this program is called.
pub(crate) const RQPS: &str = "rqps";

/// The word for the asking side of the ping-pong.
pub(crate) const PING_PONG: &str = "ping-pong";

/// The word for its answering side.
pub(crate) const ECHO: &str = "echo";

/// What a part prints when it is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PartResult {
    /// Statements, round trips, or rows.
    pub(crate) operations: u64,
    /// How long they took.
    pub(crate) seconds: f64,
    /// CPU seconds by its own clock.
    pub(crate) cpu_s: f64,
    /// Largest resident memory.
    pub(crate) peak_kb: u64,
}

impl PartResult {
    /// CPU microseconds per operation by its own clock, which is finer than what the kernel tells of ended children.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu_s * 1e6 / self.operations as f64
    }

    /// Operations per second.
    pub(crate) fn per_s(&self) -> f64 {
        self.operations as f64 / self.seconds
    }
}

/// A program that has a client of rqps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnClient {
    /// Its name in the table.
    pub(crate) name: String,
    program: PathBuf,
}

impl OwnClient {
    /// The client of this program.
    pub(crate) fn this() -> Result<OwnClient> {
        let program = std::env::current_exe().context("cannot find this program")?;
        Ok(OwnClient { name: RQPS.to_owned(), program })
    }

    /// The client of this program and those of others, named for their files.
    pub(crate) fn all(others: &[PathBuf]) -> Result<Vec<OwnClient>> {
        let other = |path: &PathBuf| {
            if !path.is_file() {
                bail!("{} is not a program; --client takes the path of an rqps-bench-client", path.display());
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let program = std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()))?;
            Ok(OwnClient { name, program })
        };
        std::iter::once(OwnClient::this()).chain(others.iter().map(other)).collect()
    }

    /// The program as one measured process against the server at `place`.
    pub(crate) fn command(&self, part: &str, place: &Place, seconds: f64, seed: u64) -> Result<Command> {
        let Place { engine, ref socket, rows, .. } = *place;
        let mut command = Command::new(Path::new(&self.program));
        command.args(
            PartRequest { part: part.to_owned(), engine, socket: socket.clone(), rows, seconds, seed }.arguments()?,
        );
        Ok(command)
    }

    /// Runs it: what the kernel charged for it, and what it printed.
    pub(crate) fn run(&self, part: &str, place: &Place, seconds: f64) -> Result<(f64, PartResult)> {
        run_part(&mut self.command(part, place, seconds, 0)?)
    }
}

/// Runs a process that prints its figures: what the kernel charged for it, and what it printed.
pub(crate) fn run_part(command: &mut Command) -> Result<(f64, PartResult)> {
    let finished = child::run(command)?;
    let result = serde_json::from_str(&finished.stdout)
        .with_context(|| format!("{command:?} printed no figures: {}", finished.stdout))?;
    Ok((finished.cpu_s, result))
}
