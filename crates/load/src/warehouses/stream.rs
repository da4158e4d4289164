//! Which rows one thread sends, and where they come from.
//!
//! In: a table, the rows of all. Out: text into a bulk load, and how much of it was sent. A stream is a table, or a
//! part of it, in the order of its primary key, made and sent by one thread: the order of rows on disk does not depend
//! on who was faster, and making a row costs a fraction of what the server needs to take it.

use super::population::Population;
use super::table::{TENTHS, Table};
use rqps_model::tproc_c::Warehouses;
use rqps_wire::{CopyWriter, WireError};
use std::sync::atomic::{AtomicU64, Ordering};

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
}

/// Where the rows come from, and how many have been sent.
pub(super) struct Source<'a> {
    population: Population<'a>,
    rows: AtomicU64,
    rows_expected: u64,
    progress: &'a (dyn Fn(f64) + Sync),
}

impl<'a> Source<'a> {
    pub(super) fn new(
        population: Population<'a>,
        rows_expected: u64,
        progress: &'a (dyn Fn(f64) + Sync),
    ) -> Source<'a> {
        Source { population, rows: AtomicU64::new(0), rows_expected, progress }
    }

    /// Rows of all tables that were sent so far.
    pub(super) fn rows_sent(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Writes a table's rows of some warehouses, and says how many they are.
    pub(super) fn write(
        &self,
        table: Table,
        warehouses: &[u32],
        writer: &mut CopyWriter<'_>,
    ) -> Result<u64, WireError> {
        let (mut text, mut sent) = (Vec::new(), 0);
        for warehouse in warehouses {
            for tenth in 0..TENTHS {
                text.clear();
                let rows = self.population.push_tenth(table, *warehouse, tenth, &mut text);
                writer.write(&text)?;
                sent += rows;
                let all = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
                // Lines of orders are drawn, so that their number is known only in the end.
                (self.progress)((all as f64 / self.rows_expected as f64).min(1.0));
            }
        }
        Ok(sent)
    }
}
