//! The buffer in which rows of a bulk load are gathered to messages, whatever the protocol.
//!
//! In: bytes as they come. Out: a full buffer, and what did not fit. It must not send anything.

/// Rows are sent in messages of this size: large enough that the write costs nothing beside the server's work, and
/// smaller than any server's max_allowed_packet.
pub(crate) const MESSAGE_BYTES: usize = 256 * 1024;

/// Appends bytes to a buffer that begins with a header; gives what is left over where the buffer is full then.
pub(crate) fn fill<'b>(buffer: &mut Vec<u8>, header_bytes: usize, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let room = header_bytes + MESSAGE_BYTES - buffer.len();
    let (now, later) = bytes.split_at(room.min(bytes.len()));
    buffer.extend_from_slice(now);
    (now.len() == room).then_some(later)
}
