//! The list of a sample's files with their lengths and digests: by it damage is seen, also where a text cut short still
//! reads well.
//!
//! In: files as written. Out: `manifest.json`, the last file of a sample folder; later, bytes that are known to be as
//! written, or a damage.

use crate::error::StoreError;
use crate::stored_file::StoredFile;
use rqps_model::{FORMAT, Format, Part};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Lengths and digests by file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: Format,
    pub(crate) files: BTreeMap<String, FileEntry>,
}

/// One file as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

impl FileEntry {
    fn of(bytes: &[u8]) -> FileEntry {
        FileEntry { bytes: bytes.len() as u64, sha256: digest(bytes) }
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

/// The digest of all that it was given.
pub(crate) fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Manifest {
    /// Lists files, and others by name that are not in memory.
    pub(crate) fn of(files: &[Part], others: impl IntoIterator<Item = (String, FileEntry)>) -> Manifest {
        let files = files.iter().map(|file| (file.name.clone(), FileEntry::of(&file.bytes)));
        Manifest { format: FORMAT, files: files.chain(others).collect() }
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether a file was written at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The bytes of a listed file, if they are those that were written.
    pub(crate) fn read(&self, file: &StoredFile) -> Result<Vec<u8>, StoreError> {
        let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(entry) = self.files.get(name) else {
            return Err(file.damage(None, "the file is not in the manifest"));
        };
        let bytes = file.read()?;
        if bytes.len() as u64 != entry.bytes {
            return Err(self.where_it_breaks(file, &bytes, format!("{} bytes of {}", bytes.len(), entry.bytes)));
        }
        if FileEntry::of(&bytes).sha256 != entry.sha256 {
            return Err(self.where_it_breaks(file, &bytes, "its SHA-256 is not the one in the manifest".to_owned()));
        }
        Ok(bytes)
    }

    /// The line of a file cut short is its last one; elsewhere only the parser could tell.
    fn where_it_breaks(&self, file: &StoredFile, bytes: &[u8], found: String) -> StoreError {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let cut = bytes.last().is_some_and(|&last| last != b'\n');
        file.damage((cut || lines > 0).then_some(lines + usize::from(cut)), found)
    }
}
