//! Where something was said: a span of the campaign file, a flag, a preset.
//!
//! Every value of a request carries its place, so that a fault found late (a name checked against the catalog, a base
//! checked against the treatments) still points at the word that caused it. No judgement here.

use std::ops::Range;

/// The campaign file as the caller read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As the user named it, such as `campaign.toml`.
    pub name: String,
    /// All of its text.
    pub text: String,
    /// The first byte that is not UTF-8, if any, and where it was; the text has a mark there.
    pub invalid: Option<(usize, u8)>,
}

impl Source {
    /// The file of this name and with these bytes.
    pub fn new(name: impl Into<String>, bytes: &[u8]) -> Source {
        let invalid = std::str::from_utf8(bytes).err().map(|error| (error.valid_up_to(), bytes[error.valid_up_to()]));
        Source { name: name.into(), text: String::from_utf8_lossy(bytes).into_owned(), invalid }
    }
}

/// Where a value was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Bytes of the campaign file.
    Text(Range<usize>),
    /// A flag on the command line.
    Flag {
        /// The flag without dashes, such as `rows`.
        flag: String,
        /// The part of its value that is meant.
        value: String,
        /// Which flag of the command line it was, counted from 0.
        order: usize,
    },
    /// A preset, such as `quick`.
    Preset(&'static str),
    /// The request as a whole: something was not said at all.
    Request,
}

/// A value and where it was said. Two are equal when they say the same, wherever they stand.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    /// What was said.
    pub value: T,
    /// Where.
    pub place: Place,
}

impl<T> Spanned<T> {
    /// A value said at a place.
    pub fn new(value: T, place: Place) -> Self {
        Spanned { value, place }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// Line and column of a byte of a text, both counted from 1, the column in characters, and the line itself.
pub(crate) fn locate(text: &str, byte: usize) -> (usize, usize, &str) {
    let byte = (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = &text[..byte];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line = before.matches('\n').count() + 1;
    (line, text[start..byte].chars().count() + 1, text[start..end].trim_end_matches('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_line_and_column_in_characters() {
        let text = "rows = 1\r\nname = \"ü\" # x\n";
        assert_eq!(locate(text, 0), (1, 1, "rows = 1"));
        assert_eq!(locate(text, text.find('#').expect("there")), (2, 12, "name = \"ü\" # x"));
        assert_eq!(locate(text, text.find('ü').expect("there") + 1), (2, 9, "name = \"ü\" # x"));
        assert_eq!(locate(text, 9999), (3, 1, ""));
        assert_eq!(locate("", 0), (1, 1, ""));
    }
}
