//! LOAD DATA on MySQL and MariaDB: a session that leaves out what only costs, rows that all arrive, tables that are as
//! they were meant.
//!
//! In: a session, a table's name and columns, rows as text. Out: rows in the table, or what the server made otherwise.
//! A character set other than latin1 makes every comparison and every row cost more, and it has spoilt published
//! comparisons; so server, session, table and columns are checked, and a difference is an error.

use crate::error::LoadError;
use crate::mysql::{rows, single};
use crate::session::execute;
use rqps_model::StorageEngine;
use rqps_wire::{CopyWriter, Session, WireError};

/// The character set of everything.
pub(crate) const CHARSET: &str = "latin1";

/// Checks the server's and the session's character set, and leaves out of the load what only costs: binary log and
/// checks of keys that are known to be good.
pub(crate) fn prepare_session(session: &mut Session) -> Result<(), LoadError> {
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

/// Switches RocksDB's way of loading on or off: sorted rows go straight into the lowest level, as they would lie there
/// after all compactions. InnoDB has none.
pub(crate) fn set_bulk_load(session: &mut Session, storage: StorageEngine, is_on: bool) -> Result<(), LoadError> {
    match storage {
        StorageEngine::Innodb => Ok(()),
        StorageEngine::Rocksdb => execute(session, &format!("SET SESSION rocksdb_bulk_load = {}", u8::from(is_on))),
    }
}

/// Loads the rows that `feed` writes and counts, in one transaction. They are as LOAD DATA takes them if nothing else
/// is said: fields end with a tab, rows with a newline.
pub(crate) fn load_rows(
    session: &mut Session,
    name: &str,
    columns: &str,
    feed: impl FnOnce(&mut CopyWriter<'_>) -> Result<u64, WireError>,
) -> Result<(), LoadError> {
    let sql = format!("LOAD DATA LOCAL INFILE 'rqps' INTO TABLE {name} CHARACTER SET {CHARSET} ({columns})");
    let (sent, taken) = session.copy_in(&sql, feed).map_err(LoadError::wire(format!("loading table {name}")))?;
    // What a server doesn't like about a row of LOAD DATA LOCAL is a warning, and the row may be missing.
    let warnings = rows(session, "SHOW WARNINGS")?;
    if taken == sent && warnings.is_empty() {
        return Ok(());
    }
    let warning = warnings.into_iter().next().and_then(|row| row.into_iter().nth(2)).flatten();
    let warning = warning.map_or_else(String::new, |warning| format!("; the server says: {warning}"));
    Err(LoadError::Shape(format!("{sent} rows were sent to table {name} and {taken} taken{warning}")))
}

/// Reads back what the table became.
pub(crate) fn check_table(
    session: &mut Session,
    name: &str,
    storage: StorageEngine,
    collation: &str,
) -> Result<(), LoadError> {
    let of_table = format!("TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}'");
    let engine = single(session, &format!("SELECT ENGINE FROM information_schema.TABLES WHERE {of_table}"))?;
    check(&format!("table {name}"), "storage engine", &engine.to_lowercase(), storage.name())?;
    let found = format!("SELECT TABLE_COLLATION FROM information_schema.TABLES WHERE {of_table}");
    check(&format!("table {name}"), "collation", &single(session, &found)?, collation)?;
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
    fn a_mismatch_says_where() {
        let error =
            check("table sbtest1", "collation", "utf8mb4_0900_ai_ci", "latin1_swedish_ci").unwrap_err().to_string();
        assert!(error.starts_with("table sbtest1 has collation utf8mb4_0900_ai_ci, the tests need latin1_swedish_ci"));
    }
}
