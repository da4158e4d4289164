//! Removing a folder of many files: data folders, builds, and whatever else rqps made and no longer needs.
//!
//! In: a folder that rqps made; that it did is for the caller to know (a lease, a marker, a name in the cache). Out:
//! nothing of it, or which file could not go. A file that is on disk already costs milliseconds in the file system,
//! which it spends waiting and for several files at once, and a data folder has a thousand: so several threads remove.
//! Symbolic links are removed and never followed, even if the tree changes meanwhile: each name is looked up in a
//! folder that is held open.

use crate::{MachineError, Result};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Files that are removed at a time. They wait for the disk, not for a CPU.
const THREADS: usize = 8;

/// So few files are gone before threads have begun.
const FEW: usize = 8;

/// How often a folder is emptied in which another process makes files meanwhile.
const ATTEMPTS: usize = 3;

/// How a folder is opened: not through a symbolic link.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes a folder with all that is in it; one that is not there is gone already. What can be removed is, also beside
/// what cannot.
pub fn remove_tree(folder: &Path) -> Result<()> {
    let left = Left::default();
    match CString::new(folder.as_os_str().as_bytes()) {
        Ok(name) => remove_folder(CWD, &name, folder, &left),
        Err(e) => left.note(folder, e.into()),
    }
    left.into_result()
}

/// Removes all that is in a folder that is held open, but for what has the name `kept`; `path` is what to call it.
pub(crate) fn empty_but(kept: &str, folder: &OwnedFd, path: &Path) -> Result<()> {
    let left = Left::default();
    if let Err(e) = empty(folder, Some(kept), path, &left) {
        left.note(path, e.into());
    }
    left.into_result()
}

/// Opens a folder, and nothing else that may stand in its place.
pub(crate) fn open_folder(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat(CWD, path, FOLDER, Mode::empty())
}

/// What could not be removed: the first, and how many more.
#[derive(Default)]
struct Left {
    noted: Mutex<Option<(PathBuf, io::Error, usize)>>,
}

impl Left {
    fn note(&self, path: &Path, error: io::Error) {
        // Gone is what was wanted.
        if error.kind() == io::ErrorKind::NotFound {
            return;
        }
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        match noted.as_mut() {
            Some((_, _, more)) => *more += 1,
            None => *noted = Some((path.to_owned(), error, 0)),
        }
    }

    fn count(&self) -> usize {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.as_ref().map_or(0, |(_, _, more)| 1 + more)
    }

    fn into_result(self) -> Result<()> {
        match self.noted.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((path, source, more)) => Err(MachineError::NotRemoved { path, more, source }),
        }
    }
}

/// Removes a folder by its name in another one; `path` is what to call it.
fn remove_folder(parent: BorrowedFd<'_>, name: &CStr, path: &Path, left: &Left) {
    let noted_before = left.count();
    for attempt in 1..=ATTEMPTS {
        let emptied = empty_folder(parent, name, path, left);
        match emptied.and_then(|()| unlinkat(parent, name, AtFlags::REMOVEDIR)) {
            Ok(()) => return,
            // What is left in it is noted already.
            Err(Errno::NOTEMPTY) if left.count() > noted_before => return,
            // Somebody made files in it meanwhile.
            Err(Errno::NOTEMPTY) if attempt < ATTEMPTS => {}
            Err(e) => return left.note(path, e.into()),
        }
    }
}

fn empty_folder(parent: BorrowedFd<'_>, name: &CStr, path: &Path, left: &Left) -> rustix::io::Result<()> {
    empty(&openat(parent, name, FOLDER, Mode::empty())?, None, path, left)
}

fn empty(folder: &OwnedFd, kept: Option<&str>, path: &Path, left: &Left) -> rustix::io::Result<()> {
    let (mut folders, mut files) = entries(folder)?;
    for names in [&mut folders, &mut files] {
        names.retain(|name| kept.is_none_or(|kept| name.to_bytes() != kept.as_bytes()));
    }
    for inner in &folders {
        remove_folder(folder.as_fd(), inner, &path.join(shown(inner)), left);
    }
    remove_files(folder.as_fd(), &files, path, left);
    Ok(())
}

/// Names of the folders in a folder, and of all else.
fn entries(folder: &OwnedFd) -> rustix::io::Result<(Vec<CString>, Vec<CString>)> {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not report the type.
            FileType::Unknown => FileType::from_raw_mode(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode),
            kind => kind,
        };
        if kind == FileType::Directory { folders.push(name.to_owned()) } else { files.push(name.to_owned()) }
    }
    Ok((folders, files))
}

fn remove_files(folder: BorrowedFd<'_>, files: &[CString], path: &Path, left: &Left) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(name) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(e) = unlinkat(folder, name.as_c_str(), AtFlags::empty()) {
                left.note(&path.join(shown(name)), e.into());
            }
        }
    };
    if files.len() <= FEW {
        return work();
    }
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
}

fn shown(name: &CStr) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File, Permissions};
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, Instant};

    /// A folder like that of a server: some folders with some hundred files.
    fn data_folder(at: &Path, folders: usize, files: usize, synced: bool) {
        for folder in 0..folders {
            let folder = at.join(format!("base/{folder}"));
            fs::create_dir_all(&folder).expect("made");
            for file in 0..files {
                let mut made = File::create(folder.join(file.to_string())).expect("made");
                made.write_all(&vec![7; 8192 * (1 + file % 4)]).expect("written");
                if synced {
                    made.sync_all().expect("synced")
                }
            }
        }
    }

    #[test]
    fn all_goes_and_links_are_not_followed() {
        let root = tempfile::tempdir().expect("a folder");
        let (folder, other) = (root.path().join("data"), root.path().join("other"));
        data_folder(&folder, 3, 40, false);
        data_folder(&other, 1, 2, false);
        symlink(&other, folder.join("base/link")).expect("a link");
        symlink(other.join("base/0/1"), folder.join("base/1/link")).expect("a link");
        symlink(root.path().join("nowhere"), folder.join("dangling")).expect("a link");
        drop(std::os::unix::net::UnixListener::bind(folder.join("socket")).expect("a socket"));
        remove_tree(&folder).expect("removed");
        assert!(!folder.exists());
        assert_eq!(fs::read_dir(other.join("base/0")).expect("listed").count(), 2, "of others nothing goes");
        remove_tree(&folder).expect("gone already");

        // A link in the place of the folder itself belongs to others.
        symlink(&other, &folder).expect("a link");
        assert!(matches!(remove_tree(&folder), Err(MachineError::NotRemoved { .. })));
        assert_eq!(fs::read_dir(other.join("base/0")).expect("listed").count(), 2);
    }

    /// A folder that is still written to is never reported as removed.
    #[test]
    fn a_folder_that_somebody_writes_to_is_not_gone() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("data");
        let inner = folder.join("base/1");
        for _ in 0..20 {
            fs::create_dir_all(&inner).expect("made");
            std::thread::scope(|scope| {
                scope.spawn(|| (0..).find(|n| File::create(inner.join(format!("{n}"))).is_err()));
                while let Err(error) = remove_tree(&folder) {
                    assert!(matches!(error, MachineError::NotRemoved { .. }) && inner.exists(), "{error}");
                }
                assert!(!folder.exists(), "told to be gone");
            });
        }
    }

    #[test]
    fn what_cannot_go_is_reported_and_the_rest_goes() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("data");
        data_folder(&folder, 2, 20, false);
        // Neither is a folder that can be removed: the one is no folder, the other none that may be changed (by us, not
        // root).
        let file = root.path().join("file");
        fs::write(&file, "x").expect("written");
        let told = remove_tree(&file).expect_err("no folder").to_string();
        assert!(told.contains(&format!("cannot remove {}", file.display())) && file.exists(), "{told}");
        if !rustix::process::geteuid().is_root() {
            let closed = folder.join("base/0");
            fs::set_permissions(&closed, Permissions::from_mode(0o500)).expect("closed");
            let told = remove_tree(&folder).expect_err("closed").to_string();
            assert!(told.contains("base/0/") && told.contains("19 more"), "{told}");
            assert!(closed.exists() && !folder.join("base/1").exists());
            fs::set_permissions(&closed, Permissions::from_mode(0o700)).expect("opened");
        }
        remove_tree(&folder).expect("removed");
    }

    /// Where files are on disk and no longer in memory, one after the other takes seconds. Measured by hand:
    /// `cargo test --release -p rqps-server on_disk -- --ignored --nocapture`, as root, on the disk in question.
    #[test]
    #[ignore = "a measurement, not a check"]
    fn a_data_folder_on_disk_goes_in_a_fraction_of_a_second() {
        let root = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let folder = root.path().join("data");
        let timed = |remove: &dyn Fn()| {
            data_folder(&folder, 4, 325, true);
            rustix::fs::syncfs(File::open(root.path()).expect("opened")).expect("synced");
            fs::write("/proc/sys/vm/drop_caches", "3").expect("root may");
            let begun = Instant::now();
            remove();
            begun.elapsed()
        };
        for _ in 0..3 {
            let alone = timed(&|| fs::remove_dir_all(&folder).expect("removed"));
            let ours = timed(&|| remove_tree(&folder).expect("removed"));
            println!("one by one {alone:?}, by {THREADS} threads {ours:?}");
            assert!(ours < alone.max(Duration::from_millis(500)), "{ours:?} against {alone:?}");
        }
    }
}
