//! A stored file that is not as it was written: which, where, what was expected, and what to do about it.
//!
//! In: bytes and what they should hold. Out: the value, or a `Damage`. Damages are collected, so that all of a folder are
//! told at once. A file of a newer format is no damage; that is told apart.

use crate::error::StoreError;
use rqps_model::FORMAT;
use serde::de::{Deserialize, DeserializeOwned};
use std::fmt;
use std::path::{Path, PathBuf};

/// One damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1, where it can be told.
    pub line: Option<usize>,
    /// What is wrong.
    pub found: String,
    /// What should be there.
    pub expected: &'static str,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; expected {}; {}", self.found, self.expected, self.remedy)
    }
}

/// One line a damage, with a heading if there are several.
pub(crate) fn list(damages: &[Damage]) -> String {
    let lines: Vec<String> = damages.iter().map(Damage::to_string).collect();
    match lines.as_slice() {
        [one] => format!("damaged result file {one}"),
        many => format!("{} damaged result files:\n  {}", many.len(), many.join("\n  ")),
    }
}

/// What went wrong with one file.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is damaged.
    Damage(Damage),
    /// Anything else.
    Other(StoreError),
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Damage(damage) => StoreError::Damaged(vec![damage]),
            Fault::Other(error) => error,
        }
    }
}

/// Collects damages; any other error ends the collecting.
#[derive(Debug, Default)]
pub(crate) struct Damages(Vec<Damage>);

impl Damages {
    /// The value, or `None` after taking note of a damage.
    pub(crate) fn note<T>(&mut self, result: Result<T, Fault>) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Damage(damage)) => {
                self.0.push(damage);
                Ok(None)
            }
            Err(Fault::Other(error)) => Err(error),
        }
    }

    /// An error if there were any.
    pub(crate) fn settle(self) -> Result<(), StoreError> {
        if self.0.is_empty() { Ok(()) } else { Err(StoreError::Damaged(self.0)) }
    }
}

/// A file under examination: its path, what it should hold and the remedy if it does not.
#[derive(Debug, Clone)]
pub(crate) struct Exhibit {
    pub(crate) path: PathBuf,
    pub(crate) expected: &'static str,
    pub(crate) remedy: String,
}

impl Exhibit {
    pub(crate) fn damage(&self, line: Option<usize>, found: impl Into<String>) -> Fault {
        let Exhibit { path, expected, remedy } = self.clone();
        Fault::Damage(Damage { path, line, found: found.into(), expected, remedy })
    }

    /// The bytes; a file that is not there is damage, since files are published together.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Fault> {
        std::fs::read(&self.path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => self.damage(None, "the file is missing"),
            _ => Fault::Other(StoreError::io("read", &self.path)(source)),
        })
    }

    /// The value of a JSON text.
    pub(crate) fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, Fault> {
        serde_json::from_slice(bytes).map_err(|error| {
            // The words of a later format may be unknown here: then that is the trouble, and no damage.
            self.check_format_of(bytes).err().unwrap_or_else(|| self.damage(Some(error.line()), error.to_string()))
        })
    }

    /// One value a line.
    pub(crate) fn parse_lines<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<Vec<T>, Fault> {
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&b| b == b'\n');
        let parse = |(at, line): (usize, &[u8])| {
            let wrong = |error: serde_json::Error| self.damage(Some(at + 1), format!("{error} of this line"));
            serde_json::from_slice(line).map_err(wrong)
        };
        if bytes.is_empty() { Ok(Vec::new()) } else { lines.enumerate().map(parse).collect() }
    }

    /// Refuses what this program cannot read.
    pub(crate) fn check_format(&self, format: u32) -> Result<(), Fault> {
        match format {
            1..=FORMAT => Ok(()),
            0 => Err(self.damage(None, "format 0")),
            newer => Err(Fault::Other(StoreError::NewerFormat { path: self.path.clone(), found: newer })),
        }
    }

    fn check_format_of(&self, bytes: &[u8]) -> Result<(), Fault> {
        #[derive(serde::Deserialize)]
        struct OnlyFormat {
            format: u32,
        }
        let mut texts = serde_json::Deserializer::from_slice(bytes);
        OnlyFormat::deserialize(&mut texts).map_or(Ok(()), |only| self.check_format(only.format))
    }
}

/// Reads and parses a JSON file.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path, expected: &'static str, remedy: &str) -> Result<T, Fault> {
    let exhibit = Exhibit { path: path.to_owned(), expected, remedy: remedy.to_owned() };
    exhibit.parse(&exhibit.read()?)
}
