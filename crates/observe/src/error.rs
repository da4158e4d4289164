//! Why something cannot be observed at all. What is merely missing on this host becomes a note, never an error.

use std::path::PathBuf;

/// Causes for which observation cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// A file of `/proc` that every Linux has cannot be read.
    #[error("failed to read {}: {source}; is /proc mounted?", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// A file of `/proc` was read but makes no sense.
    #[error("failed to understand {}: expected {expected}", path.display())]
    Strange {
        /// The file.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
    },
}
