//! A server that does nothing: it acknowledges inserts, so that what is left is what the client costs and can do.
//!
//! In: a connected socket. Out: PostgreSQL's answers to what a loader sends, each without looking further than the
//! first word. It keeps no data, checks no SQL, and knows nothing beyond simple queries.

use std::io::{self, Read, Write};

/// AuthenticationOk, BackendKeyData, ReadyForQuery.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I";

/// To a question: RowDescription of one bigint, DataRow of 1, CommandComplete, ReadyForQuery.
const ONE: &[u8] = b"T\0\0\0\x1c\0\x01one\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0\
                     D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

/// Bytes before the text of a query: its type and length.
const HEAD_BYTES: usize = 5;

/// Room to begin with; a longer message makes more.
const BUFFER_BYTES: usize = 64 << 10;

/// Serves one client until it leaves: every INSERT has inserted `rows_per_insert` rows, every SELECT finds the number
/// 1, all else is done.
pub fn acknowledge(mut stream: impl Read + Write, rows_per_insert: u32) -> io::Result<()> {
    let inserted = complete(&format!("INSERT 0 {rows_per_insert}"));
    let done = complete("DO");
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let startup = u64::from(u32::from_be_bytes(length)).saturating_sub(length.len() as u64);
    io::copy(&mut (&mut stream).take(startup), &mut io::sink())?;
    stream.write_all(WELCOME)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut filled = 0;
    loop {
        match stream.read(&mut buffer[filled..])? {
            0 => return Ok(()),
            count => filled += count,
        }
        while filled >= HEAD_BYTES {
            let length = u32::from_be_bytes([buffer[1], buffer[2], buffer[3], buffer[4]]);
            let message = 1 + length as usize;
            if filled < message {
                buffer.resize(buffer.len().max(message), 0);
                break;
            }
            let reply = match (buffer[0], &buffer[HEAD_BYTES.min(message)..message]) {
                (b'Q', sql) if sql.starts_with(b"INSERT ") => &inserted[..],
                (b'Q', sql) if sql.starts_with(b"SELECT ") => ONE,
                (b'Q', _) => &done[..],
                _ => return Ok(()),
            };
            stream.write_all(reply)?;
            buffer.copy_within(message..filled, 0);
            filled -= message;
        }
    }
}

/// CommandComplete with a tag, ReadyForQuery.
fn complete(tag: &str) -> Vec<u8> {
    const READY: &[u8] = b"Z\0\0\0\x05I";
    let length = 4 + tag.len() as u32 + 1;
    [b"C", &length.to_be_bytes()[..], tag.as_bytes(), b"\0", READY].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, Session, Transport};
    use rqps_model::Engine;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    #[test]
    fn a_session_takes_it_for_a_server() {
        let (near, far) = UnixStream::pair().unwrap();
        let server = std::thread::spawn(move || acknowledge(far, 7));
        let endpoint = Endpoint {
            engine: Engine::Postgres,
            transport: Transport::Unix { path: "none".into() },
            user: "nobody".into(),
            password: None,
            database: "none".into(),
            options: Vec::new(),
        };
        let mut session = Session::over(OwnedFd::from(near), &endpoint, Duration::from_secs(10)).unwrap();
        assert_eq!(session.execute("INSERT INTO t VALUES (1)").unwrap(), 7);
        assert_eq!(session.query("SELECT max(id) FROM t").unwrap().rows, [[Some("1".to_owned())]]);
        assert_eq!(session.execute("DROP TABLE t").unwrap(), 0);
        let long = format!("INSERT INTO t VALUES ('{}')", "a".repeat(3 * BUFFER_BYTES));
        assert_eq!(session.execute(&long).unwrap(), 7);
        session.close();
        server.join().unwrap().unwrap();
    }
}
