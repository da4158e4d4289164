//! Getting packages through the clients that the user already has and has configured.
//!
//! In: a coordinate or an address, and a folder. Out: the package's files in that folder, not yet checked against their
//! checksums. It must not know an address of its own: which registry or mirror serves a coordinate is the client's and
//! its user's choice.

mod apt;
mod client;
mod curl;
mod maven;
mod npm;
mod package;

pub use package::{Deb, Package};
pub(crate) use rqps_model::build::without_credentials;

use crate::Result;
use std::path::{Path, PathBuf};

impl Package {
    /// Fetches the package into a folder and returns the files.
    pub fn fetch(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        match self {
            Package::Maven { .. } => maven::fetch(self, &path, folder).map(|file| vec![file]),
            Package::Npm { .. } => npm::fetch(self, &path, folder).map(|file| vec![file]),
            Package::Apt { architecture, debs } => apt::fetch(architecture, debs, &path, folder),
        }
    }
}

/// Fetches a file from an address by the user's own `curl`.
pub fn fetch_url(url: &str, file: &Path) -> Result<()> {
    curl::fetch(url, &std::env::var_os("PATH").unwrap_or_default(), file)
}

/// Fetches the archive of a source package, as its makers published it.
pub fn fetch_source(source: &Deb, folder: &Path) -> Result<PathBuf> {
    apt::fetch_source(source, &std::env::var_os("PATH").unwrap_or_default(), folder)
}

#[cfg(test)]
mod tests;
