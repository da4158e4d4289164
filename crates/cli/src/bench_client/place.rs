//! Where the server that clients are measured against listens, and which rows it has.

use rqps_model::Engine;
use std::path::{Path, PathBuf};

/// Where the server listens.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Whose it is.
    pub(super) engine: Engine,
    /// Its socket.
    pub(super) socket: PathBuf,
    /// User to log in as.
    pub(super) user: String,
    /// Database with `sbtest1`.
    pub(super) database: String,
    /// Rows of the table that is queried or filled.
    pub(super) rows: u64,
}

impl Place {
    /// Folder and port, by which PostgreSQL's own library finds a socket.
    pub(super) fn folder_and_port(&self) -> (String, String) {
        let folder = self.socket.parent().unwrap_or(Path::new("."));
        let port = self.socket.extension().unwrap_or_default();
        (folder.display().to_string(), port.to_string_lossy().into_owned())
    }
}
