//! Where the server that clients are measured against listens, and which rows it has.

use rqps_model::Engine;
use std::path::{Path, PathBuf};

/// Where the server listens.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Whose it is.
    pub(crate) engine: Engine,
    /// Its socket.
    pub(crate) socket: PathBuf,
    /// User to log in as.
    pub(crate) user: String,
    /// Database with `sbtest1`.
    pub(crate) database: String,
    /// Rows of the table that is queried or filled.
    pub(crate) rows: u64,
}

impl Place {
    /// Folder and port, by which PostgreSQL's own library finds a socket.
    pub(crate) fn folder_and_port(&self) -> (String, String) {
        let folder = self.socket.parent().unwrap_or(Path::new("."));
        let port = self.socket.extension().unwrap_or_default();
        (folder.display().to_string(), port.to_string_lossy().into_owned())
    }
}
