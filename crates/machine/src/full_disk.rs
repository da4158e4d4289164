//! A full disk, recognised by the messages of programs and servers.
//!
//! In: what a program wrote, and the folder of its data. Out: whether that means a full disk. It is the one place that
//! knows these words.

use crate::MachineError;
use std::path::Path;

/// Messages of programs and servers when the disk is full: the system's words, its number, and hints where half a page
/// could still be written.
const FULL_DISK: [&str; 8] = [
    "No space left on device",
    "Check free disk space",
    "rrcode: 28",
    "rror number 28",
    "errno: 28",
    "with error 28",
    "isk is full",
    "isk full",
];

/// The message of MySQL and MariaDB both when the disk is full and when a table has reached a limit of its own (error
/// 1114).
const FULL_TABLE: &str = "' is full";

/// A disk with less room than this, or than this share of its size, counts as full.
const NEARLY_FULL_BYTES: u64 = 64 << 20;
const NEARLY_FULL_SHARE: u64 = 100;

/// Whether these are words for a full disk; `folder` is where the data is.
pub fn tells_full_disk(told: &str, folder: &Path) -> bool {
    FULL_DISK.iter().any(|words| told.contains(words)) || told.contains(FULL_TABLE) && is_nearly_full(folder)
}

fn is_nearly_full(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|disk| {
        let (free, whole) = (disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
        free < NEARLY_FULL_BYTES.max(whole / NEARLY_FULL_SHARE)
    })
}

/// A program's error, turned into that of a full disk where it is one.
pub fn full_disk(error: MachineError, dir: &Path) -> MachineError {
    match &error {
        MachineError::Program { output, .. } if tells_full_disk(output, dir) => {
            MachineError::io("fill", dir, std::io::Error::from(std::io::ErrorKind::StorageFull))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_distinguished_from_a_full_table() {
        let folder = Path::new("/");
        assert!(!is_nearly_full(folder), "the test needs a little room");
        for told in [
            "could not write: No space left on device",
            "ERROR 1021 (HY000): Disk full (/tmp/#sql); waiting for someone to free some space",
            "InnoDB: Error number 28 means 'No space'",
            "InnoDB: Cannot extend the file; the disk is full",
        ] {
            assert!(tells_full_disk(told, folder), "{told}");
        }
        assert!(!tells_full_disk("ERROR 1114 (HY000): The table 'sbtest1' is full", folder));
        // Where nothing at all can be stored.
        assert!(tells_full_disk("ERROR 1114 (HY000): The table 'sbtest1' is full", Path::new("/proc")));
    }
}
