//! Builds from archives of the user's own, by path and by address: unpacked once, distinguished by their digests,
//! refused when broken, evil or something else.
//!
//! The archives are made here of builds that are installed; addresses are served by the test itself.

use crate::scene::build;
use rqps_builds::installation::{self, Progress};
use rqps_builds::{BuildError, Catalog, program, verify};
use rqps_machine::Cache;
use rqps_model::facts::BuildFacts;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A test's own cache, and a folder for its archives.
struct Shelf {
    root: tempfile::TempDir,
    cache: Cache,
}

impl Shelf {
    fn new() -> Shelf {
        let root = tempfile::tempdir().expect("a folder");
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("opened");
        let cache = Cache::at(&root.path().join("cache")).expect("a cache");
        Shelf { root, cache }
    }

    /// Packs an installed build as its project would: one folder around everything.
    fn pack(&self, build: &BuildFacts, file: &str, also: Option<(&str, &str)>) -> PathBuf {
        let path = self.root.path().join(file);
        let added = self.root.path().join(format!("added-{file}"));
        fs::create_dir(&added).expect("made");
        if let Some((name, text)) = also {
            fs::create_dir_all(added.join(name).parent().expect("a parent")).expect("made");
            fs::write(added.join(name), text).expect("written");
        }
        let mut tar = Command::new("tar");
        tar.env("GZIP_OPT", "-1").env("XZ_OPT", "-0").arg("-caf").arg(&path);
        tar.args(["--transform", "s,^\\.,dbms-1.2.3-linux-x86_64,SH"]);
        tar.arg("-C").arg(&build.folder).arg(".").arg("-C").arg(&added).arg(".");
        assert!(tar.status().expect("tar runs").success());
        path
    }

    fn install(&self, word: &str) -> (Result<BuildFacts, BuildError>, Vec<Progress>) {
        let mut steps = Vec::new();
        let spec = word.parse().expect("a build");
        let result = installation::install(&spec, &Catalog::default(), &self.cache, &mut |step| steps.push(step));
        (result, steps)
    }

    /// Installs, and finds that it is refused and nothing is left of it.
    fn refused(&self, word: &str) -> String {
        let before = self.cache.build_names().expect("listed");
        let error = self.install(word).0.expect_err(word).to_string();
        let parts = fs::read_dir(self.cache.root().join("builds")).expect("listed").flatten();
        let parts = parts.filter(|entry| entry.file_name().to_string_lossy().starts_with(".part"));
        assert_eq!((parts.count(), self.cache.build_names().expect("listed")), (0, before), "{error}");
        error
    }
}

/// Serves a file to any client, and counts how often.
struct Web {
    address: String,
    asked: &'static AtomicUsize,
}

impl Web {
    fn serve(content: Vec<u8>) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("127.0.0.1:{}", listener.local_addr().expect("an address").port());
        let asked: &'static AtomicUsize = Box::leak(Box::default());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines();
                let request = lines.next().and_then(Result::ok).unwrap_or_default();
                lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
                asked.fetch_add(1, Ordering::SeqCst);
                let (status, body) = if request.contains("/my.tar.gz") {
                    ("200 OK", &content[..])
                } else {
                    ("404 Not Found", &b"no"[..])
                };
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                // A client that has seen enough may hang up.
                let _ = (&stream).write_all(head.as_bytes()).and_then(|()| (&stream).write_all(body));
            }
        });
        Web { address, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[test]
fn an_archive_is_unpacked_once_and_distinct_from_others_of_its_version() {
    let shelf = Shelf::new();
    let built = build("mysql:5.7.22");
    let first = shelf.pack(&built, "my.tar.gz", Some(("mysql-test/t/big.test", "left out")));
    let word = format!("mysql:{}", first.display());
    let (facts, steps) = shelf.install(&word);
    let facts = facts.expect("installed");
    assert_eq!((facts.name.as_str(), facts.version.to_string().as_str()), ("my5722_tarball", "5.7.22"));
    assert_eq!((&facts.compiler, &facts.flags), (&built.compiler, &built.flags));
    assert_eq!(facts.origin, first.display().to_string());
    assert_eq!(facts.sha256, verify::sha256_file(&first).expect("read"));
    assert!(program(&facts).expect("it has a server").ends_with("install/bin/mysqld"));
    assert!(!facts.folder.join("mysql-test").exists());
    assert_eq!(steps.len(), 3, "unpacked, inspected, installed: {steps:?}");
    installation::verify(&shelf.cache, &facts.name).expect("as installed");

    let (again, steps) = shelf.install(&word);
    assert_eq!((again.expect("there"), steps), (facts.clone(), Vec::new()));
    let second = shelf.pack(&built, "other.tar.xz", Some(("README.patched", "another")));
    let other = shelf.install(&format!("mysql:{}", second.display())).0.expect("installed");
    assert_eq!(other.name, format!("my5722_tarball_{}", &other.sha256[..8]));
    assert_eq!(installation::list(&shelf.cache).expect("listed").len(), 2);
    // It is the same archive wherever it lies.
    let moved = shelf.root.path().join("moved.tgz");
    fs::rename(&first, &moved).expect("moved");
    let (found, steps) = shelf.install(&format!("mysql:{}", moved.display()));
    assert_eq!((found.expect("there").name, steps.len()), (facts.name, 0));

    let error = shelf.refused(&format!("mariadb:{}", moved.display()));
    assert!(error.contains("holds MySQL 5.7.22, not MariaDB; write mysql:"), "{error}");
}

#[test]
fn an_address_is_fetched_checked_and_not_fetched_again() {
    let shelf = Shelf::new();
    let archive = shelf.pack(&build("mysql:5.7.22"), "my.tar.gz", None);
    let sha256 = verify::sha256_file(&archive).expect("read");
    let web = Web::serve(fs::read(&archive).expect("read"));
    let url = format!("mysql:http://user:secret@{}/dir/my.tar.gz?x=y", web.address);

    let error = shelf.refused(&format!("{url}#sha256={}", "0".repeat(64)));
    assert!(error.contains(&sha256) && error.contains("#sha256=") && !error.contains("secret"), "{error}");
    let (facts, steps) = shelf.install(&url);
    let facts = facts.expect("installed");
    let told = format!("http://{}/dir/my.tar.gz?x=y", web.address);
    assert_eq!((facts.name.as_str(), facts.origin.as_str(), &facts.sha256), ("my5722_tarball", told.as_str(), &sha256));
    assert!(steps.contains(&Progress::Unpinned { url: told, sha256: sha256.clone() }), "{steps:?}");
    assert_eq!(web.asked(), 2);

    let (again, steps) = shelf.install(&url);
    assert_eq!(again.expect("there"), facts);
    assert_eq!(steps, [Progress::Kept { name: facts.name.clone(), sha256: sha256.clone() }]);
    let (pinned, steps) = shelf.install(&format!("mysql:https://nowhere.invalid/x.tgz#sha256={sha256}"));
    assert_eq!((pinned.expect("the same archive").name, steps), (facts.name, Vec::new()));
    assert_eq!(web.asked(), 2, "nothing more was fetched");

    let error = shelf.refused(&format!("mysql:http://user:secret@{}/absent.tar.gz", web.address));
    assert!(error.contains("`curl` could not fetch") && error.contains("404"), "{error}");
    assert!(error.contains("/absent.tar.gz") && !error.contains("secret"), "{error}");
    let by_file = shelf.install(&format!("mysql:file://{}#sha256={sha256}", archive.display()));
    assert!(by_file.0.is_ok() && by_file.1.is_empty());
}

#[test]
fn a_postgres_tarball_is_a_build_too() {
    let shelf = Shelf::new();
    let built = build("postgres:16.15");
    let archive = shelf.pack(&built, "pg.tar.gz", None);
    let facts = shelf.install(&format!("postgres:{}", archive.display())).0.expect("installed");
    assert_eq!((facts.name.as_str(), &facts.configure), ("pg1615_tarball", &built.configure));
    let error = shelf.refused(&format!("mysql:{}", shelf.pack(&built, "pg.tgz", Some(("x", "y"))).display()));
    assert!(error.contains("looked for mysqld"), "{error}");
}

#[test]
fn what_is_broken_or_evil_leaves_nothing() {
    let shelf = Shelf::new();
    let archive = shelf.pack(&build("mysql:5.7.22"), "my.tar.gz", None);
    let whole = fs::read(&archive).expect("read");
    let cut = shelf.root.path().join("cut.tar.gz");
    for length in [0, 1000, whole.len() / 2, whole.len() - 4] {
        fs::write(&cut, &whole[..length]).expect("written");
        let error = shelf.refused(&format!("mysql:{}", cut.display()));
        assert!(error.contains("cut.tar.gz is not a whole archive"), "{length}: {error}");
    }
    let folder = shelf.root.path().join("evil/top");
    fs::create_dir_all(folder.join("bin")).expect("made");
    symlink("../../../evil", folder.join("bin/mysqld")).expect("made");
    let evil = shelf.root.path().join("evil.tar.xz");
    let mut tar = Command::new("tar");
    tar.arg("-caf").arg(&evil).arg("-C").arg(shelf.root.path().join("evil")).arg("top");
    assert!(tar.status().expect("tar runs").success());
    let error = shelf.refused(&format!("mysql:{}", evil.display()));
    assert!(error.contains("refused to unpack evil.tar.xz") && error.contains("leads out"), "{error}");
    let error = shelf.refused("mysql:/no/such/archive.tar.gz");
    assert!(error.contains("/no/such/archive.tar.gz"), "{error}");
    let error = shelf.refused(&format!("mysql:{}", shelf.root.path().join("cache/builds/.lock.zip").display()));
    assert!(error.contains("cannot open"), "{error}");
}
