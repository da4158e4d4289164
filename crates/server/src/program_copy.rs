//! A copy of a build's programs in another place, such as one whose files lie in huge pages.
//!
//! In: a build, and a folder that is not there yet. Out: the same build in that folder: its server program and its
//! larger libraries are copies, all else are links to the installation. It must not start anything.

use crate::page_cache::program_files;
use crate::{Result, ServerError};
use rqps_machine::MachineError;
use rqps_model::facts::BuildFacts;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A file takes whole huge pages. One that is smaller than half of one would waste more memory than it needs, and could
/// not be mapped by it; an installation has a hundred of these.
const COPIED_BYTES_MIN: u64 = 1 << 20;

/// As much is written at a time: a huge page at least, so that the kernel takes one and not many small ones.
const STEP_BYTES: u64 = 4 << 20;

/// Makes the copy.
///
/// # Errors
/// Where the installation cannot be read, or the place has no room.
pub fn make(build: &BuildFacts, to: &Path) -> Result<BuildFacts> {
    let from = fs::canonicalize(&build.folder).map_err(ServerError::at("find", &build.folder))?;
    let here = BuildFacts { folder: from.clone(), ..build.clone() };
    let named = program_files(&here);
    // What is a link to another file of the installation is copied there, and stays a link.
    let meant = named.iter().filter_map(|file| fs::canonicalize(file).ok());
    let files: BTreeSet<PathBuf> = meant.filter(|file| file.starts_with(&from)).chain(named.iter().cloned()).collect();
    Installation { folder: &from, files }.mirror(&from, to)?;
    Ok(BuildFacts { folder: to.to_owned(), ..here })
}

/// What is copied from.
struct Installation<'a> {
    folder: &'a Path,
    /// What becomes a copy.
    files: BTreeSet<PathBuf>,
}

impl Installation<'_> {
    fn mirror(&self, from: &Path, to: &Path) -> Result<()> {
        fs::create_dir(to).map_err(ServerError::at("create", to))?;
        for entry in fs::read_dir(from).map_err(ServerError::at("list", from))? {
            let entry = entry.map_err(ServerError::at("list", from))?;
            let (path, copy) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().map_err(ServerError::at("look at", &path))?;
            if kind.is_dir() && self.files.iter().any(|file| file.starts_with(&path)) {
                self.mirror(&path, &copy)?;
            } else if kind.is_file() && self.files.contains(&path) && is_large(&path) {
                copy_file(&path, &copy)?;
            } else {
                let target = if kind.is_symlink() { self.target(&path) } else { path };
                symlink(target, &copy).map_err(ServerError::at("create", &copy))?;
            }
        }
        Ok(())
    }

    /// A link to something beside it names what is beside the copy; any other is to what it leads to.
    fn target(&self, link: &Path) -> PathBuf {
        let real = fs::canonicalize(link).unwrap_or_else(|_| link.to_owned());
        match fs::read_link(link) {
            Ok(target) if target.is_relative() && real.starts_with(self.folder) => target,
            _ => real,
        }
    }
}

fn is_large(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.len() >= COPIED_BYTES_MIN)
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let copied = || -> io::Result<()> {
        let mut source = File::open(from)?;
        let meta = source.metadata()?;
        let mut copy = File::create_new(to)?;
        copy.set_len(meta.len())?;
        let mut step = Vec::new();
        while (&mut source).take(STEP_BYTES).read_to_end(&mut step)? > 0 {
            copy.write_all(&step)?;
            step.clear();
        }
        copy.set_permissions(meta.permissions())
    };
    copied().map_err(|error| match MachineError::io("write", to, error) {
        MachineError::DiskFull { path, needed_bytes, free_bytes, .. } => {
            let remedy = "--program-pages small, which needs none";
            MachineError::DiskFull { path, needed_bytes, free_bytes, remedy }.into()
        }
        error => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;

    #[test]
    fn the_program_and_large_libraries_are_copies_and_all_else_links() {
        let root = tempfile::tempdir().expect("a folder");
        let home = root.path().join("install");
        let (large, small) = (COPIED_BYTES_MIN as usize, COPIED_BYTES_MIN as usize - 1);
        for (file, size) in [
            ("bin/postgres", large),
            ("bin/initdb", large),
            ("lib/libpq.so.5.17", large + 1),
            ("lib/postgresql/plpgsql.so", small),
            ("share/postgres.bki", large),
        ] {
            let path = home.join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("made");
            fs::write(path, vec![b'x'; size]).expect("written");
        }
        symlink("libpq.so.5.17", home.join("lib/libpq.so")).expect("linked");
        let version = "17.11".parse().expect("a version");
        let build = BuildFacts { folder: home.clone(), ..BuildFacts::unknown(Engine::Postgres, version) };
        let copy = root.path().join("copy");
        let copied = make(&build, &copy).expect("copied");
        assert_eq!(copied, BuildFacts { folder: copy.clone(), ..build.clone() });
        let is_copy = |file: &str| {
            let real = fs::canonicalize(copy.join(file)).expect("there");
            let same = fs::read(&real).expect("read") == fs::read(home.join(file)).expect("read");
            (real.starts_with(fs::canonicalize(&copy).expect("there")), same)
        };
        for file in ["bin/postgres", "lib/libpq.so", "lib/libpq.so.5.17"] {
            assert_eq!(is_copy(file), (true, true), "{file}");
        }
        for file in ["bin/initdb", "lib/postgresql/plpgsql.so", "share/postgres.bki"] {
            assert_eq!(is_copy(file), (false, true), "{file}");
        }
        assert!(make(&build, &copy).is_err(), "it is there already");
    }
}
