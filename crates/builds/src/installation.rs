//! Builds on this machine: installed from the catalog or an archive, listed, checked, removed; or taken from a folder
//! as they are.
//!
//! In: a [`BuildSpec`], the catalog and the cache. Out: [`BuildFacts`]. A build becomes visible by one rename after its
//! package was verified, unpacked, inspected and run once; what is interrupted before that leaves nothing that looks
//! whole. One whose server program was changed since is refused, since it would be unclear what was measured.

mod archive;
mod loader;
mod make;
mod record;
mod release;

use crate::inspect::{Subject, inspect};
use crate::manifest::Manifest;
use crate::{BuildError, Catalog, Result, program, verify};
use record::{BuildRecord, INSTALL, MANIFEST, placed, read_record};
use rqps_machine::{Cache, Lease};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec};
use std::fs;
use std::path::{Path, PathBuf};

pub use archive::find_archive;
pub use release::install_release;

/// A step of an installation, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another rqps is installing; this one waits.
    Waiting,
    /// A package client or `curl` fetches.
    Fetching {
        /// The package's coordinate, or the address.
        coordinate: String,
    },
    /// What was fetched could not be checked, since its digest was not given.
    Unpinned {
        /// The address.
        url: String,
        /// The digest that was computed.
        sha256: String,
    },
    /// The build of an address without a digest is here already and was not fetched again.
    Kept {
        /// Its name.
        name: String,
        /// The digest of what was fetched then.
        sha256: String,
    },
    /// Installed files are no longer what was installed; the build is made again.
    Damaged {
        /// What is wrong, file by file.
        fault: String,
    },
    /// The checksum is computed.
    Verifying,
    /// The archive is unpacked.
    Unpacking,
    /// The binaries are inspected.
    Inspecting,
    /// The build is there.
    Installed {
        /// Its name.
        name: String,
    },
}

/// What must hold of a build that is installed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Its server program is there.
    Program,
    /// Every file is as it was installed.
    EveryFile,
}

impl Trust {
    /// Whether an installed build can be had as it is.
    fn holds(self, cache: &Cache, name: &str, progress: &mut dyn FnMut(Progress)) -> bool {
        let checked = if self == Trust::EveryFile { verify(cache, name) } else { Ok(()) };
        checked.inspect_err(|fault| progress(Progress::Damaged { fault: fault.to_string() })).is_ok()
    }
}

/// Makes sure that a build is on this machine and whole: all its files are read, and a build that is damaged is made
/// again in its place. The old one stays until the new one is ready.
pub fn install_whole(
    spec: &BuildSpec,
    catalog: &Catalog,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<BuildFacts> {
    install_trusting(Trust::EveryFile, spec, catalog, cache, progress)
}

/// Makes sure that a build is on this machine and says what it is. The name is the build's own (`pg1711_zonky`), not
/// the one that the user may have put in front; two builds may have the same.
pub fn install(
    spec: &BuildSpec,
    catalog: &Catalog,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<BuildFacts> {
    install_trusting(Trust::Program, spec, catalog, cache, progress)
}

fn install_trusting(
    trust: Trust,
    spec: &BuildSpec,
    catalog: &Catalog,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<BuildFacts> {
    let facts = match &spec.source {
        BuildSource::Folder(folder) => {
            let lease = Lease::open(cache)?;
            let origin = folder.display().to_string();
            let subject = Subject { folder, engine: spec.engine, origin: &origin, label: None, library_folders: &[] };
            return inspect(&subject, &lease);
        }
        BuildSource::Archive(path) => archive::install_archive(trust, spec.engine, path, cache, progress),
        BuildSource::Url { url, sha256 } => {
            let archive = archive::Address { engine: spec.engine, url, pinned: sha256.as_deref() };
            archive::install_url(trust, &archive, cache, progress)
        }
        BuildSource::Catalog(version) => release::install(trust, catalog.find(spec.engine, version)?, cache, progress),
    }
    .map_err(BuildError::in_cache)?;
    check_program(cache, &facts)?;
    Ok(facts)
}

/// Refuses an installed build whose server program is another than was installed. The other files are left to
/// [`verify()`], which reads all of them.
fn check_program(cache: &Cache, facts: &BuildFacts) -> Result<()> {
    let name = &facts.name;
    let manifest = read_manifest(name, &find(cache, name)?)?;
    let program = program::program(facts)?;
    // A server may be there under two names, one a link to the other.
    let place = |path: &Path| fs::canonicalize(path).map_err(BuildError::at("look at", path));
    let (program, home) = (place(&program)?, place(&facts.folder)?);
    let inside = program.strip_prefix(&home).unwrap_or(&program).display().to_string();
    let computed = verify::sha256_file(&program)?;
    match manifest.sha256(&inside) {
        Some(expected) if expected == computed => Ok(()),
        expected => {
            let expected = expected.unwrap_or("none");
            let fault = format!("{inside} is not as installed: expected SHA-256 {expected}, computed {computed}");
            Err(BuildError::Damaged { name: name.clone(), faults: vec![fault] })
        }
    }
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
    Ok(cache.remove(&lock, name)?)
}

/// Computes the checksum of every file of an installed build again.
pub fn verify(cache: &Cache, name: &str) -> Result<()> {
    let found = find(cache, name)?;
    let faults = read_manifest(name, &found)?.faults(&Manifest::of(&found.0.join(INSTALL))?);
    if faults.is_empty() { Ok(()) } else { Err(BuildError::Damaged { name: name.to_owned(), faults }) }
}

/// The list of a build's files, checked against the record.
fn read_manifest(name: &str, (folder, record): &(PathBuf, BuildRecord)) -> Result<Manifest> {
    let damaged = |fault: String| BuildError::Damaged { name: name.to_owned(), faults: vec![fault] };
    let path = folder.join(MANIFEST);
    let text = fs::read_to_string(&path).map_err(BuildError::at("read", &path))?;
    let (expected, computed) = (&record.manifest_sha256, verify::sha256_bytes(text.as_bytes()));
    if computed != *expected {
        return Err(damaged(format!("{MANIFEST} was changed: expected SHA-256 {expected}, computed {computed}")));
    }
    Manifest::parse(&text).ok_or_else(|| damaged(format!("{MANIFEST} cannot be read")))
}

fn find(cache: &Cache, name: &str) -> Result<(PathBuf, BuildRecord)> {
    let known = cache.build_names()?;
    let folder = cache.build(name);
    // Only a listed name becomes a path: `../x` is not one.
    known.iter().find(|k| *k == name).ok_or_else(|| not_installed(cache, name))?;
    let record = read_record(&folder).ok_or_else(|| BuildError::Damaged {
        name: name.to_owned(),
        faults: vec![format!("{} cannot be read", folder.join(record::RECORD).display())],
    })?;
    Ok((folder, record))
}

fn not_installed(cache: &Cache, name: &str) -> BuildError {
    BuildError::NotInstalled { name: name.to_owned(), installed: cache.build_names().unwrap_or_default() }
}
