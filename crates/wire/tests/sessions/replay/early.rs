//! Servers that answer before they have heard a statement to its end, and may then hang up.
//!
//! The statement is longer than a socket takes at once, so that the client is still writing when the answer comes, and
//! reads it in between.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rqps_testkit::PATIENCE;
use rqps_wire::{Protocol, Session, SqlState, WireError, wait_readable};

use super::noise::mysql::packet;
use super::noise::welcome;
use super::peer::wait_until_read;
use super::scenario::endpoint;

/// What a server does after its early answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    HearsTheRest,
    HangsUpOnceItIsRead,
    HangsUp,
}

/// Longer than any socket's buffer.
fn long_statement() -> String {
    format!("select '{}'", "x".repeat(8 << 20))
}

/// Uses a session whose server answers early.
fn with_early<R>(protocol: Protocol, answer: &[u8], then: Then, play: impl FnOnce(Session) -> R) -> R {
    let (near, mut far) = UnixStream::pair().unwrap();
    let client_end: OwnedFd = near.try_clone().unwrap().into();
    far.write_all(&welcome(protocol)).unwrap();
    let mut session = Session::over(near.into(), &endpoint(protocol, "bench"), PATIENCE).unwrap();
    session.set_deadline(Some(PATIENCE));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // More than a login.
            far.read_exact(&mut [0; 4096]).unwrap();
            far.write_all(answer).unwrap();
            // A client that can write looks for no answer, so it is heard further only once it has read this one.
            if then != Then::HangsUp {
                wait_until_read(&client_end);
            }
            drop(client_end);
            if then == Then::HearsTheRest {
                std::io::copy(&mut far, &mut std::io::sink()).unwrap();
            }
        });
        play(session)
    })
}

/// PostgreSQL's ErrorResponse.
fn error_response(fields: &[u8]) -> Vec<u8> {
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    [b"E", &length[..], fields].concat()
}

#[test]
fn a_complete_reply_waits_to_be_received() {
    let refusal = error_response(b"SERROR\0C54000\0Mtoo long\0\0");
    let postgres = [&refusal[..], b"Z\0\0\0\x05I"].concat();
    let mysql = packet(1, b"\xff\x81\x04#08S01too long");
    for (protocol, answer, state) in [(Protocol::Postgres, postgres, b"54000"), (Protocol::Mysql, mysql, b"08S01")] {
        with_early(protocol, &answer, Then::HearsTheRest, |mut session| {
            let mut statement = session.text_statement(0);
            statement.set_sql(long_statement().as_bytes());
            assert!(!session.is_answered());
            session.submit(&statement).unwrap();
            assert!(session.is_answered() && session.is_pending());
            assert!(!wait_readable(&session, Some(Duration::ZERO)).unwrap());
            let reply = session.receive().unwrap().unwrap();
            assert_eq!(reply.error.unwrap().state, SqlState(*state));
            assert!(!session.is_answered() && !session.is_pending());
        });
    }
}

#[test]
fn the_last_words_of_a_server_that_hangs_up_are_told() {
    let fatal = error_response(b"SFATAL\0C57P01\0Mno more\0\0");
    let too_long = packet(1, b"\xff\x81\x04#08S01no more");
    let shutdown = packet(1, b"\xff\x1d\x04#08S01no more");
    for (protocol, answer, told) in [
        (Protocol::Postgres, fatal, "FATAL 57P01: no more"),
        (Protocol::Mysql, too_long, "1153 (08S01): no more; raise the server's max_allowed_packet"),
        (Protocol::Mysql, shutdown, "1053 (08S01): no more; the server shuts down"),
    ] {
        for then in [Then::HangsUpOnceItIsRead, Then::HangsUp] {
            let blocking =
                with_early(protocol, &answer, then, |mut session| session.query(&long_statement()).map(|_| ()));
            let timed = with_early(protocol, &answer, then, |mut session| {
                let mut statement = session.text_statement(0);
                statement.set_sql(long_statement().as_bytes());
                session.run(&statement).map(|_| ())
            });
            for error in [blocking.unwrap_err(), timed.unwrap_err()] {
                assert!(matches!(error, WireError::Lost { .. }), "{then:?}: {error}");
                assert!(error.to_string().contains(told), "{then:?}: {error}");
            }
        }
    }
}
