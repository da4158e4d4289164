//! What the client alone costs and can do: l.i0 against a server that does nothing but answer.
//!
//! The sink is on threads of its own, whose CPU time is not counted.

use super::{bench, shape, step};
use crate::RUNNING;
use rqps_load::insert::{State, run_step};
use rqps_model::Engine;
use rqps_model::insert::Shape;
use rqps_wire::{Endpoint, Transport, acknowledge};
use std::os::unix::net::UnixListener;

/// The batch of l.i0.
const ROWS_PER_INSERT: u32 = 100;

/// Inserts so many rows into the sink: rows per second and CPU nanoseconds of the client per row.
fn insert(rows: u64, clients: u32, threads: usize) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let transport = Transport::postgres_socket(folder.path(), 5432);
    let Transport::Unix { path } = &transport else { panic!("a socket") };
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || acknowledge(stream, ROWS_PER_INSERT));
        }
    });
    let endpoint = Endpoint {
        engine: Engine::Postgres,
        transport,
        user: "bench".into(),
        password: None,
        database: "none".into(),
        options: Vec::new(),
    };
    let shape = Shape { rows_initial: rows / u64::from(clients), clients, ..shape() };
    let bench = rqps_load::insert::Bench { threads, ..bench(&endpoint, &shape) };
    let record = run_step(&bench, &step(&shape, "l.i0"), &mut State::new(), &RUNNING, &mut |_| ()).unwrap().record;
    assert_eq!((record.failure, record.inserts.rows), (None, rows));
    (rows as f64 / record.seconds, record.client_cpu_ns as f64 / rows as f64)
}

#[test]
fn the_sink_takes_every_row() {
    let (rows_per_s, cpu_ns_per_row) = insert(100_000, 2, 2);
    assert!(rows_per_s > 0.0 && cpu_ns_per_row > 0.0);
}

#[test]
#[ignore = "prints a figure that means something with optimisation on a quiet machine: cargo test --release -p rqps-load --test live -- --ignored --nocapture sink"]
fn speed_against_a_sink() {
    const WANTED_PER_S: f64 = 300_000.0;
    for (clients, threads) in [(1, 1), (8, 1), (8, 2)] {
        let (rows_per_s, cpu_ns_per_row) = insert(8_000_000, clients, threads);
        println!("{clients} clients, {threads} threads: {rows_per_s:.0} rows/s, {cpu_ns_per_row:.0} ns of CPU a row");
        assert!(rows_per_s >= WANTED_PER_S, "{rows_per_s}");
    }
}
