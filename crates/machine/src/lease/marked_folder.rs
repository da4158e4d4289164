//! The folders of a lease: marked when they are made, and removed with the marker last.
//!
//! In: the path of a folder, the id of its lease, and who may own it. Out: nothing of it, or why it stays. Others may
//! put something in the place of a folder that is gone, a symbolic link above all. So it is opened once, without
//! following links, and what is read and removed is in what was opened. It must not remove what has no marker of the
//! lease.

use crate::remove::{empty_but, open_folder};
use crate::{MachineError, Result};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// The file that marks a folder as ours; it holds the id of the lease.
pub const MARKER: &str = ".rqps";

/// Makes a folder that nobody else may enter until it has its marker and mode.
pub(super) fn make(path: &Path) -> Result<()> {
    DirBuilder::new().mode(0o700).create(path).map_err(MachineError::at("create", path))
}

/// Marks a new folder as one of this lease, and opens it to whom it is for.
pub(super) fn mark(path: &Path, id: &str, mode: u32) -> Result<()> {
    let marker = path.join(MARKER);
    fs::write(&marker, id).map_err(MachineError::at("write", &marker))?;
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(MachineError::at("open up", path))
}

/// Removes a folder that this process has made; one that is not there is gone already.
pub(super) fn remove(path: &Path, id: &str, owners: &[u32]) -> Result<()> {
    match Opened::open(path, id, owners)? {
        Some(folder) => folder.remove(),
        None => Ok(()),
    }
}

/// Removes a folder of a rqps that is gone, if it carries the marker; returns whether there was one.
pub(super) fn clear(path: &Path, id: &str, owners: &[u32]) -> Result<bool> {
    let Some(folder) = Opened::open(path, id, owners)? else { return Ok(false) };
    if folder.is_marked() {
        folder.remove()?;
    } else {
        // Only an empty one may go: its maker was killed between making and marking it.
        fs::remove_dir(path).map_err(MachineError::at("remove", path))?;
    }
    Ok(true)
}

/// A folder that is held open.
struct Opened<'a> {
    path: &'a Path,
    id: &'a str,
    folder: OwnedFd,
}

impl<'a> Opened<'a> {
    /// `None` where there is none. Whatever is of another owner is not ours, whatever it carries.
    fn open(path: &'a Path, id: &'a str, owners: &[u32]) -> Result<Option<Opened<'a>>> {
        let cannot = |e: io::Error| MachineError::io("clear", path, e);
        let folder = match open_folder(path) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(cannot(e.into())),
        };
        let owner = fstat(&folder).map_err(|e| cannot(e.into()))?.st_uid;
        if !owners.contains(&owner) {
            return Err(cannot(io::Error::other(format!("it belongs to uid {owner}, for whom rqps makes none"))));
        }
        Ok(Some(Opened { path, id, folder }))
    }

    fn is_marked(&self) -> bool {
        // What a server has put in the place of the marker may be a pipe, which is not waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(marker) = openat(&self.folder, MARKER, flags, Mode::empty()) else { return false };
        let (mut text, id) = (Vec::new(), self.id.as_bytes());
        if File::from(marker).take(id.len() as u64 + 1).read_to_end(&mut text).is_err() {
            return false;
        }
        // A kill or a power cut may have left a part of it, or nothing; then the folder's own name tells the lease.
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        text == id || id.starts_with(&text) && name.starts_with(&format!("rqps-{}-", self.id))
    }

    /// The marker last: if we are killed meanwhile, the folder that is left is still known to be ours, or it is empty.
    fn remove(&self) -> Result<()> {
        empty_but(MARKER, &self.folder, self.path)?;
        let marker = self.path.join(MARKER);
        match unlinkat(&self.folder, MARKER, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => return Err(MachineError::io("remove", marker, e.into())),
        }
        // By its name, but nothing that is not an empty folder goes that way.
        fs::remove_dir(self.path).map_err(MachineError::at("remove", self.path)).inspect_err(|_| {
            // Somebody has made a file since: the next start must still know the folder.
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = openat(&self.folder, MARKER, flags, Mode::from_raw_mode(0o644));
            let _ = made.map(|marker| File::from(marker).write_all(self.id.as_bytes()));
        })
    }
}
