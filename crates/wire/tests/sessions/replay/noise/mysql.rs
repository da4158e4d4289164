//! Noise in place of a MySQL server.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rqps_testkit::PATIENCE;
use rqps_wire::{Endpoint, Protocol, Session, Transport, WireError};

use super::{connect, connect_to_noise, connected, hang_up};
use crate::replay::scenario::endpoint;
use crate::replay::transcript::Transcript;

/// The payload of an OK packet.
pub(crate) const OK: &[u8] = b"\0\0\0\x02\0\0\0";

/// A packet with an honest length.
pub(crate) fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

/// What a server says first; with DEPRECATE_EOF, or without.
fn greeting(has_eof: bool, plugin: &str) -> Vec<u8> {
    let mut greeting =
        b"\x0a8.0.0\0\x01\0\0\0abcdefgh\0\xff\xf7\x08\x02\0\xff\x81\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0".to_vec();
    let high = greeting.iter().position(|&byte| byte == 0x81).unwrap();
    greeting[high] = if has_eof { 0x80 } else { 0x81 };
    greeting.extend(plugin.as_bytes());
    greeting.push(0);
    packet(0, &greeting)
}

/// What a server says to let us in.
pub(crate) fn welcome(has_eof: bool) -> Vec<u8> {
    [greeting(has_eof, "mysql_native_password"), packet(2, OK)].concat()
}

/// A packet of the client: its sequence number and payload.
fn hear(far: &mut UnixStream) -> (u8, Vec<u8>) {
    let mut header = [0; 4];
    far.read_exact(&mut header).unwrap();
    let [a, b, c, sequence] = header;
    let mut payload = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
    far.read_exact(&mut payload).unwrap();
    (sequence, payload)
}

/// Packets with likely first bytes, honest or lying lengths and random bodies.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let head = prop_oneof![
        6 => prop::sample::select(&[0_u8, 1, 2, 3, 5, 10, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff][..]),
        1 => any::<u8>(),
    ];
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(prop::sample::select(&b"\0\0\x01\x02\x08\x0a\xfb\xfc\xfe\xff#def"[..]), 0..40),
    ];
    let length = prop_oneof![8 => Just(None), 1 => (0..1_u32 << 24).prop_map(Some), 1 => (0..60_u32).prop_map(Some)];
    let one = (head, length, body, any::<u8>()).prop_map(|(head, length, body, sequence)| {
        let mut bytes = packet(sequence, &[&[head], &body[..]].concat());
        if let Some(length) = length {
            bytes[..3].copy_from_slice(&length.to_le_bytes()[..3]);
        }
        bytes
    });
    prop::collection::vec(one, 0..30).prop_map(|packets| packets.concat())
}

fn bench() -> Endpoint {
    endpoint(Protocol::Mysql, "bench")
}

fn noise_at_login(bytes: &[u8]) {
    for user in ["bench", "native_user"] {
        for before in [vec![], welcome(true)[..80].to_vec()] {
            // Noise may happen to be a welcome; then the next call must fail.
            let endpoint = endpoint(Protocol::Mysql, user);
            if let Ok(mut session) = connect_to_noise(&[&before, bytes].concat(), &endpoint) {
                session.prepare("select ?, ?, ?", &[]).unwrap_err();
                session.query("select 1").unwrap_err();
            }
        }
    }
}

fn noise_for_a_query(bytes: &[u8]) {
    for has_eof in [false, true] {
        let (mut session, mut far) = connect(&welcome(has_eof), &bench()).unwrap();
        far.write_all(bytes).unwrap();
        hang_up(&far);
        let _ = session.query("select 1");
        let _ = session.copy_in("load data local infile 'rqps' into table t", |rows| rows.write(b"1\n"));
        let _ = session.prepare("select 1", &[]);
        // Each call reads at least a packet, and there are 30 at most.
        for _ in 0..40 {
            let _ = session.execute("select 1");
        }
        session.execute("select 1").unwrap_err();
    }
}

fn noise_for_a_reply(bytes: &[u8]) {
    for has_eof in [false, true] {
        let (mut session, mut far) = connect(&welcome(has_eof), &bench()).unwrap();
        let mut statement = session.text_statement(20);
        statement.set_sql(b"select 1");
        session.submit(&statement).unwrap();
        far.write_all(bytes).unwrap();
        hang_up(&far);
        while !matches!(session.receive(), Err(WireError::Lost { .. } | WireError::Protocol { .. })) {}
        assert!(session.submit(&statement).is_err());
    }
}

fn check(bytes: &[u8]) {
    super::check([noise_at_login, noise_for_a_query, noise_for_a_reply], bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn likely_packets_do_no_harm(bytes in packets()) {
        check(&bytes);
    }

    #[test]
    fn packets_in_a_result_do_no_harm(bytes in packets()) {
        let begin = [packet(1, &[2]), packet(2, b"\x03def"), packet(3, b"\x03def")].concat();
        check(&[&begin[..], &bytes, &packet(9, b"\xfe\0\0\0\0\0\0")].concat());
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }

    /// The results of several statements, each of which says any number of rows affected after those that it returns.
    #[test]
    fn counts_of_any_size_are_summed(
        counts in prop::collection::vec((prop_oneof![Just(u64::MAX), any::<u64>()], 0..3_usize), 1..6)
    ) {
        let mut bytes = Vec::new();
        let mut sum = 0_u64;
        for (place, &(affected, rows)) in counts.iter().enumerate() {
            let status = if place + 1 < counts.len() { 0x0a_u8 } else { 0x02 };
            if rows > 0 {
                bytes.extend([packet(1, &[1]), packet(2, b"\x03def\0\0\0\x01a\0")].concat());
                bytes.extend(packet(3, b"\x01x").repeat(rows));
            }
            let head = if rows > 0 { 0xfe_u8 } else { 0 };
            bytes.extend(packet(4, &[&[head, 0xfe], &affected.to_le_bytes()[..], &[0, status, 0, 0, 0]].concat()));
            sum = sum.wrapping_add(affected).wrapping_add(rows as u64);
        }
        let (mut session, mut far) = connected(Protocol::Mysql);
        session.set_deadline(Some(PATIENCE));
        far.write_all(&bytes).unwrap();
        let statement = session.text_statement(0);
        prop_assert_eq!(session.run(&statement).unwrap().affected, sum);
        far.write_all(&bytes).unwrap();
        prop_assert_eq!(session.execute("select 1").unwrap(), sum);
        far.write_all(&bytes).unwrap();
        session.query("select 1").unwrap();
    }
}

/// Recorded replies with a byte changed, or several.
#[test]
fn mutated_recordings_do_no_harm() {
    let recorded = include_str!("../../../transcripts/timed-mysql-8.0.33.txt");
    let transcript = Transcript::parse(recorded);
    let bytes: Vec<u8> = transcript.exchanges[2..].iter().flat_map(|exchange| exchange.server.clone()).collect();
    for position in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut mutated = bytes.clone();
            mutated[position] ^= change;
            noise_for_a_reply(&mutated);
            if position % 7 == 0 {
                noise_for_a_query(&mutated);
            }
        }
    }
}

/// Lengths that a malicious server might announce, for every first byte.
#[test]
fn announced_lengths_take_no_memory() {
    for head in 0..=255_u8 {
        for length in [0, 1, 0xff, 0xffff, 0xff_fffe, 0xff_ffff_u32] {
            let mut bytes = length.to_le_bytes();
            bytes[3] = 1;
            check(&[&bytes[..], &[head], &[b'x'; 100]].concat());
        }
    }
}

/// Counts inside a packet that promise more columns or longer values than there are.
#[test]
fn announced_counts_take_no_memory() {
    check(&packet(1, b"\xfc\xff\xff"));
    check(&packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff"));
    let column = packet(2, b"\x03def\0\0\0\x01a\0");
    for row in [&b"\xfd\xff\xff\xff"[..], b"\xfc\xff\xff", b"\xfa"] {
        check(&[packet(1, &[1]), column.clone(), packet(3, row)].concat());
    }
    check(&packet(1, b"\0\x01\0\0\0\xff\xff\xff\xff\0\0\0"));
}

/// A text of two LOAD DATA LOCAL: the server asks twice, and waits each time until the file has ended.
#[test]
fn every_file_that_is_asked_for_is_ended() {
    for is_copy in [false, true] {
        let (mut session, mut far) = connected(Protocol::Mysql);
        session.set_deadline(Some(PATIENCE));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                hear(&mut far);
                let (mut sequence, _) = hear(&mut far);
                for status in [0x0a, 0x02] {
                    sequence += 1;
                    far.write_all(&packet(sequence, b"\xfbrqps")).unwrap();
                    loop {
                        sequence += 1;
                        let (heard, payload) = hear(&mut far);
                        assert_eq!(heard, sequence);
                        if payload.is_empty() {
                            break;
                        }
                    }
                    sequence += 1;
                    far.write_all(&packet(sequence, &[0, 1, 0, status, 0, 0, 0])).unwrap();
                }
            });
            let sql = "load data local infile 'rqps' into table t; load data local infile 'rqps' into table u";
            let error = match is_copy {
                false => session.execute(sql).unwrap_err(),
                true => session.copy_in(sql, |rows| rows.write(b"1\n")).unwrap_err(),
            };
            // A server that still waits sees the end.
            drop(session);
            assert!(matches!(error, WireError::Misuse(text) if text.contains("file")), "{error}");
        });
    }
}

#[test]
fn a_farewell_is_told() {
    let (mut session, mut far) = connected(Protocol::Mysql);
    far.write_all(&packet(0, b"\xff\xbf\x0f#HY000you were idle for too long")).unwrap();
    let error = session.receive().unwrap_err().to_string();
    assert!(error.contains("lost the connection") && error.contains("4031 (HY000): you were idle"), "{error}");
}

/// A server says before any login that it has no room, with or without a SQLSTATE.
#[test]
fn refusals_in_place_of_a_greeting_have_a_remedy() {
    for (words, remedy) in [
        (&b"\xff\x10\x04#08004Too many connections"[..], "raise max_connections"),
        (b"\xff\x10\x04Too many connections", "raise max_connections"),
        (b"\xff\x6a\x04Host 'x' is not allowed to connect", "may come from this host"),
        (b"\xff\x69\x04Host 'x' is blocked", "FLUSH HOSTS"),
    ] {
        let error = connect(&packet(0, words), &bench()).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(remedy), "{error}");
    }
    let old = connect(&packet(0, b"\x093.23.58\0\x01\0\0\0abcdefgh\0\0\0"), &bench()).map(|_| ()).unwrap_err();
    assert!(old.to_string().contains("before MySQL 4.1"), "{old}");
    let other = connect(&packet(0, b"220 mail.example ESMTP\r\n"), &bench()).map(|_| ()).unwrap_err();
    assert!(other.to_string().contains("begins with 0x32"), "{other}");
}

#[test]
fn methods_that_we_do_not_take_part_in_are_named() {
    let greeting = welcome(false);
    let greeting = &greeting[..greeting.len() - 11];
    let switch = |plugin: &str| packet(2, format!("\u{7e}{plugin}\0nonce").as_bytes());
    for (plugin, named) in [
        ("mysql_clear_password", "in clear text"),
        ("mysql_old_password", "MySQL 3.23"),
        ("dialog", "plugin `dialog`"),
        ("authentication_windows_client", "ed25519"),
    ] {
        let mut request = switch(plugin);
        request[4] = 0xfe;
        let error = connect(&[greeting, &request].concat(), &bench()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    let error = connect(&[greeting, &packet(2, b"\xfe")].concat(), &bench()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("MySQL 3.23"), "{error}");
}

/// The proof of sha256_password may be the password itself, and the response has a single byte for its length.
#[test]
fn a_long_password_waits_until_its_method_is_asked_for() {
    let switch = packet(2, b"\xfesha256_password\0abcdefghijklmnopqrst\0");
    let bytes = [greeting(false, "sha256_password"), switch, packet(4, OK)].concat();
    let endpoint = Endpoint { password: Some("x".repeat(300)), ..bench() };
    let (session, mut far) = connect(&bytes, &endpoint).unwrap();
    drop(session);
    let (_, response) = hear(&mut far);
    let (fixed, user) = (32, "bench\0".len());
    assert_eq!(response[fixed + user], 20, "{}", response.escape_ascii());
    assert!(response.ends_with(b"\0mysql_native_password\0"), "{}", response.escape_ascii());
    assert_eq!(hear(&mut far).1, [1]);
}

/// Over TCP a password never leaves in clear, whatever the server asks for.
#[test]
fn a_password_is_not_shown_where_others_may_listen() {
    let greeting = welcome(false);
    let greeting = &greeting[..greeting.len() - 11];
    let switch = packet(2, b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0");
    let full = packet(4, b"\x01\x04");
    let no_key = packet(6, b"\x01not a key");
    let mut endpoint = endpoint(Protocol::Mysql, "native_user");
    endpoint.transport = Transport::Tcp { host: "localhost".into(), port: 3306 };
    let (near, mut far) = UnixStream::pair().unwrap();
    far.write_all(&[greeting, &switch, &full, &no_key].concat()).unwrap();
    let error = Session::over(near.into(), &endpoint, PATIENCE).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("RSA key"), "{error}");
    let mut sent = Vec::new();
    far.read_to_end(&mut sent).unwrap();
    assert!(!sent.windows(4).any(|bytes| bytes == b"open"), "{}", sent.escape_ascii());
}
