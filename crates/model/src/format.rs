//! The version of the results format, and what a reader may do with another one.
//!
//! The policy stands in docs/results-format.md: a change that an older reader would misread raises the major number; a
//! field or a file that it can do without raises the minor number.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the results format that this program writes.
pub const FORMAT: Format = Format { major: 1, minor: 0 };

/// A version of the results format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// A reader refuses any other than its own.
    pub major: u32,
    /// A reader reads older ones, and of newer ones what it knows.
    pub minor: u32,
}

impl Format {
    /// Whether this program can read what was written in this format.
    pub const fn is_readable(self) -> bool {
        self.major == FORMAT.major
    }
}

impl Default for Format {
    fn default() -> Format {
        FORMAT
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
