//! A file from an address, by `curl`.
//!
//! In: an address that the user gave. Out: the file. It must not follow the address anywhere but to the same kinds of servers.

use super::Client;
use crate::Result;
use std::ffi::OsStr;
use std::path::Path;

pub(super) fn fetch(url: &str, path: &OsStr, file: &Path) -> Result<()> {
    let client = Client::find("curl", "curl", path, url.to_owned())?;
    let mut command = client.command(file.parent().unwrap_or(Path::new("/")));
    command.args(["--fail", "--location", "--silent", "--show-error", "--globoff"]);
    command.args(["--proto", "=https,http,file", "--proto-redir", "=https,http"]);
    command.arg("--output").arg(file).arg("--url").arg(url);
    client.run(&mut command).map(drop)
}
