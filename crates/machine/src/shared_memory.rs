//! Shared memory that a server leaves behind when it is killed and cannot tidy up itself.
//!
//! In: the processes of a server while they live. Out: the names of what it has, and their removal after it is gone. It
//! must not touch memory that a living server uses: the caller stops the server first.

use crate::proctree::ProcessId;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Shared memory of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedMemory {
    files: BTreeSet<PathBuf>,
    segments: BTreeSet<u64>,
}

impl SharedMemory {
    /// What processes of a server have mapped, or opened to map it; nothing where we may not look. Some parts only its
    /// children have.
    pub fn of(processes: &[ProcessId]) -> SharedMemory {
        let mut all = SharedMemory::default();
        for process in processes {
            let maps = fs::read_to_string(format!("/proc/{}/maps", process.pid)).unwrap_or_default();
            let files = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
            let open: Vec<PathBuf> = files.filter_map(|file| fs::read_link(file.path()).ok()).collect();
            if process.is_alive() {
                all.add(parse_maps(&maps));
                all.files.extend(open.into_iter().filter(|path| is_shared_memory(path)));
            }
        }
        all
    }

    /// Takes in what another look has found.
    pub fn add(&mut self, other: SharedMemory) {
        self.files.extend(other.files);
        self.segments.extend(other.segments);
    }

    /// Removes what is still there.
    pub fn remove(&self) {
        for file in &self.files {
            // A server that left in order has removed it.
            let _ = fs::remove_file(file);
        }
        for segment in &self.segments {
            let mut command = Command::new("ipcrm");
            command.args(["-m", &segment.to_string()]);
            let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

fn is_shared_memory(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with("/dev/shm/PostgreSQL."))
}

/// Lines as in proc(5): POSIX memory is a file below /dev/shm, a System V segment is `/SYSV<key>` with its id as inode.
fn parse_maps(maps: &str) -> SharedMemory {
    let mut found = SharedMemory::default();
    for line in maps.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, _, _, _, inode, path, ..] = fields[..] else { continue };
        if is_shared_memory(Path::new(path)) {
            found.files.insert(PathBuf::from(path));
        } else if path.starts_with("/SYSV") {
            found.segments.extend(inode.parse::<u64>().ok());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_kinds_of_shared_memory() {
        let maps = "7f00-7f01 rw-s 00000000 00:01 32770      /SYSV0012f9a1 (deleted)\n\
                    7f01-7f02 rw-s 00000000 00:17 55         /dev/shm/PostgreSQL.3386221376\n\
                    7f01-7f02 rw-s 00000000 00:01 56         /dev/zero (deleted)\n\
                    7f02-7f03 r-xp 00000000 fe:00 99         /usr/bin/x\n7f03-7f04 rw-p 0 0:0 0\n";
        let found = parse_maps(maps);
        assert_eq!(found.files, BTreeSet::from([PathBuf::from("/dev/shm/PostgreSQL.3386221376")]));
        assert_eq!(found.segments, BTreeSet::from([32770]));
        assert_eq!(SharedMemory::of(&[ProcessId::own()]), SharedMemory::default());
    }
}
