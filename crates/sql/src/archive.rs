//! The head of an archive that pg_dump wrote: of which version it is, who wrote it, and what can read it.
//!
//! In: the first bytes of a custom archive, of a `toc.dat`, or of a tar file that begins with one. Out: a [`Head`].
//! What is behind the head only pg_restore reads. Layout: PostgreSQL's `pg_backup_archiver.c`, `ReadHead`.

/// The first bytes of every archive.
const MAGIC: &[u8] = b"PGDMP";

/// The file of a folder or a tar file that has the head.
pub const CONTENTS: &str = "toc.dat";

/// Where the first file of a tar file begins.
const TAR_BLOCK: usize = 512;

/// So many first bytes of a file hold the whole head, whatever names are in it.
pub const HEAD_BYTES: usize = 4096;

/// From this version on the head names how data are packed by one byte; before, by how much, in a number.
const COMPRESSION_NAMED: (u8, u8) = (1, 15);

/// What the head of an archive says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The version of the archive's format, such as 1.14.
    pub version: (u8, u8),
    /// The version of the server that was dumped.
    pub server: String,
    /// The version of pg_dump.
    pub pg_dump: String,
}

impl Head {
    /// Reads the head from the first bytes of a file; `None` where they are not those of an archive. An archive whose
    /// format is newer than this reader may have a head without names.
    pub fn parse(bytes: &[u8]) -> Option<Head> {
        let is_tar = bytes.starts_with(CONTENTS.as_bytes()) && bytes.get(257..262) == Some(b"ustar");
        let bytes = if is_tar { bytes.get(TAR_BLOCK..)? } else { bytes };
        let mut rest = Fields { bytes: bytes.strip_prefix(MAGIC)?, number_bytes: 4 };
        let version = (rest.byte()?, rest.byte()?);
        let mut head = Head { version, server: String::new(), pg_dump: String::new() };
        if let Some((server, pg_dump)) = rest.versions(version) {
            (head.server, head.pg_dump) = (server, pg_dump);
        }
        Some(head)
    }

    /// The oldest major version of pg_restore that reads it.
    pub fn needs(&self) -> u32 {
        match self.version {
            (0, _) | (1, ..=13) => 10,
            (1, 14) => 12,
            (1, 15) => 16,
            (1, 16) => 17,
            // What is newer than this table is read by its own version, as far as anybody knows.
            _ => major(&self.pg_dump).unwrap_or(18).max(18),
        }
    }
}

/// The major version in front of a version's text, such as 15 of `15.18 (Debian 15.18-0+deb12u1)`.
pub fn major(version: &str) -> Option<u32> {
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// The fields of a head one after the other.
struct Fields<'b> {
    bytes: &'b [u8],
    /// Bytes of a number, besides its sign.
    number_bytes: usize,
}

impl Fields<'_> {
    /// The versions of server and pg_dump, which are the last fields.
    fn versions(&mut self, version: (u8, u8)) -> Option<(String, String)> {
        self.byte()?; // Revision.
        self.number_bytes = usize::from(self.byte()?);
        self.byte()?; // Bytes of an offset.
        self.byte()?; // Format.
        if version >= COMPRESSION_NAMED {
            self.byte()?;
        } else {
            self.number()?;
        }
        for _ in 0..7 {
            self.number()?; // The time of the dump.
        }
        self.text()?; // The database.
        Some((self.text()?, self.text()?))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    /// A sign, then bytes from the lowest on.
    fn number(&mut self) -> Option<i64> {
        let sign = self.byte()?;
        let (bytes, rest) = self.bytes.split_at_checked(self.number_bytes)?;
        self.bytes = rest;
        let value = bytes.iter().rev().take(8).fold(0, |value: i64, byte| value << 8 | i64::from(*byte));
        Some(if sign == 0 { value } else { -value })
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head as pg_dump writes it.
    fn written(minor: u8, pg_dump: &str) -> Vec<u8> {
        let number = |value: u8| [0, value, 0, 0, 0];
        let mut bytes = [MAGIC, &[1, minor, 0, 4, 8, 1]].concat();
        match minor {
            15.. => bytes.push(1),
            // The usual strength of zlib, which is less than 0.
            _ => bytes.extend([1, 1, 0, 0, 0]),
        }
        (1..=7).for_each(|part| bytes.extend(number(part)));
        for text in ["shop", "15.18 (Debian 15.18-0+deb12u1)", pg_dump] {
            bytes.extend(number(text.len() as u8));
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    #[test]
    fn a_head_tells_versions_and_what_reads_it() {
        for (minor, pg_dump, needs) in
            [(13, "11.4", 10), (14, "15.18", 12), (15, "16.3", 16), (16, "17.11", 17), (17, "20.1", 20), (17, "", 18)]
        {
            let head = Head::parse(&written(minor, pg_dump)).expect("an archive");
            assert_eq!((head.version, head.pg_dump.as_str()), ((1, minor), pg_dump));
            assert_eq!((major(&head.server), head.needs()), (Some(15), needs));
        }
    }

    #[test]
    fn a_tar_file_begins_with_the_head_and_other_files_have_none() {
        let mut tar = vec![0; TAR_BLOCK];
        tar[..7].copy_from_slice(b"toc.dat");
        tar[257..262].copy_from_slice(b"ustar");
        tar.extend(written(14, "15.18"));
        assert_eq!(Head::parse(&tar).map(|head| head.pg_dump), Some("15.18".to_owned()));
        for other in [&b"-- PostgreSQL database dump"[..], b"", b"PGDM", b"toc.dat"] {
            assert_eq!(Head::parse(other), None);
        }
        // One that is cut short is an archive all the same.
        let whole = written(14, "15.18");
        for length in MAGIC.len() + 2..whole.len() {
            assert_eq!(Head::parse(&whole[..length]).map(|head| head.version), Some((1, 14)), "{length}");
        }
    }
}
