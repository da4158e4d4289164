//! Checksums: that a file is the one in the catalog.
//!
//! In: files. Out: their SHA-256 as 64 lower-case hexadecimal digits, or a refusal that shows both digests.
//! It must not decide what to do with a file that does not match.

use crate::{BuildError, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The SHA-256 of a file.
pub fn sha256_file(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(BuildError::at("open", path))?;
    sha256_reader(file).map_err(BuildError::at("read", path))
}

/// The SHA-256 of bytes.
pub fn sha256_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Refuses a package that is not the one of the catalog.
pub fn check_package(path: &Path, what: &str, expected: &str) -> Result<()> {
    let remedy = "If the package client keeps a copy of its own, that copy may be damaged: remove it there and try again; \
                  if the package is to be trusted, correct the catalog";
    check(what, expected, sha256_file(path)?, remedy)
}

/// Refuses a file that is not the one that the user pinned.
pub fn check_pinned(computed: &str, what: &str, expected: &str) -> Result<()> {
    let remedy = "The file there is another than was meant, or the digest after `#sha256=` is wrong";
    check(what, expected, computed.to_owned(), remedy)
}

fn check(what: &str, expected: &str, computed: String, remedy: &str) -> Result<()> {
    if computed == expected.to_ascii_lowercase() {
        return Ok(());
    }
    let (what, expected, remedy) = (what.to_owned(), expected.to_owned(), remedy.to_owned());
    Err(BuildError::Checksum { what, expected, computed, remedy })
}

fn sha256_reader(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_vectors() {
        // FIPS 180-4 examples.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_bytes(b"abc"), abc);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "abc").expect("written");
        assert_eq!(sha256_file(file.path()).expect("read"), abc);
        check_package(file.path(), "abc", &abc.to_uppercase()).expect("the same, whatever its case");
        let refused = check_package(file.path(), "G:A:1", &"0".repeat(64)).expect_err("not the same").to_string();
        assert!(refused.contains(abc) && refused.contains(&"0".repeat(64)) && refused.contains("G:A:1"), "{refused}");
    }
}
