//! The Insert Benchmark against real servers: what was counted is what the server holds, whatever happens on the way.
//!
//! Nothing here depends on how fast the machine is, but for the test of a stall, which makes one far longer than any
//! machine's own.

mod accounting;
mod faults;
mod memory;
mod null_sink;
mod pass;
mod rows;
mod side_by_side;
mod work;

use crate::RUNNING;
use crate::servers::Product;
use rqps_load::drive::ClientCpus;
use rqps_load::insert::{Bench, State, StepRun, run_step};
use rqps_model::insert::{Shape, Sla, Step, StepRecord, steps};
use rqps_model::sample::{SecondRow, per_second};
use rqps_testkit::{LiveServer, Wanted};
use rqps_wire::Endpoint;
use std::time::Duration;

/// A server as these tests want it: MySQL is a small one of 8.0, without the binary log, and nobody gives up a lock.
fn wanted(product: Product) -> Wanted {
    let wanted = match product {
        Product::Postgres => return product.wanted(),
        Product::Mysql => Wanted::mysql().build("mysql:8.0.15"),
        Product::Mariadb => Wanted::mariadb(),
        Product::Rocksdb => Wanted::rocksdb(),
    };
    wanted.with("character-set-server=latin1")
}

/// A server of a test's own.
fn start(product: Product) -> LiveServer {
    LiveServer::start(&wanted(product))
}

/// A database on the server of all tests.
fn shared(product: Product) -> LiveServer {
    LiveServer::shared(&wanted(product))
}

/// Small enough to pass in seconds.
fn shape() -> Shape {
    Shape {
        clients: 2,
        shared_table: false,
        rows_initial: 3000,
        rows_written: 2003,
        rates_per_s: vec![20, 500],
        seconds: 1.0,
        rest_seconds: 0.0,
        catch_up_seconds: 10.0,
    }
}

fn bench<'a>(endpoint: &'a Endpoint, shape: &'a Shape) -> Bench<'a> {
    let slice = Duration::from_millis(20);
    Bench {
        endpoint,
        storage: None,
        shape,
        seed: 7,
        threads: 1,
        cpus: ClientCpus::default(),
        slice,
        keeps_spans: false,
    }
}

/// Runs the steps up to and with the one of that name, and returns what it left.
fn run_up_to(bench: &Bench<'_>, last: &str) -> State {
    let mut state = State::new();
    for step in steps(bench.shape) {
        run(bench, &step, &mut state);
        if step.name == last {
            return state;
        }
    }
    panic!("no step {last}");
}

fn run(bench: &Bench<'_>, step: &Step, state: &mut State) -> StepRun {
    let run = run_step(bench, step, state, &RUNNING, &mut |_| ()).unwrap();
    assert_eq!(run.record.failure, None);
    run
}

/// What was counted of a kind in all seconds.
fn sum(run: &StepRun, kind: &str, number: fn(&SecondRow) -> u64) -> u64 {
    run.seconds.iter().filter(|row| row.kind == kind).map(number).sum()
}

/// Seconds in which next to nothing was inserted, the first and how many. While indexes are built nothing is meant to
/// be.
fn stalls(run: &StepRun) -> Vec<(usize, usize)> {
    let rows = |row: &SecondRow| if row.kind == "insert" { row.rows } else { 0 };
    match run.record.rows_indexed {
        Some(_) => Vec::new(),
        None => {
            let found = rqps_stats::stalls(&per_second(&run.seconds, run.record.seconds, rows));
            found.into_iter().map(|stall| (stall.start, stall.len())).collect()
        }
    }
}

/// Whether a rate was held.
fn is_held(sla: &Sla) -> bool {
    sla.reached_per_s >= 0.95 * sla.target_per_s
}

/// Of two clients at 200 rows a second for eight seconds, nothing is missing after a stall, and nothing was put off. So
/// the rate was held, unless the machine was too busy to answer the last insert in time.
fn assert_made_good(record: &StepRecord) {
    assert_eq!((record.inserts.rows, record.deferred_seconds), (3200, 0.0), "{record:?}");
    assert_eq!(is_held(&record.sla.unwrap()), record.seconds <= 8.0 / 0.95, "{record:?}");
}

fn step(shape: &Shape, name: &str) -> Step {
    steps(shape).into_iter().find(|step| step.name == name).unwrap()
}
