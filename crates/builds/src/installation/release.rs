//! Releases of the catalog: found in the cache, or fetched, checked and made.
//!
//! In: a [`Release`]. Out: its facts. A release is installed once, however many installs run at once.

use super::installed::{Found, Installer};
use super::make::{self, Known, Making};
use super::progress::Progress;
use super::record::{placed, read_record};
use crate::{BuildError, Release, Result};
use rqps_machine::Cache;
use rqps_model::facts::BuildFacts;

/// Installs a release, or finds it installed.
pub(super) fn install(mut installer: Installer<'_>, release: &Release) -> Result<BuildFacts> {
    let cache = installer.cache;
    let lock = match installer.find_or(Cache::lock, || Ok(installed(release, cache)))? {
        Found::Here(facts) => return Ok(*facts),
        Found::Missing(lock) => lock,
    };
    let progress = installer.progress;
    let coordinate = release.package.to_string();
    let part = cache.part(&lock, &release.build_name())?;
    let folder = make::fetch_folder(&part)?;
    progress(Progress::Fetching { coordinate: coordinate.clone() });
    let files = release.package.fetch(&folder)?;
    progress(Progress::Verifying);
    release.check(&files)?;
    let known = Known {
        engine: release.engine,
        origin: &coordinate,
        label: &release.label,
        sha256: &release.sha256,
        contents: &release.contents,
        library_folders: &release.library_folders,
        loader: release.loader.as_deref(),
    };
    let making = Making { cache, lock: &lock, part, known };
    let facts = making.unpack(&files, progress)?;
    if facts.version != release.version {
        let reason =
            format!("{coordinate} holds version {}, not {}; correct the catalog", facts.version, release.version);
        return Err(BuildError::Malformed { file: "catalog".to_owned(), reason });
    }
    making.publish(facts, progress)
}

/// The build of a release if it is there and made of the package that the catalog has now.
fn installed(release: &Release, cache: &Cache) -> Option<BuildFacts> {
    let folder = cache.build(&release.build_name());
    let record = read_record(&folder)?;
    record.holds(&release.sha256, &folder).then(|| placed(record.facts, &folder))
}
