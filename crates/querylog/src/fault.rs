//! What is wrong with an exported file.

/// A fault of a file, where it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct LogFault {
    /// The file, as the user named it.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
    /// What is wrong, and what to do about it.
    pub what: String,
}

/// More faults of one file are not told.
pub(crate) const FAULTS_MAX: usize = 10;

/// Faults of one file, as they are found.
#[derive(Debug)]
pub(crate) struct Faults<'f> {
    file: &'f str,
    found: Vec<LogFault>,
}

impl<'f> Faults<'f> {
    pub(crate) fn of(file: &'f str) -> Faults<'f> {
        Faults { file, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, line: u64, what: impl Into<String>) {
        self.found.push(LogFault { file: self.file.to_owned(), line, what: what.into() });
    }

    /// Whether more would only repeat them.
    pub(crate) fn are_enough(&self) -> bool {
        self.found.len() >= FAULTS_MAX
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(crate) fn end(self) -> Result<(), Vec<LogFault>> {
        if self.found.is_empty() { Ok(()) } else { Err(self.found) }
    }
}
