//! Noise in place of a server: no panic, no hang, and memory that follows what came and not what was announced.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use allocation_counter::measure;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rqps_wire::{Protocol, Session, WireError};

use crate::scenario::endpoint;

/// What a server says to let us in.
pub(crate) const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I";

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The most that a session may allocate for a few KB of noise.
const NOISE_MEMORY_BYTES: u64 = 512 * 1024;

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

/// A session whose server says `bytes` and hangs up.
fn connect(bytes: &[u8]) -> Result<(Session, UnixStream), WireError> {
    let (near, mut far) = UnixStream::pair().unwrap();
    far.write_all(bytes).unwrap();
    let session = Session::over(near.into(), &endpoint(Protocol::Postgres, "bench"), PATIENCE)?;
    Ok((session, far))
}

fn hang_up(far: &UnixStream) {
    far.shutdown(std::net::Shutdown::Write).unwrap();
}

fn noise_at_login(bytes: &[u8]) {
    let (near, mut far) = UnixStream::pair().unwrap();
    far.write_all(bytes).unwrap();
    hang_up(&far);
    // Noise may happen to be a welcome; then the next call must fail.
    if let Ok(mut session) = Session::over(near.into(), &endpoint(Protocol::Postgres, "bench"), PATIENCE) {
        session.query("select 1").unwrap_err();
    }
}

fn noise_for_a_query(bytes: &[u8]) {
    let (mut session, mut far) = connect(WELCOME).unwrap();
    far.write_all(bytes).unwrap();
    hang_up(&far);
    let _ = session.query("select 1");
    let _ = session.copy_in("copy t from stdin", |rows| rows.write(b"1\n"));
    session.prepare("select 1", &[]).unwrap_err();
}

fn noise_for_a_reply(bytes: &[u8]) {
    let (mut session, mut far) = connect(WELCOME).unwrap();
    let mut statement = session.text_statement(20);
    statement.set_sql(b"select 1");
    session.submit(&statement).unwrap();
    far.write_all(bytes).unwrap();
    hang_up(&far);
    while session.receive().is_ok() {}
    assert!(session.submit(&statement).is_err());
}

fn check(bytes: &[u8]) {
    for noise in [noise_at_login, noise_for_a_query, noise_for_a_reply] {
        let allocations = measure(|| noise(bytes));
        assert!(allocations.bytes_max < NOISE_MEMORY_BYTES, "{allocations:?}");
    }
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
fn a_reply_without_a_request_is_refused() {
    let (mut session, mut far) = connect(WELCOME).unwrap();
    far.write_all(b"Z\0\0\0\x05I").unwrap();
    let error = session.receive().unwrap_err();
    assert!(matches!(error, WireError::Protocol { .. }), "{error}");
}

/// Each server numbers its sessions by itself, so that two of them may have the same number.
#[test]
fn a_statement_of_another_servers_session_is_refused() {
    let prepared = b"1\0\0\0\x04t\0\0\0\x06\0\0n\0\0\0\x04Z\0\0\0\x05I";
    let [mut own, mut foreign] = [(); 2].map(|()| {
        let (mut session, mut far) = connect(WELCOME).unwrap();
        far.write_all(prepared).unwrap();
        let statement = session.prepare("commit", &[]).unwrap();
        (session, statement, far)
    });
    assert_eq!(own.0.backend_pid(), foreign.0.backend_pid());
    let error = foreign.0.submit(&own.1).unwrap_err();
    assert!(matches!(error, WireError::Misuse(text) if text.contains("another session")), "{error}");
    own.0.submit(&own.1).unwrap();
    foreign.0.submit(&foreign.1).unwrap();
}

#[test]
fn a_server_that_does_not_prove_itself_is_refused() {
    // SASL with SCRAM-SHA-256 on offer, then at once AuthenticationOk.
    let offer = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
    let bytes = [&offer[..], WELCOME].concat();
    let error = connect(&bytes).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("did not prove"), "{error}");
}

#[test]
fn methods_that_we_do_not_speak_are_named() {
    for (number, name) in [(7_u8, "GSSAPI"), (9, "SSPI"), (2, "Kerberos"), (99, "number 99")] {
        let bytes = [b'R', 0, 0, 0, 8, 0, 0, 0, number];
        let error = connect(&bytes).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("pg_hba.conf"), "{error}");
    }
}
