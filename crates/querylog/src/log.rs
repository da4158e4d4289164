//! All that was read so far, statement by statement.
//!
//! In: what a reader finds, one execution or one row after the other. Out: statements by fingerprint, each with its
//! shapes and a sample of its values; what is left out by reason; the time over which it was seen.

use crate::left_out::{LeftOut, is_own_schema, reason};
use crate::sample::{Sample, Value};
use rqps_sql::{Dialect, Literal, Slot, SlotValue, fingerprint};
use std::collections::{BTreeMap, BTreeSet};

/// Statements beyond so many are only counted: then their texts hold what is no literal, such as names of tables.
const STATEMENTS_MAX: usize = 20_000;

/// Forms of a statement beyond so many are only counted.
const SHAPES_MAX: usize = 32;

/// The most bytes of values that are kept of all statements.
const BYTES_MAX: usize = 256 << 20;

/// What of a file counts.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only statements of this database.
    pub database: Option<String>,
    /// The share of statements that was logged, where it was not all of them.
    pub sampled: Option<f64>,
}

/// How often something was done and how long it took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Share {
    pub(crate) calls: f64,
    pub(crate) milliseconds: f64,
}

impl Share {
    fn add(&mut self, calls: f64, milliseconds: f64) {
        self.calls += calls;
        self.milliseconds += milliseconds;
    }
}

/// Where the values of a statement's parameters are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound<'a> {
    /// Nowhere: its parameters are markers.
    Unknown,
    /// Beside it.
    Given(&'a [Option<String>]),
}

/// What a reader found: executions of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) sql: &'a str,
    pub(crate) database: Option<&'a str>,
    pub(crate) calls: f64,
    pub(crate) milliseconds: f64,
    pub(crate) bound: Bound<'a>,
    /// Whether it is known to have been sent as text, without being prepared.
    pub(crate) is_text: bool,
    /// Why it becomes no test, where the reader knows.
    pub(crate) left_out: Option<LeftOut>,
}

/// Executions that have their values in the same places.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) share: Share,
    pub(crate) example: String,
    pub(crate) slots: Vec<Slot>,
    pub(crate) sample: Sample,
}

/// Executions with one fingerprint.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) share: Share,
    pub(crate) text_calls: f64,
    pub(crate) shapes: BTreeMap<String, Shape>,
}

/// What was read.
#[derive(Debug)]
pub struct Log {
    pub(crate) dialect: Dialect,
    pub(crate) filter: Filter,
    pub(crate) groups: BTreeMap<String, Group>,
    pub(crate) left_out: BTreeMap<LeftOut, Share>,
    /// The databases that statements were of.
    pub databases: BTreeSet<String>,
    /// When the first and the last thing happened, in seconds.
    times: Option<(f64, f64)>,
    /// What is worth telling of the files.
    pub(crate) notes: Vec<String>,
    bytes: usize,
}

impl Log {
    /// Nothing yet.
    pub fn new(dialect: Dialect, filter: Filter) -> Log {
        Log {
            dialect,
            filter,
            groups: BTreeMap::new(),
            left_out: BTreeMap::new(),
            databases: BTreeSet::new(),
            times: None,
            notes: Vec::new(),
            bytes: 0,
        }
    }

    /// Over how many seconds it was seen, as far as its times tell.
    pub fn seconds(&self) -> Option<f64> {
        self.times.map(|(first, last)| last - first).filter(|seconds| *seconds > 0.0)
    }

    /// Something happened then.
    pub(crate) fn at(&mut self, seconds: f64) {
        let (first, last) = self.times.get_or_insert((seconds, seconds));
        *first = first.min(seconds);
        *last = last.max(seconds);
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Takes what a reader found.
    pub(crate) fn add(&mut self, entry: Entry<'_>) {
        if let Some(database) = entry.database.filter(|name| !name.is_empty()) {
            if !self.databases.contains(database) {
                self.databases.insert(database.to_owned());
            }
            if self.filter.database.as_ref().is_some_and(|wanted| wanted != database) {
                return;
            }
        }
        let share = self.filter.sampled.unwrap_or(1.0);
        let (calls, milliseconds) = (entry.calls / share, entry.milliseconds / share);
        let sql = entry.sql.trim().trim_end_matches(';').trim_end();
        let found = fingerprint(sql, self.dialect);
        // What is kept once need not be judged again: that takes longer than all else.
        let is_kept = self.groups.contains_key(&found.key) && !is_own_schema(entry.database);
        let why = entry.left_out.or_else(|| if is_kept { None } else { reason(sql, entry.database, self.dialect) });
        if let Some(why) = why {
            return self.left_out.entry(why).or_default().add(calls, milliseconds);
        }
        if !self.groups.contains_key(&found.key) && self.groups.len() >= STATEMENTS_MAX {
            return self.left_out.entry(LeftOut::Below).or_default().add(calls, milliseconds);
        }
        let group = self.groups.entry(found.key).or_default();
        group.share.add(calls, milliseconds);
        group.text_calls += if entry.is_text { calls } else { 0.0 };
        if !group.shapes.contains_key(&found.shape) && group.shapes.len() >= SHAPES_MAX {
            return;
        }
        let shape = group.shapes.entry(found.shape).or_insert_with(|| Shape {
            share: Share::default(),
            example: sql.to_owned(),
            slots: found.slots.clone(),
            sample: Sample::default(),
        });
        shape.share.add(calls, milliseconds);
        if let Some(row) = row(&found.slots, entry.bound) {
            let before = shape.sample.bytes();
            shape.sample.add(row);
            self.bytes = (self.bytes + shape.sample.bytes()).saturating_sub(before);
        }
        if self.bytes > BYTES_MAX {
            self.thin();
        }
    }

    /// Keeps half of all rows.
    fn thin(&mut self) {
        let shapes = self.groups.values_mut().flat_map(|group| group.shapes.values_mut());
        let freed: usize = shapes.map(|shape| shape.sample.thin()).sum();
        self.bytes = self.bytes.saturating_sub(freed);
    }
}

/// The value of each slot, if all are known.
fn row(slots: &[Slot], bound: Bound<'_>) -> Option<Vec<Value>> {
    let value = |slot: &Slot| match (&slot.value, bound) {
        (SlotValue::Literal(literal), _) => Some(Some(literal.clone())),
        (SlotValue::Null, _) => Some(None),
        (SlotValue::Parameter(Some(number)), Bound::Given(values)) => {
            values.get(number.checked_sub(1)?).map(|value| value.clone().map(Literal::Text))
        }
        (SlotValue::Parameter(_), _) => None,
    };
    slots.iter().map(value).collect()
}
