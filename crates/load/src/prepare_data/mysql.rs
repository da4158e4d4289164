//! A table of the suite on MySQL and MariaDB: schema, LOAD DATA in transactions of 100,000 rows, secondary index.
//!
//! In: a session, the table's number and rows, what stores it, a seed. Out: the table, whose character set and storage
//! engine were read back.

use crate::error::LoadError;
use crate::load_data::{CHARSET, check_table, load_rows, prepare_session, set_bulk_load};
use crate::rows::{C_BYTES, PAD_BYTES, Row};
use crate::session::execute;
use rqps_model::StorageEngine;
use rqps_suites::table_name;
use rqps_wire::{CopyWriter, Session, WireError};
use std::io::Write;

/// The collation of every table.
const COLLATION: &str = "latin1_swedish_ci";

/// Rows of a transaction.
const CHUNK_ROWS: u64 = 100_000;

/// Rows that are encoded before they are handed to the socket.
const ROWS_AT_ONCE: u64 = 256;

/// The most bytes of a row: two numbers, two strings, and a separator after each.
const ROW_BYTES_MAX: usize = 2 * (10 + 1) + C_BYTES + 1 + PAD_BYTES + 1;

/// One table from nothing to indexed.
pub(super) fn load_table(
    session: &mut Session,
    table: u32,
    rows: u64,
    storage: StorageEngine,
    seed: u64,
) -> Result<(), LoadError> {
    prepare_session(session)?;
    let name = table_name(table);
    execute(session, &format!("DROP TABLE IF EXISTS {name}"))?;
    execute(
        session,
        &format!(
            "CREATE TABLE {name} (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT 0 NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) \
             ENGINE={storage} DEFAULT CHARSET={CHARSET} COLLATE={COLLATION}"
        ),
    )?;
    check_table(session, &name, storage, COLLATION)?;
    set_bulk_load(session, storage, true)?;
    for first in (1..=rows).step_by(CHUNK_ROWS as usize) {
        let last = rows.min(first + CHUNK_ROWS - 1);
        load_rows(session, &name, "id, k, c, pad", |writer| {
            write_rows(writer, first, last, |id| Row::generate(seed, table, id, rows))
        })?;
    }
    set_bulk_load(session, storage, false)?;
    execute(session, &format!("CREATE INDEX k_{table} ON {name} (k)"))
}

fn write_rows(writer: &mut CopyWriter<'_>, first: u64, last: u64, row: impl Fn(u64) -> Row) -> Result<u64, WireError> {
    let mut buffer = Vec::with_capacity(ROWS_AT_ONCE as usize * ROW_BYTES_MAX);
    for start in (first..=last).step_by(ROWS_AT_ONCE as usize) {
        buffer.clear();
        for id in start..=last.min(start + ROWS_AT_ONCE - 1) {
            encode_row(id, &row(id), &mut buffer);
        }
        writer.write(&buffer)?;
    }
    Ok(last - first + 1)
}

/// A row as LOAD DATA takes it if nothing else is said: fields end with a tab, rows with a newline. Digits and hyphens
/// need no escape.
fn encode_row(id: u64, row: &Row, buffer: &mut Vec<u8>) {
    write!(buffer, "{id}\t{}\t", row.k).expect("writing to memory does not fail");
    buffer.extend_from_slice(&row.c);
    buffer.push(b'\t');
    buffer.extend_from_slice(&row.pad);
    buffer.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_its_fields_as_text() {
        let row = Row::generate(1, 1, 7, 10);
        let mut buffer = Vec::new();
        encode_row(7, &row, &mut buffer);
        let text = String::from_utf8(buffer).unwrap();
        let fields: Vec<&str> = text.trim_end_matches('\n').split('\t').collect();
        assert_eq!(fields[..2], ["7".to_owned(), row.k.to_string()]);
        assert_eq!((fields[2].as_bytes(), fields[3].as_bytes()), (&row.c[..], &row.pad[..]));
        assert!(text.len() <= ROW_BYTES_MAX);
    }
}
