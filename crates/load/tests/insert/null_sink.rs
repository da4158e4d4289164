//! What the client alone costs and can do: l.i0 against a server that does nothing but answer.
//!
//! The sink speaks as much of PostgreSQL's protocol as the step needs, on a thread of its own whose CPU time is not counted.

use crate::{RUNNING, bench, shape, step};
use rqps_load::insert::{State, run_step};
use rqps_model::insert::Shape;
use rqps_wire::{Endpoint, Protocol, Transport};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

/// AuthenticationOk, BackendKeyData, ReadyForQuery.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I";
/// RowDescription of a bigint, DataRow of 1, CommandComplete, ReadyForQuery.
const ONE: &[u8] = b"T\0\0\0\x1c\0\x01min\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0\
                     D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
/// CommandComplete, ReadyForQuery.
const INSERTED: &[u8] = b"C\0\0\0\x11INSERT 0 100\0Z\0\0\0\x05I";
const EXECUTED: &[u8] = b"C\0\0\0\x07DO\0Z\0\0\0\x05I";

/// Answers one session until it ends.
fn answer(mut stream: UnixStream) -> std::io::Result<()> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body)?;
    stream.write_all(WELCOME)?;
    let mut buffer = vec![0; 64 << 10];
    let mut filled = 0;
    loop {
        match stream.read(&mut buffer[filled..])? {
            0 => return Ok(()),
            count => filled += count,
        }
        while filled >= 5 {
            let message = 1 + u32::from_be_bytes([buffer[1], buffer[2], buffer[3], buffer[4]]) as usize;
            if filled < message {
                break;
            }
            let reply = match (buffer[0], &buffer[5..12.min(message)]) {
                (b'Q', b"INSERT ") => INSERTED,
                (b'Q', b"SELECT ") => ONE,
                (b'Q', _) => EXECUTED,
                _ => return Ok(()),
            };
            stream.write_all(reply)?;
            buffer.copy_within(message..filled, 0);
            filled -= message;
        }
    }
}

/// Inserts so many rows into the sink: rows per second and CPU nanoseconds of the client per row.
fn insert(rows: u64, clients: u32, threads: usize) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let transport = Transport::postgres_socket(folder.path(), 5432);
    let Transport::Unix { path } = &transport else { panic!("a socket") };
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(|| answer(stream));
        }
    });
    let endpoint = Endpoint {
        engine: Protocol::Postgres,
        transport,
        user: "bench".into(),
        password: None,
        database: "none".into(),
        options: Vec::new(),
    };
    let shape = Shape { rows_initial: rows / u64::from(clients), clients, ..shape() };
    let bench = rqps_load::insert::Bench { threads, ..bench(&endpoint, &shape) };
    let record = run_step(&bench, &step(&shape, "l.i0"), &mut State::new(), &RUNNING, &|_| ()).unwrap().record;
    assert_eq!((record.failure, record.inserts.rows), (None, rows));
    (rows as f64 / record.seconds, record.client_cpu_ns as f64 / rows as f64)
}

#[test]
fn the_sink_takes_every_row() {
    let (rows_per_s, cpu_ns_per_row) = insert(100_000, 2, 2);
    assert!(rows_per_s > 0.0 && cpu_ns_per_row > 0.0);
}

#[test]
#[ignore = "prints a figure that means something with optimisation on a quiet machine: cargo test --release -p rqps-load --test insert -- --ignored --nocapture sink"]
fn speed_against_a_sink() {
    const WANTED_PER_S: f64 = 300_000.0;
    for (clients, threads) in [(1, 1), (8, 1), (8, 2)] {
        let (rows_per_s, cpu_ns_per_row) = insert(8_000_000, clients, threads);
        println!("{clients} clients, {threads} threads: {rows_per_s:.0} rows/s, {cpu_ns_per_row:.0} ns of CPU a row");
        assert!(rows_per_s >= WANTED_PER_S, "{rows_per_s}");
    }
}
