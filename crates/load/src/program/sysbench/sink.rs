//! Where drawn values go: into the places of a prepared statement, or into SQL text.
//!
//! In: numbers and strings in the order of parameters. Out: bytes in place. Nothing is allocated while the text fits.

use super::Parameters;
use std::io::Write;

/// Where drawn values go.
pub(super) trait Sink {
    fn number(&mut self, value: i32);
    fn string(&mut self, value: &[u8]);
}

/// Into the places of a prepared statement.
pub(super) struct Prepared<'a, P> {
    pub(super) statement: &'a mut P,
    pub(super) slot: usize,
}

impl<P: Parameters> Sink for Prepared<'_, P> {
    #[inline]
    fn number(&mut self, value: i32) {
        self.statement.set_i32(self.slot, value);
        self.slot += 1;
    }

    #[inline]
    fn string(&mut self, value: &[u8]) {
        self.statement.set_text(self.slot, value);
        self.slot += 1;
    }
}

/// Between the pieces of SQL text.
pub(super) struct Text<'a> {
    pub(super) text: &'a mut Vec<u8>,
    pub(super) pieces: std::slice::Iter<'a, String>,
}

impl Text<'_> {
    /// The piece of SQL that comes next.
    pub(super) fn piece(&mut self) {
        if let Some(piece) = self.pieces.next() {
            self.text.extend_from_slice(piece.as_bytes());
        }
    }
}

impl Sink for Text<'_> {
    fn number(&mut self, value: i32) {
        write!(self.text, "{value}").expect("writing to memory does not fail");
        self.piece();
    }

    fn string(&mut self, value: &[u8]) {
        // Digits and hyphens only: nothing to escape.
        self.text.push(b'\'');
        self.text.extend_from_slice(value);
        self.text.push(b'\'');
        self.piece();
    }
}
