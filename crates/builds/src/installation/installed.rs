//! Builds that are in the cache: listed, shown, checked, removed, and found before they are made again.
//!
//! In: the cache. Out: facts, or what is wrong with a build's files. It must not make a build.

use super::progress::Progress;
use super::record::{BuildRecord, INSTALL, MANIFEST, RECORD, placed, read_record};
use crate::manifest::Manifest;
use crate::{BuildError, Result, program, verify};
use rqps_machine::Cache;
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::{Path, PathBuf};

/// What must hold of a build that is installed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Its server program is there.
    Program,
    /// Every file is as it was installed; a build that is damaged is made again in its place, and the old one stays
    /// until the new one is ready.
    EveryFile,
}

/// One installation: into which cache, what is made again there, and who is notified.
pub(super) struct Installer<'a> {
    pub(super) trust: Trust,
    /// Commands at a time, where something is compiled.
    pub(super) jobs: usize,
    pub(super) cache: &'a Cache,
    pub(super) progress: &'a mut dyn FnMut(Progress),
}

/// A build that is there, or the right to make it.
pub(super) enum Found<L> {
    Here(Box<BuildFacts>),
    Missing(L),
}

/// Waits for a right of the cache.
type Lock<L> = fn(&Cache, &mut dyn FnMut()) -> rqps_machine::Result<L>;

impl Installer<'_> {
    /// Looks for a build, and again when this process alone may make it: another may have made it meanwhile.
    pub(super) fn find_or<L>(
        &mut self,
        lock: Lock<L>,
        find: impl Fn() -> Result<Option<BuildFacts>>,
    ) -> Result<Found<L>> {
        if let Some(facts) = find()?.filter(|facts| self.holds(facts)) {
            return Ok(Found::Here(Box::new(facts)));
        }
        self.wait_or(lock, find)
    }

    /// Waits for the right to make a build that is missing, unless another has made it meanwhile.
    pub(super) fn wait_or<L>(
        &mut self,
        lock: Lock<L>,
        find: impl Fn() -> Result<Option<BuildFacts>>,
    ) -> Result<Found<L>> {
        let lock = lock(self.cache, &mut || (self.progress)(Progress::Waiting))?;
        let made = find()?.filter(|facts| self.fault(facts).is_none());
        Ok(made.map_or(Found::Missing(lock), |facts| Found::Here(Box::new(facts))))
    }

    /// Whether an installed build can be used as it is; damage is reported.
    pub(super) fn holds(&mut self, facts: &BuildFacts) -> bool {
        let fault = self.fault(facts).map(|fault| fault.to_string());
        fault.map(|fault| (self.progress)(Progress::Damaged { fault })).is_none()
    }

    fn fault(&self, facts: &BuildFacts) -> Option<BuildError> {
        if self.trust == Trust::EveryFile { verify(self.cache, &facts.name).err() } else { None }
    }
}

/// Refuses an installed build whose server program is another than was installed. The other files are left to
/// [`verify()`], which reads all of them.
pub(super) fn check_program(cache: &Cache, facts: &BuildFacts) -> Result<()> {
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
    let lock = cache.lock(&mut || ())?;
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
        faults: vec![format!("{} cannot be read", folder.join(RECORD).display())],
    })?;
    Ok((folder, record))
}

fn not_installed(cache: &Cache, name: &str) -> BuildError {
    BuildError::NotInstalled { name: name.to_owned(), installed: cache.build_names().unwrap_or_default() }
}
