//! The loader and the timed loop against real servers: PostgreSQL, MySQL, MariaDB, and all of them in one exercise; the
//! Insert Benchmark, and the tables of TPROC-C.
//!
//! What is said of all engines runs over the list of products. Numbers of statements and rows are compared with what
//! the server itself counted; nothing here depends on how fast the machine is.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arms;
mod data;
mod dumps;
mod faults;
mod insert;
mod mysql_data;
mod own;
mod own_steps;
mod pgbench;
mod rocksdb;
mod servers;
mod statements;
mod timeouts;
mod toy;
mod tproc_c;
mod warehouses;

use rqps_load::drive::{ArmRun, Exercise, RowSink, Schedule, Switch};
use rqps_load::program::sysbench::Statements;
use rqps_load::{LoadError, drive};
use rqps_model::plan::{Arrival, DataShape};
use rqps_model::sample::SecondRow;
use rqps_suites::{Suite, Test};
use rqps_wire::Endpoint;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Nobody wants to stop.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Tables small enough to load in a blink.
const SMALL: DataShape = DataShape { tables: 2, rows: 2000 };

/// A schedule of short slices.
fn schedule(seconds: f64) -> Schedule {
    Schedule {
        seconds,
        warmup_seconds: 0.05,
        slice: Duration::from_millis(10),
        lead_in: Duration::from_millis(1),
        session_life: Duration::from_secs(60),
    }
}

/// A test of the suite, and how it is run.
#[derive(Debug, Clone, Copy)]
struct Trial<'a> {
    test: &'a Test,
    data: DataShape,
    arms: &'a [Endpoint],
    clients: u32,
    threads: u32,
    schedule: Schedule,
    arrival: Arrival,
    seed: u64,
}

/// A closed loop on one thread.
fn trial<'a>(suite: &'a Suite, test: &str, arms: &'a [Endpoint], clients: u32) -> Trial<'a> {
    Trial {
        test: suite.test(test).unwrap(),
        data: SMALL,
        arms,
        clients,
        threads: 1,
        schedule: schedule(0.2),
        arrival: Arrival::Closed,
        seed: 11,
    }
}

impl<'a> Trial<'a> {
    fn exercise(&self) -> (Exercise<'a>, Statements) {
        let Trial { test, data, arms, clients, threads, schedule, arrival, seed } = *self;
        let exercise = Exercise { threads, arrival, ..Exercise::new(arms, clients, schedule, seed) };
        (exercise, Statements::compile(test, data, arms).unwrap())
    }
}

fn run(
    trial: &Trial<'_>,
    hook: &mut dyn FnMut(Switch) -> Result<(), LoadError>,
    stop: &AtomicBool,
    progress: &dyn Fn(f64),
) -> Result<Vec<ArmRun>, LoadError> {
    let (exercise, statements) = trial.exercise();
    drive::run(&exercise, &statements, hook, stop, progress)
}

/// Runs a trial to its end.
fn run_all(trial: &Trial<'_>) -> Vec<ArmRun> {
    run(trial, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap()
}

/// Runs a trial to its end, each arm with the rows of its seconds.
fn run_with_rows(trial: &Trial<'_>) -> Vec<(ArmRun, Vec<SecondRow>)> {
    let given = Mutex::new(vec![Vec::new(); trial.arms.len()]);
    let give = |arm: usize, row: &SecondRow| given.lock().unwrap()[arm].push(row.clone());
    let (exercise, statements) = trial.exercise();
    let exercise = Exercise { rows: RowSink::to(&give), ..exercise };
    let runs = drive::run(&exercise, &statements, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap();
    runs.into_iter().zip(given.into_inner().unwrap()).collect()
}

/// Runs so many events for each client.
fn run_events(trial: &Trial<'_>, events: u32) -> Vec<ArmRun> {
    let (exercise, statements) = trial.exercise();
    drive::run_events(&exercise, &statements, events, &RUNNING).unwrap()
}
