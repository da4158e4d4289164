//! Where builds and leases are kept between starts.
//!
//! In: the user's environment. Out: the folder `<root>/builds/<name>` of a build, made by rename and so whole or
//! absent, and the locks that keep two rqps from changing the builds, or from compiling, at once. It must not know what
//! a build is.

use crate::user_files::own_folder;
use crate::{MachineError, Result, remove_tree};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Prefix of folders in which a build is being made; a rqps that holds the lock may clear all of them.
const PART: &str = ".part-";

/// The lock of the builds.
const BUILDS_LOCK: &str = "builds/.lock";

/// The user's cache of builds, and the leases of what runs.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

/// The right to change the builds; given back when dropped.
#[derive(Debug)]
pub struct CacheLock {
    _file: File,
}

/// The right to compile; given back when dropped.
#[derive(Debug)]
pub struct CompileLock {
    _file: File,
}

/// A folder in which a build is being made; removed when dropped before it is published.
#[derive(Debug)]
pub struct Part {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The user's cache: `$RQPS_CACHE`, else `/var/cache/rqps` for root (whose servers run under an account that
    /// cannot enter root's home), else `$XDG_CACHE_HOME/rqps` or `~/.cache/rqps`.
    pub fn open() -> Result<Cache> {
        Cache::at(&own_folder("RQPS_CACHE", "/var/cache/rqps", "XDG_CACHE_HOME", ".cache/rqps"))
    }

    /// A cache in a given folder, which is made if it is not there.
    pub fn at(root: &Path) -> Result<Cache> {
        let root = std::path::absolute(root).map_err(MachineError::at("find", root))?;
        // The mode of a folder that was there before is its owner's business.
        for folder in [root.clone(), root.join("builds"), root.join("leases")] {
            if !folder.is_dir() {
                fs::create_dir_all(&folder).map_err(MachineError::at("create", &folder))?;
                open_to_all(&folder)?;
            }
        }
        Ok(Cache { root })
    }

    /// The folder that all is in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the leases.
    pub fn leases(&self) -> PathBuf {
        self.root.join("leases")
    }

    /// The folder of a build, whether it is there or not.
    pub fn build(&self, name: &str) -> PathBuf {
        self.root.join("builds").join(name)
    }

    /// Names of the builds that are there, sorted.
    pub fn build_names(&self) -> Result<Vec<String>> {
        let folder = self.root.join("builds");
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(MachineError::at("list", &folder))? {
            let name = entry.map_err(MachineError::at("list", &folder))?.file_name();
            names.extend(name.to_str().filter(|n| !n.starts_with('.')).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// Waits for the right to change the builds (`waiting` is called if another rqps has it), and clears what a
    /// rqps that was killed at it left half made.
    pub fn lock(&self, waiting: &mut dyn FnMut()) -> Result<CacheLock> {
        let file = self.lock_file(BUILDS_LOCK, waiting)?;
        self.clear_parts()?;
        Ok(CacheLock { _file: file })
    }

    /// Waits for the right to compile. It is apart from that to change the builds, since compiling takes long and
    /// others may install meanwhile.
    pub fn lock_compiling(&self, waiting: &mut dyn FnMut()) -> Result<CompileLock> {
        self.lock_file(".compiling", waiting).map(|file| CompileLock { _file: file })
    }

    fn lock_file(&self, name: &str, waiting: &mut dyn FnMut()) -> Result<File> {
        let file = self.open_lock(name)?;
        if file.try_lock().is_err() {
            waiting();
            file.lock().map_err(MachineError::at("lock", &self.root.join(name)))?;
        }
        Ok(file)
    }

    fn open_lock(&self, name: &str) -> Result<File> {
        let path = self.root.join(name);
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        file.map_err(MachineError::at("open", &path))
    }

    /// A new folder to make a build in; only for the holder of the lock.
    pub fn part(&self, _lock: &CacheLock, name: &str) -> Result<Part> {
        let folder = self.root.join("builds").join(format!("{PART}{}-{name}", std::process::id()));
        fs::create_dir(&folder).map_err(MachineError::at("create", &folder))?;
        open_to_all(&folder)?;
        Ok(Part { folder: Some(folder) })
    }

    /// Removes a build, if it is there. It is renamed first, so that a half removed build is never taken for whole.
    pub fn remove(&self, _lock: &CacheLock, name: &str) -> Result<()> {
        let folder = self.build(name);
        if !folder.exists() {
            return Ok(());
        }
        let part = self.root.join("builds").join(format!("{PART}{}-removed-{name}", std::process::id()));
        fs::rename(&folder, &part).map_err(MachineError::at("remove", &folder))?;
        remove_tree(&part)
    }

    /// Clears what a rqps that was killed while it changed the builds left half made, unless another one changes them
    /// now: that one has cleared it.
    pub fn clear_half_made(&self) -> Result<()> {
        let lock = self.open_lock(BUILDS_LOCK)?;
        if lock.try_lock().is_ok() { self.clear_parts() } else { Ok(()) }
    }

    fn clear_parts(&self) -> Result<()> {
        let folder = self.root.join("builds");
        for entry in fs::read_dir(&folder).map_err(MachineError::at("list", &folder))? {
            let entry = entry.map_err(MachineError::at("list", &folder))?;
            if entry.file_name().to_string_lossy().starts_with(PART) {
                remove_tree(&entry.path())?;
            }
        }
        Ok(())
    }
}

impl Part {
    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.as_deref().expect("a part has its folder until it is published")
    }

    /// Makes the folder the build of this name, in one step; a build of that name that is there is replaced.
    pub fn publish(mut self, cache: &Cache, lock: &CacheLock, name: &str) -> Result<PathBuf> {
        cache.remove(lock, name)?;
        let target = cache.build(name);
        let folder = self.folder.take().expect("a part is published once");
        if let Err(e) = fs::rename(&folder, &target) {
            self.folder = Some(folder);
            return Err(MachineError::io("publish", target, e));
        }
        Ok(target)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            // What cannot be removed now is cleared by the next holder of the lock.
            let _ = remove_tree(&folder);
        }
    }
}

/// The server's account must be able to enter, whatever our umask is.
fn open_to_all(folder: &Path) -> Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).map_err(MachineError::at("open up", folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_whole_or_absent() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(root.path()).expect("a cache");
        let lock = cache.lock(&mut || panic!("no other has it")).expect("the lock");
        let part = cache.part(&lock, "pg1_x").expect("a part");
        fs::write(part.path().join("build.json"), "{}").expect("written");
        assert_eq!(cache.build_names().expect("names"), Vec::<String>::new());
        part.publish(&cache, &lock, "pg1_x").expect("published");
        assert_eq!(cache.build_names().expect("names"), ["pg1_x"]);
        let dropped = cache.part(&lock, "pg2_x").expect("a part");
        let folder = dropped.path().to_owned();
        drop(dropped);
        assert!(!folder.exists());
        cache.remove(&lock, "pg1_x").expect("removed");
        assert_eq!(
            fs::read_dir(root.path().join("builds")).expect("a folder").count(),
            1,
            "only the lock file is left"
        );
    }

    #[test]
    fn who_takes_the_lock_clears_what_the_dead_left() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(root.path()).expect("a cache");
        let left = root.path().join("builds/.part-1-pg1711_zonky");
        fs::create_dir_all(left.join("install/bin")).expect("made");
        let lock = cache.lock(&mut || ()).expect("the lock");
        assert!(!left.exists());

        let mut waited = false;
        std::thread::scope(|scope| {
            let second = scope.spawn(|| cache.lock(&mut || waited = true).expect("the lock, later"));
            let path = root.path().join("builds/.lock");
            let file = File::open(&path).expect("the lock file");
            assert!(file.try_lock().is_err(), "held while the first has it");
            cache.lock_compiling(&mut || panic!("it is another lock")).expect("the other lock");
            drop(lock);
            second.join().expect("no panic");
        });
    }
}
