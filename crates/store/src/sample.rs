//! One cell in one round on disk: `sample.json` and its named parts, written together, read one by one.
//!
//! In: `SampleParts`. Out: the files of a sample folder, and a `SampleFolder` that reads its parts when asked. The
//! accounting identity is asserted on both ways. It must not know what a part holds.

use crate::error::StoreError;
use crate::latency::{self, Latencies};
use crate::layout::{MANIFEST, SAMPLE, check_name};
use crate::manifest::{FileEntry, Manifest};
use crate::rows::RowsPart;
use crate::stored_file::StoredFile;
use rqps_model::part::LATENCY;
use rqps_model::{FORMAT, Part, Sample};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that is kept of one cell in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleParts {
    /// Counts, seconds, costs, warnings.
    pub sample: Sample,
    /// What was recorded and observed beside them; each part has a name of its own.
    pub parts: Vec<Part>,
    /// Parts whose rows were written while the test ran, likewise.
    pub rows: Vec<RowsPart>,
}

impl SampleParts {
    /// A sample with nothing beside it yet.
    pub fn of(sample: Sample) -> SampleParts {
        SampleParts { sample, parts: Vec::new(), rows: Vec::new() }
    }

    /// Adds a part, in place of one of that name. One without bytes only removes it.
    pub fn put(&mut self, part: Part) {
        self.parts.retain(|other| other.name != part.name);
        self.parts.push(part);
    }

    /// The files but those of rows, in the order in which they are written; the manifest is last, and lists them all.
    pub(crate) fn render(&self) -> Result<Vec<Part>, StoreError> {
        let sample = &self.sample;
        let what = name_of(sample);
        let unwritable = |why: String| StoreError::Unwritable { what: what.clone(), why };
        let twice = |name: &str| unwritable(format!("two of its files are named {name}"));
        let accounting = sample.accounting;
        if !accounting.is_balanced() {
            let (scheduled, succeeded) = (accounting.scheduled, accounting.succeeded);
            let (failed, skipped) = (accounting.failed, accounting.skipped);
            return Err(StoreError::Unbalanced { what, scheduled, succeeded, failed, skipped });
        }
        if sample.format != FORMAT {
            return Err(unwritable(format!("its format is {}, not {FORMAT}", sample.format)));
        }
        let mut files = vec![Part::json(SAMPLE, sample)];
        // JSON has no word for what is not a number; it would be found only when read.
        if serde_json::from_slice::<Sample>(&files[0].bytes).ok().as_ref() != Some(sample) {
            return Err(unwritable("a number in it is not finite".to_owned()));
        }
        for part in self.parts.iter().filter(|part| !part.bytes.is_empty()) {
            check_name(&part.name, "a part of a sample")?;
            if part.name == MANIFEST || files.iter().any(|file| file.name == part.name) {
                return Err(twice(&part.name));
            }
            files.push(part.clone());
        }
        let mut others: BTreeMap<String, FileEntry> = BTreeMap::new();
        for rows in &self.rows {
            let (name, Some(entry)) = (rows.name(), rows.entry()) else { continue };
            check_name(name, "a part of a sample")?;
            let is_known = name == MANIFEST || files.iter().any(|file| file.name == name);
            if is_known || others.insert(name.to_owned(), entry).is_some() {
                return Err(twice(name));
            }
        }
        files.push(Part::json(MANIFEST, &Manifest::of(&files, others)));
        Ok(files)
    }
}

/// A sample's cell and round in words.
pub(crate) fn name_of(sample: &Sample) -> String {
    let Sample { round, treatment, test, clients, .. } = sample;
    format!("round {round}, {treatment}, {test}, clients={clients}")
}

/// A published sample. The small part is in memory, the larger ones are read when asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleFolder {
    /// Counts, seconds, costs, warnings.
    pub sample: Sample,
    folder: PathBuf,
    campaign: PathBuf,
    manifest: Manifest,
}

impl SampleFolder {
    /// Reads the sample of a folder; `None` if there is no such folder.
    pub(crate) fn read(folder: PathBuf, campaign: &Path) -> Result<Option<SampleFolder>, StoreError> {
        let manifest_file = stored(&folder, campaign, MANIFEST);
        let bytes = match std::fs::read(&manifest_file.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !folder.exists() => return Ok(None),
            _ => manifest_file.read()?,
        };
        let manifest: Manifest = manifest_file.parse(&bytes)?;
        manifest_file.check_format(manifest.format)?;
        let sample_file = stored(&folder, campaign, SAMPLE);
        let sample: Sample = sample_file.parse(&manifest.read(&sample_file)?)?;
        sample_file.check_format(sample.format)?;
        if !sample.accounting.is_balanced() {
            return Err(sample_file.damage(None, "scheduled is not succeeded + failed + skipped"));
        }
        Ok(Some(SampleFolder { sample, folder, campaign: campaign.to_owned(), manifest }))
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Refuses a folder that holds another sample than its name says.
    pub(crate) fn check_place(&self, place: &Path) -> Result<(), StoreError> {
        if self.folder == place {
            return Ok(());
        }
        let found = format!("it is the sample of {}", name_of(&self.sample));
        Err(self.stored(SAMPLE).damage(None, found))
    }

    /// The names of its parts, in alphabetical order.
    pub fn part_names(&self) -> impl Iterator<Item = &str> {
        self.manifest.names().filter(|name| *name != SAMPLE)
    }

    /// The bytes of a part, known to be as written; `None` of a sample without it.
    pub fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let file = self.stored(name);
        if self.manifest.has(name) {
            return self.manifest.read(&file).map(Some);
        }
        match file.path.exists() {
            true => Err(self.stored(MANIFEST).damage(None, format!("it does not list {name}"))),
            false => Ok(None),
        }
    }

    /// The value of a part of JSON.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        self.bytes(name)?.map(|bytes| self.stored(name).parse(&bytes)).transpose()
    }

    /// The rows of a part of JSON lines; none of a sample without it.
    pub fn lines<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, StoreError> {
        self.bytes(name)?.map_or(Ok(Vec::new()), |bytes| self.stored(name).parse_lines(&bytes))
    }

    /// Whole histograms in nanoseconds, by statement kind, and of events.
    pub fn latencies(&self) -> Result<Latencies, StoreError> {
        self.bytes(LATENCY)?.map_or(Ok(Latencies::new()), |bytes| latency::parse(&self.stored(LATENCY), &bytes))
    }

    /// Everything at once, the parts by name.
    pub fn parts(&self) -> Result<SampleParts, StoreError> {
        let part = |name: &str| Ok(self.bytes(name)?.map(|bytes| Part { name: name.to_owned(), bytes }));
        let parts = self.part_names().filter_map(|name| part(name).transpose()).collect::<Result<_, StoreError>>()?;
        Ok(SampleParts { parts, ..SampleParts::of(self.sample.clone()) })
    }

    fn stored(&self, name: &str) -> StoredFile {
        stored(&self.folder, &self.campaign, name)
    }
}

fn stored(folder: &Path, campaign: &Path, name: &str) -> StoredFile {
    let expected = match name {
        MANIFEST => "the list of this sample's files",
        SAMPLE => "the counts of one cell in one round",
        _ => "a part of this sample as it was written",
    };
    let (sample, results) = (folder.display(), campaign.display());
    let remedy = format!("delete the folder {sample} and measure it again with `rqps resume {results}`");
    StoredFile { path: folder.join(name), expected, remedy }
}
