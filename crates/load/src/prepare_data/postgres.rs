//! A table of the suite on PostgreSQL: schema, COPY in binary format, indexes, and its state at rest.
//!
//! In: a session, the table's number and rows, a seed. Out: the table. The end state is that of rows inserted in order,
//! vacuumed and left alone: every row frozen, every page all-visible, no hint bit to set, sequence after the last id.
//! COPY FREEZE gives the first and VACUUM the rest, on every version alike; a load by INSERT would leave freezing to
//! whenever each version thinks fit.

use crate::error::LoadError;
use crate::rows::{C_BYTES, PAD_BYTES, Row};
use crate::session::{execute, on_tables};
use crate::work::{checkpoint, vacuum};
use rqps_model::plan::DataShape;
use rqps_suites::table_name;
use rqps_wire::{CopyWriter, Endpoint, Session, WireError};

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

/// One table from nothing to indexed. Table and rows come in one transaction, which FREEZE needs and which lets a
/// server with minimal WAL skip logging them.
pub(super) fn load_table(session: &mut Session, table: u32, rows: u64, seed: u64) -> Result<(), LoadError> {
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

/// Freezes and writes back what was loaded.
pub(super) fn settle(endpoint: &Endpoint, data: DataShape) -> Result<(), LoadError> {
    on_tables(endpoint, data, |session, table| vacuum(session, &format!("VACUUM (ANALYZE) {table}")))?;
    checkpoint(endpoint)
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
