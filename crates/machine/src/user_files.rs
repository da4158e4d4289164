//! The user's own files in addition to what is compiled in, and where what was learnt about this machine is kept.
//!
//! In: a kind (`catalog`, `profiles`, `workloads`). Out: the files of that kind in the user's configuration folder; the
//! folder of states. It must not interpret them.

use crate::{MachineError, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where rqps keeps what it has learnt about this machine: `$RQPS_STATE`, else `/var/lib/rqps` for root, else
/// `$XDG_STATE_HOME/rqps` or `~/.local/state/rqps`.
pub fn state_folder() -> PathBuf {
    own_folder("RQPS_STATE", "/var/lib/rqps", "XDG_STATE_HOME", ".local/state/rqps")
}

/// The extension of a file that is not yet whole.
pub(crate) const UNPUBLISHED: &str = "part";

/// Writes a file as a whole or not at all, whatever happens meanwhile, and makes the folder that it lies in. Durable
/// before it is published: after a power cut it could else have its name and nothing in it.
pub fn write_whole(file: &Path, content: &[u8]) -> io::Result<()> {
    publish(file, content, File::sync_all)
}

/// The same without waiting for the disk: a power cut shortly afterwards may take it all.
pub(crate) fn write_whole_soon(file: &Path, content: &[u8]) -> io::Result<()> {
    publish(file, content, |_| Ok(()))
}

fn publish(file: &Path, content: &[u8], settle: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let part = file.with_extension(UNPUBLISHED);
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
    let mut written = File::create(&part)?;
    written.write_all(content)?;
    settle(&written)?;
    fs::rename(&part, file)
}

/// A folder of rqps itself: what the environment says, else root's, else the one that `xdg` names, else that in the
/// user's home.
pub(crate) fn own_folder(variable: &str, of_root: &str, xdg: &str, in_home: &str) -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set(variable) {
        folder
    } else if rustix::process::geteuid().is_root() {
        PathBuf::from(of_root)
    } else if let Some(folder) = set(xdg) {
        folder.join("rqps")
    } else {
        set("HOME").unwrap_or_else(|| PathBuf::from("/var/tmp")).join(in_home)
    }
}

/// The user's own `*.toml` of one kind (`catalog`, `profiles`, `workloads`), in order of name.
pub fn user_files(kind: &str) -> Result<Vec<(PathBuf, String)>> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    config.map_or_else(|| Ok(Vec::new()), |config| toml_files(&config.join("rqps").join(kind)))
}

fn toml_files(folder: &Path) -> Result<Vec<(PathBuf, String)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(MachineError::at("list", folder))? {
        let path = entry.map_err(MachineError::at("list", folder))?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = fs::read_to_string(&path).map_err(MachineError::at("read", &path))?;
            files.push((path, text));
        }
    }
    files.sort();
    Ok(files)
}
