//! Copying a folder of large files: shared blocks where the file system can, else real copies in parallel.
//!
//! In: a folder and a place for its copy on the same or another file system. Out: the copy with modes and owners kept
//! and holes left as holes, and how it was made. It checks for space first, and removes what it made if it fails.

use crate::error::{DATA_REMEDY, free_bytes};
use crate::{MachineError, Result, remove_tree};
use rayon::prelude::*;
use rustix::fs::{SeekFrom, ioctl_ficlone, seek};
use rustix::io::Errno;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Space that must be left over after a copy.
const SPARE_BYTES: u64 = 64 << 20;

/// Bytes that are copied between two looks at the wish to stop.
const STEP_BYTES: u64 = 64 << 20;

/// How copies are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyMethod {
    /// The copy shares the blocks of the original until one of them is written.
    Reflink,
    /// Every byte is copied.
    Plain,
}

/// A copy that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// How.
    pub method: CopyMethod,
    /// Files in it.
    pub files: usize,
    /// Bytes on disk of the original, holes not counted.
    pub bytes: u64,
}

/// Finds out, by trying it, how files of a folder can be copied.
pub fn detect(folder: &Path) -> Result<CopyMethod> {
    let temporary = || tempfile::tempfile_in(folder).map_err(MachineError::at("create a file in", folder));
    let (from, to) = (temporary()?, temporary()?);
    io::Write::write_all(&mut &from, &[0; 4096]).map_err(MachineError::at("write a file in", folder))?;
    Ok(if ioctl_ficlone(&to, &from).is_ok() { CopyMethod::Reflink } else { CopyMethod::Plain })
}

/// Writes what was copied to the disk, so that this does not happen while something is measured.
pub fn flush(folder: &Path) -> Result<()> {
    let opened = File::open(folder).map_err(MachineError::at("open", folder))?;
    rustix::fs::syncfs(&opened).map_err(|e| MachineError::io("flush the file system of", folder, e.into()))
}

/// Copies a folder to a place that must not exist yet. Ends early, with an error, when `stop` is raised.
pub fn copy_tree(from: &Path, to: &Path, method: CopyMethod, stop: &AtomicBool) -> Result<Copied> {
    if to.exists() {
        return Err(MachineError::io("create", to, io::Error::from(io::ErrorKind::AlreadyExists)));
    }
    let mut listing = Listing::default();
    listing.add(from, PathBuf::new())?;
    if method == CopyMethod::Plain {
        check_space(to, listing.bytes)?;
    }
    let result = listing.copy(from, to, method, stop);
    if result.is_err() {
        // Half a copy is of no use and, on a full disk, in the way.
        let _ = remove_tree(to);
    }
    result.map(|()| Copied { method, files: listing.files.len(), bytes: listing.bytes })
}

fn check_space(to: &Path, bytes: u64) -> Result<()> {
    let free = free_bytes(to).map_err(MachineError::at("look at the file system of", to))?;
    if free < bytes.saturating_add(SPARE_BYTES) {
        return Err(MachineError::DiskFull {
            path: to.to_owned(),
            needed_bytes: bytes + SPARE_BYTES,
            free_bytes: free,
            remedy: DATA_REMEDY,
        });
    }
    Ok(())
}

/// Everything below a folder, by relative path; folders in the order in which they can be made.
#[derive(Default)]
struct Listing {
    folders: Vec<(PathBuf, Metadata)>,
    files: Vec<(PathBuf, Metadata)>,
    links: Vec<(PathBuf, Metadata)>,
    bytes: u64,
}

impl Listing {
    fn add(&mut self, root: &Path, relative: PathBuf) -> Result<()> {
        let path = root.join(&relative);
        let meta = fs::symlink_metadata(&path).map_err(MachineError::at("look at", &path))?;
        if meta.is_dir() {
            self.folders.push((relative.clone(), meta));
            for entry in fs::read_dir(&path).map_err(MachineError::at("list", &path))? {
                let entry = entry.map_err(MachineError::at("list", &path))?;
                self.add(root, relative.join(entry.file_name()))?;
            }
        } else if meta.is_file() {
            // st_blocks counts units of 512 bytes whatever the file system's own block is.
            self.bytes += meta.blocks() * 512;
            self.files.push((relative, meta));
        } else if meta.is_symlink() {
            self.links.push((relative, meta));
        }
        // Sockets and pipes belong to a running process; a stopped server's folder has none.
        Ok(())
    }

    fn copy(&self, from: &Path, to: &Path, method: CopyMethod, stop: &AtomicBool) -> Result<()> {
        for (relative, _) in &self.folders {
            let path = to.join(relative);
            fs::create_dir(&path).map_err(MachineError::at("create", &path))?;
        }
        let copied = |(relative, meta): &(PathBuf, Metadata)| {
            copy_file(&from.join(relative), &to.join(relative), meta, method, stop)
        };
        self.files.par_iter().try_for_each(copied)?;
        for (relative, meta) in &self.links {
            let (source, path) = (from.join(relative), to.join(relative));
            let target = fs::read_link(&source).map_err(MachineError::at("read", &source))?;
            symlink(target, &path).map_err(MachineError::at("create", &path))?;
            if is_foreign(meta) {
                std::os::unix::fs::lchown(&path, Some(meta.uid()), Some(meta.gid()))
                    .map_err(MachineError::at("hand over", &path))?;
            }
        }
        // Last, since a folder's mode may forbid to write into it.
        self.folders.iter().rev().try_for_each(|(relative, meta)| keep_owner_and_mode(&to.join(relative), meta))
    }
}

fn copy_file(from: &Path, to: &Path, meta: &Metadata, method: CopyMethod, stop: &AtomicBool) -> Result<()> {
    let source = File::open(from).map_err(MachineError::at("open", from))?;
    let target = File::create_new(to).map_err(MachineError::at("create", to))?;
    let copied = check(stop).and_then(|()| match method {
        CopyMethod::Reflink => ioctl_ficlone(&target, &source).map_err(io::Error::from),
        CopyMethod::Plain => copy_data(&source, &target, meta.len(), stop),
    });
    copied.map_err(MachineError::at("copy to", to))?;
    keep_owner_and_mode(to, meta)
}

fn check(stop: &AtomicBool) -> io::Result<()> {
    if stop.load(Ordering::Relaxed) { Err(io::Error::from(io::ErrorKind::Interrupted)) } else { Ok(()) }
}

/// Copies the parts that hold data and leaves the holes out.
fn copy_data(source: &File, target: &File, length: u64, stop: &AtomicBool) -> io::Result<()> {
    target.set_len(length)?;
    let mut at = 0;
    while at < length {
        let start = match seek(source, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => break,
            // A file system that knows no holes has data everywhere.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => at,
            Err(e) => return Err(e.into()),
        };
        let end = seek(source, SeekFrom::Hole(start)).unwrap_or(length).min(length);
        copy_range(source, target, start, end, stop)?;
        at = end;
    }
    Ok(())
}

fn copy_range(mut source: &File, mut target: &File, start: u64, end: u64, stop: &AtomicBool) -> io::Result<()> {
    source.seek(io::SeekFrom::Start(start))?;
    target.seek(io::SeekFrom::Start(start))?;
    let mut left = end - start;
    while left > 0 {
        check(stop)?;
        let wanted = left.min(STEP_BYTES);
        // In the kernel where it can, else through our own memory.
        if io::copy(&mut source.take(wanted), &mut target)? < wanted {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        left -= wanted;
    }
    Ok(())
}

fn is_foreign(meta: &Metadata) -> bool {
    meta.uid() != rustix::process::geteuid().as_raw() || meta.gid() != rustix::process::getegid().as_raw()
}

fn keep_owner_and_mode(path: &Path, meta: &Metadata) -> Result<()> {
    if is_foreign(meta) {
        chown(path, Some(meta.uid()), Some(meta.gid())).map_err(MachineError::at("hand over", path))?;
    }
    let mode = fs::Permissions::from_mode(meta.mode() & 0o7777);
    fs::set_permissions(path, mode).map_err(MachineError::at("set the mode of", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Account;
    use std::os::unix::fs::FileExt;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        let from = root.path().join("from");
        fs::create_dir_all(from.join("base/empty")).expect("made");
        for n in 0..20 {
            fs::write(from.join(format!("base/{n}")), vec![n; 5000 * usize::from(n)]).expect("written");
        }
        let sparse = File::create(from.join("base/sparse")).expect("made");
        sparse.set_len(64 << 20).expect("sized");
        sparse.write_all_at(b"middle", 32 << 20).expect("written");
        symlink("base/1", from.join("link")).expect("a link");
        fs::set_permissions(from.join("base/3"), fs::Permissions::from_mode(0o640)).expect("set");
        fs::set_permissions(from.join("base/empty"), fs::Permissions::from_mode(0o500)).expect("set");
        for path in ["", "base", "base/3", "link"] {
            Account::choose().own_path(&from.join(path)).expect("owned");
        }
        root
    }

    #[test]
    fn a_copy_is_alike_in_every_way() {
        let root = tree();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        let method = detect(root.path()).expect("tried");
        let never = AtomicBool::new(false);
        let copied = copy_tree(&from, &to, method, &never).expect("copied");
        assert_eq!((copied.method, copied.files), (method, 21));
        let mut listed = Listing::default();
        listed.add(&from, PathBuf::new()).expect("listed");
        let (files, folders) = (listed.files.iter(), listed.folders.iter());
        for (relative, meta) in files.chain(folders).chain(&listed.links) {
            let twin = fs::symlink_metadata(to.join(relative)).expect("copied too");
            assert_eq!((twin.mode(), twin.uid(), twin.gid()), (meta.mode(), meta.uid(), meta.gid()), "{relative:?}");
            if meta.is_file() {
                assert_eq!(fs::read(to.join(relative)).expect("read"), fs::read(from.join(relative)).expect("read"));
                assert!(twin.blocks() <= meta.blocks() + 16, "{relative:?}: holes stay holes");
            }
        }
        assert_eq!(fs::read_link(to.join("link")).expect("a link"), Path::new("base/1"));
        assert!(copy_tree(&from, &to, method, &never).is_err(), "never over something");
        let stopped = root.path().join("stopped");
        assert!(copy_tree(&from, &stopped, method, &AtomicBool::new(true)).is_err() && !stopped.exists());
        flush(&to).expect("flushed");
    }

    #[test]
    fn a_range_is_copied_as_it_is() {
        let root = tempfile::tempdir().expect("a folder");
        let bytes: Vec<u8> = (0..600_000u32).map(|n| (n % 251) as u8).collect();
        fs::write(root.path().join("a"), &bytes).expect("written");
        let (source, target) = (File::open(root.path().join("a")), File::create(root.path().join("b")));
        let length = bytes.len() as u64;
        let never = AtomicBool::new(false);
        copy_range(&source.expect("opened"), &target.expect("made"), 0, length, &never).expect("copied");
        assert_eq!(fs::read(root.path().join("b")).expect("read"), bytes);
    }

    #[test]
    fn refuses_before_it_starts_where_space_is_short() {
        let root = tempfile::tempdir().expect("a folder");
        let error = check_space(root.path(), u64::MAX / 2).expect_err("no disk is that large");
        assert!(matches!(error, MachineError::DiskFull { needed_bytes, .. } if needed_bytes > u64::MAX / 4), "{error}");
    }
}
