//! What was asked, before anything is looked up: one struct for the file and the flags, every field optional.
//!
//! A file and the flags each give a `Request`; they are merged (flags win), presets fill what is still open, and
//! `check` turns the result into a campaign. Values have the right type and range here, names are still words. How a
//! type is read and written is its [`Field`].

use crate::diagnostic::{Fault, Faults};
use crate::field::Field;
use crate::place::{Place, Source, Spanned};
use crate::raw::Raw;
use crate::read::Reader;
use crate::value::{BuildRequest, Scale, Setting};
use rqps_model::own::{AnswersRule, Protocol};
use rqps_model::plan::Arrival;
use rqps_model::settings::MachineClass;
use rqps_model::tproc_c::{Check, Form, Isolation, Profile};
use rqps_model::{Interleave, Placement, ProgramPages, StorageEngine};
use rqps_suites::{Key, SuiteName};
use std::collections::BTreeSet;

/// The command that asks for a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `rqps run` and `rqps plan`: what is not given is a default.
    Run,
    /// `rqps demo`: what is not given is the demo's.
    Demo,
}

/// Whether a field is that of a key.
fn is_field(key: &str, field: &str) -> bool {
    key.len() == field.len() && key.bytes().zip(field.bytes()).all(|(a, b)| a == b || (a, b) == (b'-', b'_'))
}

/// Makes `Request` of fields, each of which is the key of the same name, and what is done with every one of them alike.
macro_rules! request {
    ($($field:ident: $kind:ty,)*) => {
        /// What was asked: the keys of `KEYS`, each as far as it was said.
        #[derive(Debug, Clone, Default, PartialEq)]
        #[expect(missing_docs, reason = "each field is the key of the same name, told in KEYS")]
        pub struct Request {
            $(pub $field: Option<Spanned<$kind>>,)*
            /// The campaign file, where there is one, to point into.
            pub source: Option<Source>,
            /// Keys that were said wrongly, so that nothing further is said about what is wrong with them. Of a list of
            /// builds, those that could be read are kept, so that what is wrong with them is told at the same time.
            pub(crate) faulty: BTreeSet<&'static str>,
        }

        impl Request {
            /// Reads one key's value.
            pub(crate) fn read_key(&mut self, key: &'static Key, raw: Spanned<Raw>, faults: &mut Faults) {
                let place = raw.place.clone();
                let errors = faults.errors();
                let mut reader = Reader { key, faults };
                $(if is_field(&key.name, stringify!($field)) {
                    let value = <$kind>::read(&mut reader, raw).ok();
                    self.$field = value.map(|value| Spanned::new(value, place));
                    if faults.errors() > errors {
                        self.faulty.insert(&key.name);
                    }
                    return;
                })*
                unreachable!("key `{}` has no field", key.name)
            }

            /// A key's value and its place, if a user or a preset gave it.
            pub(crate) fn given(&self, key: &str) -> Option<(&dyn Field, &Place)> {
                $(if is_field(key, stringify!($field)) {
                    let given = self.$field.as_ref();
                    return given.map(|given| (&given.value as &dyn Field, &given.place));
                })*
                None
            }

            /// This request with a weaker one below it: what is still open is taken from there.
            pub(crate) fn over(mut self, weaker: Request) -> Request {
                let faulty = std::mem::take(&mut self.faulty);
                let is_faulty = |field| faulty.iter().any(|key| is_field(key, field));
                $(if self.$field.is_none() && !is_faulty(stringify!($field)) {
                    self.$field = weaker.$field;
                })*
                Request { faulty, ..self }
            }

            /// The file's request with the flags' on top: flags win, and a note says so. Settings are merged by name.
            pub(crate) fn merge(file: Request, mut flags: Request, faults: &mut Faults) -> Request {
                let mut merged = file;
                flags.set = merged.merged_settings(flags.set.take(), faults);
                $(if let Some(ours) = flags.$field {
                    if let Some(theirs) = merged.$field.take()
                        && theirs != ours
                    {
                        faults.add(&theirs.place, replaced(stringify!($field)));
                    }
                    merged.faulty.retain(|key| !is_field(key, stringify!($field)));
                    merged.$field = Some(ours);
                })*
                merged.faulty.extend(flags.faulty);
                merged
            }
        }
    };
}

request! {
    name: String,
    build: Vec<BuildRequest>,
    base: String,
    aa: bool,
    control: f64,
    suite: String,
    preset: String,
    tproc_c_profile: Profile,
    warehouses: Vec<Spanned<u32>>,
    form: Vec<Spanned<Form>>,
    quirks: Vec<Spanned<String>>,
    isolation: Isolation,
    all_warehouses: bool,
    keying_and_thinking: bool,
    partitioned: bool,
    check: Check,
    from: Vec<Spanned<String>>,
    data_scale: u32,
    define: Vec<Spanned<Setting>>,
    protocol: Protocol,
    max_tries: u32,
    allow_shell: bool,
    answers: AnswersRule,
    pg_restore: String,
    scale: Scale,
    tests: Vec<Spanned<String>>,
    tables: u32,
    rows: u64,
    rows_written: u64,
    clients: Vec<Spanned<u32>>,
    write_rates: Vec<Spanned<u32>>,
    read_seconds: f64,
    write_seconds: f64,
    seconds: f64,
    rest_seconds: f64,
    catch_up_seconds: f64,
    warmup: f64,
    time: f64,
    until_decided: bool,
    rounds: u32,
    slice: f64,
    turn: f64,
    interleave: Interleave,
    seed: u64,
    profile: Vec<Spanned<String>>,
    storage_engine: Vec<Spanned<StorageEngine>>,
    set: Vec<Spanned<Setting>>,
    placement: Placement,
    program_pages: ProgramPages,
    cpu_events: bool,
    rate: Arrival,
    machine: MachineClass,
    margin: f64,
    quick: bool,
}

impl Request {
    /// The flags' settings with those of the file that they do not replace.
    fn merged_settings(
        &mut self,
        flags: Option<Spanned<Vec<Spanned<Setting>>>>,
        faults: &mut Faults,
    ) -> Option<Spanned<Vec<Spanned<Setting>>>> {
        let ours = flags?;
        let theirs = self.set.take().map(|set| set.value).unwrap_or_default();
        let mut settings = Vec::new();
        for setting in theirs {
            match ours.value.iter().find(|our| our.value.0 == setting.value.0) {
                None => settings.push(setting),
                Some(our) if our.value == setting.value => {}
                Some(_) => faults.add(&setting.place, replaced("set")),
            }
        }
        settings.extend(ours.value);
        Some(Spanned::new(settings, ours.place))
    }

    /// The suite asked for; a word that names none is taken for the usual one.
    pub(crate) fn suite_name(&self) -> SuiteName {
        let named = self.suite.as_ref().and_then(|suite| SuiteName::find(&suite.value));
        named.unwrap_or(SuiteName::ALL[0])
    }

    /// Whether the base is also compared with itself.
    pub(crate) fn measures_base_twice(&self) -> bool {
        self.aa.as_ref().is_some_and(|aa| aa.value)
    }

    /// The change that is planted in the base measured again, as a share of a statement's time.
    pub(crate) fn control(&self) -> Option<f64> {
        self.control.as_ref().map(|control| control.value)
    }

    /// Whether a key was said, and wrongly.
    pub(crate) fn is_faulty(&self, key: &str) -> bool {
        self.faulty.contains(key)
    }
}

fn replaced(field: &str) -> Fault {
    let key = field.replace('_', "-");
    Fault::note(format!("`{key}` of the file is replaced by the flag --{key}"))
}

/// The place of a key where it was said, else the request as a whole.
pub(crate) fn place_of<T>(stated: Option<&Spanned<T>>) -> Place {
    stated.map_or(Place::Request, |stated| stated.place.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_suites::KEYS;

    #[test]
    fn every_key_has_a_field() {
        for key in KEYS.iter() {
            // Text is right for some keys and wrong for others; what has no field would not get that far.
            let mut request = Request::default();
            request.read_key(key, Spanned::new(Raw::Text("small".to_owned()), Place::Request), &mut Faults::new(None));
            assert!(request.given(&key.name).is_some() || request.is_faulty(&key.name), "{}", key.name);
        }
    }
}
