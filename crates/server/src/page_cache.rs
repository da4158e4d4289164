//! Where a build's program text lies in memory, drawn anew.
//!
//! In: a build. Out: its server binary and libraries dropped from the page cache, so that the next start reads them
//! into other pages. Where those lie makes a build up to a fifth faster or slower in some tests, and stays as it is
//! over server restarts (docs/measurement.md): without this, all rounds of a campaign would share one draw of that
//! luck. It changes no file; pages that a running process uses stay.

use rqps_model::facts::BuildFacts;
use rustix::fs::{Advice, fadvise};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Drops a build's binaries from the page cache and returns the number of files.
///
/// Call it when no server of this build runs. A file that cannot be opened is skipped: the server will report it.
pub fn renew(build: &BuildFacts) -> usize {
    program_files(build).iter().filter(|file| drop_pages(file)).count()
}

/// A build's server binary and its libraries.
pub(crate) fn program_files(build: &BuildFacts) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = rqps_builds::program(build).into_iter().collect();
    let folders: BTreeSet<PathBuf> = build
        .library_folders
        .iter()
        .map(PathBuf::as_path)
        .chain([Path::new("lib")])
        .map(|folder| build.folder.join(folder))
        .collect();
    folders.iter().for_each(|folder| libraries(folder, &mut files));
    files
}

fn libraries(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            libraries(&path, found);
        } else if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so")) {
            found.push(path);
        }
    }
}

fn drop_pages(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| fadvise(&file, 0, None, Advice::DontNeed).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_builds::inspect;
    use rqps_machine::{Cache, Lease};
    use rqps_model::Engine;

    #[test]
    fn finds_the_binary_and_its_libraries() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(&root.path().join("cache")).expect("a cache");
        let lease = Lease::open(&cache).expect("a lease");
        let folder = Path::new("/usr/lib/postgresql/15");
        let build = inspect::inspect(
            &inspect::Subject { folder, engine: Engine::Postgres, origin: "here", label: None, library_folders: &[] },
            &lease,
        )
        .expect("an installation");
        assert!(renew(&build) > 10, "the server and its libraries");
        assert_eq!(renew(&BuildFacts { folder: root.path().join("none"), ..build }), 0);
    }
}
