//! Cuts a byte stream into frames, wherever the reads happened to split it.
//!
//! In: the bytes of one read. Out: each frame once, whole or as far as the [`Sink`] wants to keep it; frames that
//! lie whole in the read are lent from it without a copy. Lengths come from the other side and are
//! believed only after a check: memory grows with bytes received, never with bytes announced.

use crate::channel::{Fault, Framing};

/// The tag and the length that open every frame.
pub(crate) const HEADER_BYTES: usize = 5;

/// The longest frame that is let through: a PostgreSQL message never exceeds 1 GiB.
const FRAME_BYTES_MAX: usize = 1 << 30;

/// Capacity that a buffer may keep between frames; what a long frame needed above that is given back.
const KEPT_CAPACITY_MAX: usize = 64 * 1024;

/// What is wrong with what the server sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a frame of type {} announces {length} bytes", show(*.tag))]
    Length { tag: u8, length: u32 },
    #[error("a frame of type {} is not expected here", show(*.tag))]
    Unexpected { tag: u8 },
    #[error("a frame of type {} is malformed", show(*.tag))]
    Malformed { tag: u8 },
    #[error("a frame of type {} has {length} bytes, more than the {limit} allowed here", show(*.tag))]
    TooLong { tag: u8, length: usize, limit: usize },
}

impl From<FrameError> for Fault {
    #[cold]
    fn from(error: FrameError) -> Fault {
        Fault::Protocol(error.to_string())
    }
}

fn show(tag: u8) -> String {
    format!("'{}'", tag.escape_ascii())
}

/// Who receives frames.
pub(crate) trait Sink {
    /// How many bytes of a frame that did not arrive in one piece should be kept, header included. The frame
    /// is refused here when its type or length is not acceptable.
    fn keep(&mut self, tag: u8, frame_bytes: usize) -> Result<usize, FrameError>;

    /// A frame is complete: all of its bytes, or at least those that [`Sink::keep`] asked for.
    fn frame(&mut self, tag: u8, frame: &[u8]) -> Result<(), FrameError>;
}

/// The state between reads: nothing, or a frame that is not complete.
#[derive(Debug, Default)]
pub(crate) struct Framer {
    /// What is kept of the incomplete frame, from its header on.
    partial: Vec<u8>,
    /// The whole length of the incomplete frame; 0 while its header is incomplete.
    frame_bytes: usize,
    /// How many bytes of it have come so far.
    seen: usize,
    /// How many bytes of it are to be kept.
    keep: usize,
}

impl<S: Sink> Framing<S> for Framer {
    type Error = FrameError;

    #[inline]
    fn feed(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), FrameError> {
        let mut rest = bytes;
        if self.seen > 0 {
            rest = self.resume(rest, sink)?;
        }
        while let Some((header, _)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let (tag, frame_bytes) = read_header(*header)?;
            if rest.len() < frame_bytes {
                break;
            }
            sink.frame(tag, &rest[..frame_bytes])?;
            rest = &rest[frame_bytes..];
        }
        if !rest.is_empty() {
            self.resume(rest, sink)?;
        }
        Ok(())
    }
}

impl Framer {
    /// Whether the stream stands between two frames.
    #[cfg(test)]
    pub(crate) fn is_between_frames(&self) -> bool {
        self.seen == 0
    }

    /// Goes on with the incomplete frame, or starts one, and returns what follows it.
    #[cold]
    fn resume<'b, S: Sink>(&mut self, mut rest: &'b [u8], sink: &mut S) -> Result<&'b [u8], FrameError> {
        if self.frame_bytes == 0 {
            let take = rest.len().min(HEADER_BYTES - self.seen);
            self.partial.extend_from_slice(&rest[..take]);
            self.seen += take;
            rest = &rest[take..];
            let Some((header, _)) = self.partial.split_first_chunk::<HEADER_BYTES>() else {
                return Ok(rest);
            };
            let (tag, frame_bytes) = read_header(*header)?;
            self.keep = sink.keep(tag, frame_bytes)?.min(frame_bytes);
            self.frame_bytes = frame_bytes;
        }
        let take = rest.len().min(self.frame_bytes - self.seen);
        let wanted = self.keep.saturating_sub(self.partial.len()).min(take);
        self.partial.extend_from_slice(&rest[..wanted]);
        self.seen += take;
        if self.seen == self.frame_bytes {
            sink.frame(self.partial[0], &self.partial)?;
            self.partial.clear();
            self.partial.shrink_to(KEPT_CAPACITY_MAX);
            self.frame_bytes = 0;
            self.seen = 0;
        }
        Ok(&rest[take..])
    }
}

/// The tag and the whole length of a frame, tag included.
#[inline]
fn read_header(header: [u8; HEADER_BYTES]) -> Result<(u8, usize), FrameError> {
    let [tag, a, b, c, d] = header;
    let length = u32::from_be_bytes([a, b, c, d]);
    // The length counts itself, so less than 4 is nonsense; a negative one is huge as unsigned.
    if !(4..FRAME_BYTES_MAX as u32).contains(&length) {
        return Err(FrameError::Length { tag, length });
    }
    Ok((tag, length as usize + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps `limit` bytes of every frame.
    struct Keeper {
        limit: usize,
        frames: Vec<(u8, Vec<u8>)>,
    }

    impl Sink for Keeper {
        fn keep(&mut self, _: u8, _: usize) -> Result<usize, FrameError> {
            Ok(self.limit)
        }
        fn frame(&mut self, tag: u8, frame: &[u8]) -> Result<(), FrameError> {
            let kept = frame.len().min(self.limit.max(HEADER_BYTES));
            self.frames.push((tag, frame[..kept].to_vec()));
            Ok(())
        }
    }

    fn frames_of(pieces: &[&[u8]], limit: usize) -> Vec<(u8, Vec<u8>)> {
        let mut framer = Framer::default();
        let mut keeper = Keeper { limit, frames: Vec::new() };
        for piece in pieces {
            framer.feed(piece, &mut keeper).unwrap();
        }
        assert!(framer.is_between_frames());
        keeper.frames
    }

    #[test]
    fn frames_are_the_same_at_any_split() {
        let stream = b"1\0\0\0\x04D\0\0\0\x09helloZ\0\0\0\x05I2\0\0\0\x04";
        for limit in [0, 5, 8, 100] {
            let whole = frames_of(&[stream], limit);
            assert_eq!(whole.iter().map(|f| f.0).collect::<Vec<_>>(), b"1DZ2");
            for first in 0..=stream.len() {
                for second in first..=stream.len() {
                    let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                    assert_eq!(frames_of(&pieces, limit), whole, "{first} {second} {limit}");
                }
            }
        }
    }

    #[test]
    fn impossible_lengths_are_refused_whole_and_in_pieces() {
        for length in [[0, 0, 0, 0], [0, 0, 0, 3], [255; 4], [0x40, 0, 0, 0]] {
            let mut stream = vec![b'D'];
            stream.extend(length);
            let expected = FrameError::Length { tag: b'D', length: u32::from_be_bytes(length) };
            for split in 0..=stream.len() {
                let mut keeper = Keeper { limit: 100, frames: Vec::new() };
                let mut framer = Framer::default();
                let outcome = framer
                    .feed(&stream[..split], &mut keeper)
                    .and_then(|()| framer.feed(&stream[split..], &mut keeper));
                assert_eq!(outcome, Err(expected.clone()));
            }
        }
    }

    #[test]
    fn a_long_frame_that_is_skipped_takes_no_memory() {
        let mut framer = Framer::default();
        let mut keeper = Keeper { limit: 0, frames: Vec::new() };
        framer.feed(b"D\x3f\xff\xff\xff", &mut keeper).unwrap();
        for _ in 0..100 {
            framer.feed(&[0; 16 * 1024], &mut keeper).unwrap();
        }
        assert!(framer.partial.capacity() < 64);
    }
}
