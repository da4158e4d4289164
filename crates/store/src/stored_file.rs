//! A file of a campaign as it is read back: its bytes, its value, or what is wrong with it.
//!
//! In: a path and what the file should hold. Out: the value, or an error with file, line and remedy. Damages are
//! collected, so that one message names all of a folder.

use crate::damage::Damage;
use crate::error::{FoundFormat, StoreError};
use rqps_model::Format;
use serde::de::{Deserialize, DeserializeOwned};
use std::path::{Path, PathBuf};

/// Collects damages; any other error ends the collecting.
#[derive(Debug, Default)]
pub(crate) struct Damages(Vec<Damage>);

impl Damages {
    /// The value, or `None` after taking note of a damage.
    pub(crate) fn note<T>(&mut self, result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Damaged(damages)) => {
                self.0.extend(damages);
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// An error if there were any.
    pub(crate) fn settle(self) -> Result<(), StoreError> {
        if self.0.is_empty() { Ok(()) } else { Err(StoreError::Damaged(self.0)) }
    }
}

/// A file under examination: its path, what it should hold and the remedy if it does not.
#[derive(Debug, Clone)]
pub(crate) struct StoredFile {
    pub(crate) path: PathBuf,
    pub(crate) expected: &'static str,
    pub(crate) remedy: String,
}

impl StoredFile {
    pub(crate) fn damage(&self, line: Option<usize>, found: impl Into<String>) -> StoreError {
        let StoredFile { path, expected, remedy } = self.clone();
        StoreError::Damaged(vec![Damage { path, line, found: found.into(), expected, remedy }])
    }

    /// The bytes; a file that is not there is damage, since files are published together.
    pub(crate) fn read(&self) -> Result<Vec<u8>, StoreError> {
        std::fs::read(&self.path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => self.damage(None, "the file is missing"),
            _ => StoreError::io("read", &self.path)(source),
        })
    }

    /// The value of a JSON text.
    pub(crate) fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, StoreError> {
        serde_json::from_slice(bytes).map_err(|error| {
            // The words of a later format may be unknown here: then that is the trouble, and no damage.
            self.check_format_of(bytes).err().unwrap_or_else(|| self.damage(Some(error.line()), error.to_string()))
        })
    }

    /// One value a line.
    pub(crate) fn parse_lines<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<Vec<T>, StoreError> {
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&b| b == b'\n');
        let parse = |(at, line): (usize, &[u8])| {
            let wrong = |error: serde_json::Error| self.damage(Some(at + 1), format!("{error} of this line"));
            serde_json::from_slice(line).map_err(wrong)
        };
        if bytes.is_empty() { Ok(Vec::new()) } else { lines.enumerate().map(parse).collect() }
    }

    /// Refuses what this program cannot read.
    pub(crate) fn check_format(&self, found: Format) -> Result<(), StoreError> {
        let path = self.path.clone();
        if found.is_readable() { Ok(()) } else { Err(StoreError::OtherFormat { path, found: found.into() }) }
    }

    fn check_format_of(&self, bytes: &[u8]) -> Result<(), StoreError> {
        #[derive(serde::Deserialize)]
        struct OnlyFormat {
            format: serde_json::Value,
        }
        let mut texts = serde_json::Deserializer::from_slice(bytes);
        let Ok(OnlyFormat { format }) = OnlyFormat::deserialize(&mut texts) else { return Ok(()) };
        match serde_json::from_value(format.clone()) {
            Ok(format) => self.check_format(format),
            // Before the first release it was one number.
            Err(_) if format.is_u64() => {
                Err(StoreError::OtherFormat { path: self.path.clone(), found: FoundFormat::Unreleased })
            }
            Err(_) => Ok(()),
        }
    }
}

/// Reads and parses a JSON file.
pub(crate) fn read_json<T: DeserializeOwned>(
    path: &Path,
    expected: &'static str,
    remedy: &str,
) -> Result<T, StoreError> {
    let file = StoredFile { path: path.to_owned(), expected, remedy: remedy.to_owned() };
    file.parse(&file.read()?)
}
