//! The user's own files in addition to what is compiled in.
//!
//! In: a kind (`catalog`, `profiles`, `workloads`). Out: the files of that kind in the user's configuration folder. It
//! must not interpret them.

use crate::{MachineError, Result};
use std::fs;
use std::path::{Path, PathBuf};

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
