//! What is no installation, and one that every machine of ours has.

use super::*;
use rqps_machine::Cache;
use std::path::PathBuf;

/// A folder that the servers' account can enter.
fn open_folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().expect("a folder");
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("opened");
    root
}

fn subject(folder: &Path) -> Subject<'_> {
    Subject { folder, engine: Engine::Postgres, origin: "x", label: None, library_folders: &[] }
}

#[test]
fn reports_what_it_looked_for() {
    let root = open_folder();
    let cache = Cache::at(&root.path().join("cache")).expect("a cache");
    let lease = Lease::open(&cache).expect("a lease");
    let wrong = |folder: &Path| inspect(&subject(folder), &lease).expect_err("not an installation").to_string();
    let error = wrong(root.path());
    assert!(
        error.contains("looked for bin/postgres and bin/initdb (bin/postgres and bin/initdb not there)"),
        "{error}"
    );
    assert!(wrong(&root.path().join("absent")).contains("No such file"));
    fs::create_dir(root.path().join("bin")).expect("made");
    for name in ["bin/postgres", "bin/initdb"] {
        fs::write(root.path().join(name), "no program").expect("written");
    }
    assert!(wrong(root.path()).contains("a bin/postgres that runs on this machine"));
}

#[test]
fn finds_the_facts_of_a_folder_of_the_machine() {
    let root = open_folder();
    let cache = Cache::at(&root.path().join("cache")).expect("a cache");
    let lease = Lease::open(&cache).expect("a lease");
    let folder = Path::new("/usr/lib/postgresql/15");
    let facts = inspect(&subject(folder), &lease).expect("inspected");
    assert_eq!(facts.version.major(), 15);
    assert!(facts.name.starts_with("pg15") && facts.name.ends_with("_debian"), "{}", facts.name);
    assert!(facts.compiler.starts_with("gcc") && facts.flags.contains("-O2"), "{facts:?}");
    assert!(facts.configure.contains("--with-lz4") && facts.extensions.contains(&"pg_stat_statements".to_owned()));
    assert!(facts.symbols.contains("frame pointers") && facts.size_bytes > 1 << 20 && facts.sha256.len() == 64);
    let through_bin = inspect(&subject(&folder.join("bin")), &lease).expect("inspected");
    assert_eq!(through_bin.folder, facts.folder);
}

/// A program that prints what a server would.
fn speaking(folder: &Path, name: &str, words: &str) {
    script(folder, name, &format!("echo '{words}'"));
}

/// Written by another process: a program that one of our threads starts meanwhile would hold our own file open for
/// writing until it is there itself, and what is open for writing cannot be run.
fn script(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().expect("below the folder")).expect("made");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\""]).arg(&file).arg(text);
    assert!(shell.status().expect("a shell").success());
}

#[test]
fn a_program_is_run_under_the_servers_account_and_without_the_machines_configuration() {
    let root = open_folder();
    let cache = Cache::at(&root.path().join("cache")).expect("a cache");
    let lease = Lease::open(&cache).expect("a lease");
    let uid = Account::choose().uid;
    let told = r#"echo "mysqld  Ver 9.4.0 for $(id -u) asked $* ($LD_LIBRARY_PATH)""#;
    script(root.path(), "bin/mysqld", told);
    let mysql = Subject { engine: Engine::Mysql, ..subject(root.path()) };
    let banner = inspect(&mysql, &lease).expect("inspected").banner;
    assert_eq!(banner, format!("mysqld Ver 9.4.0 for {uid} asked --no-defaults --version ()"));
    let library_folders = [PathBuf::from("lib/private")];
    let banner = inspect(&Subject { library_folders: &library_folders, ..mysql }, &lease).expect("inspected").banner;
    assert!(
        banner.ends_with(&format!("({})", root.path().canonicalize().expect("a path").join("lib/private").display()))
    );

    script(root.path(), "bin/mysqld", "echo 'no library' >&2; exit 7");
    let error = inspect(&mysql, &lease).expect_err("it fails").to_string();
    assert!(error.contains("bin/mysqld --version` failed (exit status: 7): no library"), "{error}");
}

#[test]
fn takes_neither_engine_for_the_other() {
    let root = open_folder();
    let cache = Cache::at(&root.path().join("cache")).expect("a cache");
    let lease = Lease::open(&cache).expect("a lease");
    let cases = [
        ("bin/mysqld", "mysqld  Ver 10.2.11-MariaDB for Linux (MariaDB Server)", Engine::Mysql, "MariaDB 10.2.11"),
        ("sbin/mariadbd", "mariadbd  Ver 12.1.2-MariaDB for Linux (MariaDB Server)", Engine::Mysql, "MariaDB 12.1.2"),
        (
            "bin/mysqld",
            "mysqld  Ver 9.4.0 for Linux on x86_64 (MySQL Community Server)",
            Engine::Mariadb,
            "MySQL 9.4.0",
        ),
    ];
    for (at, (program, words, engine, found)) in cases.into_iter().enumerate() {
        let folder = root.path().join(at.to_string());
        speaking(&folder, program, words);
        let wrong = inspect(&Subject { engine, ..subject(&folder) }, &lease).expect_err("refused").to_string();
        assert!(wrong.contains(&format!("holds {found}, not {}", engine.title())), "{wrong}");
        let other = if engine == Engine::Mysql { Engine::Mariadb } else { Engine::Mysql };
        let right = inspect(&Subject { engine: other, ..subject(&folder) }, &lease).expect("as it is");
        assert_eq!((right.engine, right.name.ends_with("_local")), (other, true), "{right:?}");
    }
    let error = inspect(&Subject { engine: Engine::Mysql, ..subject(root.path()) }, &lease).expect_err("nothing there");
    assert!(error.to_string().contains("looked for mysqld in bin/, sbin/, libexec/"), "{error}");
}

#[test]
fn a_banner_has_no_path() {
    assert_eq!(without_path("/a/b/mysqld  Ver 8.0.33 for Linux"), "mysqld Ver 8.0.33 for Linux");
}
