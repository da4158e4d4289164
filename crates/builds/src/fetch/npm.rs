//! Packages of npm registries, by `npm pack`.
//!
//! In: name and version. Out: the package's tar. It must not install the package nor run its scripts.

use super::client::Client;
use super::package::Package;
use crate::{BuildError, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn fetch(package: &Package, path: &OsStr, folder: &Path) -> Result<PathBuf> {
    let client = Client::find("npm", "npm", path, package.to_string())?;
    let mut command = client.command(folder);
    command.args(["pack", "--ignore-scripts", "--no-update-notifier", "--no-fund", &package.to_string()]);
    client.run(&mut command)?;
    let listed = fs::read_dir(folder).map_err(BuildError::at("list", folder))?;
    let tar = listed.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "tgz"));
    tar.ok_or_else(|| client.failed("it said nothing and left no file".to_owned()))
}
