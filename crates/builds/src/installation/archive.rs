//! Builds from an archive of the user's own, on this machine or at an address: official tarballs, mostly.
//!
//! In: a path, or an address with or without the digest of what is there. Out: the build's facts. The archive is
//! unpacked once: its digest identifies it, and another archive of the same version gets a name of its own.

use super::installed::{Found, Installer};
use super::make::{self, Known, Making};
use super::progress::Progress;
use super::record::{BuildRecord, placed, read_record, search};
use crate::fetch::{self, without_credentials};
use crate::unpack::Contents;
use crate::{BuildError, Result, verify};
use rqps_machine::Cache;
use rqps_machine::cache::{CacheLock, Part};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use std::path::{Path, PathBuf};

/// Ends the names of builds from archives.
const LABEL: &str = "tarball";

/// Digits of the digest that distinguish archives of one version.
const DIGEST_DIGITS: usize = 8;

/// What of an official tarball no measurement needs: test suites, static libraries, servers with assertions.
const SKIPPED: [&str; 7] =
    ["mysql-test", "mariadb-test", "sql-bench", "*.a", "*mysqld-debug", "lib/plugin/debug", "lib/mysql/plugin/debug"];

/// Installs the archive at a path, or finds it installed.
pub(super) fn install_archive(mut installer: Installer<'_>, engine: Engine, path: &Path) -> Result<BuildFacts> {
    let cache = installer.cache;
    let sha256 = verify::sha256_file(path)?;
    match installer.find_or(Cache::lock, || with_digest(engine, &sha256, path, cache))? {
        Found::Here(facts) => Ok(*facts),
        Found::Missing(lock) => {
            let part = cache.part(&lock, LABEL)?;
            let archive = Archive { engine, origin: &path.display().to_string(), file: path, sha256: &sha256 };
            archive.install(installer, &lock, part)
        }
    }
}

/// Installs the archive at an address, or finds it installed: by its digest, else by its address.
pub(super) fn install_url(
    mut installer: Installer<'_>,
    engine: Engine,
    url: &str,
    pinned: Option<&str>,
) -> Result<BuildFacts> {
    let cache = installer.cache;
    let origin = without_credentials(url);
    let find = || match pinned {
        Some(sha256) => with_digest(engine, sha256, Path::new(&origin), cache),
        None => Ok(with_origin(engine, &origin, cache)),
    };
    let lock = match installer.find_or(Cache::lock, find)? {
        Found::Here(facts) => {
            if pinned.is_none() {
                (installer.progress)(Progress::Kept { name: facts.name.clone(), sha256: facts.sha256.clone() });
            }
            return Ok(*facts);
        }
        Found::Missing(lock) => lock,
    };
    let part = cache.part(&lock, LABEL)?;
    let file = make::fetch_folder(&part)?.join(file_name(&origin));
    (installer.progress)(Progress::Fetching { coordinate: origin.clone() });
    fetch::fetch_url(url, &file)?;
    (installer.progress)(Progress::Verifying);
    let sha256 = verify::sha256_file(&file)?;
    match pinned {
        Some(expected) => verify::check_pinned(&sha256, &origin, expected)?,
        None => (installer.progress)(Progress::Unpinned { url: origin.clone(), sha256: sha256.clone() }),
    }
    // The same archive may be here from a path or another address.
    let found = with_digest(engine, &sha256, Path::new(&origin), cache)?;
    if let Some(facts) = found.filter(|facts| installer.holds(facts)) {
        return Ok(facts);
    }
    let archive = Archive { engine, origin: &origin, file: &file, sha256: &sha256 };
    archive.install(installer, &lock, part)
}

/// The installed build of an archive or address, without fetching anything.
pub fn find_archive(engine: Engine, source: &rqps_model::BuildSource, cache: &Cache) -> Result<Option<BuildFacts>> {
    use rqps_model::BuildSource::{Archive, Catalog, Folder, Source, Url};
    match source {
        Archive(path) => with_digest(engine, &verify::sha256_file(path)?, path, cache),
        Url { url, sha256: Some(sha256) } => with_digest(engine, sha256, Path::new(&without_credentials(url)), cache),
        Url { url, sha256: None } => Ok(with_origin(engine, &without_credentials(url), cache)),
        Catalog(_) | Folder(_) | Source(_) => Ok(None),
    }
}

/// An archive that is here and not yet installed.
struct Archive<'a> {
    engine: Engine,
    origin: &'a str,
    file: &'a Path,
    sha256: &'a str,
}

impl Archive<'_> {
    fn install(&self, installer: Installer<'_>, lock: &CacheLock, part: Part) -> Result<BuildFacts> {
        let Archive { engine, origin, file, sha256 } = *self;
        let Installer { cache, progress, .. } = installer;
        let contents = Contents { skip: SKIPPED.map(str::to_owned).to_vec(), lifts_top: true, ..Contents::default() };
        let (label, library_folders, loader) = (LABEL, &[][..], None);
        let known = Known { engine, origin, label, sha256, contents: &contents, library_folders, loader };
        let making = Making { cache, lock, part, known };
        let mut facts = making.unpack(&[file.to_owned()], progress)?;
        facts.name = free_name(cache, &facts.name, sha256);
        making.publish(facts, progress)
    }
}

/// The name, or if another archive of this version has it, the name with a part of the digest.
fn free_name(cache: &Cache, name: &str, sha256: &str) -> String {
    match read_record(&cache.build(name)) {
        Some(record) if record.package_sha256 != sha256 => format!("{name}_{}", &sha256[..DIGEST_DIGITS]),
        _ => name.to_owned(),
    }
}

/// The build that was made of a file with this digest.
fn with_digest(engine: Engine, sha256: &str, given: &Path, cache: &Cache) -> Result<Option<BuildFacts>> {
    let found = search(cache, |record: &BuildRecord, folder| record.holds(sha256, folder));
    let Some((folder, record)) = found else { return Ok(None) };
    let facts = placed(record.facts, &folder);
    if facts.engine != engine {
        return Err(BuildError::OtherEngine {
            folder: given.to_owned(),
            found: format!("{} {}", facts.engine.title(), facts.version),
            engine: engine.title(),
            prefix: facts.engine.name(),
        });
    }
    Ok(Some(facts))
}

fn with_origin(engine: Engine, origin: &str, cache: &Cache) -> Option<BuildFacts> {
    let wanted = |record: &BuildRecord, folder: &Path| {
        let BuildRecord { facts, package_sha256, .. } = record;
        facts.origin == origin && facts.engine == engine && record.holds(package_sha256, folder)
    };
    search(cache, wanted).map(|(folder, record)| placed(record.facts, &folder))
}

/// The last part of an address, as errors name the archive; only what is plain in a file name.
fn file_name(url: &str) -> PathBuf {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or_default();
    if rqps_model::build::is_plain_name(name) { name.into() } else { "archive".into() }
}
