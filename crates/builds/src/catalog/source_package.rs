//! A source package of the catalog: the source as its makers published it, kept by Debian beside its own changes.
//!
//! In: the rows of a catalog file. Out: its archive, fetched by the user's own `apt-get`. Debian's changes are left
//! out.

use crate::Result;
use crate::fetch;
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
    /// Name of the package.
    pub name: String,
    /// The package's own version.
    pub package: String,
    /// The release of Debian that has it.
    pub suite: String,
    /// SHA-256 of the archive.
    pub sha256: String,
    /// Bytes to fetch, where the catalog has them.
    pub size_bytes: Option<u64>,
}

impl SourcePackage {
    /// Fetches the archive into a folder.
    pub fn fetch(&self, folder: &Path) -> Result<PathBuf> {
        fetch::fetch_source(&self.name, &self.package, &self.suite, folder)
    }
}

impl fmt::Display for SourcePackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:src:{}={}", self.suite, self.name, self.package)
    }
}
