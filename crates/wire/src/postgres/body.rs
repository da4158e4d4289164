//! Reads the fields of a frame's body, where running out of bytes is an answer and not a panic.
//!
//! In: a complete frame. Out: numbers and texts in the order of the manual's "Message Formats".

use super::frame::{FrameError, HEADER_BYTES};

/// A cursor over a frame's body.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    tag: u8,
    rest: &'a [u8],
}

impl<'a> Body<'a> {
    /// The body of a whole frame.
    pub(crate) fn of(frame: &'a [u8]) -> Body<'a> {
        Body { tag: frame[0], rest: &frame[HEADER_BYTES.min(frame.len())..] }
    }

    /// The error that says that this frame makes no sense.
    pub(crate) fn malformed(&self) -> FrameError {
        FrameError::Malformed { tag: self.tag }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or_else(|| self.malformed())?;
        self.rest = rest;
        Ok(*array)
    }

    /// Byte4.
    pub(crate) fn four_bytes(&mut self) -> Result<[u8; 4], FrameError> {
        self.array()
    }

    /// Int16, a count.
    pub(crate) fn count(&mut self) -> Result<usize, FrameError> {
        Ok(u16::from_be_bytes(self.array()?).into())
    }

    /// Int32.
    pub(crate) fn int32(&mut self) -> Result<i32, FrameError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// String: bytes up to a NUL.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], FrameError> {
        let end = self.rest.iter().position(|&byte| byte == 0).ok_or_else(|| self.malformed())?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        Ok(text)
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], FrameError> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or_else(|| self.malformed())?;
        self.rest = rest;
        Ok(bytes)
    }

    /// All that is left.
    pub(crate) fn remainder(self) -> &'a [u8] {
        self.rest
    }
}

/// The count at the end of a command tag: `INSERT 0 5` is 5, `CREATE TABLE` is 0.
#[inline]
pub(crate) fn tag_count(command_tag: &[u8]) -> u64 {
    let mut count = 0_u64;
    let mut unit = 1_u64;
    for &byte in command_tag.iter().rev() {
        match byte {
            0 => {}
            b'0'..=b'9' => {
                count = count.wrapping_add(unit.wrapping_mul(u64::from(byte - b'0')));
                unit = unit.wrapping_mul(10);
            }
            _ => break,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_tags_are_counted() {
        for (tag, count) in [
            (&b"INSERT 0 10\0"[..], 10),
            (b"SELECT 1\0", 1),
            (b"COPY 5000000", 5_000_000),
            (b"CREATE TABLE\0", 0),
            (b"BEGIN\0", 0),
            (b"\0", 0),
            (b"", 0),
            (b"UPDATE 18446744073709551615\0", u64::MAX),
        ] {
            assert_eq!(tag_count(tag), count, "{}", tag.escape_ascii());
        }
        assert_ne!(tag_count(&[b'9'; 60]), 0);
    }

    #[test]
    fn a_short_body_is_an_error() {
        let mut body = Body::of(b"T\0\0\0\x06\0\x02");
        assert_eq!(body.count(), Ok(2));
        let malformed = Err(FrameError::Malformed { tag: b'T' });
        assert_eq!(body.string().map(<[u8]>::len), malformed);
        assert_eq!(body.bytes(1).map(<[u8]>::len), malformed);
        assert_eq!(body.int32().map(|_| 0), malformed);
    }
}
