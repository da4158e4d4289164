//! From files that were checked to a build in the cache: unpacked, inspected, listed file by file, published by one
//! rename.
//!
//! In: the files, and what is known of them. Out: the build's facts. It must not fetch anything, and leaves nothing
//! that looks whole where it fails.

use super::loader::Loader;
use super::progress::Progress;
use super::record::{BuildRecord, INSTALL, MANIFEST, RECORD, placed};
use crate::inspect::{Subject, inspect};
use crate::manifest::Manifest;
use crate::unpack::{self, Contents};
use crate::{BuildError, Result, verify};
use rqps_machine::cache::{CacheLock, Part};
use rqps_machine::{Cache, Lease, remove_tree};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder inside a part that fetched files are in until the build is made.
const FETCHED: &str = "fetched";

/// What is known of a build before its programs are asked.
pub(super) struct Known<'a> {
    pub(super) engine: Engine,
    pub(super) origin: &'a str,
    pub(super) label: &'a str,
    /// Of the package, of the list of digests of several, or of all that a build is compiled from.
    pub(super) sha256: &'a str,
    pub(super) contents: &'a Contents,
    pub(super) library_folders: &'a [PathBuf],
    pub(super) loader: Option<&'a Path>,
}

/// Makes the folder in a part that is fetched into.
pub(super) fn fetch_folder(part: &Part) -> Result<PathBuf> {
    let folder = part.path().join(FETCHED);
    fs::create_dir(&folder).map_err(BuildError::at("create", &folder))?;
    Ok(folder)
}

/// A build in the making, in a folder that goes when this is dropped.
pub(super) struct Making<'a> {
    pub(super) cache: &'a Cache,
    pub(super) lock: &'a CacheLock,
    pub(super) part: Part,
    pub(super) known: Known<'a>,
}

impl Making<'_> {
    /// Unpacks the files and inspects the programs.
    pub(super) fn unpack(&self, files: &[PathBuf], progress: &mut dyn FnMut(Progress)) -> Result<BuildFacts> {
        progress(Progress::Unpacking);
        let install = self.part.path().join(INSTALL);
        unpack::make_open_folder(&install)?;
        unpack::unpack(files, self.known.contents, &install)?;
        self.inspect(progress)
    }

    /// Inspects the programs of an installation that is in its place.
    pub(super) fn inspect(&self, progress: &mut dyn FnMut(Progress)) -> Result<BuildFacts> {
        let Known { engine, origin, label, sha256, library_folders, .. } = self.known;
        let install = self.part.path().join(INSTALL);
        progress(Progress::Inspecting);
        // Programs with a loader of their own find their libraries by themselves; on the search path, such libraries
        // would be taken by other programs, too.
        let on_path = if let Some(loader) = self.loader() {
            loader.set(&install, &install).map(|()| &[][..])?
        } else {
            library_folders
        };
        let subject = Subject { folder: &install, engine, origin, label: Some(label), library_folders: on_path };
        let lease = Lease::open(self.cache)?;
        let facts = inspect(&subject, &lease)?;
        Ok(BuildFacts { sha256: sha256.to_owned(), ..facts })
    }

    /// Writes the record and makes the folder the build of the facts' name.
    pub(super) fn publish(self, mut facts: BuildFacts, progress: &mut dyn FnMut(Progress)) -> Result<BuildFacts> {
        let folder = self.cache.build(&facts.name);
        let install = self.part.path().join(INSTALL);
        if let Some(loader) = self.loader() {
            loader.set(&install, &folder.join(INSTALL))?;
            loader.remove_tool(&install)?;
        }
        // An archive of the user's own lies elsewhere.
        let fetched = self.part.path().join(FETCHED);
        remove_tree(&fetched)?;
        let manifest = Manifest::of(&install)?;
        let text = manifest.render();
        facts.size_bytes = manifest.size_bytes;
        let record = BuildRecord {
            facts,
            package_sha256: self.known.sha256.to_owned(),
            manifest_sha256: verify::sha256_bytes(text.as_bytes()),
            bound_to: self.known.loader.map(|_| folder),
        };
        let json = serde_json::to_string_pretty(&record).expect("a record has only text keys");
        for (name, text) in [(MANIFEST, text), (RECORD, json)] {
            let file = self.part.path().join(name);
            fs::write(&file, text).map_err(BuildError::at("write", &file))?;
        }
        let name = record.facts.name.clone();
        let published = self.part.publish(self.cache, self.lock, &name)?;
        progress(Progress::Installed { name });
        Ok(placed(record.facts, &published))
    }

    fn loader(&self) -> Option<Loader<'_>> {
        self.known.loader.map(|path| Loader {
            path,
            library_folders: self.known.library_folders,
            programs: &self.known.contents.programs,
        })
    }
}
