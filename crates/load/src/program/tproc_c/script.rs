//! SQL as it stands in this folder's files, made ready for an engine, a form and the quirks that are on.
//!
//! In: a file's text and the words that hold. Out: its sections by name, each as SQL with named parameters. A section
//! begins with `== name`, where `keep n` says how many rows of its answers are kept; a line that begins with words in
//! brackets is there only if they hold, or with `!` don't; `{name}` stands for a parameter; lines of comment are
//! dropped. It must not know what the words mean.

use super::values::{Parameter, Values};
use crate::program::{Parameters, StatementForm};
use rqps_wire::Protocol;
use std::collections::BTreeSet;
use std::io::Write;

/// What a section's text is made for.
pub(super) type Words = BTreeSet<&'static str>;

/// SQL between its parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sql {
    /// One more than parameters.
    pieces: Vec<String>,
    parameters: Vec<Parameter>,
    kept_rows: usize,
    is_text: bool,
}

/// The section of that name, if it is in the file and has any line for these words.
pub(super) fn section(file: &str, name: &str, words: &Words) -> Option<Sql> {
    let (head, lines) = sections(file).find(|(head, _)| head.split_whitespace().next() == Some(name))?;
    let text: Vec<&str> = lines.lines().filter_map(|line| line_for(line, words)).collect();
    if text.is_empty() {
        return None;
    }
    let kept_rows = head.split_once(" keep ").map_or(0, |(_, count)| count.trim().parse().expect("a number of rows"));
    let mut sql = Sql { kept_rows, ..Sql::default() };
    let joined = text.join("\n");
    let mut pieces = joined.split('{');
    sql.pieces.push(pieces.next().unwrap_or_default().to_owned());
    for piece in pieces {
        let (name, rest) = piece.split_once('}').expect("a parameter ends with a brace");
        sql.parameters.push(Parameter::find(name).expect("a parameter has a known name"));
        sql.pieces.push(rest.to_owned());
    }
    Some(sql)
}

/// Heads and lines of all sections.
fn sections(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.split("\n== ").skip(1).map(|section| section.split_once('\n').unwrap_or((section, "")))
}

/// The names of all sections.
pub(super) fn names(file: &str) -> impl Iterator<Item = &str> {
    sections(file).filter_map(|(head, _)| head.split_whitespace().next())
}

/// A line without its condition, if that holds.
fn line_for<'l>(line: &'l str, words: &Words) -> Option<&'l str> {
    let (conditions, text) = match line.trim_start().strip_prefix('[') {
        Some(rest) => rest.split_once("] ").expect("a condition ends with a bracket"),
        None => ("", line),
    };
    let holds = |condition: &str| match condition.strip_prefix('!') {
        Some(word) => !words.contains(word),
        None => words.contains(condition),
    };
    let is_there = !text.trim().is_empty() && !text.trim_start().starts_with("-- ");
    (is_there && conditions.split_whitespace().all(holds)).then_some(text)
}

impl Sql {
    /// The same, sent as text.
    pub(super) fn into_text(self) -> Sql {
        Sql { is_text: true, ..self }
    }

    /// As a session prepares it.
    pub(super) fn form(&self, protocol: Protocol) -> StatementForm {
        let mut sql = self.pieces[0].clone();
        for (index, piece) in self.pieces[1..].iter().enumerate() {
            match (self.is_text, protocol) {
                // It is replaced before it is sent.
                (true, _) => sql.push_str(&" ".repeat(self.parameters[index].width())),
                (false, Protocol::Postgres) => sql.push_str(&format!("${}", index + 1)),
                (false, Protocol::Mysql) => sql.push('?'),
            }
            sql.push_str(piece);
        }
        let form = match self.is_text {
            true => {
                let capacity = sql.len();
                StatementForm::text(sql, capacity)
            }
            false => {
                let types: Vec<_> = self.parameters.iter().map(|parameter| parameter.kind()).collect();
                StatementForm::prepared(sql, &types)
            }
        };
        form.keeping(self.kept_rows)
    }

    /// Its text cut at the parameters.
    pub(super) fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// Its text, where it has no parameters.
    pub(super) fn text(&self) -> &str {
        &self.pieces[0]
    }

    /// How many rows of its answers are kept.
    pub(super) fn kept_rows(&self) -> usize {
        self.kept_rows
    }

    /// Fills in its parameters; `text` is room for what is sent as text.
    #[inline]
    pub(super) fn fill<S: Parameters>(&self, values: &Values, text: &mut Vec<u8>, statement: &mut S) {
        if self.parameters.is_empty() {
            return;
        }
        if self.is_text {
            text.clear();
            text.extend_from_slice(self.pieces[0].as_bytes());
            for (parameter, piece) in self.parameters.iter().zip(&self.pieces[1..]) {
                match values.text(*parameter) {
                    Some(value) => {
                        text.push(b'\'');
                        // Digits, letters and punctuation of ours only: nothing to escape.
                        text.extend_from_slice(value.trim_ascii_end());
                        text.push(b'\'');
                    }
                    None => write!(text, "{}", values.number(*parameter)).expect("writing to memory does not fail"),
                }
                text.extend_from_slice(piece.as_bytes());
            }
            statement.set_sql(text);
            return;
        }
        for (slot, parameter) in self.parameters.iter().enumerate() {
            match values.text(*parameter) {
                Some(value) => statement.set_text(slot, value),
                None if parameter.is_long() => statement.set_i64(slot, values.number(*parameter)),
                None => statement.set_i32(slot, values.number(*parameter) as i32),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\n== one keep 2\nSELECT {w}\n-- why\n[!quirk] , {amount}\n[quirk postgres] , {last}\n== two\n\
                        [mysql] SET 1\n";

    #[test]
    fn lines_are_there_if_their_words_hold() {
        let sql = |name, words: &[&'static str]| section(FILE, name, &words.iter().copied().collect());
        let text = |name, words: &[&'static str], protocol| sql(name, words).map(|sql| sql.form(protocol).sql);
        assert_eq!(text("one", &[], Protocol::Mysql).unwrap(), "SELECT ?\n, ?");
        assert_eq!(text("one", &["quirk", "postgres"], Protocol::Postgres).unwrap(), "SELECT $1\n, $2");
        assert_eq!(text("one", &["quirk"], Protocol::Postgres).unwrap(), "SELECT $1");
        assert_eq!(sql("two", &[]), None);
        assert_eq!(sql("one", &[]).unwrap().form(Protocol::Mysql).kept_rows, 2);
        assert_eq!(names(FILE).collect::<Vec<_>>(), ["one", "two"]);
    }
}
