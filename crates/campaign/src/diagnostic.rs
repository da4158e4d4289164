//! A fault or a note with its place, told so that the reader can repair it: what is wrong, what was expected, the
//! nearest right word, and the line with a caret below it.
//!
//! In: places of a request and the campaign file's text. Out: sorted diagnostics, plain text, or parts that a caller
//! colours. Text that came from the user is shown with its control characters replaced. Prints nothing.

use crate::place::{Place, Source, locate};
use rqps_model::build::credentials;
use std::fmt;
use std::ops::Range;

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    /// The campaign cannot be run as written.
    Error,
    /// Worth knowing, such as a flag that replaces a line of the file.
    Note,
}

impl Severity {
    /// The word in front of the message, and its colour.
    fn word(self) -> (Option<&'static str>, String) {
        match self {
            Severity::Error => (Some("1;31"), "error".to_owned()),
            Severity::Note => (Some("1;36"), "note".to_owned()),
        }
    }
}

/// A stretch of the campaign file that a diagnostic points at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// The file's name as the user gave it.
    file: String,
    /// Counted from 1.
    number: usize,
    /// Column in characters, counted from 1.
    column: usize,
    /// Characters to underline, at least 1, within the line.
    length: usize,
    /// The line.
    text: String,
}

impl Line {
    fn of(source: &Source, span: &Range<usize>) -> Line {
        let (number, column, text) = locate(&source.text, span.start);
        let rest = text.chars().count().saturating_sub(column - 1);
        let length = source.text.get(span.clone()).map_or(1, |text| text.chars().count()).min(rest).max(1);
        Line { file: source.name.clone(), number, column, length, text: text.to_owned() }
    }
}

/// One fault or note, in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    place: Place,
    /// That place in the campaign file, if it is there.
    line: Option<Line>,
    fault: Fault,
}

/// Colours of a rendered diagnostic, as codes of a terminal (ECMA-48, SGR).
const BLUE: &str = "34";
const RED: &str = "31";
const GREEN: &str = "32";

/// The longest source line shown whole; of a longer one the surroundings of the fault are shown.
const SHOWN_COLUMNS: usize = 100;

impl Diagnostic {
    /// The rendered text, piece by piece, each with the terminal's code of its colour; ends with a line feed.
    pub fn parts(&self) -> Vec<(Option<&'static str>, String)> {
        let mut parts = vec![(Some(BLUE), format!("{}: ", self.place()))];
        let Fault { severity, message, expected, help } = &self.fault;
        parts.push(severity.word());
        parts.push((None, format!(": {}\n", visible(message))));
        let mut indent = " ".repeat(4);
        let mut expected = expected.as_ref().map(|text| format!("expected {}", visible(text)));
        if let Some(Line { number, column, length, text, .. }) = &self.line {
            let number = number.to_string();
            indent = " ".repeat(number.len() + 1);
            let (shown, column) = window(text, *column);
            let length = (*length).min((shown.chars().count() + 1).saturating_sub(column - 1)).max(1);
            parts.push((Some(BLUE), format!("{number} | {}\n", visible(&shown))));
            parts.push((Some(BLUE), format!("{indent}| {}", " ".repeat(column - 1))));
            parts.push((Some(RED), "^".repeat(length)));
            // A short expectation stands beside the caret, a list gets its own line.
            if let Some(text) = expected.take_if(|text| column + length + text.len() <= SHOWN_COLUMNS) {
                parts.push((Some(GREEN), format!(" {text}")));
            }
            parts.push((Some(BLUE), "\n".to_owned()));
        }
        for text in expected.into_iter().chain(help.as_ref().map(|help| format!("help: {}", visible(help)))) {
            parts.push((Some(BLUE), format!("{indent}= ")));
            parts.push((Some(GREEN), format!("{text}\n")));
        }
        parts
    }
}

impl Diagnostic {
    /// An error at a place outside the campaign file.
    pub fn error(place: Place, message: String) -> Diagnostic {
        Diagnostic { place, line: None, fault: Fault::error(message) }
    }

    /// Puts them in the order in which they are told: the files' one file after the other, each in the order of its
    /// lines, then the flags', then what belongs to no place.
    pub fn sort(all: &mut [Diagnostic]) {
        let mut files: Vec<String> = Vec::new();
        for line in all.iter().filter_map(|diagnostic| diagnostic.line.as_ref()) {
            if !files.contains(&line.file) {
                files.push(line.file.clone());
            }
        }
        let of_file = |line: &Line| files.iter().position(|file| *file == line.file);
        all.sort_by_key(|diagnostic| {
            let (kind, place) = diagnostic.rank();
            (kind, diagnostic.line.as_ref().and_then(of_file), place)
        });
    }

    /// Which kind of place it has, and where there.
    fn rank(&self) -> (u8, usize) {
        match &self.place {
            Place::Text(span) => (0, span.start),
            Place::Flag { order, .. } => (1, *order),
            Place::Preset(_) => (2, 0),
            Place::Request => (3, 0),
        }
    }

    fn place(&self) -> String {
        match (&self.line, &self.place) {
            (Some(Line { file, number, column, .. }), _) => format!("{}:{number}:{column}", visible(file)),
            (None, Place::Flag { flag, value, .. }) => format!("--{flag} {}", visible(value)).trim_end().to_owned(),
            (None, Place::Preset(name)) => format!("preset {name}"),
            (None, _) => "campaign".to_owned(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.parts().into_iter().map(|(_, text)| text).collect();
        f.write_str(text.trim_end_matches('\n'))
    }
}

/// Text of the user as it may be shown on a terminal: one mark for each control character, so that columns still fit.
fn visible(text: &str) -> String {
    let mark = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => '\u{fffd}',
        c => c,
    };
    masked(text).chars().map(mark).collect()
}

/// The text with a star for each character of the passwords in its addresses, so that columns still fit.
fn masked(text: &str) -> String {
    let mut rest = text;
    let mut masked = String::with_capacity(text.len());
    while let Some(at) = rest.find("://") {
        // An address ends where a word does.
        let end =
            rest[at..].find(|c: char| c.is_whitespace() || c == '"' || c == '\'').map_or(rest.len(), |end| at + end);
        match credentials(&rest[..end]) {
            Some(span) => {
                masked.push_str(&rest[..span.start]);
                masked.extend(rest[span.clone()].chars().map(|_| '*'));
                masked.push_str(&rest[span.end..end]);
            }
            None => masked.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    masked + rest
}

/// The part of a long line around a column, and the column in that part.
fn window(line: &str, column: usize) -> (String, usize) {
    let count = line.chars().count();
    if count <= SHOWN_COLUMNS {
        return (line.to_owned(), column);
    }
    let first = column.saturating_sub(SHOWN_COLUMNS / 2).min(count - SHOWN_COLUMNS);
    let shown: String = line.chars().skip(first).take(SHOWN_COLUMNS).collect();
    match first {
        0 => (format!("{shown}…"), column),
        _ => (format!("…{shown}…"), column - first + 1),
    }
}

/// What is wrong, still without its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    severity: Severity,
    /// One lower-case sentence.
    message: String,
    /// What would have been right.
    expected: Option<String>,
    /// The remedy, such as the nearest right word.
    help: Option<String>,
}

impl Fault {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Fault { severity: Severity::Error, message: message.into(), expected: None, help: None }
    }

    pub(crate) fn note(message: impl Into<String>) -> Self {
        Fault { severity: Severity::Note, ..Fault::error(message) }
    }

    pub(crate) fn expected(self, expected: impl Into<String>) -> Self {
        Fault { expected: Some(expected.into()), ..self }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Fault { help: Some(help.into()), ..self }
    }

    pub(crate) fn help_if(self, help: Option<String>) -> Self {
        Fault { help: help.or(self.help), ..self }
    }
}

/// All faults and notes found so far.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    source: Option<Source>,
    found: Vec<Diagnostic>,
}

impl Faults {
    pub(crate) fn new(source: Option<Source>) -> Self {
        Faults { source, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, place: &Place, fault: Fault) {
        let line = match (place, &self.source) {
            (Place::Text(span), Some(source)) => Some(Line::of(source, span)),
            _ => None,
        };
        self.found.push(Diagnostic { place: place.clone(), line, fault });
    }

    /// The part of a place that `find` finds in its text; the whole place where it finds none.
    pub(crate) fn within(&self, place: &Place, find: impl Fn(&str) -> Option<Range<usize>>) -> Place {
        let (Place::Text(span), Some(source)) = (place, &self.source) else { return place.clone() };
        let found = source.text.get(span.clone()).and_then(find);
        found.map_or_else(|| place.clone(), |part| Place::Text(span.start + part.start..span.start + part.end))
    }

    /// Adds what was found in another file.
    pub(crate) fn append(&mut self, other: Faults) {
        self.found.extend(other.found);
    }

    /// How many errors there are so far; who remembers it knows later whether something was wrong since.
    pub(crate) fn errors(&self) -> usize {
        self.found.iter().filter(|diagnostic| diagnostic.fault.severity == Severity::Error).count()
    }

    /// Everything found, in the order in which it is told.
    pub(crate) fn sorted(mut self) -> Vec<Diagnostic> {
        Diagnostic::sort(&mut self.found);
        self.found.dedup();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn show(text: &str, span: std::ops::Range<usize>, fault: Fault) -> String {
        let source = Source::new("campaign.toml", text.as_bytes());
        let mut faults = Faults::new(Some(source));
        faults.add(&Place::Text(span), fault);
        faults.sorted()[0].to_string()
    }

    #[test]
    fn shows_the_line_and_a_caret() {
        let fault = Fault::error("unknown key `row`").expected("a key of a campaign").help("did you mean `rows`?");
        expect![[r#"
            campaign.toml:2:1: error: unknown key `row`
            2 | row = 10
              | ^^^ expected a key of a campaign
              = help: did you mean `rows`?"#]]
        .assert_eq(&show("\nrow = 10\n", 1..4, fault));
    }

    #[test]
    fn keeps_the_caret_in_place_whatever_the_line_holds() {
        let text = "name = \"\u{1b}[31m\tü\" # red\nrows = 1";
        let at = text.find('#').expect("there");
        expect![[r#"
            campaign.toml:1:18: error: a remark
            1 | name = "�[31m ü" # red
              |                  ^"#]]
        .assert_eq(&show(text, at..at + 1, Fault::error("a remark")));
        let long = format!("{}!{}", "x".repeat(300), "y".repeat(300));
        let shown = show(&long, 300..301, Fault::error("a mark"));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].chars().position(|c| c == '!'), lines[2].chars().position(|c| c == '^'), "{shown}");
        assert!(lines.iter().all(|line| line.chars().count() < 120), "{shown}");
    }

    #[test]
    fn files_are_told_one_after_the_other() {
        let of = |name: &str, text: &str, at: usize| {
            let mut faults = Faults::new(Some(Source::new(name, text.as_bytes())));
            faults.add(&Place::Text(at..at + 1), Fault::error("a fault"));
            faults
        };
        let mut all = of("shop.toml", "a\nb\nc\n", 4);
        all.append(of("pairs.csv", "a\nb\nc\n", 2));
        all.append(of("shop.toml", "a\nb\nc\n", 0));
        let told: Vec<String> = all.sorted().iter().map(Diagnostic::place).collect();
        assert_eq!(told, ["shop.toml:1:1", "shop.toml:3:1", "pairs.csv:2:1"]);
    }

    #[test]
    fn passwords_are_masked() {
        let text = "build = [\"mysql:https://u:pä@h/a\", \"mysql:https://h/b@c\"] # x";
        let at = text.find('#').expect("there");
        expect![[r#"
            campaign.toml:1:59: error: see ftp://****@h
            1 | build = ["mysql:https://****@h/a", "mysql:https://h/b@c"] # x
              |                                                           ^"#]]
        .assert_eq(&show(text, at..at + 1, Fault::error("see ftp://u:pw@h")));
    }

    #[test]
    fn an_end_before_the_text_ends_still_has_a_caret() {
        expect![[r#"
            campaign.toml:1:8: error: a value is missing
            1 | rows = 
              |        ^"#]]
        .assert_eq(&show("rows = \n", 7..7, Fault::error("a value is missing")));
        assert!(show("", 0..0, Fault::error("empty")).ends_with("| ^"));
    }
}
