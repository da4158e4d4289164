//! A table of the suite on MySQL and MariaDB: schema, LOAD DATA in transactions of 100,000 rows, secondary index.
//!
//! In: a session, the table's number and rows, what stores it, a seed. Out: the table, whose character set and storage
//! engine were read back. A character set other than latin1 makes every comparison and every row cost more, and it has
//! spoilt published comparisons; so server, session, table and columns are checked, and a difference is an error.

use crate::error::LoadError;
use crate::mysql::{rows, single};
use crate::rows::{C_BYTES, PAD_BYTES, Row};
use crate::session::execute;
use rqps_model::StorageEngine;
use rqps_suites::table_name;
use rqps_wire::{CopyWriter, Session, WireError};
use std::io::Write;

/// The character set of everything.
const CHARSET: &str = "latin1";
const COLLATION: &str = "latin1_swedish_ci";

/// Rows of a transaction.
const CHUNK_ROWS: u64 = 100_000;

/// Rows that are encoded before they are handed to the socket.
const ROWS_AT_ONCE: u64 = 256;

/// The most bytes of a row: two numbers, two strings, and a separator after each.
const ROW_BYTES_MAX: usize = 2 * (10 + 1) + C_BYTES + 1 + PAD_BYTES + 1;

/// Checks the server's and the session's character set, and leaves out of the load what only costs: binary log and
/// checks of keys that are known to be good.
fn prepare_session(session: &mut Session) -> Result<(), LoadError> {
    for (place, variable) in [
        ("the server (character_set_server)", "@@global.character_set_server"),
        ("the session (character_set_client)", "@@character_set_client"),
        ("the session (character_set_connection)", "@@character_set_connection"),
        ("the session (character_set_results)", "@@character_set_results"),
    ] {
        check(place, "character set", &single(session, &format!("SELECT {variable}"))?, CHARSET)?;
    }
    for setting in ["sql_log_bin", "unique_checks", "foreign_key_checks"] {
        execute(session, &format!("SET SESSION {setting} = 0"))?;
    }
    Ok(())
}

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
    check_table(session, &name, storage)?;
    // Sorted rows go straight into the lowest level, as they would lie there after all compactions.
    let bulk_load = |session: &mut Session, is_on: u8| match storage {
        StorageEngine::Innodb => Ok(()),
        StorageEngine::Rocksdb => execute(session, &format!("SET SESSION rocksdb_bulk_load = {is_on}")),
    };
    bulk_load(session, 1)?;
    for first in (1..=rows).step_by(CHUNK_ROWS as usize) {
        let last = rows.min(first + CHUNK_ROWS - 1);
        load_chunk(session, &name, first, last, |id| Row::generate(seed, table, id, rows))?;
    }
    bulk_load(session, 0)?;
    execute(session, &format!("CREATE INDEX k_{table} ON {name} (k)"))
}

/// Rows `first` to `last` in one transaction.
fn load_chunk(
    session: &mut Session,
    name: &str,
    first: u64,
    last: u64,
    row: impl Fn(u64) -> Row,
) -> Result<(), LoadError> {
    let sql = format!("LOAD DATA LOCAL INFILE 'rqps' INTO TABLE {name} CHARACTER SET {CHARSET} (id, k, c, pad)");
    let fed = session.copy_in(&sql, |writer| write_rows(writer, first, last, row));
    let ((), taken) = fed.map_err(LoadError::wire(format!("loading table {name}")))?;
    let sent = last - first + 1;
    // What a server doesn't like about a row of LOAD DATA LOCAL is a warning, and the row may be missing.
    let warnings = rows(session, "SHOW WARNINGS")?;
    if taken == sent && warnings.is_empty() {
        return Ok(());
    }
    let warning = warnings.into_iter().next().and_then(|row| row.into_iter().nth(2)).flatten();
    let warning = warning.map_or_else(String::new, |warning| format!("; the server says: {warning}"));
    Err(LoadError::Shape(format!("{sent} rows were sent to table {name} and {taken} taken{warning}")))
}

fn write_rows(writer: &mut CopyWriter<'_>, first: u64, last: u64, row: impl Fn(u64) -> Row) -> Result<(), WireError> {
    let mut buffer = Vec::with_capacity(ROWS_AT_ONCE as usize * ROW_BYTES_MAX);
    for start in (first..=last).step_by(ROWS_AT_ONCE as usize) {
        buffer.clear();
        for id in start..=last.min(start + ROWS_AT_ONCE - 1) {
            encode_row(id, &row(id), &mut buffer);
        }
        writer.write(&buffer)?;
    }
    Ok(())
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

/// Reads back what the table became.
fn check_table(session: &mut Session, name: &str, storage: StorageEngine) -> Result<(), LoadError> {
    let of_table = format!("TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}'");
    let engine = single(session, &format!("SELECT ENGINE FROM information_schema.TABLES WHERE {of_table}"))?;
    check(&format!("table {name}"), "storage engine", &engine.to_lowercase(), storage.name())?;
    let collation = format!("SELECT TABLE_COLLATION FROM information_schema.TABLES WHERE {of_table}");
    check(&format!("table {name}"), "collation", &single(session, &collation)?, COLLATION)?;
    let columns = format!(
        "SELECT COLUMN_NAME, CHARACTER_SET_NAME FROM information_schema.COLUMNS \
         WHERE {of_table} AND CHARACTER_SET_NAME IS NOT NULL ORDER BY ORDINAL_POSITION"
    );
    for column in rows(session, &columns)? {
        let [Some(column), Some(found)] = &column[..] else { continue };
        check(&format!("column {name}.{column}"), "character set", found, CHARSET)?;
    }
    Ok(())
}

fn check(place: &str, what: &'static str, found: &str, needed: &str) -> Result<(), LoadError> {
    match found == needed {
        true => Ok(()),
        false => Err(LoadError::Mismatch {
            place: place.to_owned(),
            what,
            found: found.to_owned(),
            needed: needed.to_owned(),
        }),
    }
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

    #[test]
    fn a_mismatch_says_where() {
        let error = check("table sbtest1", "collation", "utf8mb4_0900_ai_ci", COLLATION).unwrap_err().to_string();
        assert!(error.starts_with("table sbtest1 has collation utf8mb4_0900_ai_ci, the tests need latin1_swedish_ci"));
    }
}
