//! One cell in one round on disk: its parts as written together, and as read one by one.
//!
//! In: `SampleParts`. Out: the files of a sample folder, and a `SampleFolder` that reads its larger parts when asked.
//! The accounting identity is asserted on both ways.

use crate::damage::{Exhibit, Fault};
use crate::error::StoreError;
use crate::latency::{self, Latencies};
use crate::layout::{COUNTERS, INTERVALS, LATENCY, MANIFEST, ROUND_PLANS, SAMPLE, SECONDS, SLICES, WATCH};
use crate::manifest::Manifest;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::SecondRow;
use rqps_model::sample::{Interval, Slices, WatchRow};
use rqps_model::{FORMAT, Sample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// When server counters were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// Before the test.
    Before,
    /// After the test.
    After,
}

/// All counters of a server at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterReading {
    /// When.
    pub moment: Moment,
    /// By name, `view.column`.
    pub values: BTreeMap<String, f64>,
}

/// Everything that is kept of one cell in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleParts {
    /// Counts, seconds, costs, warnings.
    pub sample: Sample,
    /// The pieces in which builds alternated; empty where there were none.
    pub slices: Slices,
    /// One row a second.
    pub intervals: Vec<Interval>,
    /// Whole histograms by statement kind, and of events.
    pub latencies: Latencies,
    /// Server counters before and after.
    pub counters: Vec<CounterReading>,
    /// What each client did in each second of a step of the Insert Benchmark; empty elsewhere.
    pub seconds: Vec<SecondRow>,
    /// What host and server were about in each second; empty where builds alternate in pieces.
    pub watch: Vec<WatchRow>,
    /// The plans of the test's statements in this round; empty where they are, word for word, those kept for the treatment.
    pub plans: Vec<StatementPlan>,
}

impl SampleParts {
    /// A sample with nothing beside it yet.
    pub fn of(sample: Sample) -> SampleParts {
        SampleParts {
            sample,
            slices: Slices::default(),
            intervals: Vec::new(),
            latencies: Latencies::new(),
            counters: Vec::new(),
            seconds: Vec::new(),
            watch: Vec::new(),
            plans: Vec::new(),
        }
    }

    /// The files, in the order in which they are written; the manifest is last.
    pub(crate) fn render(&self) -> Result<Vec<(&'static str, Vec<u8>)>, StoreError> {
        let sample = &self.sample;
        let what = name_of(sample);
        let unwritable = |why: String| StoreError::Unwritable { what: what.clone(), why };
        let accounting = sample.accounting;
        if !accounting.is_balanced() {
            let (scheduled, succeeded) = (accounting.scheduled, accounting.succeeded);
            let (failed, skipped) = (accounting.failed, accounting.skipped);
            return Err(StoreError::Unbalanced { what, scheduled, succeeded, failed, skipped });
        }
        if sample.format != FORMAT {
            return Err(unwritable(format!("its format is {}, not {FORMAT}", sample.format)));
        }
        if let Some(why) = uneven(&self.slices) {
            return Err(unwritable(why));
        }
        let sample_text = json(sample).map_err(&unwritable)?;
        // JSON has no word for what is not a number; it would be found only when read.
        if serde_json::from_slice::<Sample>(&sample_text).ok().as_ref() != Some(sample) {
            return Err(unwritable("a number in it is not finite".to_owned()));
        }
        let mut files = vec![
            (SAMPLE, sample_text),
            (SLICES, json(&self.slices).map_err(&unwritable)?),
            (INTERVALS, lines(&self.intervals).map_err(&unwritable)?),
            (LATENCY, latency::render(&self.latencies, sample.seconds).map_err(&unwritable)?),
            (COUNTERS, lines(&self.counters).map_err(&unwritable)?),
        ];
        // Only where there is something to tell, so that other samples have no file more.
        if !self.seconds.is_empty() {
            files.push((SECONDS, lines(&self.seconds).map_err(&unwritable)?));
        }
        if !self.watch.is_empty() {
            files.push((WATCH, lines(&self.watch).map_err(&unwritable)?));
        }
        if !self.plans.is_empty() {
            files.push((ROUND_PLANS, json(&self.plans).map_err(&unwritable)?));
        }
        files.push((MANIFEST, json(&Manifest::of(&files)).map_err(&unwritable)?));
        Ok(files)
    }
}

/// A sample's cell and round in words.
pub(crate) fn name_of(sample: &Sample) -> String {
    let Sample { round, treatment, test, clients, .. } = sample;
    format!("round {round}, {treatment}, {test}, clients={clients}")
}

/// A value as one line of JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, String> {
    let mut text = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    text.push(b'\n');
    Ok(text)
}

fn lines<T: Serialize>(rows: &[T]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    for row in rows {
        text.append(&mut json(row)?);
    }
    Ok(text)
}

fn uneven(slices: &Slices) -> Option<String> {
    let (operations, busy) = (slices.operations.len(), slices.busy_ns.len());
    (operations != busy).then(|| format!("slices have {operations} counts of operations, but {busy} times"))
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
    pub(crate) fn read(folder: PathBuf, campaign: &Path) -> Result<Option<SampleFolder>, Fault> {
        let manifest_file = exhibit(&folder, campaign, MANIFEST);
        let bytes = match std::fs::read(&manifest_file.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !folder.exists() => return Ok(None),
            _ => manifest_file.read()?,
        };
        let manifest: Manifest = manifest_file.parse(&bytes)?;
        manifest_file.check_format(manifest.format)?;
        let sample_file = exhibit(&folder, campaign, SAMPLE);
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
    pub(crate) fn check_place(&self, place: &Path) -> Result<(), Fault> {
        if self.folder == place {
            return Ok(());
        }
        let found = format!("it is the sample of {}", name_of(&self.sample));
        Err(exhibit(&self.folder, &self.campaign, SAMPLE).damage(None, found))
    }

    /// The pieces in which builds alternated.
    pub fn slices(&self) -> Result<Slices, StoreError> {
        let (file, bytes) = self.bytes(SLICES)?;
        let slices = file.parse(&bytes)?;
        match uneven(&slices) {
            Some(found) => Err(file.damage(None, found).into()),
            None => Ok(slices),
        }
    }

    /// One row a second.
    pub fn intervals(&self) -> Result<Vec<Interval>, StoreError> {
        let (file, bytes) = self.bytes(INTERVALS)?;
        Ok(file.parse_lines(&bytes)?)
    }

    /// Whole histograms in nanoseconds, by statement kind, and of events.
    pub fn latencies(&self) -> Result<Latencies, StoreError> {
        let (file, bytes) = self.bytes(LATENCY)?;
        Ok(latency::parse(&file, &bytes)?)
    }

    /// Server counters before and after.
    pub fn counters(&self) -> Result<Vec<CounterReading>, StoreError> {
        let (file, bytes) = self.bytes(COUNTERS)?;
        Ok(file.parse_lines(&bytes)?)
    }

    /// What each client did in each second of a step of the Insert Benchmark.
    pub fn seconds(&self) -> Result<Vec<SecondRow>, StoreError> {
        self.optional_lines(SECONDS)
    }

    /// What host and server were about in each second.
    pub fn watch(&self) -> Result<Vec<WatchRow>, StoreError> {
        self.optional_lines(WATCH)
    }

    /// The plans of the test's statements in this round; `None` where they are those kept for the treatment.
    pub fn plans(&self) -> Result<Option<Vec<StatementPlan>>, StoreError> {
        let Some((file, bytes)) = self.optional_bytes(ROUND_PLANS)? else { return Ok(None) };
        Ok(Some(file.parse(&bytes)?))
    }

    fn optional_lines<T: serde::de::DeserializeOwned>(&self, name: &'static str) -> Result<Vec<T>, StoreError> {
        let Some((file, bytes)) = self.optional_bytes(name)? else { return Ok(Vec::new()) };
        Ok(file.parse_lines(&bytes)?)
    }

    /// The bytes of a file that not every sample has.
    fn optional_bytes(&self, name: &'static str) -> Result<Option<(Exhibit, Vec<u8>)>, StoreError> {
        if self.manifest.has(name) {
            return self.bytes(name).map(Some);
        }
        let manifest = exhibit(&self.folder, &self.campaign, MANIFEST);
        match manifest.path.with_file_name(name).exists() {
            true => Err(manifest.damage(None, format!("it does not list {name}")).into()),
            false => Ok(None),
        }
    }

    /// Everything at once.
    pub fn parts(&self) -> Result<SampleParts, StoreError> {
        let (slices, intervals) = (self.slices()?, self.intervals()?);
        let (latencies, counters) = (self.latencies()?, self.counters()?);
        let (seconds, watch, plans) = (self.seconds()?, self.watch()?, self.plans()?.unwrap_or_default());
        Ok(SampleParts { sample: self.sample.clone(), slices, intervals, latencies, counters, seconds, watch, plans })
    }

    fn bytes(&self, name: &'static str) -> Result<(Exhibit, Vec<u8>), StoreError> {
        let file = exhibit(&self.folder, &self.campaign, name);
        let bytes = self.manifest.read(&file)?;
        Ok((file, bytes))
    }
}

fn exhibit(folder: &Path, campaign: &Path, name: &'static str) -> Exhibit {
    let expected = match name {
        MANIFEST => "the list of this sample's files",
        SAMPLE => "the counts of one cell in one round",
        SLICES => "operations and busy nanoseconds of each slice",
        INTERVALS => "one row of counts a second",
        SECONDS => "a row of counts for each second and client",
        WATCH => "a row about each second of host and server",
        ROUND_PLANS => "the plans of the test's statements in this round",
        LATENCY => "a histogram for each statement kind",
        _ => "the server's counters before and after",
    };
    let (sample, results) = (folder.display(), campaign.display());
    let remedy = format!("delete the folder {sample} and measure it again with `rqps resume {results}`");
    Exhibit { path: folder.join(name), expected, remedy }
}
