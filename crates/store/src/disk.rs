//! Writing so that a thing is complete or absent: beside its place, to the disk, then renamed.
//!
//! In: bytes and a place. Out: the file or folder in its place, or an error and nothing. What a killed process left is
//! named `.part-<pid>-...`, is never read, and is found again by that name; nothing else is ever removed.

use crate::error::StoreError;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

const PART: &str = ".part-";

/// Whether writing waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// What is published survives a power cut.
    Synced,
    /// Left to the kernel: for results that can be made again.
    Buffered,
}

impl Durability {
    /// Brings a file to the disk.
    pub(crate) fn sync(self, file: &File) -> std::io::Result<()> {
        if self == Durability::Synced { file.sync_all() } else { Ok(()) }
    }

    /// Makes the names in a folder durable.
    pub(crate) fn sync_folder(self, folder: &Path) -> Result<(), StoreError> {
        File::open(folder).and_then(|opened| self.sync(&opened)).map_err(StoreError::io("sync", folder))
    }
}

/// The name that something has until it is complete.
pub(crate) fn part_name(name: &OsStr) -> String {
    format!("{PART}{}-{}", std::process::id(), name.to_string_lossy())
}

/// The process that made an unfinished thing of this name, and what it was to be.
pub(crate) fn parse_part_name(name: &OsStr) -> Option<(u32, &str)> {
    let (pid, target) = name.to_str()?.strip_prefix(PART)?.split_once('-')?;
    Some((pid.parse().ok()?, target))
}

/// Writes a file completely or not at all; an old one of that name is replaced.
pub(crate) fn write_file(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
    let (folder, name) = split(path);
    make_folders(folder, durability)?;
    let part = folder.join(part_name(name));
    let written = write_bytes(&part, bytes, durability)
        .and_then(|()| fs::rename(&part, path).map_err(StoreError::io("publish", path)))
        .and_then(|()| durability.sync_folder(folder));
    if written.is_err() {
        // The first error is the one to tell.
        _ = fs::remove_file(&part);
    }
    written
}

/// Writes a folder completely or not at all, with the files that `fill` writes into it. The folder must not be there
/// yet.
pub(crate) fn write_folder(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let (parent, name) = split(path);
    make_folders(parent, durability)?;
    let part = parent.join(part_name(name));
    remove_folder(&part)?;
    let write = || {
        fs::create_dir(&part).map_err(StoreError::io("create", &part))?;
        fill(&part)?;
        durability.sync_folder(&part)?;
        fs::rename(&part, path).map_err(StoreError::io("publish", path))?;
        durability.sync_folder(parent)
    };
    let written = write();
    if written.is_err() {
        _ = remove_folder(&part);
    }
    written
}

fn split(path: &Path) -> (&Path, &OsStr) {
    let name = path.file_name().expect("a place inside the campaign's folder has a name");
    (path.parent().expect("and a folder"), name)
}

/// Writes a file of a folder that is not published yet.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        durability.sync(&file)
    };
    write().map_err(StoreError::io("write", path))
}

/// Creates a folder and its parents, each name durable.
pub(crate) fn make_folders(folder: &Path, durability: Durability) -> Result<(), StoreError> {
    if folder.is_dir() || folder.as_os_str().is_empty() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(Path::new(""));
    make_folders(parent, durability)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(StoreError::io("create", folder)(error)),
        _ if parent.as_os_str().is_empty() => Ok(()),
        _ => durability.sync_folder(parent),
    }
}

fn remove_folder(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Removes what was left unfinished in a folder and below, and returns it. What a spared process makes stays.
pub(crate) fn clear_parts(folder: &Path, spare: &dyn Fn(u32) -> bool) -> Result<Vec<PathBuf>, StoreError> {
    let mut cleared = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(cleared),
        entries => entries.map_err(StoreError::io("list", folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(StoreError::io("list", folder))?;
        let path = entry.path();
        let is_folder = entry.file_type().map_err(StoreError::io("examine", &path))?.is_dir();
        match parse_part_name(&entry.file_name()) {
            Some((pid, _)) if spare(pid) => {}
            Some(_) if is_folder => {
                remove_folder(&path)?;
                cleared.push(path);
            }
            Some(_) => {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
                cleared.push(path);
            }
            None if is_folder => cleared.extend(clear_parts(&path, spare)?),
            None => {}
        }
    }
    Ok(cleared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_unfinished_things_are_known_again() {
        let name = part_name(OsStr::new("hot-points.c1"));
        assert_eq!(parse_part_name(OsStr::new(&name)), Some((std::process::id(), "hot-points.c1")));
        for foreign in [".part-", ".part-x-y", ".part-12", "part-12-x", ".partial-12-x", "sample.json"] {
            assert_eq!(parse_part_name(OsStr::new(foreign)), None, "{foreign}");
        }
    }

    #[test]
    fn clears_unfinished_things_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("rounds/1/.part-77-x.c1")).expect("made");
        fs::write(path("rounds/1/.part-77-x.c1/sample.json"), "{").expect("written");
        fs::write(path(".part-78-report.html"), "<").expect("written");
        let kept = ["rounds/1/mine.txt", ".part-notes", "rounds/.partial", ".part-79-report.html"];
        for foreign in kept {
            fs::write(path(foreign), "mine").expect("written");
        }
        let mut cleared = clear_parts(folder.path(), &|pid| pid == 79).expect("cleared");
        cleared.sort();
        assert_eq!(cleared, [path(".part-78-report.html"), path("rounds/1/.part-77-x.c1")]);
        for foreign in kept {
            assert!(path(foreign).exists(), "{foreign}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_finished_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a/b");
        fs::create_dir_all(place.join("occupied")).expect("made");
        let fill = |part: &Path| write_bytes(&part.join("x"), &[1], Durability::Synced);
        let error = write_folder(&place, Durability::Synced, fill).expect_err("occupied");
        assert!(matches!(error, StoreError::Io { doing: "publish", .. }), "{error}");
        let left: Vec<_> = fs::read_dir(folder.path().join("a")).expect("there").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
