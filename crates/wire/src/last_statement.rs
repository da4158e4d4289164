//! The statement that a session sent last, remembered for messages at next to no cost on the timed path.
//!
//! In: the number of a prepared statement or the bytes of a text, of which the beginning is kept. Out: one line.

use crate::error::{ABRIDGED_BYTES, abridge};

/// The statement sent last.
#[derive(Debug)]
pub(crate) struct LastStatement {
    /// The number of the prepared statement; if none, it was the text.
    prepared: Option<u32>,
    /// The beginning of a text.
    text: [u8; ABRIDGED_BYTES],
    /// The whole length of that text.
    text_bytes: usize,
}

impl Default for LastStatement {
    fn default() -> LastStatement {
        LastStatement { prepared: None, text: [0; ABRIDGED_BYTES], text_bytes: 0 }
    }
}

impl LastStatement {
    #[inline]
    pub(crate) fn set_prepared(&mut self, index: u32) {
        self.prepared = Some(index);
    }

    pub(crate) fn set_text(&mut self, sql: &[u8]) {
        let shown = sql.len().min(ABRIDGED_BYTES);
        self.text[..shown].copy_from_slice(&sql[..shown]);
        self.text_bytes = sql.len();
        self.prepared = None;
    }

    /// The statement in one line; `prepared` knows the session's prepared statements by number.
    pub(crate) fn show<'s>(&self, prepared: impl FnOnce(u32) -> &'s str) -> String {
        if let Some(index) = self.prepared {
            return abridge(prepared(index));
        }
        let shown = ABRIDGED_BYTES.min(self.text_bytes);
        let mut text = abridge(&String::from_utf8_lossy(&self.text[..shown]));
        if shown == 0 {
            text.push_str("none yet");
        } else if self.text_bytes > shown && !text.ends_with('…') {
            text.push('…');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_is_shown_in_one_line() {
        let prepared = |index: u32| ["begin", "select\n  1"][index as usize];
        let mut last = LastStatement::default();
        assert_eq!(last.show(prepared), "none yet");
        last.set_prepared(1);
        assert_eq!(last.show(prepared), "select 1");
        last.set_text(b"commit");
        assert_eq!(last.show(prepared), "commit");
        last.set_text("ü".repeat(500).as_bytes());
        assert!(last.show(prepared).ends_with('…'));
    }
}
