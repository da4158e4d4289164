//! Programs that need a C library newer than the machine's: the package brings one, and its programs are set to use
//! it.
//!
//! In: an unpacked installation with the loader and `patchelf` in it. Out: the same programs, which name that loader by
//! its path and look for libraries next to themselves first. It must not change the machine's own libraries or search
//! path.

use crate::{BuildError, Result};
use rqps_machine::MachineError;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the package has the tool.
const TOOL: &str = "bin/patchelf";

/// Folders whose programs are set so.
const FOLDERS: [&str; 2] = ["bin", "sbin"];

/// The loader of an installation.
pub(super) struct Loader<'a> {
    /// Its path inside the installation.
    pub(super) path: &'a Path,
    /// Where its libraries are.
    pub(super) library_folders: &'a [PathBuf],
    /// A further folder of programs, where the package has one.
    pub(super) programs: &'a Path,
}

impl Loader<'_> {
    /// Makes every program of the unpacked `install` use the loader as it will be found at `home`.
    pub(super) fn set(&self, install: &Path, home: &Path) -> Result<()> {
        let interpreter = home.join(self.path);
        for (folder, program) in self.programs(install)? {
            let up = "../".repeat(folder.components().count());
            let folders = self.library_folders.iter().map(|folder| format!("$ORIGIN/{up}{}", folder.display()));
            let search = folders.collect::<Vec<_>>().join(":");
            let mut command = Command::new(install.join(TOOL));
            command.arg("--set-interpreter").arg(&interpreter);
            // The old form of the search path holds for plugins that the program loads, too.
            command.args(["--force-rpath", "--set-rpath", &search]).arg(&program);
            let output = command
                .env_clear()
                .stdin(Stdio::null())
                .output()
                .map_err(BuildError::at("run", &install.join(TOOL)))?;
            if !output.status.success() {
                return Err(MachineError::Program {
                    program: format!("patchelf {}", program.display()),
                    status: output.status.to_string(),
                    output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                }
                .into());
            }
        }
        Ok(())
    }

    /// Removes the tool, which is no part of the build.
    pub(super) fn remove_tool(&self, install: &Path) -> Result<()> {
        let tool = install.join(TOOL);
        fs::remove_file(&tool).map_err(BuildError::at("remove", &tool))
    }

    /// The programs of an installation with their folders below it, but the tool itself, scripts and links.
    fn programs(&self, install: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
        let mut programs = Vec::new();
        let own = Some(self.programs).filter(|own| !own.as_os_str().is_empty());
        for folder in FOLDERS.iter().map(Path::new).chain(own).filter(|folder| install.join(folder).is_dir()) {
            let place = install.join(folder);
            for entry in fs::read_dir(&place).map_err(BuildError::at("list", &place))?.flatten() {
                let path = entry.path();
                let mode = |meta: fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
                let is_plain = entry.metadata().is_ok_and(mode);
                if is_plain && path != install.join(TOOL) && is_elf(&path) {
                    programs.push((folder.to_owned(), path));
                }
            }
        }
        Ok(programs)
    }
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}
