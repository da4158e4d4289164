//! A Debian package: an `ar` file whose member `data.tar.*` holds the files.
//!
//! In: the package. Out: a reader of that member, still compressed. It must not look into it.

use std::io::{self, Read};

/// Length of the file's and of a member's header (deb(5), ar(5)).
const MAGIC_BYTES: u64 = 8;
const HEADER_BYTES: usize = 60;

/// Where the name and the size stand in a member's header, and the mark at its end.
const NAME: std::ops::Range<usize> = 0..16;
const SIZE: std::ops::Range<usize> = 48..58;
const END: &[u8] = b"`\n";

/// The member with the files.
pub(super) fn data(mut file: impl Read) -> io::Result<impl Read> {
    skip(&mut file, MAGIC_BYTES)?;
    loop {
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header)?;
        let broken = || io::Error::other("a member of the Debian package has no valid header");
        let text = |range: std::ops::Range<usize>| std::str::from_utf8(&header[range]).ok().map(str::trim_end);
        let name = text(NAME).ok_or_else(broken)?;
        let size: u64 = text(SIZE).and_then(|size| size.parse().ok()).ok_or_else(broken)?;
        if &header[SIZE.end..] != END {
            return Err(broken());
        }
        if name.trim_end_matches('/').starts_with("data.tar") {
            return Ok(file.take(size));
        }
        // Members begin at even places.
        skip(&mut file, size.checked_add(size % 2).ok_or_else(broken)?)?;
    }
}

fn skip(file: &mut impl Read, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut file.take(bytes), &mut io::sink())?;
    if skipped == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
