//! Makes the tables of the sysbench suite and fills them, fast and always the same.
//!
//! In: a target, tables and rows, a seed. Out: loaded, indexed tables at rest and how long that took. Each table is one
//! stream of rows in the order of ids, made and sent by one thread: the order of rows on disk is the same each time,
//! and making a row costs a fraction of what the server needs to take it, so the socket's buffer is all the pipeline
//! there is. The same seed gives the same values on every engine.

mod mysql;
mod postgres;

use crate::error::LoadError;
pub use crate::load_report::LoadReport;
use crate::session::parallel_each;
use crate::work::{SettleGoal, analyze, provide_prewarm, settle};
use rqps_model::plan::DataShape;
use rqps_wire::{Protocol, Target};
use std::time::Instant;

/// Tables that are loaded at once.
const PARALLEL_MAX: usize = 4;

/// Drops the tables if they are there, makes, fills and indexes them and brings the server to rest; `threads` tables at
/// once at most.
pub fn prepare_data(target: &Target, data: DataShape, seed: u64, threads: usize) -> Result<LoadReport, LoadError> {
    if data.tables == 0 || data.rows == 0 || data.rows > i32::MAX as u64 {
        return Err(LoadError::Shape(format!(
            "{} tables of {} rows cannot be loaded: ids are integers from 1 to {}",
            data.tables,
            data.rows,
            i32::MAX
        )));
    }
    let begun = Instant::now();
    load_tables(target, data, seed, threads)?;
    let load_seconds = begun.elapsed().as_secs_f64();
    let endpoint = &target.endpoint;
    let left = match endpoint.protocol() {
        Protocol::Postgres => {
            // Here, so that bringing tables into memory later changes nothing in the database.
            provide_prewarm(endpoint)?;
            postgres::settle(endpoint, data).map(|()| None)?
        }
        Protocol::Mysql => {
            analyze(endpoint, data)?;
            settle(target, data, SettleGoal::Both)?
        }
    };
    let settle_seconds = begun.elapsed().as_secs_f64() - load_seconds;
    Ok(LoadReport {
        rows: data.rows * u64::from(data.tables),
        load_seconds,
        index_seconds: 0.0,
        settle_seconds,
        left,
        given: Vec::new(),
    })
}

fn load_tables(target: &Target, data: DataShape, seed: u64, threads: usize) -> Result<(), LoadError> {
    let storage = target.mysql_storage();
    let threads = threads.clamp(1, PARALLEL_MAX) as u32;
    // Where one table failed, hours of loading the others would be for nothing.
    parallel_each(&target.endpoint, data.tables, threads, |session, number| match target.endpoint.protocol() {
        Protocol::Postgres => postgres::load_table(session, number + 1, data.rows, seed),
        Protocol::Mysql => mysql::load_table(session, number + 1, data.rows, storage, seed),
    })
}
