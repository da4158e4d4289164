//! Sources, and how they are compiled. Whole builds of PostgreSQL are live tests.

mod content;
mod recipes;
mod steps;

use super::recipe::{Places, Recipe, Recipes};
use rqps_model::Engine;
use rqps_model::build::{BuildSource, BuildSpec, SourceSpec};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A folder that the account of steps may enter.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("opened");
    folder
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    run("git", &[&["-c", "user.name=n", "-c", "user.email=e"], arguments].concat(), folder)
}

/// A repository with one commit on `master`.
fn repository() -> tempfile::TempDir {
    let folder = folder();
    git(folder.path(), &["init", "--quiet", "--initial-branch=master"]);
    write(folder.path(), &[("configure", "one\n"), ("src/backend/Makefile", "two\n"), (".gitignore", "*.o\n")]);
    run("chmod", &["+x", "configure"], folder.path());
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    folder
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().expect("below the folder")).expect("made");
        fs::write(file, text).expect("written");
    }
}

fn spec(text: &str) -> SourceSpec {
    match format!("postgres:{text}").parse::<BuildSpec>().expect("a build").source {
        BuildSource::Source(source) => source,
        other => panic!("{other:?} is no source"),
    }
}

fn recipe() -> Recipe {
    Recipes::built_in().recipe(Engine::Postgres).clone()
}

const PLACES: Places<'static> = Places { tree: "/t", stage: "/s", jobs: 2 };
