//! Why something cannot be observed at all. What is merely missing on this host becomes a note, never an error.

use rqps_wire::WireError;
use std::path::PathBuf;

/// Causes for which there is nothing to tell.
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
    /// A data folder cannot be looked through.
    #[error("failed to look through {}: {source}; is it the server's data folder, and may we read it?", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// A server did not tell how large its database is.
    #[error("failed to ask for the size of the database: {0}")]
    Server(#[from] WireError),
}
