//! A source package of the catalog: the source as its makers published it, kept by Debian beside its own changes.
//!
//! In: the rows of a catalog file. Out: its archive, fetched by the user's own apt. Debian's changes are left
//! out.

use crate::Result;
use crate::fetch::{self, Deb};
use rqps_model::{Engine, Version};
use std::fmt;
use std::path::{Path, PathBuf};

/// One source package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePackage {
    /// Database system.
    pub engine: Engine,
    /// Version.
    pub version: Version,
    /// The archive among the package's files, with its SHA-256.
    pub archive: Deb,
    /// Bytes to fetch, where the catalog has them.
    pub size_bytes: Option<u64>,
}

impl SourcePackage {
    /// Fetches the archive into a folder.
    pub fn fetch(&self, folder: &Path) -> Result<PathBuf> {
        fetch::fetch_source(&self.archive, folder)
    }
}

impl fmt::Display for SourcePackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Deb { name, version, suite, .. } = &self.archive;
        write!(f, "{suite}:src:{name}={version}")
    }
}
