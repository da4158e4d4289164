//! One writer at a time for a campaign's folder.
//!
//! In: the folder. Out: a `Lock`, held until dropped or until the process ends in whatever way, because the kernel
//! holds it (an advisory lock on `.lock`): a dead owner's file is simply taken over. The file's text names the owner by
//! process id and start time, for the message that another one gets.

use crate::error::StoreError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) const LOCK: &str = ".lock";

/// The right to write into one folder.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

/// The process that adds to a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its id.
    pub process: u32,
    /// Since when, as the file system says.
    pub since: Option<SystemTime>,
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub(crate) fn acquire(folder: &Path) -> Result<Lock, StoreError> {
        let path = folder.join(LOCK);
        loop {
            let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = open.map_err(StoreError::io("open", &path))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let mut owner = String::new();
                    // An owner that has not written its name yet is still an owner.
                    _ = file.read_to_string(&mut owner);
                    let owner =
                        if owner.trim().is_empty() { "another rqps".to_owned() } else { owner.trim().to_owned() };
                    return Err(StoreError::InUse { folder: folder.to_owned(), owner });
                }
                Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path)(error)),
                Ok(()) => {}
            }
            let lock = Lock { file, path: path.clone() };
            // The owner before may have removed the file between opening and locking: then this lock guards nothing.
            if lock.is_in_place() {
                return lock.sign();
            }
        }
    }

    /// Whether somebody holds the lock of a folder.
    pub(crate) fn is_held(folder: &Path) -> bool {
        File::open(folder.join(LOCK)).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// The living process that holds the lock of a folder, found without asking for the lock.
    pub(crate) fn owner(folder: &Path) -> Option<Owner> {
        let path = folder.join(LOCK);
        let text = fs::read_to_string(&path).ok()?;
        let (process, rest) = text.strip_prefix("process ")?.split_once(" (started at tick ")?;
        let process = process.parse().ok()?;
        let is_alive = start_tick(&format!("/proc/{process}/stat")) == rest.trim().trim_end_matches(')');
        let since = fs::metadata(&path).and_then(|file| file.modified()).ok();
        is_alive.then_some(Owner { process, since })
    }

    /// Follows the folder to its new place.
    pub(crate) fn moved_to(&mut self, folder: &Path) {
        self.path = folder.join(LOCK);
    }

    fn is_in_place(&self) -> bool {
        let mine = self.file.metadata().map(|m| (m.dev(), m.ino()));
        let there = fs::metadata(&self.path).map(|m| (m.dev(), m.ino()));
        matches!((mine, there), (Ok(mine), Ok(there)) if mine == there)
    }

    fn sign(mut self) -> Result<Lock, StoreError> {
        let text = format!("process {} (started at tick {})\n", std::process::id(), start_tick("/proc/self/stat"));
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(text.as_bytes())
        };
        write(&mut self.file).map_err(StoreError::io("write", &self.path))?;
        Ok(self)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.is_in_place() {
            // A file that stays behind is taken over by the next owner.
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Field 22 of proc(5)'s `stat`: together with the process id it names one process of this boot.
fn start_tick(stat: &str) -> String {
    let stat = fs::read_to_string(stat).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name.split_whitespace().nth(19).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!Lock::is_held(folder.path()));
        let lock = Lock::acquire(folder.path()).expect("free");
        assert!(Lock::is_held(folder.path()));
        assert_eq!(Lock::owner(folder.path()).map(|owner| owner.process), Some(std::process::id()));
        let own = format!("process {} (started at tick ", std::process::id());
        assert!(
            matches!(Lock::acquire(folder.path()), Err(StoreError::InUse { owner, .. }) if owner.starts_with(&own))
        );
        drop(lock);
        assert!(!folder.path().join(LOCK).exists());
        drop(Lock::acquire(folder.path()).expect("free again"));
    }

    #[test]
    fn a_dead_owners_file_is_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(LOCK), "process 1 (started at tick 1), and a longer text than is written now")
            .expect("written");
        assert_eq!(Lock::owner(folder.path()), None);
        let lock = Lock::acquire(folder.path()).expect("free");
        let text = fs::read_to_string(folder.path().join(LOCK)).expect("there");
        assert_eq!(text.matches("process").count(), 1, "{text}");
        assert!(text.contains(&std::process::id().to_string()), "{text}");
        drop(lock);
    }

    #[test]
    fn a_lock_moves_with_its_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let (old, new) = (root.path().join("old"), root.path().join("new"));
        fs::create_dir(&old).expect("made");
        let mut lock = Lock::acquire(&old).expect("free");
        fs::rename(&old, &new).expect("moved");
        lock.moved_to(&new);
        assert!(Lock::is_held(&new));
        drop(lock);
        assert!(!new.join(LOCK).exists());
    }
}
