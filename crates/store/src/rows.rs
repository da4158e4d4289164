//! The rows of a part while a test runs: of an hour there are megabytes, which are not to lie in the client's memory.
//!
//! In: rows as they come, from any thread. Out: a part of the sample, once that is published. Until then they are in a
//! file of the results folder that has no name any more, so that they go with the last process that has it open,
//! whatever becomes of that. An error of writing is reported when the sample is published.

use crate::disk::{Durability, part_name};
use crate::error::StoreError;
use crate::manifest::{FileEntry, hex};
use rqps_model::Part;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A part that grows by rows; its clones are the same part.
#[derive(Debug, Clone)]
pub struct RowsPart {
    name: String,
    rows: Arc<Mutex<Rows>>,
}

#[derive(Debug)]
struct Rows {
    file: BufWriter<File>,
    bytes: u64,
    digest: Sha256,
    /// Why rows are missing.
    failure: Option<io::Error>,
}

/// A part is equal to its clones, and to no other.
impl PartialEq for RowsPart {
    fn eq(&self, other: &RowsPart) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows)
    }
}

impl RowsPart {
    /// One without rows, in a file below `folder`.
    pub(crate) fn begin(folder: &Path, name: &str) -> Result<RowsPart, StoreError> {
        // Should this process end before the name is gone, whoever resumes clears the file.
        let path = folder.join(part_name(name.as_ref()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file =
            file.and_then(|file| fs::remove_file(&path).map(|()| file)).map_err(StoreError::io("create", &path))?;
        let rows = Rows { file: BufWriter::new(file), bytes: 0, digest: Sha256::new(), failure: None };
        Ok(RowsPart { name: name.to_owned(), rows: Arc::new(Mutex::new(rows)) })
    }

    /// Adds a row, as a line of JSON.
    pub fn add<T: Serialize>(&self, row: &T) {
        let line = Part::lines(&self.name, std::slice::from_ref(row)).bytes;
        let mut rows = self.lock();
        if rows.failure.is_some() {
            return;
        }
        match rows.file.write_all(&line) {
            Ok(()) => {
                rows.bytes += line.len() as u64;
                rows.digest.update(&line);
            }
            Err(error) => rows.failure = Some(error),
        }
    }

    /// The name of the part.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How a manifest lists it; `None` as long as it has no rows.
    pub(crate) fn entry(&self) -> Option<FileEntry> {
        let rows = self.lock();
        let sha256 = hex(rows.digest.clone());
        (rows.bytes > 0 || rows.failure.is_some()).then_some(FileEntry { bytes: rows.bytes, sha256 })
    }

    /// Copies what there is into a folder, if there are rows.
    pub(crate) fn write_into(&self, folder: &Path, durability: Durability) -> Result<(), StoreError> {
        if self.entry().is_none() {
            return Ok(());
        }
        let path = folder.join(&self.name);
        let mut rows = self.lock();
        let mut copy = || {
            if let Some(failure) = &rows.failure {
                return Err(again(failure));
            }
            rows.file.flush()?;
            let file = rows.file.get_mut();
            file.rewind()?;
            let mut written = File::create(&path)?;
            io::copy(file, &mut written)?;
            durability.sync(&written)
        };
        copy().map_err(StoreError::io("write", &path))
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same error once more.
fn again(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}
