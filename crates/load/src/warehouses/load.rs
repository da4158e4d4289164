//! Loads the tables: made, filled in streams side by side, indexed, analyzed, brought to rest.
//!
//! In: a target, the warehouses, a seed, threads. Out: tables at rest, and how long each part took. A stream is a table,
//! or a part of it, in the order of its primary key, made and sent by one thread: the order of rows on disk does not
//! depend on who was faster, and making a row costs a fraction of what the server needs to take it.

use super::population::Population;
use super::table::{TENTHS, Table};
use super::{mysql, postgres};
use crate::error::LoadError;
use crate::load_report::LoadReport;
use crate::session::{execute, parallel_each};
use crate::work::{SettleGoal, analyze_table, checkpoint, provide_prewarm, settle};
use rqps_model::plan::DataShape;
use rqps_model::tproc_c::{Quirk, TABLES, Warehouses};
use rqps_wire::{CopyWriter, Protocol, Session, Target, WireError};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Rows of one table that one thread sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) table: Table,
    /// The table, or the partition of it.
    pub(super) into: String,
    /// The warehouses, in their order.
    pub(super) warehouses: Vec<u32>,
}

impl Stream {
    /// All of a table.
    pub(super) fn whole(table: Table, data: &Warehouses) -> Stream {
        // Items are made as those of a warehouse 0.
        let warehouses = if table == Table::Item { vec![0] } else { (1..=data.warehouses).collect() };
        Stream { table, into: table.name().to_owned(), warehouses }
    }

    /// Writes the rows of some of its warehouses, and says how many they are.
    pub(super) fn write(
        &self,
        warehouses: &[u32],
        population: &Population<'_>,
        writer: &mut CopyWriter<'_>,
    ) -> Result<u64, WireError> {
        let (mut rows, mut sent) = (Vec::new(), 0);
        for warehouse in warehouses {
            for tenth in 0..TENTHS {
                rows.clear();
                sent += population.push_tenth(self.table, *warehouse, tenth, &mut rows);
                writer.write(&rows)?;
            }
        }
        Ok(sent)
    }
}

/// Drops the tables if they are there, makes, fills and indexes them and brings the server to rest; `threads` streams
/// or indexes at once at most.
pub fn load(target: &Target, data: &Warehouses, seed: u64, threads: usize) -> Result<LoadReport, LoadError> {
    if data.warehouses == 0 || data.partitions == 0 {
        return Err(LoadError::Shape(format!(
            "{} warehouses in {} partitions cannot be loaded: there must be at least one of each",
            data.warehouses, data.partitions
        )));
    }
    let begun = Instant::now();
    let threads = threads.clamp(1, usize::from(u8::MAX)) as u32;
    let quirks: BTreeSet<Quirk> = data.quirks.iter().copied().filter(|quirk| quirk.is_on(target.engine())).collect();
    let rows = fill(target, data, &Population::new(seed, &quirks), &quirks, threads)?;
    let filled_seconds = begun.elapsed().as_secs_f64();

    let indexes = match target.endpoint.protocol() {
        Protocol::Postgres => postgres::indexes(&quirks),
        Protocol::Mysql => mysql::indexes(),
    };
    each(target, &indexes, threads, |session, sql| execute(session, sql))?;
    let load_seconds = begun.elapsed().as_secs_f64();

    let left = rest(target, data, threads)?;
    Ok(LoadReport {
        rows,
        load_seconds,
        index_seconds: load_seconds - filled_seconds,
        settle_seconds: begun.elapsed().as_secs_f64() - load_seconds,
        left,
    })
}

/// Makes the tables and fills them, and says how many rows there are.
fn fill(
    target: &Target,
    data: &Warehouses,
    population: &Population<'_>,
    quirks: &BTreeSet<Quirk>,
    threads: u32,
) -> Result<u64, LoadError> {
    let streams = match target.endpoint.protocol() {
        Protocol::Postgres => postgres::create(&target.endpoint, data)?,
        Protocol::Mysql => mysql::create(target, data, quirks, threads)?,
    };
    let rows = AtomicU64::new(0);
    each(target, &streams, threads, |session, stream| {
        let sent = match target.endpoint.protocol() {
            Protocol::Postgres => postgres::fill(session, stream, population)?,
            Protocol::Mysql => mysql::fill(session, stream, population, target.mysql_storage())?,
        };
        rows.fetch_add(sent, Ordering::Relaxed);
        Ok(())
    })?;
    Ok(rows.into_inner())
}

/// Statistics and what else belongs to a table that is left alone; says what is not at rest in the time allowed.
fn rest(target: &Target, data: &Warehouses, threads: u32) -> Result<Option<String>, LoadError> {
    let endpoint = &target.endpoint;
    match endpoint.protocol() {
        Protocol::Postgres => {
            // Here, so that bringing tables into memory later changes nothing in the database.
            provide_prewarm(endpoint)?;
            each(target, &Table::ALL, threads, |session, table| {
                execute(session, &format!("VACUUM (ANALYZE) {}", table.name()))
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
