//! A real server for a test: a build of the catalog with what stores its tables.
//!
//! In: a build, what stores its tables. Out: a server that answers. Builds come from the user's cache and are fetched
//! once if they are not there.

use rqps_model::StorageEngine;
use rqps_testkit::{LiveServer, Wanted};

/// Starts a server that can have tables in this storage engine.
pub(crate) fn start(spec: &str, storage: Option<StorageEngine>) -> LiveServer {
    let wanted = Wanted::of(spec);
    LiveServer::start(&match storage {
        Some(StorageEngine::Rocksdb) => wanted.with_rocksdb(),
        _ => wanted,
    })
}
