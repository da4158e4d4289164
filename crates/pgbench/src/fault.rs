//! What is wrong with a script, and where.
//!
//! In: a text and an offset in it. Out: a fault with line and column, both counted from 1, columns in characters.

use std::fmt::{self, Display};

/// Something in a script that pgbench would refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// What is wrong there, and what to do.
    pub message: String,
}

impl Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

/// A fault at an offset of a text, before anybody asked for its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unplaced {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Unplaced {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Unplaced {
        Unplaced { offset, message: message.into() }
    }

    /// The fault with its place in `text`.
    pub(crate) fn place(self, text: &str) -> Fault {
        let (line, column) = place(text, self.offset);
        Fault { line, column, message: self.message }
    }
}

/// Line and column of an offset.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_and_in_characters() {
        let text = "ab\né!\n";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, 3), (2, 1));
        assert_eq!(place(text, 5), (2, 2));
        assert_eq!(place(text, 99), (3, 1));
        let fault = Unplaced::new(5, "no").place(text);
        assert_eq!(fault.to_string(), "line 2, column 2: no");
    }
}
