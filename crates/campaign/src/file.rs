//! The campaign file: TOML text to a request, with every fault at its line.
//!
//! Syntax errors do not end the reading: what is still readable is checked as well, and only the lines that are broken
//! are left out, so that one slip does not raise a second complaint.

use crate::diagnostic::{Fault, Faults};
use crate::place::{Place, Source, Spanned};
use crate::raw::Raw;
use crate::request::Request;
use crate::vocabulary::did_you_mean;
use rqps_suites::{KEYS, Key};
use std::ops::Range;

mod parse;

pub(crate) use parse::Entry;
use parse::{Parsed, parse};

/// Words of the command line that a campaign file must not hold, since they say where and how to show, not what to run.
const COMMAND_LINE_ONLY: [&str; 2] = ["results", "json"];

/// Reads a campaign file.
pub(crate) fn read_file(source: &Source, faults: &mut Faults) -> Request {
    let mut request = Request { source: Some(source.clone()), ..Request::default() };
    if let Some((at, byte)) = source.invalid {
        let fault = Fault::error(format!("invalid UTF-8: byte 0x{byte:02x}")).help("save the file as UTF-8");
        faults.add(&Place::Text(at..at + char::REPLACEMENT_CHARACTER.len_utf8()), fault);
    }
    let Parsed { entries, slips, unclosed } = parse(&source.text);
    let lines = |span: &Range<usize>| line_of(&source.text, span.start)..=line_of(&source.text, span.end);
    let mut broken: Vec<usize> = Vec::new();
    let is_other_file = slips.len() > 1 && !entries.iter().any(|(key, _)| Key::find(&key.value).is_some());
    for list in &unclosed {
        let fault = Fault::error(format!("the list of `{}` is not closed", list.key.value)).expected("`]` at its end");
        faults.add(&Place::Text(list.opens..list.opens + 1), fault);
        match Key::find(&list.key.value) {
            Some(key) => _ = request.faulty.insert(key.name.as_str()),
            None => faults.add(&list.key.place, unknown_key(&list.key)),
        }
    }
    for (span, told) in &slips {
        let line = line_of(&source.text, span.start);
        // The parser may stumble several times over the same line; the first time says why.
        if !broken.contains(&line) {
            let begins = |key: &Spanned<String>| text_span(&key.place).is_some_and(|at| at.start <= span.start);
            let key = entries.iter().rev().find(|(key, _)| begins(key)).and_then(|(key, _)| Key::find(&key.value));
            let fault = match first_of(&entries, told, &source.text, span) {
                Some(first) => said_twice(&source.text, span, first),
                None => syntax_fault(told, &source.text, span, key),
            };
            if is_other_file {
                faults.add(
                    &Place::Text(span.clone()),
                    fault.help("is this a campaign file? docs/campaign-file.md shows one"),
                );
                break;
            }
            faults.add(&Place::Text(span.clone()), fault);
        }
        broken.push(line);
    }
    if !slips.is_empty() && !entries.iter().any(|(key, _)| key.value == "build") {
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
            Some(key) if is_broken => _ = request.faulty.insert(&key.name),
            Some(key) => request.read_key(key, value, faults),
        }
    }
    request
}

/// Reads keys and values of another file that is written in TOML; what cannot be read is told.
pub(crate) fn read_entries(source: &Source, faults: &mut Faults) -> Vec<Entry> {
    if let Some((at, byte)) = source.invalid {
        let fault = Fault::error(format!("invalid UTF-8: byte 0x{byte:02x}")).help("save the file as UTF-8");
        faults.add(&Place::Text(at..at + char::REPLACEMENT_CHARACTER.len_utf8()), fault);
    }
    let Parsed { entries, slips, unclosed } = parse(&source.text);
    for list in &unclosed {
        let fault = Fault::error(format!("the list of `{}` is not closed", list.key.value)).expected("`]` at its end");
        faults.add(&Place::Text(list.opens..list.opens + 1), fault);
    }
    let mut broken: Vec<usize> = Vec::new();
    for (span, told) in &slips {
        let line = line_of(&source.text, span.start);
        if !broken.contains(&line) {
            let fault = match first_of(&entries, told, &source.text, span) {
                Some(first) => said_twice(&source.text, span, first),
                None => syntax_fault(told, &source.text, span, None),
            };
            faults.add(&Place::Text(span.clone()), fault);
        }
        broken.push(line);
    }
    entries
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

fn unknown_key(key: &Spanned<String>) -> Fault {
    let word = key.value.as_str();
    if COMMAND_LINE_ONLY.contains(&word) {
        let fault = Fault::error(format!("`{word}` does not belong in a campaign file"));
        return fault.help(format!("give it on the command line: --{word}"));
    }
    // Whoever writes read_seconds means read-seconds.
    let names = KEYS.iter().map(|key| key.name.as_str());
    let nearest = did_you_mean(&word.replace('_', "-"), names.clone());
    let expected = if nearest.is_none() { Some(names.collect::<Vec<_>>().join(", ")) } else { None };
    let fault = Fault::error(format!("unknown key `{word}`")).help_if(nearest);
    match expected {
        Some(names) => fault.expected(format!("one of: {names}")),
        None => fault,
    }
}

/// Where a key that is said again was said first, if that is what the parser stumbled over.
fn first_of(entries: &[Entry], told: &str, text: &str, again: &Range<usize>) -> Option<usize> {
    fn search(entries: &[Entry], name: &str, before: usize) -> Option<usize> {
        let starts = entries.iter().flat_map(|(key, value)| {
            let own = text_span(&key.place).filter(|span| key.value == name && span.start < before);
            let items = match &value.value {
                Raw::List(items) => items.as_slice(),
                _ => std::slice::from_ref(value),
            };
            let inside = items.iter().filter_map(|item| match &item.value {
                Raw::Table(inner) => search(inner, name, before),
                _ => None,
            });
            own.map(|span| span.start).into_iter().chain(inside.collect::<Vec<_>>())
        });
        // The nearest above is in the same table: the same name further up is another key.
        starts.max()
    }
    let name = text.get(again.clone()).filter(|_| told == "duplicate key")?;
    // Of a table with two headers the parser keeps the second.
    let header = || {
        let begin = text[..again.start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[begin..].lines().next().unwrap_or_default();
        text[..begin].match_indices(line).map(|(at, _)| at).next()
    };
    search(entries, name.trim_matches(['"', '\'']), again.start).or_else(header)
}

fn said_twice(text: &str, again: &Range<usize>, first: usize) -> Fault {
    let name = text.get(again.clone()).unwrap_or_default();
    Fault::error(format!("`{name}` is given twice; the first is in line {}", line_of(text, first) + 1))
        .help("leave one of them out")
}

/// What the parser says, told with the key's own expectation where the key is known.
fn syntax_fault(message: &str, text: &str, span: &Range<usize>, key: Option<&'static Key>) -> Fault {
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    let unquoted = what.starts_with("string values must be quoted");
    let fault = match text.get(span.clone()) {
        _ if unquoted && span.is_empty() => Fault::error("a value is missing"),
        Some(word) if unquoted => Fault::error(format!("`{word}` is not a value; text stands in quotes")),
        _ => Fault::error(what),
    };
    match key {
        Some(key) if unquoted => fault.expected(key.form.expected()),
        _ if expected.is_empty() || expected == "nothing" => fault,
        _ => fault.expected(expected),
    }
}

#[cfg(test)]
mod tests;
