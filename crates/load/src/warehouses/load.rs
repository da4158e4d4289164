//! Loads the tables: made, filled in streams side by side, indexed, analyzed, brought to rest.
//!
//! In: a target, the warehouses, a seed, threads. Out: tables at rest, and how long each part took.

use super::population::Population;
use super::stream::Source;
use super::table::Table;
use super::{mysql, postgres};
use crate::error::LoadError;
use crate::load_report::LoadReport;
use crate::session::{execute, parallel_each};
use crate::work::{SettleGoal, analyze_table, checkpoint, provide_prewarm, settle, vacuum};
use rqps_model::plan::DataShape;
use rqps_model::tproc_c::{Quirk, TABLES, Warehouses};
use rqps_wire::{Protocol, Session, Target};
use std::collections::BTreeSet;
use std::time::Instant;

/// Loads without telling how far it is.
pub fn load(target: &Target, data: &Warehouses, seed: u64, threads: usize) -> Result<LoadReport, LoadError> {
    load_with_progress(target, data, seed, threads, &|_| ())
}

/// Drops the tables if they are there, makes, fills and indexes them and brings the server to rest; `threads` streams
/// or indexes at once at most. Each thread tells `progress` which share of all rows has been sent.
pub fn load_with_progress(
    target: &Target,
    data: &Warehouses,
    seed: u64,
    threads: usize,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<LoadReport, LoadError> {
    if data.warehouses == 0 || data.partitions == 0 {
        return Err(LoadError::Shape(format!(
            "{} warehouses in {} partitions cannot be loaded: there must be at least one of each",
            data.warehouses, data.partitions
        )));
    }
    let begun = Instant::now();
    let threads = threads.clamp(1, usize::from(u8::MAX)) as u32;
    let quirks: BTreeSet<Quirk> = data.quirks.iter().copied().filter(|quirk| quirk.is_on(target.engine())).collect();
    let population = Population::new(seed, &quirks);
    let source = Source::new(population, data.rows(), progress);
    fill(target, data, &source, &quirks, threads)?;
    let filled_seconds = begun.elapsed().as_secs_f64();

    let indexes = match target.endpoint.protocol() {
        Protocol::Postgres => postgres::indexes(&quirks),
        Protocol::Mysql => mysql::indexes(),
    };
    each(target, &indexes, threads, |session, sql| execute(session, sql))?;
    let load_seconds = begun.elapsed().as_secs_f64();

    let left = rest(target, data, threads)?;
    Ok(LoadReport {
        rows: source.rows_sent(),
        load_seconds,
        index_seconds: load_seconds - filled_seconds,
        settle_seconds: begun.elapsed().as_secs_f64() - load_seconds,
        left,
        given: Vec::new(),
    })
}

/// Makes the tables and fills them.
fn fill(
    target: &Target,
    data: &Warehouses,
    source: &Source<'_>,
    quirks: &BTreeSet<Quirk>,
    threads: u32,
) -> Result<(), LoadError> {
    let streams = match target.endpoint.protocol() {
        Protocol::Postgres => postgres::create(&target.endpoint, data)?,
        Protocol::Mysql => mysql::create(target, data, quirks, threads)?,
    };
    each(target, &streams, threads, |session, stream| match target.endpoint.protocol() {
        Protocol::Postgres => postgres::fill(session, stream, source),
        Protocol::Mysql => mysql::fill(session, stream, source, target.mysql_storage()),
    })
}

/// Statistics and what else belongs to a table that is left alone; says what is not at rest in the time allowed.
fn rest(target: &Target, data: &Warehouses, threads: u32) -> Result<Option<String>, LoadError> {
    let endpoint = &target.endpoint;
    match endpoint.protocol() {
        Protocol::Postgres => {
            // Here, so that bringing tables into memory later changes nothing in the database.
            provide_prewarm(endpoint)?;
            each(target, &Table::ALL, threads, |session, table| {
                vacuum(session, &format!("VACUUM (ANALYZE) {}", table.name()))
            })?;
            checkpoint(endpoint).map(|()| None)
        }
        Protocol::Mysql => {
            each(target, &Table::ALL, threads, |session, table| analyze_table(session, table.name()))?;
            let shape = DataShape { tables: TABLES, rows: data.rows() / u64::from(TABLES) };
            settle(target, shape, SettleGoal::Both)
        }
    }
}

/// Acts on each of several things, some of them at once.
fn each<T: Sync>(
    target: &Target,
    things: &[T],
    threads: u32,
    act: impl Fn(&mut Session, &T) -> Result<(), LoadError> + Sync,
) -> Result<(), LoadError> {
    parallel_each(&target.endpoint, things.len() as u32, threads, |session, number| {
        act(session, &things[number as usize])
    })
}
