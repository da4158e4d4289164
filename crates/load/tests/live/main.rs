//! The loader and the timed loop against real servers: PostgreSQL, MySQL, MariaDB, and all of them in one contest.
//!
//! Each test starts its own server (two where arms must die apart). Numbers of statements and rows are compared with
//! what the server itself counted; nothing here depends on how fast the machine is.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arms;
mod data;
mod faults;
mod mysql_data;
mod mysql_faults;
mod mysql_statements;
mod rocksdb;
mod servers;
mod statements;

use rqps_load::timed::{Contest, Schedule};
use rqps_model::plan::{Arrival, DataShape};
use rqps_suites::Suite;
use rqps_wire::Endpoint;
use std::time::Duration;

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

/// A closed contest on one thread.
fn contest<'a>(suite: &'a Suite, test: &str, arms: &'a [Endpoint], clients: u32) -> Contest<'a> {
    Contest {
        test: suite.test(test).unwrap(),
        data: SMALL,
        arms,
        clients,
        threads: 1,
        client_cpus: &[],
        schedule: schedule(0.2),
        arrival: Arrival::Closed,
        seed: 11,
    }
}
