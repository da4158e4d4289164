//! Makes the tables of the sysbench suite and fills them, fast and always the same.
//!
//! In: an endpoint, tables and rows, a seed. Out: loaded, indexed, vacuumed tables and how long that took. Each table is one
//! COPY stream in the order of ids, made and sent by one thread: the order of rows on disk is the same each time, and making
//! a row costs a fraction of what the server needs to take it, so the socket's buffer is all the pipeline there is.
//!
//! The end state is that of rows inserted in order, vacuumed and left alone: every row frozen, every page all-visible,
//! no hint bit to set, sequence after the last id. COPY FREEZE gives the first and VACUUM the rest, on every version
//! alike; a load by INSERT would leave freezing to whenever each version thinks fit.

use crate::error::LoadError;
use crate::rows::{C_BYTES, PAD_BYTES, Row};
use crate::suite::table_name;
use crate::work::{checkpoint, connect, execute, on_tables, provide_prewarm};
use rqps_model::plan::DataShape;
use rqps_wire::{CopyWriter, Endpoint, Session, WireError};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Tables that are loaded at once.
const PARALLEL_MAX: usize = 4;

/// Memory for sorting while an index is built, for each table that is loaded at once.
const INDEX_MEMORY: &str = "256MB";

/// Signature, flags and header extension of COPY's binary format (manual, COPY, "Binary Format").
const COPY_HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// The field count that ends it.
const COPY_TRAILER: [u8; 2] = (-1i16).to_be_bytes();

/// Length of a row in that format: field count, then id, k, c and pad, each led by its length.
const ROW_BYTES: usize = 2 + (4 + 4) + (4 + 4) + (4 + C_BYTES) + (4 + PAD_BYTES);

/// Rows that are encoded before they are handed to the socket.
const ROWS_AT_ONCE: usize = 256;

/// What a load did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LoadReport {
    /// Rows of all tables.
    pub rows: u64,
    /// Seconds until all tables were filled and indexed.
    pub load_seconds: f64,
    /// Seconds of VACUUM, ANALYZE and CHECKPOINT after that.
    pub settle_seconds: f64,
}

/// Drops the tables if they are there, makes, fills, indexes and vacuums them; `threads` tables at once at most.
pub fn prepare_data(endpoint: &Endpoint, data: DataShape, seed: u64, threads: usize) -> Result<LoadReport, LoadError> {
    if data.tables == 0 || data.rows == 0 || data.rows > i32::MAX as u64 {
        return Err(LoadError::Shape(format!(
            "{} tables of {} rows cannot be loaded: ids are integers from 1 to {}",
            data.tables,
            data.rows,
            i32::MAX
        )));
    }
    let begun = Instant::now();
    let next = AtomicU32::new(1);
    let run = || {
        let mut session = connect(endpoint)?;
        loop {
            let table = next.fetch_add(1, Ordering::Relaxed);
            if table > data.tables {
                return Ok(());
            }
            load_table(&mut session, table, data.rows, seed)?;
        }
    };
    std::thread::scope(|scope| {
        let threads = threads.clamp(1, PARALLEL_MAX).min(data.tables as usize);
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let own = run();
        let joined = others.into_iter().map(|thread| thread.join().expect("a loader does not panic"));
        joined.fold(own, Result::and)
    })?;
    // Here, so that bringing tables into memory later changes nothing in the database.
    provide_prewarm(endpoint)?;
    let load_seconds = begun.elapsed().as_secs_f64();
    on_tables(endpoint, data, |session, table| execute(session, &format!("VACUUM (ANALYZE) {table}")))?;
    checkpoint(endpoint)?;
    let settle_seconds = begun.elapsed().as_secs_f64() - load_seconds;
    Ok(LoadReport { rows: data.rows * u64::from(data.tables), load_seconds, settle_seconds })
}

/// One table from nothing to indexed. Table and rows come in one transaction, which FREEZE needs and which lets a server
/// with minimal WAL skip logging them.
fn load_table(session: &mut Session, table: u32, rows: u64, seed: u64) -> Result<(), LoadError> {
    let name = table_name(table);
    let doing = || LoadError::wire(format!("loading table {name}"));
    execute(session, &format!("SET maintenance_work_mem = '{INDEX_MEMORY}'; DROP TABLE IF EXISTS {name}"))?;
    execute(
        session,
        &format!(
            "BEGIN; CREATE TABLE {name} (id SERIAL, k INTEGER DEFAULT 0 NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL)"
        ),
    )?;
    let copy = format!("COPY {name} (id, k, c, pad) FROM STDIN (FORMAT binary, FREEZE)");
    let ((), copied) = session.copy_in(&copy, |writer| write_rows(writer, table, rows, seed)).map_err(doing())?;
    if copied != rows {
        return Err(LoadError::Shape(format!("{rows} rows were sent to table {name} and {copied} taken")));
    }
    // The primary key comes after the rows because building an index at once is faster than growing it.
    execute(
        session,
        &format!(
            "ALTER TABLE {name} ADD PRIMARY KEY (id); CREATE INDEX k_{table} ON {name} (k); \
             SELECT setval('{name}_id_seq', {rows}); COMMIT"
        ),
    )
}

fn write_rows(writer: &mut CopyWriter<'_>, table: u32, rows: u64, seed: u64) -> Result<(), WireError> {
    writer.write(COPY_HEADER)?;
    let mut buffer = vec![0; ROWS_AT_ONCE * ROW_BYTES];
    let mut next = 1;
    while next <= rows {
        let count = (rows - next + 1).min(ROWS_AT_ONCE as u64);
        let filled = &mut buffer[..count as usize * ROW_BYTES];
        for (id, place) in (next..).zip(filled.chunks_exact_mut(ROW_BYTES)) {
            encode_row(id, &Row::generate(seed, table, id, rows), place);
        }
        writer.write(filled)?;
        next += count;
    }
    writer.write(&COPY_TRAILER)
}

fn encode_row(id: u64, row: &Row, place: &mut [u8]) {
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        place[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&4i16.to_be_bytes());
    for field in [&(id as i32).to_be_bytes()[..], &row.k.to_be_bytes(), &row.c, &row.pad] {
        put(&(field.len() as i32).to_be_bytes());
        put(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_fills_its_place_exactly() {
        let row = Row::generate(1, 1, 7, 10);
        let mut place = [0xaa; ROW_BYTES];
        encode_row(7, &row, &mut place);
        assert_eq!(place[..10], [0, 4, 0, 0, 0, 4, 0, 0, 0, 7]);
        assert_eq!(place[ROW_BYTES - PAD_BYTES..], row.pad);
    }
}
