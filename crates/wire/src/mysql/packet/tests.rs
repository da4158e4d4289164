//! The framer at every split, with long payloads and with lengths that lie.

use super::*;

/// Keeps `limit` bytes of every payload.
struct Keeper {
    limit: usize,
    packets: Vec<(usize, Vec<u8>)>,
}

impl Sink for Keeper {
    fn keep(&mut self, _: u8, _: usize) -> Result<usize, PacketError> {
        Ok(self.limit)
    }
    fn packet(&mut self, length: usize, payload: &[u8]) -> Result<(), PacketError> {
        let kept = payload.len().min(self.limit.max(1));
        self.packets.push((length, payload[..kept].to_vec()));
        Ok(())
    }
}

fn packets_of(pieces: &[&[u8]], limit: usize) -> Vec<(usize, Vec<u8>)> {
    let mut framer = Framer::default();
    let mut keeper = Keeper { limit, packets: Vec::new() };
    for piece in pieces {
        framer.feed(piece, &mut keeper).unwrap();
    }
    assert!(framer.is_between_packets());
    keeper.packets
}

#[test]
fn packets_are_the_same_at_any_split() {
    let stream = [encode(1, b"\x02"), encode(2, b"hello"), encode(3, b"\xfe\0\0\x02\0")].concat();
    for limit in [0, 1, 3, 100] {
        let whole = packets_of(&[&stream], limit);
        assert_eq!(whole.iter().map(|packet| packet.0).collect::<Vec<_>>(), [1, 5, 5]);
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(packets_of(&pieces, limit), whole, "{first} {second} {limit}");
            }
        }
    }
}

#[test]
fn a_long_payload_is_joined_and_an_empty_packet_may_end_it() {
    for (extra, after) in [(0, &b"x"[..]), (1, b"x"), (5, b"yz")] {
        let payload = vec![b'p'; PACKET_BYTES_MAX + extra];
        let mut stream = header(1, PACKET_BYTES_MAX).to_vec();
        stream.extend(&payload[..PACKET_BYTES_MAX]);
        stream.extend(encode(2, &payload[PACKET_BYTES_MAX..]));
        stream.extend(encode(3, after));
        for cut in [1, 4, 5, 1 << 20, PACKET_BYTES_MAX + 3, PACKET_BYTES_MAX + 4, PACKET_BYTES_MAX + 6] {
            let packets = packets_of(&[&stream[..cut], &stream[cut..]], 10);
            assert_eq!(packets, [(payload.len(), vec![b'p'; 10]), (after.len(), after.to_vec())]);
        }
    }
}

#[test]
fn an_empty_packet_is_refused() {
    let stream = [0, 0, 0, 7];
    for split in 0..=stream.len() {
        let mut keeper = Keeper { limit: 100, packets: Vec::new() };
        let mut framer = Framer::default();
        let outcome =
            framer.feed(&stream[..split], &mut keeper).and_then(|()| framer.feed(&stream[split..], &mut keeper));
        assert_eq!(outcome, Err(PacketError::Empty));
    }
}

#[test]
fn a_payload_without_end_is_refused_and_takes_no_memory() {
    let mut framer = Framer::default();
    let mut keeper = Keeper { limit: 1, packets: Vec::new() };
    let chunk = vec![0; 1 << 20];
    let mut outcome = Ok(());
    for _ in 0..66 {
        outcome = outcome.and_then(|()| framer.feed(&header(0, PACKET_BYTES_MAX), &mut keeper));
        for _ in 0..15 {
            outcome = outcome.and_then(|()| framer.feed(&chunk, &mut keeper));
        }
        outcome = outcome.and_then(|()| framer.feed(&chunk[1..], &mut keeper));
    }
    assert!(matches!(outcome, Err(PacketError::TooLong { .. })), "{outcome:?}");
    assert!(framer.partial.capacity() <= FIRST_CAPACITY);
}
