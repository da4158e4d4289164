//! The values of an event: what its sources gave, and what earlier statements of it returned.
//!
//! In: sources, a random stream, answers. Out: a value for each place in a statement. Nothing is allocated once texts
//! have their size.

use crate::error::LoadError;
use rqps_draw::{Drawn, Random, SharedRows, Source, Take, Tuples};
use rqps_model::own::{Own, Values};
use rqps_wire::{AnyValue, Rows};
use std::collections::BTreeMap;

/// What sources hold that are not drawn: rows by the name of the source.
#[derive(Debug, Clone, Default)]
pub struct Inputs(pub BTreeMap<String, Tuples>);

impl Inputs {
    /// The rows of every CSV of a workload. Those of queries are added once the base is loaded.
    pub fn of_files(own: &Own) -> Result<Inputs, LoadError> {
        let mut inputs = Inputs::default();
        for (name, values) in &own.values {
            if let Values::Csv { name: file, text, take, numbers } = values {
                let tuples = of_csv(text, *take).map_err(|error| LoadError::Shape(format!("{file}: {error}")))?;
                inputs.0.insert(name.clone(), Tuples { numbers: numbers.clone(), ..tuples });
            }
        }
        Ok(inputs)
    }
}

/// What a CSV has for NULL.
const NULL: &str = "\\N";

fn of_csv(text: &str, take: Take) -> Result<Tuples, csv::Error> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
    let value = |value: &str| (value != NULL).then(|| value.to_owned());
    let row = |record: csv::StringRecord| record.iter().map(value).collect();
    let rows = reader.records().map(|record| record.map(row)).collect::<Result<Vec<_>, _>>()?;
    Ok(Tuples::new(columns, rows, take))
}

/// A source, resolved.
#[derive(Debug)]
pub(super) enum Resolved {
    Drawn(Source),
    Rows(Tuples),
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Of the source of that number.
    Source(usize),
    /// A column of the row that the source of that number gave.
    Column(usize, usize),
    /// The same, of a column of numbers.
    Number(usize, usize),
    /// The kept value of that number.
    Kept(usize),
}

/// A value that a statement returned.
#[derive(Debug, Clone, Default)]
struct Kept {
    text: Vec<u8>,
    is_null: bool,
}

/// The values of an event.
#[derive(Debug, Clone)]
pub(crate) struct ValueSet {
    drawn: Vec<Drawn>,
    /// Of each source with rows, the row that was taken, and how many were.
    rows: Vec<(usize, u64)>,
    kept: Vec<Kept>,
    /// The rows themselves.
    tuples: Vec<Option<SharedRows>>,
}

impl ValueSet {
    pub(super) fn new(sources: &Sources) -> ValueSet {
        let tuples = sources.all.iter().map(|source| match source {
            Resolved::Drawn(_) => None,
            Resolved::Rows(tuples) => Some(SharedRows::clone(&tuples.rows)),
        });
        ValueSet {
            drawn: sources.all.iter().map(|_| Drawn::default()).collect(),
            rows: vec![(0, 0); sources.all.len()],
            kept: vec![Kept { is_null: true, ..Kept::default() }; sources.kept],
            tuples: tuples.collect(),
        }
    }

    /// Draws anew what these sources give.
    pub(super) fn draw(&mut self, sources: &Sources, used: &[usize], random: &mut Random) {
        for &source in used {
            let (row, taken) = &mut self.rows[source];
            match &sources.all[source] {
                Resolved::Drawn(drawn) => drawn.draw(random, *taken, &mut self.drawn[source]),
                Resolved::Rows(tuples) => *row = tuples.draw(random, *taken),
            }
            *taken += 1;
        }
    }

    /// These sources will give once more what they gave last, be it the next of a sequence.
    pub(super) fn take_back(&mut self, used: &[usize]) {
        used.iter().for_each(|&source| self.rows[source].1 -= 1);
    }

    /// Keeps columns of the only row of an answer; without a row they are NULL.
    pub(crate) fn keep(&mut self, kept: &[(usize, usize)], rows: &Rows) {
        for &(column, place) in kept {
            let value = &mut self.kept[place];
            value.text.clear();
            let text = rows.text(0, column);
            value.is_null = text.is_none();
            value.text.extend_from_slice(text.unwrap_or_default());
        }
    }

    /// These values, with what others have of earlier statements.
    pub(crate) fn keeping(mut self, others: &ValueSet) -> ValueSet {
        self.kept.clone_from(&others.kept);
        self
    }

    /// Whether the value at a place is NULL.
    pub(crate) fn is_null(&self, place: Place) -> bool {
        matches!(self.any(place), AnyValue::Null)
    }

    /// The value at a place.
    #[inline]
    pub(crate) fn any(&self, place: Place) -> AnyValue<'_> {
        match place {
            Place::Source(source) => match &self.drawn[source] {
                Drawn::Null => AnyValue::Null,
                Drawn::Integer(number) => AnyValue::Integer(*number),
                Drawn::Float(number) => AnyValue::Float(*number),
                Drawn::Text(text) => AnyValue::Text(text.as_bytes()),
            },
            Place::Column(source, column) => {
                let row = self.tuples[source].as_ref().map(|rows| &rows[self.rows[source].0]);
                match row.and_then(|row| row[column].as_ref()) {
                    Some(text) => AnyValue::Text(text.as_bytes()),
                    None => AnyValue::Null,
                }
            }
            Place::Number(source, column) => match self.any(Place::Column(source, column)) {
                AnyValue::Text(text) => number(text),
                other => other,
            },
            Place::Kept(place) => match &self.kept[place] {
                Kept { is_null: true, .. } => AnyValue::Null,
                Kept { text, .. } => AnyValue::Text(text),
            },
        }
    }
}

/// A number as it is written in a row; what is none stays text.
fn number(text: &[u8]) -> AnyValue<'_> {
    let written = std::str::from_utf8(text).unwrap_or_default();
    match (written.parse(), written.parse()) {
        (Ok(number), _) => AnyValue::Integer(number),
        (_, Ok(number)) => AnyValue::Float(number),
        _ => AnyValue::Text(text),
    }
}

/// The sources of a test, and how many values its statements keep.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) all: Vec<Resolved>,
    pub(super) kept: usize,
}
