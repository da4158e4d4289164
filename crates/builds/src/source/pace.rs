//! How long a step of compiling will still take, from what it says.
//!
//! In: the pace of a step's recipe, the tree and the log. Out: an estimate, once there is something to go by. It must
//! not write anything.

use super::recipe::Pace;
use super::tree;
use crate::{BuildError, Result};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The share of a step that must be done before the rest of it is estimated.
const ENOUGH: f64 = 0.02;

/// Measures a step that has begun.
pub struct Meter<'a> {
    pace: &'a Pace,
    log: PathBuf,
    /// Where the step begins in the log.
    begin: u64,
    begun: Instant,
    files: usize,
}

impl Meter<'_> {
    /// Begins with a step that will write to the end of the log.
    pub fn begin<'a>(pace: &'a Pace, tree: &Path, log: &Path) -> Result<Meter<'a>> {
        let files = match pace {
            Pace::Percent { .. } => 0,
            Pace::Files { folders, ending, .. } => count(tree, folders, ending)?,
        };
        let begin = fs::metadata(log).map_err(BuildError::at("look at", log))?.len();
        Ok(Meter { pace, log: log.to_owned(), begin, begun: Instant::now(), files })
    }

    /// How long the step will still take, if that can be told.
    pub fn left(&self) -> Option<Duration> {
        rest(self.done()?, self.begun.elapsed())
    }

    /// The share of the step's time that is gone by what the log has so far.
    pub(super) fn done(&self) -> Option<f64> {
        let mut log = File::open(&self.log).ok()?;
        log.seek(SeekFrom::Start(self.begin)).ok()?;
        let lines = BufReader::new(log).split(b'\n').map_while(std::result::Result::ok);
        let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
        Some(match self.pace {
            // Commands that run at a time may be told out of order.
            Pace::Percent { time_gone } => {
                share_of_time(lines.filter_map(|line| percent(&line)).fold(0.0, f64::max) / 100.0, time_gone)
            }
            Pace::Files { line, .. } => lines.filter(|one| one.contains(line)).count() as f64 / self.files as f64,
        })
    }
}

fn count(tree: &Path, folders: &[String], ending: &str) -> Result<usize> {
    let is_one = |file: &&PathBuf| file.to_string_lossy().ends_with(ending);
    let folders = folders.iter().map(|folder| tree.join(folder)).filter(|folder| folder.is_dir());
    folders.map(|folder| Ok(tree::files(&folder)?.iter().filter(is_one).count())).sum()
}

/// Reads `[ 45%] Building C object …`.
fn percent(line: &str) -> Option<f64> {
    line.strip_prefix('[')?.split_once("%]")?.0.trim().parse().ok()
}

/// The share of the time that is gone where so much is done, between the shares that are known at equal steps.
pub(super) fn share_of_time(done: f64, known: &[f64]) -> f64 {
    let step = done * (known.len() + 1) as f64;
    let at = |n: usize| match n {
        0 => 0.0,
        n => known.get(n - 1).copied().unwrap_or(1.0),
    };
    let (before, after) = (at(step as usize), at(step as usize + 1));
    before + (after - before) * step.fract()
}

/// The rest of what took so long until this share of it was done.
pub(super) fn rest(done: f64, elapsed: Duration) -> Option<Duration> {
    (done >= ENOUGH).then(|| elapsed.div_f64(done.min(1.0)).saturating_sub(elapsed))
}
