//! Noise in place of a server: no panic, no hang, and memory that follows what came and not what was announced.

pub(crate) mod mysql;
mod postgres;

use std::io::Write;
use std::os::unix::net::UnixStream;

use allocation_counter::measure;
use rqps_testkit::PATIENCE;
use rqps_wire::{Endpoint, Protocol, Session, WireError};

use crate::replay::scenario::endpoint;

const PROTOCOLS: [Protocol; 2] = [Protocol::Postgres, Protocol::Mysql];

/// The most that a session may allocate for a few KB of noise.
const NOISE_MEMORY_BYTES: u64 = 512 * 1024;

/// What a server says to let us in.
pub(crate) fn welcome(protocol: Protocol) -> Vec<u8> {
    match protocol {
        Protocol::Postgres => postgres::WELCOME.to_vec(),
        Protocol::Mysql => mysql::welcome(false),
    }
}

/// A session whose server says `bytes` and waits.
fn connect(bytes: &[u8], endpoint: &Endpoint) -> Result<(Session, UnixStream), WireError> {
    let (near, mut far) = UnixStream::pair().unwrap();
    far.write_all(bytes).unwrap();
    let session = Session::over(near.into(), endpoint, PATIENCE)?;
    Ok((session, far))
}

/// A session whose server has let us in.
fn connected(protocol: Protocol) -> (Session, UnixStream) {
    connect(&welcome(protocol), &endpoint(protocol, "bench")).unwrap()
}

/// The same, of a server that says no more.
fn connect_to_noise(bytes: &[u8], endpoint: &Endpoint) -> Result<Session, WireError> {
    let (near, mut far) = UnixStream::pair().unwrap();
    far.write_all(bytes).unwrap();
    hang_up(&far);
    Session::over(near.into(), endpoint, PATIENCE)
}

fn hang_up(far: &UnixStream) {
    far.shutdown(std::net::Shutdown::Write).unwrap();
}

/// Checks what these allocate for the noise; they check the rest.
fn check(noises: [fn(&[u8]); 3], bytes: &[u8]) {
    for noise in noises {
        let allocations = measure(|| noise(bytes));
        assert!(allocations.bytes_max < NOISE_MEMORY_BYTES, "{allocations:?}");
    }
}

#[test]
fn a_reply_without_a_request_is_refused() {
    for (protocol, reply) in PROTOCOLS.into_iter().zip([b"Z\0\0\0\x05I".to_vec(), mysql::packet(0, mysql::OK)]) {
        let (mut session, mut far) = connected(protocol);
        far.write_all(&reply).unwrap();
        let error = session.receive().unwrap_err();
        assert!(matches!(error, WireError::Protocol { .. }), "{error}");
    }
}

/// Each server numbers its sessions by itself, so that two of them may have the same number.
#[test]
fn a_statement_of_another_servers_session_is_refused() {
    let of_postgres = b"1\0\0\0\x04t\0\0\0\x06\0\0n\0\0\0\x04Z\0\0\0\x05I".to_vec();
    let of_mysql = mysql::packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0");
    for (protocol, prepared) in PROTOCOLS.into_iter().zip([of_postgres, of_mysql]) {
        let [mut own, mut foreign] = [(); 2].map(|()| {
            let (mut session, mut far) = connected(protocol);
            far.write_all(&prepared).unwrap();
            let statement = session.prepare("commit", &[]).unwrap();
            (session, statement, far)
        });
        assert_eq!(own.0.backend_pid(), foreign.0.backend_pid());
        let error = foreign.0.submit(&own.1).unwrap_err();
        assert!(matches!(error, WireError::Misuse(text) if text.contains("another session")), "{error}");
        own.0.submit(&own.1).unwrap();
        foreign.0.submit(&foreign.1).unwrap();
    }
}
