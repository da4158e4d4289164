//! The client on libpq or libmariadb that rqps is measured against on transactions: built where there is a compiler.
//!
//! In: an engine, a file of calls, where the server listens. Out: a command, or what to install.

use crate::engine::kind;
use crate::place::Place;
use anyhow::{Context, Result, bail};
use rqps_model::Engine;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = include_str!("library.c");

/// The built program.
#[derive(Debug)]
pub(crate) struct LibraryClient {
    /// The library's name.
    pub(crate) name: &'static str,
    program: PathBuf,
}

impl LibraryClient {
    /// Builds it in `folder`.
    pub(crate) fn build(engine: Engine, folder: &Path) -> Result<LibraryClient> {
        let kind = kind(engine);
        let (source, program) = (folder.join("library.c"), folder.join("library-client"));
        std::fs::write(&source, PROGRAM).with_context(|| format!("cannot write {}", source.display()))?;
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O2", "-pthread", "-o"]).arg(&program).arg(&source).args(kind.library_flags);
        let built = compiler.output().context("there is no C compiler: apt-get install gcc libc6-dev")?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr);
            let first = said.lines().next().unwrap_or_default();
            bail!("it cannot be built: apt-get install {} ({first})", kind.library_package);
        }
        Ok(LibraryClient { name: kind.library, program })
    }

    /// The command that makes calls for so many seconds.
    pub(crate) fn command(&self, calls: &Path, place: &Place, users: u32, seconds: f64) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(calls).arg(&place.socket).args([&place.user, &place.database]);
        command.args([users.to_string(), seconds.to_string()]);
        command
    }
}
