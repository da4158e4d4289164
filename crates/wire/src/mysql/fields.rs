//! Reads the fields of a payload, where running out of bytes is an answer and not a panic.
//!
//! In: a payload. Out: numbers and texts in the order of the manual's descriptions, and the OK, EOF and ERR packets.

use super::flags::{head, status};
use super::packet::PacketError;

/// A cursor over a payload.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    head: u8,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The whole payload.
    pub(crate) fn of(payload: &'a [u8]) -> Fields<'a> {
        Fields { head: payload.first().copied().unwrap_or(0), rest: payload }
    }

    /// The payload behind its first byte.
    pub(crate) fn behind_head(payload: &'a [u8]) -> Fields<'a> {
        let mut fields = Fields::of(payload);
        fields.rest = payload.get(1..).unwrap_or(&[]);
        fields
    }

    /// The error that says that this payload makes no sense.
    pub(crate) fn malformed(&self) -> PacketError {
        PacketError::Malformed { head: self.head }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PacketError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or_else(|| self.malformed())?;
        self.rest = rest;
        Ok(*array)
    }

    /// int<1>.
    pub(crate) fn int1(&mut self) -> Result<u8, PacketError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// int<2>.
    pub(crate) fn int2(&mut self) -> Result<u16, PacketError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// int<4>.
    pub(crate) fn int4(&mut self) -> Result<u32, PacketError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// int<lenenc>, or `None` for the byte that stands for NULL in a row.
    #[inline]
    fn lenenc_or_null(&mut self) -> Result<Option<u64>, PacketError> {
        match self.int1()? {
            small @ ..=0xfa => Ok(Some(small.into())),
            0xfb => Ok(None),
            0xfc => Ok(Some(self.int2()?.into())),
            0xfd => {
                let [a, b, c] = self.array()?;
                Ok(Some(u32::from_le_bytes([a, b, c, 0]).into()))
            }
            0xfe => Ok(Some(u64::from_le_bytes(self.array()?))),
            0xff => Err(self.malformed()),
        }
    }

    /// int<lenenc>.
    pub(crate) fn lenenc(&mut self) -> Result<u64, PacketError> {
        self.lenenc_or_null()?.ok_or_else(|| self.malformed())
    }

    /// string<lenenc>, or NULL.
    pub(crate) fn text_or_null(&mut self) -> Result<Option<&'a [u8]>, PacketError> {
        let Some(length) = self.lenenc_or_null()? else { return Ok(None) };
        let length = usize::try_from(length).map_err(|_| self.malformed())?;
        self.bytes(length).map(Some)
    }

    /// string<lenenc>.
    pub(crate) fn text(&mut self) -> Result<&'a [u8], PacketError> {
        self.text_or_null()?.ok_or_else(|| self.malformed())
    }

    /// string<NUL>.
    pub(crate) fn nul_text(&mut self) -> Result<&'a [u8], PacketError> {
        let end = self.rest.iter().position(|&byte| byte == 0).ok_or_else(|| self.malformed())?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        Ok(text)
    }

    /// string<NUL>, where the NUL may be missing at the end, as it is in the greeting of some servers.
    pub(crate) fn nul_text_or_rest(&mut self) -> &'a [u8] {
        match self.nul_text() {
            Ok(text) => text,
            Err(_) => std::mem::take(&mut self.rest),
        }
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], PacketError> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or_else(|| self.malformed())?;
        self.rest = rest;
        Ok(bytes)
    }

    /// All that is left.
    pub(crate) fn remainder(self) -> &'a [u8] {
        self.rest
    }
}

/// What an OK or EOF packet says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) affected: u64,
    status: u16,
}

impl Ended {
    /// Reads an OK packet, of either first byte.
    #[inline]
    pub(crate) fn ok(payload: &[u8]) -> Result<Ended, PacketError> {
        // Most often nothing was affected and no key generated.
        if let [_, affected @ ..=0xfa, 0, low, high, ..] = *payload {
            return Ok(Ended { affected: affected.into(), status: u16::from_le_bytes([low, high]) });
        }
        let mut fields = Fields::behind_head(payload);
        let affected = fields.lenenc()?;
        fields.lenenc()?;
        Ok(Ended { affected, status: fields.int2()? })
    }

    /// Reads an EOF packet.
    #[inline]
    pub(crate) fn eof(payload: &[u8]) -> Result<Ended, PacketError> {
        match *payload {
            [head::EOF, _, _, low, high, ..] => Ok(Ended { affected: 0, status: u16::from_le_bytes([low, high]) }),
            _ => Err(Fields::of(payload).malformed()),
        }
    }

    #[inline]
    pub(crate) fn is_in_transaction(self) -> bool {
        self.status & status::IN_TRANS != 0
    }

    #[inline]
    pub(crate) fn has_more_results(self) -> bool {
        self.status & status::MORE_RESULTS_EXISTS != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read() {
        for (bytes, number) in [
            (&b"\x00"[..], 0),
            (b"\xfa", 250),
            (b"\xfc\xfb\x00", 251),
            (b"\xfd\x00\x00\x01", 1 << 16),
            (b"\xfe\x00\x00\x00\x00\x00\x00\x00\x80", 1 << 63),
        ] {
            assert_eq!(Fields::of(bytes).lenenc(), Ok(number));
            for cut in 0..bytes.len() {
                assert!(Fields::of(&bytes[..cut]).lenenc().is_err());
            }
        }
        assert_eq!(Fields::of(b"\xfb").text_or_null(), Ok(None));
        assert!(Fields::of(b"\xfb").text().is_err());
        assert!(Fields::of(b"\xff").lenenc().is_err());
        assert!(Fields::of(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffx").text().is_err());
    }

    #[test]
    fn ends_of_both_forms_are_read() {
        let short = Ended::ok(b"\x00\x03\x00\x01\x00\x00\x00").unwrap();
        assert_eq!((short.affected, short.is_in_transaction(), short.has_more_results()), (3, true, false));
        let long = Ended::ok(b"\xfe\xfc\x10\x27\xfc\x01\x01\x0a\x00\x00\x00").unwrap();
        assert_eq!((long.affected, long.is_in_transaction(), long.has_more_results()), (10_000, false, true));
        let eof = Ended::eof(b"\xfe\x00\x00\x09\x00").unwrap();
        assert_eq!((eof.affected, eof.is_in_transaction(), eof.has_more_results()), (0, true, true));
        assert!(Ended::ok(b"\x00\x03").is_err());
        assert!(Ended::eof(b"\xfe\x00\x00\x09").is_err());
    }
}
