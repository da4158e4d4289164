//! A statement of a workload file, which stands in that file or in one of its own: its text, and what is wrong with it
//! whatever the server.
//!
//! In: a value as written. Out: the text as it is sent, without the `;` at its end; faults at the words that cause
//! them, in whichever file they stand. Whether a server accepts it, the server says.

use super::choices::Files;
use super::section::text;
use super::values::Sources;
use crate::diagnostic::{Fault, Faults};
use crate::engine::dialect;
use crate::place::{Place, Source, Spanned};
use crate::raw::Raw;
use crate::vocabulary::did_you_mean;
use rqps_model::Engine;
use rqps_sql::Template;
use std::ops::Range;
use std::path::Path;

/// A statement as it was read.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    /// As it is sent.
    pub(super) sql: String,
    place: Place,
    /// The file that it stands in by itself.
    file: Option<Source>,
}

/// What statements of a test may name: sources with their columns, and what steps kept.
pub(super) struct Names<'a> {
    pub(super) sources: &'a Sources,
    pub(super) kept: Vec<(String, Vec<String>)>,
}

impl Statement {
    /// The text as it stands, or that of a file.
    pub(super) fn read(raw: Spanned<Raw>, folder: &Path, files: &dyn Files, faults: &mut Faults) -> Option<Statement> {
        let whole = match &raw.value {
            Raw::Table(entries) => match &entries[..] {
                [(key, path)] if key.value == "file" => match text(&path.value) {
                    Some(path) => match files.read(&folder.join(&path)) {
                        Ok(bytes) => {
                            let source = Source::new(path, &bytes);
                            Ok((source.text.clone(), Some(source)))
                        }
                        Err(why) => Err(format!("`{path}` cannot be read: {why}")),
                    },
                    None => Err("a file's name stands in quotes".to_owned()),
                },
                _ => Err("a statement is text, { file = \"q.sql\" }, or one of these for each engine".to_owned()),
            },
            other => text(other).map(|sql| (sql, None)).ok_or_else(|| {
                let found = other.found();
                format!("a statement cannot be {found}")
            }),
        };
        match whole {
            Ok((whole, file)) => {
                let sql = whole.trim().trim_end_matches(';').trim_end().to_owned();
                Some(Statement { sql, place: raw.place, file })
            }
            Err(why) => {
                faults.add(&raw.place, Fault::error(why));
                None
            }
        }
    }

    /// Finds fault with what is wrong with it on an engine, whatever the server.
    pub(super) fn check(&self, engine: Engine, known: &Names<'_>, faults: &mut Faults) {
        if self.sql.is_empty() {
            faults.add(&self.place, Fault::error("the statement is empty"));
            return;
        }
        let dialect = dialect(engine);
        let open = rqps_sql::unclosed(&self.sql, dialect).map(|open| open.start..open.end);
        if let Some(open) = &open {
            let fault = Fault::error("what begins here does not end: a string, a quoted name or a comment");
            self.fault_at(open.clone(), fault, faults);
        }
        if let [_, second, ..] = &rqps_sql::statements(&self.sql, dialect)[..] {
            let fault = Fault::error("a second statement begins here");
            let span = find_words(&self.sql, &second.text).unwrap_or_default();
            self.fault_at(span, fault.help("make each of them a [[test.step]]"), faults);
        }
        let text = open.as_ref().map_or_else(|| self.sql.clone(), |open| without_mark(&self.sql, open.start));
        for name in Template::parse(&text, dialect).names() {
            let span = find_words(&self.sql, &format!(":{name}")).unwrap_or_default();
            let in_open = open.as_ref().is_some_and(|open| open.contains(&span.start));
            let is_text = in_open && is_glued(&text[..span.start]);
            if !known.has(name) && !is_text {
                self.fault_at(span, unknown_name(name, known), faults);
            }
        }
    }

    /// Adds a fault at a part of the statement.
    fn fault_at(&self, part: Range<usize>, fault: Fault, faults: &mut Faults) {
        // A workload file may have it with escapes; then the fault is told of the whole.
        let within = |text: &str| text.find(&self.sql).map(|start| start + part.start..start + part.end);
        match &self.file {
            Some(source) => {
                let mut own = Faults::new(Some(source.clone()));
                own.add(&Place::Text(within(&source.text).unwrap_or(0..1)), fault);
                faults.append(own);
            }
            None => {
                let place = faults.within(&self.place, within);
                faults.add(&place, fault);
            }
        }
    }
}

/// The statement as if what begins here and does not end were written without its first mark: nobody knows where it
/// should end, and the names behind it are most likely meant.
fn without_mark(sql: &str, start: usize) -> String {
    let end = sql[start..].find(['\'', '"', '`', '*', '$']).map_or(start, |at| start + at + 1);
    format!("{}{}{}", &sql[..start], " ".repeat(end - start), &sql[end..])
}

/// Whether the text ends in such a way that a colon behind it belongs to it, as in `"a":true`.
fn is_glued(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '\'' | '`'))
}

fn unknown_name(name: &str, known: &Names<'_>) -> Fault {
    let fault = Fault::error(format!("`:{name}` stands for nothing"));
    let of_source = name.split_once('.').map(|(source, _)| (source, known.columns_of(source)));
    if let Some((source, Some(columns))) = of_source {
        return match columns {
            [] => fault.help(format!("`{source}` has one value and no columns: write `:{source}`")),
            _ => fault.help(format!("the columns of `{source}` are {}", columns.join(", "))),
        };
    }
    let all = known.all();
    let nearest = did_you_mean(name, all.iter().map(String::as_str));
    let remedy = nearest.unwrap_or_else(|| match of_source {
        None => format!("give it a source in [values]: {name} = {{ uniform = [1, 1000] }}"),
        Some((source, _)) => {
            format!("give it a source of rows in [values], such as {source} = {{ csv = \"{source}.csv\" }}")
        }
    });
    fault.help(remedy)
}

/// Where the words stand first, not as the beginning of a longer name.
fn find_words(text: &str, words: &str) -> Option<Range<usize>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let ends_in_name = words.ends_with(is_name);
    let is_whole = |end: usize| !(ends_in_name && text[end..].starts_with(is_name));
    let found = text.match_indices(words).find(|(at, _)| is_whole(at + words.len()));
    found.map(|(at, _)| at..at + words.len())
}

impl Names<'_> {
    fn has(&self, name: &str) -> bool {
        let (source, column) = name.split_once('.').unwrap_or((name, ""));
        let of_source = self.sources.columns.get(source).is_some_and(|columns| match columns {
            _ if column.is_empty() => true,
            Some(columns) => columns.iter().any(|known| known == column),
            // Only the server knows them.
            None => true,
        });
        of_source || self.keep(name)
    }

    /// Whether an earlier step keeps what has that name.
    pub(super) fn keep(&self, name: &str) -> bool {
        let (step, column) = name.split_once('.').unwrap_or((name, ""));
        let has = |(of, columns): &(String, Vec<String>)| of == step && columns.iter().any(|one| one == column);
        self.kept.iter().any(has)
    }

    fn all(&self) -> Vec<String> {
        let of_source = |(source, columns): (&String, &Option<Vec<String>>)| {
            let columns = columns.iter().flatten().map(|column| format!("{source}.{column}"));
            std::iter::once(source.clone()).chain(columns).collect::<Vec<_>>()
        };
        let kept = self.kept.iter().flat_map(|(step, columns)| columns.iter().map(move |one| format!("{step}.{one}")));
        self.sources.columns.iter().flat_map(of_source).chain(kept).collect()
    }

    fn columns_of(&self, source: &str) -> Option<&[String]> {
        self.sources.columns.get(source).and_then(Option::as_deref)
    }
}
