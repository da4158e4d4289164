//! `[values]` of a workload file: where statements get their values from.
//!
//! In: the section. Out: sources by name, with the columns that statements may name. CSVs are read here, whole; what a
//! query gives is known once the base is loaded.

use super::Reader;
use super::choices::CSV_BYTES_MAX;
use super::section::{Section, text};
use crate::diagnostic::Fault;
use crate::engine::dialect;
use crate::place::Spanned;
use crate::raw::Raw;
use rqps_draw::{SourceSpec, Take};
use rqps_model::own::{PerEngine, Values};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The most rows of a query that are kept where nothing is said.
const LIMIT: usize = 10_000;
const LIMIT_MAX: u64 = 1_000_000;

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
            let Some((values, columns)) = self.source(&name, raw) else { continue };
            sources.columns.insert(name.value.clone(), columns);
            sources.sources.insert(name.value, values);
        }
        sources
    }

    fn source(&mut self, name: &Spanned<String>, raw: Spanned<Raw>) -> Option<(Values, Option<Vec<String>>)> {
        let has =
            |key: &str| matches!(&raw.value, Raw::Table(entries) if entries.iter().any(|(name, _)| name.value == key));
        if has("todo") {
            let fault = Fault::error(format!("the values of `{}` are still to be filled in", name.value));
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
                    return None;
                }
            },
        };
        let read = match section.text("csv", self.faults) {
            Some(path) => self.csv(&path, take),
            None => self.query(&mut section, name, take),
        };
        section.end(self.faults);
        read
    }

    fn csv(&mut self, path: &Spanned<String>, take: Take) -> Option<(Values, Option<Vec<String>>)> {
        let read = self.files.read(&self.path(&path.value)).and_then(|bytes| match bytes.len() {
            too_many if too_many > CSV_BYTES_MAX => Err("it has more than 16 MB; take a sample of its rows".to_owned()),
            _ => String::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}")),
        });
        let checked = read.and_then(|text| columns_of_csv(&text).map(|columns| (columns, text)));
        match checked {
            Ok((columns, text)) => Some((Values::Csv { name: path.value.clone(), text, take }, Some(columns))),
            Err(why) => {
                self.faults.add(&path.place, Fault::error(format!("`{}` cannot be used: {why}", path.value)));
                None
            }
        }
    }

    fn query(
        &mut self,
        section: &mut Section,
        name: &Spanned<String>,
        take: Take,
    ) -> Option<(Values, Option<Vec<String>>)> {
        let sql: PerEngine<String> =
            section.per_engine("query", &self.choices.engines, self.faults, |raw, _| text(&raw.value));
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

/// The header of a CSV, once every row has as many fields as it.
fn columns_of_csv(text: &str) -> Result<Vec<String>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(|name| name.trim().to_owned()).collect(),
        Err(error) => return Err(error.to_string()),
    };
    let mut rows = 0_usize;
    for row in reader.records() {
        row.map_err(|error| error.to_string())?;
        rows += 1;
    }
    match rows {
        0 => Err("it has no rows below its header".to_owned()),
        _ => Ok(columns),
    }
}

/// Whether a word can stand behind a colon.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_') && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}
