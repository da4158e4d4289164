//! Where things are inside an installation: its server program and its plugins, for every layout that packagers use.
//!
//! In: the folder of an installation. Out: paths that are there, or an error that names the places looked at. It must
//! not run anything, and is the one place that knows these layouts.

use crate::{BuildError, Result};
use rqps_machine::Account;
use rqps_machine::command::{self, OnParentDeath};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of programs, the usual first; some packages have the server in the installation folder itself.
pub(crate) const PROGRAM_FOLDERS: [&str; 4] = ["bin", "sbin", "libexec", ""];

/// Folders of plugins, of official tarballs and of the distributions.
const PLUGIN_FOLDERS: [&str; 6] = [
    "lib/plugin",
    "lib/mysql/plugin",
    "lib64/mysql/plugin",
    "lib/mariadb/plugin",
    "lib64/mariadb/plugin",
    "libs/plugin",
];

/// The server program of a build.
pub fn program(build: &BuildFacts) -> Result<PathBuf> {
    find(&build.folder, build.engine.server_programs()).ok_or_else(|| BuildError::NotAnInstallation {
        folder: build.folder.clone(),
        engine: build.engine.name().to_owned(),
        looked_for: looked_for(build.engine),
    })
}

/// The folder of a build's plugins, where it has one.
pub fn plugin_folder(build: &BuildFacts) -> Option<PathBuf> {
    plugins_of(&build.folder)
}

pub(crate) fn plugins_of(folder: &Path) -> Option<PathBuf> {
    PLUGIN_FOLDERS.iter().map(|name| folder.join(name)).find(|path| path.is_dir())
}

/// The server program in an installation folder, if it is there under one of these names.
pub(crate) fn find(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let places = PROGRAM_FOLDERS.iter().map(|place| folder.join(place));
    places.flat_map(|place| names.iter().map(move |name| place.join(name))).find(|path| path.is_file())
}

/// What [`find`] looks for, in words.
pub(crate) fn looked_for(engine: Engine) -> String {
    let places = ["bin/", "sbin/", "libexec/"];
    format!("{} in {} or the folder itself (not there)", engine.server_programs().join(" or "), places.join(", "))
}

/// The server program of a build under an account, with the build's own libraries where it needs them.
pub fn server_program(build: &BuildFacts, account: Account, on_death: OnParentDeath) -> Result<Command> {
    let server = program(build)?;
    let server = std::fs::canonicalize(&server).map_err(BuildError::at("find", &server))?;
    Ok(command::program_with(account, on_death, &server, &build.folder, &build.library_folders))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn finds_the_server_in_every_layout() {
        let cases = [
            (Engine::Mysql, "bin/mysqld", true),
            (Engine::Mysql, "mysqld", true),
            (Engine::Mysql, "bin/mariadbd", false),
            (Engine::Mariadb, "sbin/mariadbd", true),
            (Engine::Mariadb, "bin/mysqld", true),
            (Engine::Mariadb, "libexec/mariadbd", true),
            (Engine::Postgres, "bin/postgres", true),
            (Engine::Postgres, "share/postgres", false),
        ];
        for (engine, file, there) in cases {
            let root = tempfile::tempdir().expect("a folder");
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("made");
            fs::write(&path, "").expect("written");
            assert_eq!(find(root.path(), engine.server_programs()), there.then_some(path), "{engine} {file}");
        }
        let both = tempfile::tempdir().expect("a folder");
        for name in ["mysqld", "mariadbd"] {
            fs::write(both.path().join(name), "").expect("written");
        }
        assert_eq!(find(both.path(), Engine::Mariadb.server_programs()), Some(both.path().join("mariadbd")));
        assert_eq!(plugins_of(both.path()), None);
        fs::create_dir_all(both.path().join("lib/mysql/plugin")).expect("made");
        assert_eq!(plugins_of(both.path()), Some(both.path().join("lib/mysql/plugin")));
    }
}
