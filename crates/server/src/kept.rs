//! Data folders as they are right after initialisation, kept in the cache: to make one takes a server seconds, a copy a
//! fraction of one.
//!
//! In: a build and what its initialisation depends on. Out: a copy where the caller wants it, checked against its
//! seal, or nothing where there is none that is whole; and a folder that was just made is kept for the next time.
//! What is kept is made next to its place and published by rename, so that no lock is needed: a process that finds it
//! gone or damaged makes the folder anew. The least recently used go when all together grow too large. It must not run
//! a program.

use crate::{Result, ServerError};
use rqps_builds::verify;
use rqps_machine::copy::{CopyMethod, copy_tree};
use rqps_machine::{Account, Lease, remove_tree};
use rqps_model::facts::BuildFacts;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

/// The folder in the cache.
const FOLDER: &str = "initialised";

/// What is in the folder of each: the data, and the seal, by which it is known to be whole. It tells damage and no
/// forgery: a checksum of each file does, and takes a small part of the time of a digest.
const DATA: &str = "data";
const SEAL: &str = "seal";

/// Part of every key. Raise it when `data_folder::initialise` of an engine puts something else into a data folder than
/// before: other options, users, databases, files. Then all are made anew.
const CONTENTS_VERSION: u32 = 1;

const BUFFER_BYTES: usize = 1 << 16;

/// What all together may take.
const BYTES_MAX: u64 = 2 << 30;

/// A data folder that is kept, or will be.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    folder: PathBuf,
    lease: &'a Lease,
}

#[derive(Debug)]
struct Seal {
    /// Of the names, owners, modes and checksums of all files.
    digest: String,
    bytes: u64,
}

impl<'a> Kept<'a> {
    /// That of a build, keyed by all that decides what is in it.
    pub(crate) fn of(build: &BuildFacts, account: Account, checksums: bool, lease: &'a Lease) -> Kept<'a> {
        let (folder, uid) = (build.folder.display(), account.uid);
        let key = format!("{CONTENTS_VERSION} {} {} {folder} {uid} {checksums}", build.engine, build.sha256);
        let digest = verify::sha256_bytes(key.as_bytes());
        // Not by the name of the build, which the user gives.
        Kept::named(&format!("{}-{}", build.version.compact(build.engine), &digest[..16]), lease)
    }

    fn named(name: &str, lease: &'a Lease) -> Kept<'a> {
        Kept { folder: lease.cache().root().join(FOLDER).join(name), lease }
    }

    /// Copies it to a folder that does not exist or is empty; returns whether it did. Where none is kept, or none that
    /// is whole, it leaves nothing there.
    pub(crate) fn copy_to(&self, dir: &Path) -> bool {
        let Some(seal) = read_seal(&self.folder) else { return false };
        let _ = fs::remove_dir(dir);
        let copied = copy(&self.folder.join(DATA), dir).is_ok();
        // The copy is checked, not what it was made of, which another process may be replacing.
        let is_whole = copied && Seal::of(dir).is_ok_and(|found| found.digest == seal.digest);
        if is_whole {
            // Records the last use; where that is refused, the cache belongs to another user, who looks after it.
            let _ =
                File::options().append(true).open(self.folder.join(SEAL)).map(|f| f.set_modified(SystemTime::now()));
        } else {
            let _ = remove_tree(dir);
        }
        is_whole
    }

    /// Keeps a copy of a data folder that was just made, in the place of one that is damaged.
    pub(crate) fn keep(&self, dir: &Path) -> Result<()> {
        let parent = self.folder.parent().unwrap_or(Path::new("/"));
        // What is made in it and what is put away into it go with it, also when we are killed.
        let beside = self.lease.folder(parent, "keep", 0o711)?;
        let new = beside.path().join("new");
        fs::create_dir(&new).map_err(ServerError::at("create", &new))?;
        fs::set_permissions(&new, Permissions::from_mode(0o711)).map_err(ServerError::at("open up", &new))?;
        copy(dir, &new.join(DATA))?;
        let Seal { digest, bytes } = Seal::of(&new.join(DATA))?;
        fs::write(new.join(SEAL), format!("{digest} {bytes}\n")).map_err(ServerError::at("write", &new))?;
        let _ = fs::rename(&self.folder, beside.path().join("old"));
        fs::rename(&new, &self.folder).map_err(ServerError::at("publish", &self.folder))?;
        put_away(parent, beside.path(), BYTES_MAX);
        Ok(())
    }
}

/// Copies a folder, sharing blocks where the file system can: cache and data may be on different disks.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let copy = |method| copy_tree(from, to, method, &AtomicBool::new(false));
    copy(CopyMethod::Reflink).or_else(|_| copy(CopyMethod::Plain))?;
    Ok(())
}

/// Moves what was used least recently from a folder to another until the rest is small enough; the last used stays.
fn put_away(parent: &Path, to: &Path, bytes_max: u64) {
    let folders = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let used = |folder: &Path| fs::metadata(folder.join(SEAL)).and_then(|meta| meta.modified()).ok();
    let mut kept: Vec<(SystemTime, u64, PathBuf)> = folders
        .filter_map(|folder| Some((used(&folder)?, read_seal(&folder).map_or(u64::MAX, |seal| seal.bytes), folder)))
        .collect();
    kept.sort_by(|a, b| b.cmp(a));
    let mut bytes = 0u64;
    for (at, (_, size, folder)) in kept.iter().enumerate() {
        bytes = bytes.saturating_add(*size);
        if at > 0 && bytes > bytes_max {
            // A process that is copying it finds files missing, and makes the folder anew.
            let _ = fs::rename(folder, to.join(at.to_string()));
        }
    }
}

fn read_seal(folder: &Path) -> Option<Seal> {
    let text = fs::read_to_string(folder.join(SEAL)).ok()?;
    let (digest, bytes) = text.trim_end().split_once(' ')?;
    Some(Seal { digest: digest.to_owned(), bytes: bytes.parse().ok()? })
}

impl Seal {
    /// Of all files, links and folders below a folder, with their modes.
    fn of(folder: &Path) -> Result<Seal> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        let mut folders = vec![folder.to_owned()];
        while let Some(inner) = folders.pop() {
            for entry in fs::read_dir(&inner).map_err(ServerError::at("list", &inner))? {
                let path = entry.map_err(ServerError::at("list", &inner))?.path();
                let meta = fs::symlink_metadata(&path).map_err(ServerError::at("look at", &path))?;
                let what = if meta.is_dir() {
                    folders.push(path.clone());
                    String::new()
                } else if meta.is_symlink() {
                    format!("{:?}", fs::read_link(&path).map_err(ServerError::at("read", &path))?)
                } else {
                    bytes += meta.blocks() * 512;
                    checksum(&path).map_err(ServerError::at("read", &path))?
                };
                let name = path.strip_prefix(folder).expect("it was listed below the folder");
                lines.push(format!("{name:?} {:o} {} {what}\n", meta.mode(), meta.uid()));
            }
        }
        lines.sort();
        Ok(Seal { digest: verify::sha256_bytes(lines.concat().as_bytes()), bytes })
    }
}

/// The length of a file and its CRC-32.
fn checksum(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let (mut crc, mut length, mut buffer) = (crc32fast::Hasher::new(), 0, vec![0; BUFFER_BYTES]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{length} {:08x}", crc.finalize())),
            read => {
                crc.update(&buffer[..read]);
                length += read;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_machine::Cache;
    use rqps_model::Engine;
    use std::collections::BTreeSet;

    struct Scene {
        root: tempfile::TempDir,
        lease: Lease,
    }

    impl Scene {
        fn new() -> Scene {
            let root = tempfile::tempdir().expect("a folder");
            let lease = Lease::open(&Cache::at(&root.path().join("cache")).expect("a cache")).expect("a lease");
            let made = root.path().join("made");
            fs::create_dir_all(made.join("base/empty")).expect("made");
            fs::write(made.join("base/1"), vec![7; 20_000]).expect("written");
            fs::set_permissions(&made, Permissions::from_mode(0o700)).expect("closed");
            Scene { root, lease }
        }

        fn made(&self) -> PathBuf {
            self.root.path().join("made")
        }

        fn copies(&self, kept: &Kept<'_>) -> bool {
            let to = self.root.path().join("copy");
            let copied = kept.copy_to(&to);
            assert_eq!(copied, to.exists(), "there is a copy, or nothing");
            if copied {
                assert!(Seal::of(&to).expect("read").digest == Seal::of(&self.made()).expect("read").digest);
                remove_tree(&to).expect("removed");
            }
            copied
        }

        fn entries(&self) -> Vec<String> {
            let folder = self.lease.cache().root().join(FOLDER);
            let mut names: Vec<String> = fs::read_dir(folder)
                .expect("listed")
                .flatten()
                .map(|e| e.file_name().into_string().expect("text"))
                .collect();
            names.sort();
            names
        }
    }

    #[test]
    fn what_is_kept_is_copied_and_what_is_damaged_is_not() {
        let scene = Scene::new();
        let kept = Kept::named("pg", &scene.lease);
        assert!(!scene.copies(&kept), "nothing is kept yet");
        kept.keep(&scene.made()).expect("kept");
        assert!(scene.copies(&kept));
        fs::create_dir(scene.root.path().join("copy")).expect("an empty folder may be there");
        assert!(scene.copies(&kept));
        let damages: [&dyn Fn(&Path); 4] = [
            &|data| fs::write(data.join("base/1"), vec![8; 20_000]).expect("written"),
            &|data| fs::remove_dir(data.join("base/empty")).expect("removed"),
            &|data| fs::write(data.join("base/2"), "").expect("written"),
            &|data| fs::set_permissions(data.join("base/1"), Permissions::from_mode(0o600)).expect("changed"),
        ];
        for damage in damages {
            damage(&kept.folder.join(DATA));
            assert!(!scene.copies(&kept), "damaged");
            kept.keep(&scene.made()).expect("kept anew");
            assert!(scene.copies(&kept));
        }
        fs::write(kept.folder.join(SEAL), "").expect("written");
        assert!(!scene.copies(&kept), "without a seal");
        assert_eq!(scene.entries(), ["pg"], "nothing else is left");
    }

    #[test]
    fn each_build_account_and_setting_has_its_own() {
        let scene = Scene::new();
        let build = |sha256: &str, folder: &str, engine| BuildFacts {
            folder: folder.into(),
            sha256: sha256.to_owned(),
            ..BuildFacts::unknown(engine, "11.4.5".parse().expect("a version"))
        };
        let of = |build: &BuildFacts, uid, checksums| {
            Kept::of(build, Account { uid, ..Account::choose() }, checksums, &scene.lease).folder
        };
        let one = build("aa", "/a", Engine::Mysql);
        assert_eq!(of(&one, 1, true), of(&BuildFacts { name: "other".to_owned(), ..one.clone() }, 1, true));
        let others = [
            of(&one, 1, true),
            of(&one, 1, false),
            of(&one, 2, true),
            of(&build("bb", "/a", Engine::Mysql), 1, true),
            of(&build("aa", "/b", Engine::Mysql), 1, true),
            of(&build("aa", "/a", Engine::Mariadb), 1, true),
        ];
        assert_eq!(BTreeSet::from(others).len(), 6);
    }

    #[test]
    fn what_was_used_least_recently_goes() {
        let scene = Scene::new();
        for name in ["a", "b", "c"] {
            Kept::named(name, &scene.lease).keep(&scene.made()).expect("kept");
        }
        assert!(scene.copies(&Kept::named("a", &scene.lease)));
        let size = read_seal(&Kept::named("a", &scene.lease).folder).expect("sealed").bytes;
        let parent = scene.lease.cache().root().join(FOLDER);
        put_away(&parent, scene.root.path(), 2 * size);
        assert_eq!(scene.entries(), ["a", "c"]);
        put_away(&parent, &scene.root.path().join("made"), 0);
        assert_eq!(scene.entries(), ["a"], "the last used stays");
    }

    #[test]
    fn many_may_keep_and_copy_at_once() {
        let scene = Scene::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (scene, made) = (&scene, scene.made());
                scope.spawn(move || {
                    let kept = Kept::named("pg", &scene.lease);
                    for n in 0..10 {
                        // Only one of those that publish at the same moment may.
                        let _ = kept.keep(&made);
                        let to = scene.root.path().join(format!("copy-{thread}-{n}"));
                        if kept.copy_to(&to) {
                            assert_eq!(Seal::of(&to).expect("read").digest, Seal::of(&made).expect("read").digest);
                        }
                    }
                });
            }
        });
        assert!(scene.copies(&Kept::named("pg", &scene.lease)));
        assert_eq!(scene.entries(), ["pg"]);
    }
}
