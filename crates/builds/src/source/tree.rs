//! A source tree that no git knows: its files, their digest and a copy of them.
//!
//! In: a folder. Out: a digest of what is in it (paths, contents, what may be executed), and the same files elsewhere.
//! It must not write into the folder.

use crate::verify::{sha256_bytes, sha256_file};
use crate::{BuildError, Result};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Folders that belong to a tool and not to the source.
const NOT_SOURCE: [&str; 3] = [".git", ".hg", ".svn"];

/// The digest of all files below a folder.
pub fn digest(folder: &Path) -> Result<String> {
    let mut lines = String::new();
    for path in files(folder)? {
        let file = folder.join(&path);
        let meta = fs::symlink_metadata(&file).map_err(BuildError::at("look at", &file))?;
        let content = if meta.is_symlink() {
            let target = fs::read_link(&file).map_err(BuildError::at("read", &file))?;
            format!("-> {}", target.display())
        } else {
            let runs = meta.permissions().mode() & 0o111 != 0;
            format!("{} {}", sha256_file(&file)?, if runs { "x" } else { "-" })
        };
        lines.push_str(&format!("{content}\t{}\n", path.display()));
    }
    Ok(sha256_bytes(lines.as_bytes()))
}

/// The symbolic links below a folder and where they lead.
pub fn links(folder: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let links = files(folder)?.into_iter().filter(|path| folder.join(path).is_symlink());
    let read = |path: PathBuf| {
        let to = fs::read_link(folder.join(&path)).map_err(BuildError::at("read", &path))?;
        Ok((path, to))
    };
    links.map(read).collect()
}

/// Copies all files below a folder into another, which exists.
pub fn copy(folder: &Path, to: &Path) -> Result<()> {
    for path in files(folder)? {
        let (from, to) = (folder.join(&path), to.join(&path));
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(BuildError::at("create", parent))?;
        }
        let meta = fs::symlink_metadata(&from).map_err(BuildError::at("look at", &from))?;
        if meta.is_symlink() {
            let target = fs::read_link(&from).map_err(BuildError::at("read", &from))?;
            symlink(&target, &to).map_err(BuildError::at("create", &to))?;
        } else {
            fs::copy(&from, &to).map_err(BuildError::at("copy", &from))?;
        }
    }
    Ok(())
}

/// Gives a folder with all that is in it to an account, links themselves and not what they lead to.
pub fn give(folder: &Path, owner: rqps_machine::Account) -> Result<()> {
    let one = |path: &Path| {
        let given = std::os::unix::fs::lchown(path, Some(owner.uid), Some(owner.gid));
        given.map_err(BuildError::at("hand over", path))
    };
    one(folder)?;
    for entry in fs::read_dir(folder).map_err(BuildError::at("list", folder))? {
        let entry = entry.map_err(BuildError::at("list", folder))?;
        let kind = entry.file_type().map_err(BuildError::at("look at", &entry.path()))?;
        if kind.is_dir() { give(&entry.path(), owner)? } else { one(&entry.path())? }
    }
    Ok(())
}

/// Lets everybody read a file, or a folder with all that is in it, and run or enter what its owner may: steps make
/// files under the user's umask.
pub fn open_to_all(path: &Path) -> Result<()> {
    let meta = fs::symlink_metadata(path).map_err(BuildError::at("look at", path))?;
    if meta.is_symlink() {
        return Ok(());
    }
    let mode = if meta.is_dir() || meta.permissions().mode() & 0o111 != 0 { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(BuildError::at("open up", path))?;
    if meta.is_dir() {
        for entry in fs::read_dir(path).map_err(BuildError::at("list", path))? {
            open_to_all(&entry.map_err(BuildError::at("list", path))?.path())?;
        }
    }
    Ok(())
}

/// Files and links below a folder by their paths from there, sorted; what is neither has no place in a source.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(inner) = folders.pop() {
        let listed = folder.join(&inner);
        for entry in fs::read_dir(&listed).map_err(BuildError::at("list", &listed))? {
            let entry = entry.map_err(BuildError::at("list", &listed))?;
            let kind = entry.file_type().map_err(BuildError::at("look at", &entry.path()))?;
            let path = inner.join(entry.file_name());
            if kind.is_dir() {
                let is_source = !NOT_SOURCE.iter().any(|name| entry.file_name() == *name);
                folders.extend(is_source.then_some(path));
            } else if kind.is_file() || kind.is_symlink() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
