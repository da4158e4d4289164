//! The folder for a campaign's data: master copies, the servers' data folders, spare room.
//!
//! In: a lease and, if the user wants another place than the usual, a folder. Out: a private place below it that is
//! gone when dropped. It must not hold results.

use crate::error::DATA_REMEDY;
use crate::lease::LeasedFolder;
use crate::{Account, Cache, Lease, Result};
use std::path::{Path, PathBuf};

/// A temporary folder for data; removed when dropped, or by the next start.
#[derive(Debug)]
pub struct Workspace {
    folder: LeasedFolder,
}

impl Workspace {
    /// Makes a workspace below `parent`, or below the usual place: `$RQPS_DATA`, else `/var/tmp` for root (whose
    /// servers cannot enter its home), else the cache.
    pub fn create(lease: &Lease, cache: &Cache, parent: Option<&Path>) -> Result<Workspace> {
        let parent = Workspace::parent(cache, parent);
        // Open for entering alone: the server's account owns only the data folders in it.
        let folder = lease.folder(&parent, "data", 0o711)?;
        Account::choose().check_can_enter(folder.path(), DATA_REMEDY)?;
        Ok(Workspace { folder })
    }

    /// The folder that a workspace is made in: the one given, or the usual place. Absolute, since servers and their
    /// tools run in other folders than we do.
    pub fn parent(cache: &Cache, given: Option<&Path>) -> PathBuf {
        let parent = given.map_or_else(|| usual_place(cache), Path::to_owned);
        std::path::absolute(&parent).unwrap_or(parent)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where a data folder of this name is or will be.
    pub fn join(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn usual_place(cache: &Cache) -> PathBuf {
    match std::env::var_os("RQPS_DATA") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ if rustix::process::geteuid().is_root() => PathBuf::from("/var/tmp"),
        _ => cache.root().join("data"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MachineError;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn is_private_and_gone_when_dropped() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(&root.path().join("cache")).expect("a cache");
        let lease = Lease::open(&cache).expect("a lease");
        fs::set_permissions(root.path(), Permissions::from_mode(0o711)).expect("opened");
        let workspace = Workspace::create(&lease, &cache, Some(root.path())).expect("a workspace");
        let path = workspace.path().to_owned();
        fs::write(workspace.join("x"), "x").expect("written");
        drop(workspace);
        assert!(!path.exists() && root.path().exists());

        if Account::choose().differs_from_us() {
            fs::set_permissions(root.path(), Permissions::from_mode(0o700)).expect("closed");
            let error = Workspace::create(&lease, &cache, Some(root.path())).expect_err("nobody cannot enter");
            assert!(matches!(error, MachineError::Unreachable { .. }), "{error}");
            assert_eq!(fs::read_dir(root.path()).expect("listed").count(), 1, "only the cache is left");
        }
    }
}
