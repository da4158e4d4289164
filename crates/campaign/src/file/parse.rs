//! TOML text to entries and slips, with a list that nobody closed told as that.
//!
//! In: text. Out: what could be read, and where the parser stumbled. To the parser all lines behind an open list are
//! part of the list, with a slip in each; here they are read as the lines that they were meant to be.

use super::text_span;
use crate::place::Spanned;
use crate::raw::{Raw, entries};
use std::ops::Range;
use toml::de::DeTable;

/// A key and its value.
pub(crate) type Entry = (Spanned<String>, Spanned<Raw>);

/// What could be read of a text.
#[derive(Default)]
pub(super) struct Parsed {
    /// In the order in which they were written.
    pub(super) entries: Vec<Entry>,
    /// Where the parser stumbled, and what it said.
    pub(super) slips: Vec<(Range<usize>, String)>,
    /// Lists without an end.
    pub(super) unclosed: Vec<Unclosed>,
}

/// A list without an end.
pub(super) struct Unclosed {
    /// Whose value it is.
    pub(super) key: Spanned<String>,
    /// Its `[`.
    pub(super) opens: usize,
    /// Where the lines begin that are surely no part of it.
    ends: usize,
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Parsed {
    let (table, errors) = DeTable::parse_recoverable(text);
    let entries = entries(table.get_ref());
    let slips = errors.iter().map(|error| (error.span().unwrap_or(0..0), error.message().to_owned()));
    let slips: Vec<(Range<usize>, String)> = slips.collect();
    let Some(unclosed) = unclosed(text, &entries, &slips) else {
        return Parsed { entries, slips, unclosed: Vec::new() };
    };
    let before = text_span(&unclosed.key.place).map_or(0, |span| span.start);
    let mut parsed = parse(&text[..before]);
    // What follows keeps its place.
    let blank = text[..unclosed.ends].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
    let rest = parse(&blank.chain(text[unclosed.ends..].chars()).collect::<String>());
    parsed.unclosed.push(unclosed);
    parsed.entries.extend(rest.entries);
    parsed.slips.extend(rest.slips);
    parsed.unclosed.extend(rest.unclosed);
    parsed
}

/// The first list that another key stands in, or the end of the text.
fn unclosed(text: &str, entries: &[Entry], slips: &[(Range<usize>, String)]) -> Option<Unclosed> {
    let key_inside = |(_, told): &&(Range<usize>, String)| told.starts_with("unexpected `=` in array");
    let at_the_end = |(_, told): &&(Range<usize>, String)| told.starts_with("unclosed array");
    let inside = slips.iter().find(key_inside);
    let (span, _) = inside.or_else(|| slips.iter().find(at_the_end))?;
    let begins = |(key, _): &&Entry| text_span(&key.place).is_some_and(|key| key.start < span.start);
    let (key, value) = entries.iter().rev().find(begins)?;
    let opens = text_span(&value.place).filter(|_| matches!(value.value, Raw::List(_)))?.start;
    let ends = if inside.is_some() { own_lines(text, span.start) } else { text.len() };
    // `[a = 1]` has its end.
    (opens < ends).then(|| Unclosed { key: key.clone(), opens, ends })
}

/// Where the line of a key begins, with the header of its table, if that stands above it.
fn own_lines(text: &str, key: usize) -> usize {
    let begin = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = begin(key);
    let above = text[..line].trim_end();
    let header = begin(above.len());
    let is_header = above[header..].strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '[' | ']'))
    });
    if is_header { header } else { line }
}
