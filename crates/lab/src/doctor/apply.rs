//! What `rqps doctor --apply` changes of the kernel, settings and the mount for programs, and how it comes back.
//!
//! In: findings that name such changes. Out: what was changed, and what could not be. What a file held is on disk
//! before it is written, so that `--undo` knows it whatever happens. All of them last until the next boot anyhow.

use super::finding::{ChangeKind, Finding};
use anyhow::{Context, Result, ensure};
use rqps_machine::program_place;
use rqps_machine::user_files::{state_folder, write_whole};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the record.
const FORMAT: u32 = 1;

/// A setting that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// What the finding is about, such as `huge pages`.
    pub about: String,
    /// How it was changed.
    #[serde(default)]
    pub kind: ChangeKind,
    /// The kernel's file, or the folder that something was mounted on.
    pub file: PathBuf,
    /// What it held.
    pub before: String,
    /// What it holds now.
    pub after: String,
}

/// What became of a wish to change settings, or to change them back.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Those that were changed; of `undo` each with the two values exchanged.
    pub changed: Vec<Changed>,
    /// Those that could not be written, each with the reason.
    pub refused: Vec<String>,
    /// Of `undo`: those that somebody else has changed since, which stay as they are.
    pub not_ours: Vec<String>,
}

/// What was changed and not changed back.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    format: u32,
    /// The boot in which it was changed: the next one has none of it.
    boot: String,
    changed: Vec<Changed>,
}

/// The kernel's files, and where the record is kept.
#[derive(Debug)]
pub struct Kernel {
    root: PathBuf,
    record: PathBuf,
}

impl Kernel {
    /// Of this host.
    pub fn here() -> Kernel {
        Kernel { root: PathBuf::from("/"), record: state_folder().join("doctor-changes.json") }
    }

    /// Changes what these findings ask for.
    pub fn apply(&self, findings: &[Finding]) -> Result<Outcome> {
        let mut record = self.record()?;
        let mut outcome = Outcome::default();
        for finding in findings {
            for wish in finding.changes {
                for file in self.files(wish.files) {
                    let kind = wish.kind;
                    let Some(before) = kind.read(&file).filter(|before| before != wish.value) else { continue };
                    let after = wish.value.to_owned();
                    let change = Changed { about: finding.about.to_owned(), kind, file, before, after };
                    self.change(change, &mut record, &mut outcome)?;
                }
            }
        }
        Ok(outcome)
    }

    /// Notes a change, then makes it.
    fn change(&self, change: Changed, record: &mut Record, outcome: &mut Outcome) -> Result<()> {
        // Of a file that was changed twice the first value is the user's.
        let is_noted = record.changed.iter().any(|noted| noted.file == change.file);
        if !is_noted {
            record.changed.push(change.clone());
            self.keep(record)?;
        }
        match change.kind.write(&change.file, &change.after) {
            Ok(()) => outcome.changed.push(change),
            Err(error) => {
                if !is_noted {
                    record.changed.pop();
                    self.keep(record)?;
                }
                outcome.refused.push(reason(&change.file, &error));
            }
        }
        Ok(())
    }

    /// Changes everything back that still is as it was changed, the last first.
    pub fn undo(&self) -> Result<Outcome> {
        let mut record = self.record()?;
        let mut outcome = Outcome::default();
        let mut still_changed = Vec::new();
        while let Some(Changed { about, kind, file, before, after }) = record.changed.pop() {
            match kind.read(&file) {
                Some(now) if now == after => match kind.write(&file, &before) {
                    Ok(()) => outcome.changed.push(Changed { about, kind, file, before: after, after: before }),
                    Err(error) => {
                        outcome.refused.push(reason(&file, &error));
                        still_changed.insert(0, Changed { about, kind, file, before, after });
                    }
                },
                Some(now) if now == before => {}
                now => outcome.not_ours.push(format!(
                    "{}: somebody else has made it {} since",
                    file.display(),
                    now.as_deref().unwrap_or("unreadable")
                )),
            }
        }
        record.changed = still_changed;
        self.keep(&record)?;
        Ok(outcome)
    }

    /// The files that a pattern stands for, `*` being a number.
    fn files(&self, pattern: &str) -> Vec<PathBuf> {
        let below = |pattern: &str| self.root.join(pattern.trim_start_matches('/'));
        let Some((start, rest)) = pattern.split_once('*') else { return vec![below(pattern)] };
        let numbers = (0..).map(|number| below(&format!("{start}{number}{rest}")));
        numbers.take_while(|file| file.exists()).collect()
    }

    /// What was changed in this boot; what an earlier one changed is gone with it.
    fn record(&self) -> Result<Record> {
        let boot = setting(&self.root.join("proc/sys/kernel/random/boot_id")).unwrap_or_default();
        let none = Record { format: FORMAT, boot, changed: Vec::new() };
        if !self.record.exists() {
            return Ok(none);
        }
        let unreadable = || format!("{} tells what was changed, and cannot be read", self.record.display());
        let record: Record =
            serde_json::from_slice(&fs::read(&self.record).with_context(unreadable)?).with_context(unreadable)?;
        ensure!(record.format == FORMAT, "{} is of another version of rqps", self.record.display());
        Ok(if record.boot == none.boot { record } else { none })
    }

    fn keep(&self, record: &Record) -> Result<()> {
        let keeping = || format!("noting changes in {} (RQPS_STATE names another folder)", self.record.display());
        if record.changed.is_empty() {
            return match fs::remove_file(&self.record) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).with_context(keeping),
                _ => Ok(()),
            };
        }
        write_whole(&self.record, &serde_json::to_vec_pretty(record)?).with_context(keeping)
    }
}

impl ChangeKind {
    /// What a file or folder holds now.
    fn read(self, file: &Path) -> Option<String> {
        match self {
            ChangeKind::Setting => setting(file),
            ChangeKind::Mount => Some(program_place::mounted(file)),
        }
    }

    /// Makes it hold this; a place for programs is there or it is not.
    fn write(self, file: &Path, value: &str) -> io::Result<()> {
        match (self, value) {
            (ChangeKind::Setting, _) => fs::write(file, value),
            (ChangeKind::Mount, program_place::HUGE) => program_place::make(file),
            (ChangeKind::Mount, _) => program_place::remove(file),
        }
    }
}

fn reason(file: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!("{}: only root may change it; use sudo", file.display()),
        io::ErrorKind::ResourceBusy => format!("{}: a campaign uses it; wait for its end", file.display()),
        _ => format!("{}: {error}", file.display()),
    }
}

/// What a file of the kernel holds: where it lists all values, the one in brackets.
fn setting(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    Some(chosen.unwrap_or(&text).trim().to_owned())
}

#[cfg(test)]
mod tests;
