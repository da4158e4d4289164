//! One measured process of `bench-client`, from outside: this program again, how it is called, and what it tells.
//!
//! In: a part and where the server listens. Out: what the kernel charged for the process, and the figures that it told. What a
//! part does is in `part`.

use super::asked::Asked;
use super::child;
use super::place::Place;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::process::Command;

/// The word for the asking side of the ping-pong.
pub(super) const PING_PONG: &str = "ping-pong";

/// The word for its answering side.
pub(super) const ECHO: &str = "echo";

/// What a part says when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Told {
    /// Statements, round trips, or rows.
    pub(super) operations: u64,
    /// How long they took.
    pub(super) seconds: f64,
    /// CPU seconds by its own clock.
    pub(super) cpu_s: f64,
    /// Largest resident memory.
    pub(super) peak_kb: u64,
}

/// This program again, as one measured process against the server at `place`.
pub(super) fn part_command(part: &str, place: &Place, seconds: f64) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    let Place { engine, ref socket, rows, .. } = *place;
    command.args(Asked { part: part.to_owned(), engine, socket: socket.clone(), rows, seconds }.arguments()?);
    Ok(command)
}

/// Runs a process that tells its figures: what the kernel charged for it, and what it told.
pub(super) fn told_by(command: &mut Command) -> Result<(f64, Told)> {
    let finished = child::run(command)?;
    let told = serde_json::from_str(&finished.stdout)
        .with_context(|| format!("{command:?} printed no figures: {}", finished.stdout))?;
    Ok((finished.cpu_s, told))
}
