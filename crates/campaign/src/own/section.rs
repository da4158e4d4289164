//! A section of a workload file, whose keys are taken one by one; what nobody took is unknown.
//!
//! In: entries as written. Out: values of the type that is asked for, or a fault at the value. It knows no key.

use crate::diagnostic::{Fault, Faults};
use crate::engine::falls_back_on;
use crate::place::{Place, Spanned};
use crate::raw::Raw;
use crate::vocabulary::did_you_mean;
use rqps_model::Engine;
use rqps_model::own::PerEngine;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Keys and values of a section that were not taken yet.
pub(super) struct Section {
    /// What it is, in words.
    what: &'static str,
    pub(super) place: Place,
    entries: Vec<(Spanned<String>, Spanned<Raw>)>,
    /// The keys that were asked for.
    known: Vec<&'static str>,
}

impl Section {
    pub(super) fn new(what: &'static str, place: Place, entries: Vec<(Spanned<String>, Spanned<Raw>)>) -> Section {
        Section { what, place, entries, known: Vec::new() }
    }

    /// The section behind a value that is a table.
    fn of(what: &'static str, raw: Spanned<Raw>, faults: &mut Faults) -> Option<Section> {
        match raw.value {
            Raw::Table(entries) => Some(Section::new(what, raw.place, entries)),
            other => {
                faults.add(&raw.place, Fault::error(format!("{what} cannot be {}", other.found())).expected("a table"));
                None
            }
        }
    }

    /// The value of a key, as written.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Spanned<Raw>> {
        self.known.push(key);
        let at = self.entries.iter().position(|(name, _)| name.value == key)?;
        Some(self.entries.remove(at).1)
    }

    /// The entries whose keys are names of the user's.
    pub(super) fn all(&mut self) -> Vec<(Spanned<String>, Spanned<Raw>)> {
        std::mem::take(&mut self.entries)
    }

    /// Whether it says something about a key that was not taken yet.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| name.value == key)
    }

    /// Finds fault with it if it says nothing about a key.
    pub(super) fn needs(&self, key: &str, faults: &mut Faults) {
        if !self.has(key) {
            faults.add(&self.place, Fault::error(format!("{} has no `{key}`", self.what)));
        }
    }

    /// Finds fault with keys that nobody took.
    pub(super) fn end(self, faults: &mut Faults) {
        for (key, _) in &self.entries {
            let word = key.value.as_str();
            let nearest = did_you_mean(word, self.known.iter().copied());
            let fault = Fault::error(format!("unknown key `{word}` in {}", self.what));
            let fault = match nearest {
                Some(nearest) => fault.help(nearest),
                None => fault.expected(format!("one of {}", self.known.join(", "))),
            };
            faults.add(&key.place, fault);
        }
    }

    fn typed<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        faults: &mut Faults,
        read: impl FnOnce(&Raw) -> Option<T>,
    ) -> Option<Spanned<T>> {
        let raw = self.take(key)?;
        let value = read(&raw.value);
        if value.is_none() {
            let fault = Fault::error(format!("`{key}` cannot be {}", told(&raw.value)));
            faults.add(&raw.place, fault.expected(expected));
        }
        Some(Spanned::new(value?, raw.place))
    }

    pub(super) fn text(&mut self, key: &'static str, faults: &mut Faults) -> Option<Spanned<String>> {
        self.typed(key, "text in quotes", faults, |raw| text(raw).filter(|text| !text.trim().is_empty()))
    }

    pub(super) fn whole(&mut self, key: &'static str, faults: &mut Faults) -> Option<Spanned<u64>> {
        self.typed(key, "a whole number", faults, whole)
    }

    /// A whole number within bounds.
    pub(super) fn bounded(
        &mut self,
        key: &'static str,
        bounds: RangeInclusive<u32>,
        faults: &mut Faults,
    ) -> Option<u32> {
        let expected = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        let read = |raw: &Raw| whole(raw).and_then(|n| u32::try_from(n).ok()).filter(|n| bounds.contains(n));
        self.typed(key, &expected, faults, read).map(|number| number.value)
    }

    pub(super) fn number(&mut self, key: &'static str, faults: &mut Faults) -> Option<Spanned<f64>> {
        self.typed(key, "a number from 0 on", faults, |raw| match raw {
            Raw::Whole(number) => Some(*number as f64),
            Raw::Number(number) => Some(*number).filter(|number| number.is_finite() && *number >= 0.0),
            _ => None,
        })
    }

    pub(super) fn switch(&mut self, key: &'static str, faults: &mut Faults) -> Option<bool> {
        let read = |raw: &Raw| if let Raw::Switch(yes) = raw { Some(*yes) } else { None };
        self.typed(key, "true or false", faults, read).map(|yes| yes.value)
    }

    /// A length of time within bounds, such as "30 s"; `expected` tells both.
    pub(super) fn seconds(
        &mut self,
        key: &'static str,
        (bounds, expected): (RangeInclusive<f64>, &str),
        faults: &mut Faults,
    ) -> Option<f64> {
        let seconds = |text: String| crate::value::seconds(&text.replace(' ', ""));
        let read = |raw: &Raw| text(raw).and_then(seconds).filter(|seconds| bounds.contains(seconds));
        self.typed(key, expected, faults, read).map(|seconds| seconds.value)
    }

    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        all: &[T],
        name: fn(T) -> &'static str,
        faults: &mut Faults,
    ) -> Option<T> {
        let words: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        let find = |raw: &Raw| text(raw).and_then(|word| all.iter().copied().find(|one| name(*one) == word));
        self.typed(key, &words.join(" or "), faults, find).map(|one| one.value)
    }

    /// A list of texts; a single text is a list of one.
    pub(super) fn texts(&mut self, key: &'static str, faults: &mut Faults) -> Vec<Spanned<String>> {
        let Some(raw) = self.take(key) else { return Vec::new() };
        texts(key, raw, faults)
    }

    /// Something that engines may have in forms of their own: one value for all, or a table by engine. MariaDB takes
    /// MySQL's form where it has none. `read` gives the value of one.
    pub(super) fn per_engine<T: Clone>(
        &mut self,
        key: &'static str,
        engines: &BTreeSet<Engine>,
        faults: &mut Faults,
        mut read: impl FnMut(Spanned<Raw>, &mut Faults) -> Option<T>,
    ) -> PerEngine<T> {
        let Some(raw) = self.take(key) else { return PerEngine::new() };
        let is_by_engine = |entries: &[(Spanned<String>, Spanned<Raw>)]| {
            !entries.is_empty() && entries.iter().all(|(name, _)| Engine::find(&name.value).is_some())
        };
        match raw.value {
            Raw::Table(entries) if is_by_engine(&entries) => {
                let mut forms = PerEngine::new();
                for (name, value) in entries {
                    if let (Some(engine), Some(value)) = (Engine::find(&name.value), read(value, faults)) {
                        forms.insert(engine, value);
                    }
                }
                for engine in engines {
                    let other = falls_back_on(*engine).and_then(|other| forms.get(&other).cloned());
                    if let (None, Some(form)) = (forms.get(engine), other) {
                        forms.insert(*engine, form);
                    }
                }
                forms.retain(|engine, _| engines.contains(engine));
                forms
            }
            value => match read(Spanned::new(value, raw.place), faults) {
                Some(value) => engines.iter().map(|engine| (*engine, value.clone())).collect(),
                None => PerEngine::new(),
            },
        }
    }

    /// A text, which engines may have in forms of their own.
    pub(super) fn text_per_engine(
        &mut self,
        key: &'static str,
        engines: &BTreeSet<Engine>,
        faults: &mut Faults,
    ) -> PerEngine<String> {
        self.per_engine(key, engines, faults, |raw, faults| one_text(key, &raw, faults))
    }

    /// A section within.
    pub(super) fn section(&mut self, key: &'static str, what: &'static str, faults: &mut Faults) -> Option<Section> {
        Section::of(what, self.take(key)?, faults)
    }

    /// Sections within, of which there may be several.
    pub(super) fn sections(&mut self, key: &'static str, what: &'static str, faults: &mut Faults) -> Vec<Section> {
        let Some(raw) = self.take(key) else { return Vec::new() };
        match raw.value {
            Raw::List(items) => items.into_iter().filter_map(|item| Section::of(what, item, faults)).collect(),
            value => Section::of(what, Spanned::new(value, raw.place), faults).into_iter().collect(),
        }
    }
}

/// The texts of a list, or the only one.
pub(super) fn texts(key: &str, raw: Spanned<Raw>, faults: &mut Faults) -> Vec<Spanned<String>> {
    let items = match raw.value {
        Raw::List(items) => items,
        value => vec![Spanned::new(value, raw.place)],
    };
    let texts = items.into_iter().filter_map(|item| Some(Spanned::new(one_text(key, &item, faults)?, item.place)));
    texts.collect()
}

/// The text that is behind a key or in its list; anything else is a fault.
pub(super) fn one_text(key: &str, raw: &Spanned<Raw>, faults: &mut Faults) -> Option<String> {
    let read = text(&raw.value);
    if read.is_none() {
        let fault = Fault::error(format!("`{key}` cannot be {}", told(&raw.value)));
        faults.add(&raw.place, fault.expected("text in quotes"));
    }
    read
}

/// A text as written.
pub(super) fn text(raw: &Raw) -> Option<String> {
    match raw {
        Raw::Text(text) | Raw::Word(text) => Some(text.clone()),
        _ => None,
    }
}

/// A whole number as written.
pub(super) fn whole(raw: &Raw) -> Option<u64> {
    match raw {
        Raw::Whole(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

fn told(raw: &Raw) -> String {
    match raw {
        Raw::Text(text) | Raw::Word(text) => format!("`{text}`"),
        Raw::Whole(number) => format!("{number}"),
        Raw::Number(number) => format!("{number}"),
        other => other.found().to_owned(),
    }
}
