//! The list of every file of an installed build, so that damage can be named file by file.
//!
//! In: a folder. Out: one line per file (digest, mode, size, path) or link (target), sorted by path, and the faults of
//! a folder against such a list. It must not repair anything.

use crate::verify::sha256_file;
use crate::{BuildError, Result};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What is known of the files of a folder: path to its line (digest, mode and size, or link target).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    entries: BTreeMap<String, String>,
    /// Bytes of all files together.
    pub size_bytes: u64,
}

impl Manifest {
    /// Reads every file below a folder.
    pub fn of(folder: &Path) -> Result<Manifest> {
        let mut manifest = Manifest { entries: BTreeMap::new(), size_bytes: 0 };
        manifest.add(folder, folder)?;
        Ok(manifest)
    }

    /// Reads the list as written by [`Manifest::render`].
    pub fn parse(text: &str) -> Option<Manifest> {
        let mut entries = BTreeMap::new();
        let mut size_bytes = 0;
        for line in text.lines() {
            let (facts, path) = line.rsplit_once('\t')?;
            if let [_, _, size] = facts.split(' ').collect::<Vec<_>>()[..] {
                size_bytes += size.parse::<u64>().ok()?;
            }
            entries.insert(path.to_owned(), facts.to_owned());
        }
        Some(Manifest { entries, size_bytes })
    }

    /// The list as text.
    pub fn render(&self) -> String {
        self.entries.iter().map(|(path, facts)| format!("{facts}\t{path}\n")).collect()
    }

    /// The digest of a file; none of a link, or of what is not listed.
    pub fn sha256(&self, path: &str) -> Option<&str> {
        let digest = self.entries.get(path)?.split(' ').next()?;
        (digest.len() == 64).then_some(digest)
    }

    /// What differs between this list, as it should be, and another, as found.
    pub fn faults(&self, found: &Manifest) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, facts) in &self.entries {
            match found.entries.get(path) {
                None => faults.push(format!("{path} is missing")),
                Some(now) if now != facts => faults.push(format!("{path} is not as installed")),
                Some(_) => {}
            }
        }
        let extra = found.entries.keys().filter(|path| !self.entries.contains_key(*path));
        faults.extend(extra.map(|path| format!("{path} was added")));
        faults
    }

    fn add(&mut self, root: &Path, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder).map_err(BuildError::at("list", folder))? {
            let path = entry.map_err(BuildError::at("list", folder))?.path();
            let meta = fs::symlink_metadata(&path).map_err(BuildError::at("look at", &path))?;
            let name = path.strip_prefix(root).expect("it was listed below the root").to_string_lossy().into_owned();
            if meta.is_dir() {
                self.add(root, &path)?;
            } else if meta.is_symlink() {
                let target = fs::read_link(&path).map_err(BuildError::at("read", &path))?;
                self.entries.insert(name, format!("-> {}", target.display()));
            } else {
                let facts = format!("{} {:o} {}", sha256_file(&path)?, meta.mode() & 0o777, meta.len());
                self.entries.insert(name, facts);
                self.size_bytes += meta.len();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_was_changed_added_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("lib")).expect("a folder");
        for (name, text) in [("a", "1"), ("lib/b", "22"), ("lib/c", "333")] {
            fs::write(folder.path().join(name), text).expect("written");
        }
        std::os::unix::fs::symlink("b", folder.path().join("lib/l")).expect("a link");
        let whole = Manifest::of(folder.path()).expect("read");
        assert_eq!(whole.size_bytes, 6);
        let read = Manifest::parse(&whole.render()).expect("what was rendered");
        assert_eq!(read, whole);
        assert_eq!(read.faults(&whole), Vec::<String>::new());

        fs::write(folder.path().join("a"), "2").expect("written");
        fs::remove_file(folder.path().join("lib/c")).expect("removed");
        fs::write(folder.path().join("d"), "4").expect("written");
        let faults = read.faults(&Manifest::of(folder.path()).expect("read"));
        assert_eq!(faults, ["a is not as installed", "lib/c is missing", "d was added"]);
    }
}
