//! `[values]` of a workload file: where statements get their values from.
//!
//! In: the section. Out: sources by name, with the columns that statements may name. CSVs are read here, whole; what a
//! query gives is known once the base is loaded.

use super::Reader;
use super::choices::CSV_BYTES_MAX;
use super::section::{Section, text};
use crate::diagnostic::{Fault, Faults};
use crate::engine::dialect;
use crate::place::{Place, Source, Spanned};
use crate::raw::Raw;
use crate::vocabulary::did_you_mean;
use rqps_draw::{SourceSpec, Take};
use rqps_model::own::{PerEngine, Values};
use rqps_model::plural;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The most rows of a query that are kept where nothing is said.
const LIMIT: usize = 10_000;
const LIMIT_MAX: u64 = 1_000_000;

/// Of a CSV that is wrong in every row, so many rows are told.
const CSV_FAULTS_MAX: usize = 10;

/// The sources, and of those with several columns which they are. `None` where only the server knows.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) sources: BTreeMap<String, Values>,
    pub(super) columns: BTreeMap<String, Option<Vec<String>>>,
}

impl Reader<'_> {
    pub(super) fn values(&mut self, section: Option<Section>) -> Sources {
        let mut sources = Sources::default();
        let Some(mut section) = section else { return sources };
        for (name, raw) in section.all() {
            if !is_name(&name.value) {
                let fault = Fault::error(format!("`{}` cannot be written as `:name` in a statement", name.value));
                self.faults.add(&name.place, fault.expected("letters, digits and `_`, first a letter"));
                continue;
            }
            let read = self.source(&name, raw);
            // A source with a fault is told once, not again wherever a statement names it.
            let columns = read.as_ref().and_then(|(_, columns)| columns.clone());
            sources.columns.insert(name.value.clone(), columns);
            sources.sources.extend(read.map(|(values, _)| (name.value, values)));
        }
        sources
    }

    fn source(&mut self, name: &Spanned<String>, raw: Spanned<Raw>) -> Option<(Values, Option<Vec<String>>)> {
        let has =
            |key: &str| matches!(&raw.value, Raw::Table(entries) if entries.iter().any(|(name, _)| name.value == key));
        if has("todo") {
            let mut of = String::new();
            if let Raw::Table(entries) = &raw.value
                && let Some(what) =
                    entries.iter().find(|(key, _)| key.value == "todo").and_then(|(_, raw)| text(&raw.value))
            {
                of = format!(" ({what})");
            }
            let fault = Fault::error(format!("the values of `{}`{of} are still to be filled in", name.value));
            let help = "give a source, such as { uniform = [1, 1000] }, { csv = \"values.csv\" } or { query = \"SELECT ...\" }";
            self.faults.add(&raw.place, fault.help(help));
            return None;
        }
        if has("csv") || has("query") {
            return self.rows(name, raw);
        }
        self.drawn(&raw).map(|drawn| (Values::Drawn(Box::new(drawn)), Some(Vec::new())))
    }

    /// A source that is drawn, checked.
    pub(super) fn drawn(&mut self, raw: &Spanned<Raw>) -> Option<SourceSpec> {
        let errors = self.faults.errors();
        let Raw::Table(entries) = &raw.value else {
            let fault = Fault::error(format!("a source of values cannot be {}", raw.value.found()));
            self.faults.add(&raw.place, fault.expected("such as { uniform = [1, 1000] } or { constant = 7 }"));
            return None;
        };
        for (key, _) in entries.iter().filter(|(key, _)| !SourceSpec::KEYS.contains(&key.value.as_str())) {
            let fault = Fault::error(format!("unknown key `{}` in a source of values", key.value));
            let fault = match did_you_mean(&key.value, SourceSpec::KEYS) {
                Some(nearest) => fault.help(nearest),
                None => fault.expected(format!("one of {}", SourceSpec::KEYS.join(", "))),
            };
            self.faults.add(&key.place, fault);
        }
        if self.faults.errors() > errors {
            return None;
        }
        let read = match raw.value.to_toml() {
            Some(value) => SourceSpec::deserialize(value).map_err(|error| error.message().trim().to_owned()),
            None => Err("a date stands in quotes here".to_owned()),
        };
        let checked = read.and_then(|spec| spec.resolve(0).map(|_| spec).map_err(|error| error.to_string()));
        match checked {
            Ok(spec) => Some(spec),
            Err(why) => {
                let help = "sources are such as { uniform = [1, 1000] }; docs/own-suite.md has them all";
                self.faults.add(&raw.place, Fault::error(why).help(help));
                None
            }
        }
    }

    /// Rows of a CSV or of a query.
    fn rows(&mut self, name: &Spanned<String>, raw: Spanned<Raw>) -> Option<(Values, Option<Vec<String>>)> {
        let Raw::Table(entries) = raw.value else { return None };
        let mut section = Section::new("a source of values", raw.place, entries);
        let take = match section.text("take", self.faults) {
            None => Take::Random,
            Some(word) => match word.value.as_str() {
                "random" => Take::Random,
                "in-order" => Take::InOrder,
                _ => {
                    let fault = Fault::error(format!("`take` cannot be `{}`", word.value));
                    self.faults.add(&word.place, fault.expected("random or in-order"));
                    Take::Random
                }
            },
        };
        let read = match section.text("csv", self.faults) {
            Some(path) => {
                let numbers = section.texts("numbers", self.faults);
                self.csv(&path, take, &numbers)
            }
            None => self.query(&mut section, name, take),
        };
        section.end(self.faults);
        read
    }

    fn csv(
        &mut self,
        path: &Spanned<String>,
        take: Take,
        numbers: &[Spanned<String>],
    ) -> Option<(Values, Option<Vec<String>>)> {
        let read = self.files.read(&self.path(&path.value)).and_then(|bytes| match bytes.len() {
            too_many if too_many > CSV_BYTES_MAX => Err("it has more than 16 MB; take a sample of its rows".to_owned()),
            _ => String::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}")),
        });
        match read {
            Ok(text) => {
                let columns = self.columns_of_csv(&path.value, &text)?;
                for unknown in numbers.iter().filter(|number| !columns.contains(&number.value)) {
                    let fault = Fault::error(format!("`{}` has no column `{}`", path.value, unknown.value));
                    self.faults.add(&unknown.place, fault.expected(format!("one of {}", columns.join(", "))));
                }
                let numbers = numbers.iter().map(|number| number.value.clone()).collect();
                Some((Values::Csv { name: path.value.clone(), text, take, numbers }, Some(columns)))
            }
            Err(why) => {
                self.faults.add(&path.place, Fault::error(format!("`{}` cannot be used: {why}", path.value)));
                None
            }
        }
    }

    /// The header of a CSV, once every row has as many fields as it. Faults are told where they are in that file.
    fn columns_of_csv(&mut self, name: &str, text: &str) -> Option<Vec<String>> {
        let mut own = Faults::new(Some(Source::new(name, text.as_bytes())));
        let at = |byte: u64| {
            let byte = usize::try_from(byte).unwrap_or(0).min(text.len());
            // Empty lines in front belong to no row.
            let start = byte + text[byte..].len() - text[byte..].trim_start_matches(['\r', '\n']).len();
            Place::Text(start..start + 1)
        };
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let mut columns: Vec<String> = Vec::new();
        let mut rows = 0;
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    own.add(&at(error.position().map_or(0, csv::Position::byte)), Fault::error(error.to_string()));
                    break;
                }
            };
            let place = at(record.position().map_or(0, csv::Position::byte));
            if columns.is_empty() {
                columns = record.iter().map(|name| name.trim().to_owned()).collect();
                for (number, column) in columns.iter().enumerate() {
                    if columns[..number].contains(column) {
                        own.add(&place, Fault::error(format!("two columns are named `{column}`")));
                    }
                }
                continue;
            }
            rows += 1;
            if record.len() != columns.len() && own.errors() < CSV_FAULTS_MAX {
                let (found, wanted) = (plural(record.len(), "field"), columns.len());
                let fault = Fault::error(format!("the row has {found}, and the header {wanted}"));
                own.add(&place, fault.help("a field with a comma or a line end in it stands in double quotes"));
            }
        }
        if rows == 0 && own.errors() == 0 {
            let fault = Fault::error("there are no rows below the header");
            own.add(&at(0), fault.help("the first row has the names of the columns, each further one a set of values"));
        }
        let is_right = own.errors() == 0;
        self.faults.append(own);
        is_right.then_some(columns)
    }

    fn query(
        &mut self,
        section: &mut Section,
        name: &Spanned<String>,
        take: Take,
    ) -> Option<(Values, Option<Vec<String>>)> {
        let errors = self.faults.errors();
        let sql: PerEngine<String> = section.text_per_engine("query", &self.choices.engines, self.faults);
        if let Some(base) = self.choices.base.filter(|base| !sql.contains_key(base) && self.faults.errors() == errors) {
            let fault = Fault::error(format!("`{}` has no query for {}, the base's engine", name.value, base.title()));
            self.faults.add(&section.place, fault.help(format!("add it: query = {{ {base} = \"...\" }}")));
        }
        let limit = section.whole("limit", self.faults).map_or(LIMIT as u64, |limit| limit.value);
        if limit == 0 || limit > LIMIT_MAX {
            let fault = Fault::error(format!("`{}` keeps {limit} rows", name.value));
            self.faults.add(&section.place, fault.expected(format!("a limit from 1 to {LIMIT_MAX}")));
        }
        for (engine, sql) in &sql {
            if !rqps_sql::is_read(sql, dialect(*engine)) {
                let fault = Fault::error(format!("the query of `{}` is no SELECT", name.value));
                self.faults.add(&section.place, fault.help("it is asked of the loaded base, and must change nothing"));
            }
        }
        Some((Values::Query { sql, limit: usize::try_from(limit).unwrap_or(LIMIT), take }, None))
    }
}

/// Whether a word can stand behind a colon.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_') && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}
