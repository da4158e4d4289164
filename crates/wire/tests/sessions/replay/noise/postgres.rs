//! Noise in place of a PostgreSQL server.

use std::io::Write;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rqps_wire::{Endpoint, Protocol};

use super::{connect, connect_to_noise, connected, hang_up};
use crate::replay::scenario::endpoint;

/// What a server says to let us in.
pub(crate) const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I";

/// Frames with likely tags, honest or lying lengths and random bodies.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let tag = prop_oneof![
        4 => prop::sample::select(&b"RKZTDCENSAIGHdcst123nv"[..]),
        1 => any::<u8>(),
    ];
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(prop::sample::select(&b"\0\0\0\x01\x02ICMSV5\xff"[..]), 0..40),
    ];
    let length = prop_oneof![8 => Just(None), 1 => any::<u32>().prop_map(Some), 1 => (0..60_u32).prop_map(Some)];
    let frame = (tag, length, body).prop_map(|(tag, length, body)| {
        let honest = u32::try_from(body.len() + 4).unwrap();
        let mut frame = vec![tag];
        frame.extend(length.unwrap_or(honest).to_be_bytes());
        frame.extend(body);
        frame
    });
    prop::collection::vec(frame, 0..30).prop_map(|frames| frames.concat())
}

fn bench() -> Endpoint {
    endpoint(Protocol::Postgres, "bench")
}

fn noise_at_login(bytes: &[u8]) {
    // Noise may happen to be a welcome; then the next call must fail.
    if let Ok(mut session) = connect_to_noise(bytes, &bench()) {
        session.query("select 1").unwrap_err();
    }
}

fn noise_for_a_query(bytes: &[u8]) {
    let (mut session, mut far) = connected(Protocol::Postgres);
    far.write_all(bytes).unwrap();
    hang_up(&far);
    let _ = session.query("select 1");
    let _ = session.copy_in("copy t from stdin", |rows| rows.write(b"1\n"));
    session.prepare("select 1", &[]).unwrap_err();
}

fn noise_for_a_reply(bytes: &[u8]) {
    let (mut session, mut far) = connected(Protocol::Postgres);
    let mut statement = session.text_statement(20);
    statement.set_sql(b"select 1");
    session.submit(&statement).unwrap();
    far.write_all(bytes).unwrap();
    hang_up(&far);
    while session.receive().is_ok() {}
    assert!(session.submit(&statement).is_err());
}

fn check(bytes: &[u8]) {
    super::check([noise_at_login, noise_for_a_query, noise_for_a_reply], bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn likely_frames_do_no_harm(bytes in frames()) {
        check(&bytes);
    }

    #[test]
    fn frames_after_a_welcome_do_no_harm(bytes in frames()) {
        check(&[b"T\0\0\0\x06\0\0", &bytes[..], b"Z\0\0\0\x05I"].concat());
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }
}

/// Lengths that a malicious server might announce, for every tag.
#[test]
fn announced_lengths_take_no_memory() {
    for tag in 0..=255_u8 {
        for length in [0, 3, 0xff, 0xffff, 0x3fff_ffff, 0x4000_0000, 0x7fff_ffff, u32::MAX] {
            let mut bytes = vec![tag];
            bytes.extend(length.to_be_bytes());
            bytes.extend([b'x'; 100]);
            check(&bytes);
        }
    }
}

/// Counts inside a frame that promise more columns or longer values than there are.
#[test]
fn announced_counts_take_no_memory() {
    check(b"T\0\0\0\x06\xff\xffZ\0\0\0\x05I");
    check(b"D\0\0\0\x0a\0\x01\x7f\xff\xff\xffZ\0\0\0\x05I");
    check(b"D\0\0\0\x0a\0\x01\xff\xff\xff\xfeZ\0\0\0\x05I");
}

#[test]
fn a_server_that_does_not_prove_itself_is_refused() {
    // SASL with SCRAM-SHA-256 on offer, then at once AuthenticationOk.
    let offer = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
    let bytes = [&offer[..], WELCOME].concat();
    let error = connect(&bytes, &bench()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("did not prove"), "{error}");
}

#[test]
fn methods_that_we_do_not_speak_are_named() {
    for (number, name) in [(7_u8, "GSSAPI"), (9, "SSPI"), (2, "Kerberos"), (99, "number 99")] {
        let bytes = [b'R', 0, 0, 0, 8, 0, 0, 0, number];
        let error = connect(&bytes, &bench()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("pg_hba.conf"), "{error}");
    }
}
