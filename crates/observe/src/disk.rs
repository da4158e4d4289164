//! What a server's data takes on disk: the benchmark's database alone, and all of the data folder.
//!
//! In: the way to the server, what stores the tables, the data folder. Out: the model's `DiskUse`. PostgreSQL is asked
//! for the size of the database, as published results do; of MySQL and MariaDB files are looked at, as allocated on
//! disk, while the server goes on making and removing them. Symbolic links are not followed.

use crate::engine::DatabaseSize;
use crate::error::ObserveError;
use crate::probe::{Probe, Subject};
use rqps_model::sample::{DiskUse, Growth};
use rqps_model::{Part, Sample, StorageEngine};
use rqps_wire::{Endpoint, Session};
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How long a server may take to look at every file.
const PATIENCE: Duration = Duration::from_secs(30);

/// `st_blocks` counts these, whatever the file system's own block is.
const BLOCK_BYTES: u64 = 512;

/// What the data takes before and after a test.
#[derive(Debug, Default)]
pub struct GrowthProbe {
    before: Option<Result<DiskUse, ObserveError>>,
}

impl Probe for GrowthProbe {
    fn begin(&mut self, server: &Subject<'_>) {
        self.before = Some(disk_use(server.endpoint, server.storage, server.data_folder));
    }

    fn end(&mut self, server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part> {
        let (Some(server), Some(before)) = (server, self.before.take()) else { return Vec::new() };
        let after = disk_use(server.endpoint, server.storage, server.data_folder);
        match before.and_then(|before| Ok(Growth { before, after: after? })) {
            Ok(growth) => sample.growth = Some(growth),
            Err(why) => sample.warnings.push(format!("what the data takes on disk is not known: {why}")),
        }
        Vec::new()
    }
}

/// Reads what the data takes now.
pub fn disk_use(
    endpoint: &Endpoint,
    storage: Option<StorageEngine>,
    data_folder: &Path,
) -> Result<DiskUse, ObserveError> {
    let database_bytes = match DatabaseSize::of(endpoint.protocol(), storage, data_folder, &endpoint.database) {
        DatabaseSize::Query(sql) => queried_bytes(endpoint, sql)?,
        DatabaseSize::Folder(folder) => allocated_bytes(&folder)?,
    };
    Ok(DiskUse { database_bytes, folder_bytes: allocated_bytes(data_folder)? })
}

fn queried_bytes(endpoint: &Endpoint, sql: &str) -> Result<u64, ObserveError> {
    let mut session = Session::connect(endpoint, PATIENCE)?;
    session.set_deadline(Some(PATIENCE));
    Ok(session.query(sql)?.single().and_then(|bytes| bytes.parse().ok()).expect("a size is a whole number"))
}

/// What a folder and all below it take; a file of several names counts once.
fn allocated_bytes(folder: &Path) -> Result<u64, ObserveError> {
    let failed = |source| ObserveError::Folder { path: folder.to_owned(), source };
    let mut files = Files::default();
    let top = folder.symlink_metadata().map_err(failed)?;
    files.add(&top);
    files.add_all_in(folder).map_err(failed)?;
    Ok(files.bytes)
}

#[derive(Default)]
struct Files {
    bytes: u64,
    linked: BTreeSet<(u64, u64)>,
}

impl Files {
    fn add(&mut self, file: &Metadata) {
        if file.is_dir() || file.nlink() < 2 || self.linked.insert((file.dev(), file.ino())) {
            self.bytes += file.blocks() * BLOCK_BYTES;
        }
    }

    fn add_all_in(&mut self, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let Some(file) = unless_gone(entry.metadata())? else { continue };
            self.add(&file);
            if file.is_dir() {
                unless_gone(self.add_all_in(&entry.path()))?;
            }
        }
        Ok(())
    }
}

/// What was removed since it was listed takes nothing.
fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn allocated_blocks_count_once_and_links_lead_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        let (inside, outside) = (folder.path(), outside.path());
        fs::create_dir(inside.join("base")).expect("made");
        let empty = allocated_bytes(inside).expect("read");
        fs::write(outside.join("large"), vec![1; 1 << 20]).expect("written");
        std::os::unix::fs::symlink(outside, inside.join("base/elsewhere")).expect("linked");
        assert!(allocated_bytes(inside).expect("read") - empty < 16 << 10);
        fs::write(inside.join("base/table"), vec![1; 1 << 20]).expect("written");
        fs::hard_link(inside.join("base/table"), inside.join("again")).expect("linked");
        let sparse = fs::File::create(inside.join("sparse")).expect("made");
        sparse.set_len(1 << 30).expect("set");
        let grown = allocated_bytes(inside).expect("read") - empty;
        assert!((1 << 20..(1 << 20) + (64 << 10)).contains(&grown), "{grown}");
    }

    #[test]
    fn what_vanishes_meanwhile_is_no_error_but_the_folder_must_be_there() {
        assert_eq!(unless_gone(fs::metadata("/proc/gone")).expect("no error").map(|_| ()), None);
        let error = allocated_bytes(Path::new("/proc/gone")).expect_err("no folder").to_string();
        assert!(error.contains("/proc/gone"), "{error}");
    }
}
