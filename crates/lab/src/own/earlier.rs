//! What an earlier run wrote beside its workload file, so that the next one can replace it.
//!
//! In: the folder of values. Out: its files that were written by such a run and are as they were: a list in the folder
//! has their digests, in the form of `sha256sum`. What is not in it, or was changed since, is the user's and stays.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The list's name.
const LIST: &str = "SHA256SUMS";

/// Files of an earlier run.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    files: Vec<PathBuf>,
}

impl Earlier {
    /// Those in a folder, its list among them.
    pub(super) fn of(folder: &Path) -> Earlier {
        let list = folder.join(LIST);
        let Ok(text) = fs::read_to_string(&list) else { return Earlier::default() };
        let is_unchanged = |line: &str| {
            let (sum, name) = line.split_once("  ")?;
            // A list that somebody else wrote could name files elsewhere.
            let path = (!name.contains('/')).then(|| folder.join(name))?;
            let facts = fs::symlink_metadata(&path).ok()?;
            (facts.is_file() && digest(&fs::read(&path).ok()?) == sum).then_some(path)
        };
        Earlier { files: text.lines().filter_map(is_unchanged).chain([list]).collect() }
    }

    /// Removes them, but for those that were written anew; the folder too, if nothing is left in it.
    pub(super) fn remove_but(&self, written: &[(PathBuf, &Vec<u8>)]) -> Result<()> {
        for file in self.files.iter().filter(|file| !written.iter().any(|(path, _)| path == *file)) {
            fs::remove_file(file).with_context(|| file.display().to_string())?;
        }
        if let Some(folder) = self.files.first().and_then(|file| file.parent())
            && fs::read_dir(folder).is_ok_and(|mut left| left.next().is_none())
        {
            fs::remove_dir(folder).with_context(|| folder.display().to_string())?;
        }
        Ok(())
    }
}

/// The list of files that were written, and where it belongs; `None` where there are none.
pub(super) fn list(written: &[(PathBuf, &Vec<u8>)]) -> Option<(PathBuf, String)> {
    let folder = written.first()?.0.parent()?;
    let line = |(path, bytes): &(PathBuf, &Vec<u8>)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("{}  {name}\n", digest(bytes))
    };
    Some((folder.join(LIST), written.iter().map(line).collect()))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_run_wrote_is_replaced_and_nothing_else() {
        let root = tempfile::tempdir().expect("made");
        let folder = root.path().join("shop-values");
        fs::create_dir(&folder).expect("made");
        let bytes = b"id\n1\n".to_vec();
        let write = |name: &str| {
            fs::write(folder.join(name), &bytes).expect("written");
            (folder.join(name), &bytes)
        };
        let written = ["again.csv", "gone.csv", "changed.csv"].map(write);
        let (path, text) = list(&written).expect("a list");
        fs::write(root.path().join("outside.csv"), &bytes).expect("written");
        let hostile = format!("{}  ../outside.csv\n", digest(&bytes));
        fs::write(&path, text + &hostile).expect("written");
        fs::write(folder.join("changed.csv"), "id\n2\n").expect("written");
        write("mine.csv");
        Earlier::of(&folder).remove_but(&written[..1]).expect("removed");
        let mut left: Vec<_> =
            fs::read_dir(&folder).expect("there").map(|file| file.expect("read").file_name()).collect();
        left.sort();
        assert_eq!(left, ["again.csv", "changed.csv", "mine.csv"]);
        assert!(root.path().join("outside.csv").is_file());
        // Without a list nothing is known to be of an earlier run.
        assert!(Earlier::of(&folder).files.is_empty());
        let (path, text) = list(&written[..1]).expect("a list");
        fs::write(path, text).expect("written");
        ["changed.csv", "mine.csv"].iter().for_each(|name| fs::remove_file(folder.join(name)).expect("removed"));
        Earlier::of(&folder).remove_but(&[]).expect("removed");
        assert!(!folder.exists());
    }
}
