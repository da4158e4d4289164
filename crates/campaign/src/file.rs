//! The campaign file: TOML text to a request, with every fault at its line.
//!
//! Syntax errors do not end the reading: what is still readable is checked as well, and only the lines that are broken
//! are left out, so that one slip does not raise a second complaint.

use crate::diagnostic::{Fault, Faults};
use crate::key::{COMMAND_LINE_ONLY, KEYS, Key};
use crate::place::{Place, Source, Stated};
use crate::raw::entries;
use crate::read::read_key;
use crate::request::Request;
use crate::vocabulary::did_you_mean;
use std::ops::Range;
use toml::de::DeTable;

/// Reads a campaign file.
pub(crate) fn read_file(source: &Source, faults: &mut Faults) -> Request {
    let mut request = Request { source: Some(source.clone()), ..Request::default() };
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let entries = entries(table.get_ref());
    let lines = |span: &Range<usize>| line_of(&source.text, span.start)..=line_of(&source.text, span.end);
    let mut broken: Vec<usize> = Vec::new();
    let is_other_file = errors.len() > 1 && !entries.iter().any(|(key, _)| Key::find(&key.value).is_some());
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        let line = line_of(&source.text, span.start);
        // The parser may stumble several times over the same line; the first time says why.
        if !broken.contains(&line) {
            let begins = |key: &Stated<String>| text_span(&key.place).is_some_and(|at| at.start <= span.start);
            let key = entries.iter().rev().find(|(key, _)| begins(key)).and_then(|(key, _)| Key::find(&key.value));
            let fault = syntax_fault(error.message(), &source.text, &span, key);
            if is_other_file {
                faults.add(&Place::Text(span), fault.help("is this a campaign file? docs/campaign-file.md shows one"));
                break;
            }
            faults.add(&Place::Text(span.clone()), fault);
        }
        broken.push(line);
    }
    if !errors.is_empty() && !entries.iter().any(|(key, _)| key.value == "build") {
        // Whether builds are missing or only not to be seen, nobody knows.
        request.faulty.insert("build");
    }
    let entries = if is_other_file { Vec::new() } else { entries };
    for (key, value) in entries {
        let from = text_span(&key.place).unwrap_or(0..0);
        let to = text_span(&value.place).filter(|span| span.start > from.start).unwrap_or(from.clone());
        let stretch = lines(&(from.start..to.end));
        let is_broken = broken.iter().any(|line| stretch.contains(line));
        match Key::find(&key.value) {
            None if is_broken => {}
            None => faults.add(&key.place, unknown_key(&key)),
            Some(key) if is_broken => _ = request.faulty.insert(key.name),
            Some(key) => read_key(key, value, &mut request, faults),
        }
    }
    request
}

fn text_span(place: &Place) -> Option<Range<usize>> {
    match place {
        Place::Text(span) => Some(span.clone()),
        _ => None,
    }
}

fn line_of(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

fn unknown_key(key: &Stated<String>) -> Fault {
    let word = key.value.as_str();
    if COMMAND_LINE_ONLY.contains(&word) {
        let fault = Fault::error(format!("`{word}` does not belong in a campaign file"));
        return fault.help(format!("say it on the command line: --{word}"));
    }
    // Whoever writes read_seconds means read-seconds.
    let names = KEYS.iter().map(|key| key.name);
    let nearest = did_you_mean(&word.replace('_', "-"), names.clone());
    let expected = if nearest.is_none() { Some(names.collect::<Vec<_>>().join(", ")) } else { None };
    let fault = Fault::error(format!("unknown key `{word}`")).help_if(nearest);
    match expected {
        Some(names) => fault.expected(format!("one of: {names}")),
        None => fault,
    }
}

/// What the parser says, told with the key's own expectation where the key is known.
fn syntax_fault(message: &str, text: &str, span: &Range<usize>, key: Option<&'static Key>) -> Fault {
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    let unquoted = what.starts_with("string values must be quoted");
    let fault = match text.get(span.clone()) {
        _ if unquoted && span.is_empty() => Fault::error("a value is missing"),
        Some(word) if unquoted => Fault::error(format!("`{word}` is not a value; text stands in quotes")),
        _ if what == "duplicate key" => Fault::error("this key is said twice"),
        _ => Fault::error(what),
    };
    match key {
        Some(key) if unquoted => fault.expected(key.kind.expected()),
        _ if expected.is_empty() || expected == "nothing" => fault,
        _ => fault.expected(expected),
    }
}

/// The request as the file says it: only used to prove that what is written reads back.
#[cfg(test)]
pub(crate) fn read_text(text: &str) -> (Request, Vec<crate::diagnostic::Diagnostic>) {
    let source = Source { name: "campaign.toml".to_owned(), text: text.to_owned() };
    let mut faults = Faults::new(Some(source.clone()));
    let request = read_file(&source, &mut faults);
    (request, faults.sorted())
}

#[cfg(test)]
mod tests;
