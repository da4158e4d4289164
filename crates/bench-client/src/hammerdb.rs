//! HammerDB's own virtual users, from a checkout that the user names: nothing of HammerDB is kept here.
//!
//! In: the checkout, where the server listens. Out: its routines on the server, commands that run its users.

use crate::child;
use crate::engine::kind;
use crate::place::Place;
use anyhow::{Context, Result, bail};
use rqps_machine::command::find_in_path;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = include_str!("hammerdb.tcl");

const SHELL: &str = "tclsh";

/// A checkout that can be run.
#[derive(Debug)]
pub(crate) struct Hammerdb {
    checkout: PathBuf,
    program: PathBuf,
}

impl Hammerdb {
    /// Refuses a folder that is no checkout.
    pub(crate) fn check(checkout: &Path) -> Result<()> {
        match ["src", "modules"].into_iter().find(|folder| !checkout.join(folder).is_dir()) {
            Some(folder) => bail!("{} is no checkout of HammerDB: it has no folder `{folder}`", checkout.display()),
            None => Ok(()),
        }
    }

    /// Writes what runs it into `folder`.
    pub(crate) fn prepare(checkout: &Path, folder: &Path) -> Result<Hammerdb> {
        let checkout = std::path::absolute(checkout).with_context(|| format!("cannot find {}", checkout.display()))?;
        let program = folder.join("hammerdb.tcl");
        std::fs::write(&program, PROGRAM).with_context(|| format!("cannot write {}", program.display()))?;
        Ok(Hammerdb { checkout, program })
    }

    /// Makes its routines on the server.
    pub(crate) fn make_routines(&self, place: &Place) -> Result<()> {
        let needs = kind(place.engine).tcl_packages;
        if find_in_path(SHELL, &std::env::var_os("PATH").unwrap_or_default()).is_none() {
            bail!("HammerDB needs {SHELL}: apt-get install {needs}");
        }
        child::run(&mut self.act("routines", place))
            .with_context(|| format!("HammerDB's routines cannot be made (it needs {needs})"))?;
        Ok(())
    }

    /// The command that runs so many users on so many warehouses for so many seconds.
    pub(crate) fn command(&self, place: &Place, (warehouses, users): (u32, u32), seconds: f64) -> Command {
        let mut command = self.act("run", place);
        command.args([warehouses.to_string(), users.to_string(), seconds.to_string()]);
        command
    }

    fn act(&self, act: &str, place: &Place) -> Command {
        let mut command = Command::new(SHELL);
        command.arg(&self.program).arg(act).arg(&self.checkout).arg(kind(place.engine).hammerdb);
        command.arg(&place.socket).args([&place.user, &place.database]);
        command
    }
}
