//! Cuts a byte stream into packets: three bytes of length, a sequence number, a payload; long payloads in several.
//!
//! In: bytes as they come from the socket. Out: payloads, each passed to a [`Sink`] and lent without a copy if it came
//! in one piece. Lengths come from the other side: memory grows with bytes received, never with bytes announced.

use crate::channel::{Fault, Framing};

/// The length and the sequence number that open every packet.
pub(crate) const HEADER_BYTES: usize = 4;

/// A packet of this length is continued by the next one.
pub(crate) const PACKET_BYTES_MAX: usize = (1 << 24) - 1;

/// The longest payload that is let through: max_allowed_packet is at most 1 GiB, and a row may be a little longer.
pub(crate) const PAYLOAD_BYTES_MAX: usize = (1 << 30) + (1 << 20);

/// Capacity that the buffer has from the start, enough for whatever the timed path keeps but an error's text.
const FIRST_CAPACITY: usize = 64;

/// Capacity that the buffer may keep between payloads; what a long one needed above that is given back.
const KEPT_CAPACITY_MAX: usize = 64 * 1024;

/// What is wrong with what the server sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PacketError {
    #[error("a packet is empty")]
    Empty,
    #[error("a packet that begins with 0x{head:02x} is not expected here")]
    Unexpected { head: u8 },
    #[error("a packet that begins with 0x{head:02x} is malformed")]
    Malformed { head: u8 },
    #[error("a packet has {length} bytes, more than the {limit} allowed here")]
    TooLong { length: usize, limit: usize },
    #[error("more than {limit} packets come at once while logging in")]
    TooMany { limit: usize },
    #[error("bytes come before the encryption that was agreed on")]
    BeforeTls,
}

impl From<PacketError> for Fault {
    #[cold]
    fn from(error: PacketError) -> Fault {
        Fault::Protocol(error.to_string())
    }
}

/// Who receives packets.
pub(crate) trait Sink {
    /// How many bytes, at least 1, of a payload that did not arrive in one piece should be kept. It begins with `head`
    /// and has `length` bytes, or more if that is [`PACKET_BYTES_MAX`]. It is refused here when it is not acceptable.
    fn keep(&mut self, head: u8, length: usize) -> Result<usize, PacketError>;

    /// A payload of `length` bytes is complete: all of them, or at least those that [`Sink::keep`] asked for; never
    /// none.
    fn packet(&mut self, length: usize, payload: &[u8]) -> Result<(), PacketError>;
}

/// The state between reads: nothing, or a payload that is not complete.
#[derive(Debug)]
pub(crate) struct Framer {
    /// What has come of an incomplete header.
    header: [u8; HEADER_BYTES],
    header_seen: usize,
    /// What is kept of the incomplete payload.
    partial: Vec<u8>,
    /// How much is to be kept of it; 0 until its first byte has come.
    keep: usize,
    /// The length of the incomplete payload, as far as its packets' headers have come.
    length: usize,
    /// What the packet whose header has come still lacks.
    left: usize,
    is_continued: bool,
    is_open: bool,
    /// The sequence number of the last packet of either side.
    sequence: u8,
}

impl Default for Framer {
    fn default() -> Framer {
        Framer {
            header: [0; HEADER_BYTES],
            header_seen: 0,
            partial: Vec::with_capacity(FIRST_CAPACITY),
            keep: 0,
            length: 0,
            left: 0,
            is_continued: false,
            is_open: false,
            sequence: 0,
        }
    }
}

impl<S: Sink> Framing<S> for Framer {
    type Error = PacketError;

    #[inline]
    fn feed(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), PacketError> {
        let mut rest = bytes;
        loop {
            if self.is_open {
                rest = self.resume(rest, sink)?;
                if self.is_open {
                    return Ok(());
                }
            }
            while let Some((&[a, b, c, sequence], body)) = rest.split_first_chunk::<HEADER_BYTES>() {
                let length = u32::from_le_bytes([a, b, c, 0]) as usize;
                if length == PACKET_BYTES_MAX || body.len() < length {
                    break;
                }
                if length == 0 {
                    return Err(PacketError::Empty);
                }
                self.sequence = sequence;
                sink.packet(length, &body[..length])?;
                rest = &body[length..];
            }
            if rest.is_empty() {
                return Ok(());
            }
            self.is_open = true;
        }
    }
}

impl Framer {
    /// The sequence number that our next packet must carry, if it is part of what came before.
    pub(crate) fn next_sequence(&mut self) -> u8 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// Whether the stream stands between two payloads.
    pub(crate) fn is_between_packets(&self) -> bool {
        !self.is_open
    }

    /// Goes on with the incomplete payload, or starts one, and returns what follows it.
    #[cold]
    fn resume<'b, S: Sink>(&mut self, mut rest: &'b [u8], sink: &mut S) -> Result<&'b [u8], PacketError> {
        loop {
            if self.left == 0 && self.header_seen < HEADER_BYTES {
                rest = self.read_header(rest)?;
                if self.header_seen < HEADER_BYTES {
                    return Ok(rest);
                }
            }
            if self.left > 0 {
                let Some(&head) = rest.first() else { return Ok(rest) };
                if self.keep == 0 {
                    self.keep = sink.keep(head, self.length)?.max(1);
                }
                let take = rest.len().min(self.left);
                let wanted = self.keep.saturating_sub(self.partial.len()).min(take);
                self.partial.extend_from_slice(&rest[..wanted]);
                self.left -= take;
                rest = &rest[take..];
            }
            if self.left > 0 {
                return Ok(rest);
            }
            self.header_seen = 0;
            if !self.is_continued {
                sink.packet(self.length, &self.partial)?;
                self.partial.clear();
                self.partial.shrink_to(KEPT_CAPACITY_MAX);
                self.keep = 0;
                self.length = 0;
                self.is_open = false;
                return Ok(rest);
            }
        }
    }

    /// Takes what there is of a header and, once it is whole, what it says.
    fn read_header<'b>(&mut self, rest: &'b [u8]) -> Result<&'b [u8], PacketError> {
        let take = rest.len().min(HEADER_BYTES - self.header_seen);
        self.header[self.header_seen..self.header_seen + take].copy_from_slice(&rest[..take]);
        self.header_seen += take;
        if self.header_seen == HEADER_BYTES {
            let [a, b, c, sequence] = self.header;
            self.left = u32::from_le_bytes([a, b, c, 0]) as usize;
            self.is_continued = self.left == PACKET_BYTES_MAX;
            self.sequence = sequence;
            self.length += self.left;
            if self.length == 0 {
                return Err(PacketError::Empty);
            }
            if self.length > PAYLOAD_BYTES_MAX {
                return Err(PacketError::TooLong { length: self.length, limit: PAYLOAD_BYTES_MAX });
            }
        }
        Ok(&rest[take..])
    }
}

/// A payload of a command of any length, in as many packets as it takes.
pub(crate) fn encode_long(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + HEADER_BYTES * (1 + payload.len() / PACKET_BYTES_MAX));
    let mut sequence = 0_u8;
    let mut rest = payload;
    loop {
        let (now, later) = rest.split_at(rest.len().min(PACKET_BYTES_MAX));
        bytes.extend(header(sequence, now.len()));
        bytes.extend_from_slice(now);
        // A full packet is always followed by another, be it empty.
        if now.len() < PACKET_BYTES_MAX {
            return bytes;
        }
        sequence = sequence.wrapping_add(1);
        rest = later;
    }
}

/// A packet with a payload that fits one.
pub(crate) fn encode(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(HEADER_BYTES + payload.len());
    packet.extend(header(sequence, payload.len()));
    packet.extend_from_slice(payload);
    packet
}

/// The header of a packet.
pub(crate) fn header(sequence: u8, length: usize) -> [u8; HEADER_BYTES] {
    debug_assert!(length <= PACKET_BYTES_MAX, "a packet has at most 2^24 - 1 bytes");
    let [a, b, c, ..] = length.to_le_bytes();
    [a, b, c, sequence]
}

#[cfg(test)]
mod tests;
