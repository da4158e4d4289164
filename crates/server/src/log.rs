//! The log of a server: one file for all its starts, and the end of it for errors.
//!
//! In: the file. Out: where this start begins in it, its last lines, and the errors before them. It must not change
//! what is there.

use crate::{Result, ServerError};
use rqps_machine::last_words::last_words_of;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How far from its end the last lines are looked for.
const TAIL_BYTES: u64 = 64 << 10;

/// How much of it is searched for errors.
const SEARCHED_BYTES: u64 = 1 << 20;

/// Opens it for appending, and returns its length.
pub(crate) fn open(path: &Path) -> Result<(File, u64)> {
    let file = File::options().create(true).append(true).open(path).map_err(ServerError::at("open", path))?;
    let start = file.metadata().map_err(ServerError::at("look at", path))?.len();
    Ok((file, start))
}

/// The last lines after `start`.
pub(crate) fn tail(path: &Path, start: u64, lines: usize) -> Vec<String> {
    let text = read(path, start, TAIL_BYTES);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| (*line).to_owned()).collect()
}

/// The last lines after `start`, and before them the first errors that came earlier.
pub(crate) fn last_words(path: &Path, start: u64, lines: usize) -> Vec<String> {
    last_words_of(&read(path, start, SEARCHED_BYTES), lines)
}

fn read(path: &Path, start: u64, bytes: u64) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(bytes).max(start);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn shows_errors_that_the_goodbye_would_hide() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        std::fs::write(&path, "old [ERROR] of another start\n").expect("written");
        let (mut file, start) = open(&path).expect("opened");
        let goodbye: String = (0..30).map(|n| format!("goodbye {n}\n")).collect();
        write!(file, "hello\n10:00 [ERROR] unknown variable 'x'\n{goodbye}").expect("written");
        let words = last_words(&path, start, 3);
        assert_eq!(words, ["10:00 [ERROR] unknown variable 'x'", "goodbye 27", "goodbye 28", "goodbye 29"]);
        assert_eq!(last_words(&path, start, 40).len(), 32);
        assert_eq!(tail(&path, start, 2), ["goodbye 28", "goodbye 29"]);
    }
}
