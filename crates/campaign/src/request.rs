//! What was asked, before anything is looked up: one struct for the file and the flags, every field optional.
//!
//! A file and the flags each give a `Request`; they are merged (flags win), presets fill what is still open, and
//! `check` turns the result into a campaign. Values have the right type and range here, names are still words.

use crate::diagnostic::{Fault, Faults};
use crate::key::SYSBENCH;
use crate::place::{Place, Source, Stated};
use rqps_model::plan::Arrival;
use rqps_model::settings::MachineClass;
use rqps_model::{BuildSpec, Interleave, Placement, StorageEngine};
use std::collections::BTreeSet;
use std::fmt;

/// A setting and its value.
pub type Setting = (String, String);

/// A ready-made size, and how many times its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Its name, such as `cached-large`.
    pub word: String,
    /// 1 for its own size.
    pub factor: f64,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        if self.factor == 1.0 { Ok(()) } else { write!(f, ":{}", self.factor) }
    }
}

/// A build as asked for, with what is said about it alone.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildRequest {
    /// Engine, source and the user's name for it.
    pub spec: Stated<BuildSpec>,
    /// Profiles for this build instead of the campaign's.
    pub profile: Option<Stated<Vec<Stated<String>>>>,
    /// Storage engines for this build instead of the campaign's.
    pub storage: Option<Stated<Vec<Stated<StorageEngine>>>>,
    /// Settings for this build on top of the campaign's.
    pub set: Vec<Stated<Setting>>,
}

/// What was asked: the keys of `KEYS`, each as far as it was said.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name, told in KEYS")]
pub struct Request {
    pub name: Option<Stated<String>>,
    pub build: Option<Stated<Vec<BuildRequest>>>,
    pub base: Option<Stated<String>>,
    pub profile: Option<Stated<Vec<Stated<String>>>>,
    pub storage_engine: Option<Stated<Vec<Stated<StorageEngine>>>>,
    pub set: Option<Stated<Vec<Stated<Setting>>>>,
    pub suite: Option<Stated<String>>,
    pub scale: Option<Stated<Scale>>,
    pub tests: Option<Stated<Vec<Stated<String>>>>,
    pub tables: Option<Stated<u32>>,
    pub rows: Option<Stated<u64>>,
    pub rows_written: Option<Stated<u64>>,
    pub clients: Option<Stated<Vec<Stated<u32>>>>,
    pub write_rates: Option<Stated<Vec<Stated<u32>>>>,
    pub read_seconds: Option<Stated<f64>>,
    pub write_seconds: Option<Stated<f64>>,
    pub rest_seconds: Option<Stated<f64>>,
    pub catch_up_seconds: Option<Stated<f64>>,
    pub warmup: Option<Stated<f64>>,
    pub rounds: Option<Stated<u32>>,
    pub interleave: Option<Stated<Interleave>>,
    pub slice: Option<Stated<f64>>,
    pub rate: Option<Stated<Arrival>>,
    pub placement: Option<Stated<Placement>>,
    pub machine: Option<Stated<MachineClass>>,
    pub margin: Option<Stated<f64>>,
    pub seed: Option<Stated<u64>>,
    pub quick: Option<Stated<bool>>,
    /// The campaign file, where there is one, to point into.
    pub source: Option<Source>,
    /// Keys that were said wrongly, so that nothing further is said about what is wrong with them. Of a list of builds,
    /// those that could be read are kept, so that what is wrong with them is told at the same time.
    pub(crate) faulty: BTreeSet<&'static str>,
}

/// Does the same for every field of two requests: `$each!(field, "key")`.
macro_rules! each_key {
    ($each:ident) => {
        $each!(name, "name");
        $each!(build, "build");
        $each!(base, "base");
        $each!(profile, "profile");
        $each!(storage_engine, "storage-engine");
        $each!(suite, "suite");
        $each!(scale, "scale");
        $each!(tests, "tests");
        $each!(tables, "tables");
        $each!(rows, "rows");
        $each!(rows_written, "rows-written");
        $each!(clients, "clients");
        $each!(write_rates, "write-rates");
        $each!(read_seconds, "read-seconds");
        $each!(write_seconds, "write-seconds");
        $each!(rest_seconds, "rest-seconds");
        $each!(catch_up_seconds, "catch-up-seconds");
        $each!(warmup, "warmup");
        $each!(rounds, "rounds");
        $each!(interleave, "interleave");
        $each!(slice, "slice");
        $each!(rate, "rate");
        $each!(placement, "placement");
        $each!(machine, "machine");
        $each!(margin, "margin");
        $each!(seed, "seed");
        $each!(quick, "quick");
    };
}

impl Request {
    /// The file's request with the flags' on top: flags win, and a note says so. Settings are merged by name.
    pub(crate) fn merge(file: Request, flags: Request, faults: &mut Faults) -> Request {
        let mut merged = file;
        macro_rules! take {
            ($field:ident, $key:literal) => {
                if let Some(ours) = flags.$field {
                    if let Some(theirs) = merged.$field.take()
                        && theirs != ours
                    {
                        faults.add(&theirs.place, replaced($key));
                    }
                    merged.faulty.remove($key);
                    merged.$field = Some(ours);
                }
            };
        }
        each_key!(take);
        if let Some(ours) = flags.set {
            merged.faulty.remove("set");
            let theirs = merged.set.take().map(|set| set.value).unwrap_or_default();
            let mut settings = Vec::new();
            for setting in theirs {
                match ours.value.iter().find(|our| our.value.0 == setting.value.0) {
                    None => settings.push(setting),
                    Some(our) if our.value == setting.value => {}
                    Some(_) => faults.add(&setting.place, replaced("set")),
                }
            }
            settings.extend(ours.value);
            merged.set = Some(Stated::new(settings, ours.place));
        }
        merged.faulty.extend(flags.faulty);
        merged
    }

    /// This request with a weaker one below it: what is still open is taken from there.
    pub(crate) fn over(self, weaker: Request) -> Request {
        let mut whole = self;
        macro_rules! fill {
            ($field:ident, $key:literal) => {
                if whole.$field.is_none() && !whole.faulty.contains($key) {
                    whole.$field = weaker.$field;
                }
            };
        }
        each_key!(fill);
        fill!(set, "set");
        whole
    }

    /// Where a key was said, by a user or a preset.
    pub(crate) fn place_of_key(&self, key: &str) -> Option<&Place> {
        macro_rules! place {
            ($field:ident, $key:literal) => {
                if key == $key {
                    return self.$field.as_ref().map(|stated| &stated.place);
                }
            };
        }
        each_key!(place);
        place!(set, "set");
        None
    }

    /// The suite asked for; one that cannot be read is taken for the usual one.
    pub(crate) fn suite_word(&self) -> &str {
        self.suite.as_ref().map_or(SYSBENCH, |suite| suite.value.as_str())
    }

    /// Whether a key was said, and wrongly.
    pub(crate) fn is_faulty(&self, key: &str) -> bool {
        self.faulty.contains(key)
    }
}

fn replaced(key: &str) -> Fault {
    Fault::note(format!("`{key}` of the file is replaced by the flag --{key}"))
}

/// The place of a key where it was said, else the request as a whole.
pub(crate) fn place_of<T>(stated: Option<&Stated<T>>) -> Place {
    stated.map_or(Place::Request, |stated| stated.place.clone())
}
