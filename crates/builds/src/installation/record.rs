//! What is written next to an installed build, and how it is found again.
//!
//! In: a build's folder in the cache. Out: its record, or nothing where there is none that can be read. It must not
//! install anything.

use crate::program;
use rqps_machine::Cache;
use rqps_model::facts::BuildFacts;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// File names inside the folder of a build.
pub(super) const RECORD: &str = "build.json";
pub(super) const MANIFEST: &str = "manifest.tsv";
pub(super) const INSTALL: &str = "install";

/// What is written next to an installed build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BuildRecord {
    pub(super) facts: BuildFacts,
    /// SHA-256 of the package, as the catalog had it, or of the archive.
    pub(super) package_sha256: String,
    /// SHA-256 of the manifest.
    pub(super) manifest_sha256: String,
    /// The only folder that the build works in, where its programs name their loader by its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bound_to: Option<PathBuf>,
}

impl BuildRecord {
    /// Whether the build in this folder is whole and of this package.
    pub(super) fn holds(&self, sha256: &str, folder: &Path) -> bool {
        let is_here = self.bound_to.as_deref().is_none_or(|bound| bound == folder);
        self.package_sha256 == sha256
            && is_here
            && program::find(&folder.join(INSTALL), self.facts.engine.server_programs()).is_some()
    }
}

/// Facts are recorded before the build is where it will be, and a cache may be moved.
pub(super) fn placed(mut facts: BuildFacts, folder: &Path) -> BuildFacts {
    facts.folder = folder.join(INSTALL);
    facts
}

pub(super) fn read_record(folder: &Path) -> Option<BuildRecord> {
    serde_json::from_str(&fs::read_to_string(folder.join(RECORD)).ok()?).ok()
}

/// The first build, in order of name, whose record is as wanted.
pub(super) fn search(cache: &Cache, wanted: impl Fn(&BuildRecord, &Path) -> bool) -> Option<(PathBuf, BuildRecord)> {
    let folders = cache.build_names().ok()?.into_iter().map(|name| cache.build(&name));
    let records = folders.filter_map(|folder| Some((read_record(&folder)?, folder)));
    records.map(|(record, folder)| (folder, record)).find(|(folder, record)| wanted(record, folder))
}
