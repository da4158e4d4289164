//! Lines of a file with their numbers.
//!
//! In: bytes. Out: lines without their ends, in a buffer that is used again.

use std::io::{self, BufRead};

/// A line that is longer is no line of a log.
const LINE_MAX: u64 = 256 << 20;

/// The lines of an input.
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    is_whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn of(input: R) -> Lines<R> {
        Lines { input, line: Vec::new(), number: 0, is_whole: true }
    }

    /// The next line, if there is one.
    pub(crate) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.number += 1;
        let mut limited = io::Read::take(&mut self.input, LINE_MAX);
        if limited.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.is_whole = self.line.ends_with(b"\n");
        let end = self.line.strip_suffix(b"\n").map_or(self.line.len(), <[u8]>::len);
        let end = self.line[..end].strip_suffix(b"\r").map_or(end, <[u8]>::len);
        self.line.truncate(end);
        Ok(Some(&self.line))
    }

    /// The number of the last line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the last line had an end.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }
}
