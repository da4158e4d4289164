//! The work between tests on MySQL and MariaDB: statistics, purge and write-back, compaction, warming, binary logs.
//!
//! In: a [`Work`], a target, the data's shape. Out: what was left undone, if anything. How a server
//! comes to rest is in `settle`.

use super::settle::{SettleGoal, settle};
use crate::error::LoadError;
use crate::mysql::{rows, single, variable};
use crate::session::{connect, execute, on_tables};
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_wire::{Endpoint, Session, Target};
use std::path::{Component, Path};

/// Does the work on every table.
pub(super) fn work(name: Work, target: &Target, data: DataShape) -> Result<Option<String>, LoadError> {
    let endpoint = &target.endpoint;
    match name {
        Work::Vacuum => settle(target, data, SettleGoal::Cleaned),
        Work::Analyze => analyze(endpoint, data).map(|()| None),
        Work::Checkpoint => settle(target, data, SettleGoal::Written),
        Work::Postwrite => {
            analyze(endpoint, data)?;
            settle(target, data, SettleGoal::Both)
        }
        Work::Warm => on_tables(endpoint, data, warm).map(|()| None),
        Work::ResetBinlog => reset_binlog(target).map(|()| None),
    }
}

/// Statistics of every table, several at once.
pub(crate) fn analyze(endpoint: &Endpoint, data: DataShape) -> Result<(), LoadError> {
    on_tables(endpoint, data, analyze_table)
}

/// Statistics of a table. What goes wrong stands in the rows and is no error of the statement.
pub(crate) fn analyze_table(session: &mut Session, table: &str) -> Result<(), LoadError> {
    let answer = rows(session, &format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {table}"))?;
    let is_error = |row: &&Vec<Option<String>>| row.get(2).is_some_and(|kind| kind.as_deref() == Some("Error"));
    match answer.iter().find(is_error) {
        Some(row) => {
            let reason = row.last().cloned().flatten().unwrap_or_default();
            Err(LoadError::Shape(format!("table {table} cannot be analyzed: {reason}")))
        }
        None => Ok(()),
    }
}

/// Reads all of a table and of its secondary index. Both scans have a condition, since a bare COUNT may be answered
/// from whichever index is the smallest.
fn warm(session: &mut Session, table: &str) -> Result<(), LoadError> {
    let secondary = table.replace("sbtest", "k_");
    for (index, column) in [("PRIMARY", "id"), (secondary.as_str(), "k")] {
        execute(session, &format!("SELECT COUNT(*) FROM {table} FORCE INDEX ({index}) WHERE {column} > 0"))?;
    }
    Ok(())
}

/// Reads all of every table of the database and of its secondary indexes.
pub(super) fn warm_all(endpoint: &Endpoint) -> Result<(), LoadError> {
    let mut session = connect(endpoint)?;
    let indexes = rows(
        &mut session,
        "SELECT t.TABLE_NAME, s.INDEX_NAME FROM information_schema.TABLES t \
         LEFT JOIN (SELECT DISTINCT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA = DATABASE()) s ON s.TABLE_NAME = t.TABLE_NAME WHERE t.TABLE_SCHEMA = DATABASE()",
    )?;
    for index in indexes {
        let [Some(table), index] = &index[..] else { continue };
        let forced = index.as_ref().map_or(String::new(), |index| format!("FORCE INDEX ({index})"));
        execute(&mut session, &format!("SELECT COUNT(*) FROM {table} {forced}"))?;
    }
    Ok(())
}

/// Begins the binary logs anew, if the server writes any.
pub(super) fn reset_binlog(target: &Target) -> Result<(), LoadError> {
    let mut session = connect(&target.endpoint)?;
    if single(&mut session, "SELECT @@log_bin")? == "0" {
        return Ok(());
    }
    check_is_its_own(&mut session)?;
    let sql = match target.is_since(Some([8, 4, 0]), None) {
        true => "RESET BINARY LOGS AND GTIDS",
        false => "RESET MASTER",
    };
    execute(&mut session, sql)
}

/// Refuses to begin binary logs anew that lie outside the data folder: they may be another server's. Versions that do
/// not say where they are, and binary logs inside InnoDB, have nothing to check.
fn check_is_its_own(session: &mut Session) -> Result<(), LoadError> {
    let logs = variable(session, "log_bin_basename")?.filter(|path| !path.is_empty());
    let data = variable(session, "datadir")?.filter(|path| !path.is_empty());
    let (Some(logs), Some(data)) = (logs, data) else { return Ok(()) };
    if is_below(&logs, &data) {
        return Ok(());
    }
    Err(LoadError::Mismatch {
        place: "the server".to_owned(),
        what: "binary logs (log_bin_basename)",
        found: logs,
        needed: format!("them below its data folder {data}, since they are begun anew before every test"),
    })
}

/// Whether a path, absolute or as seen from a folder, is below that folder.
fn is_below(path: &str, folder: &str) -> bool {
    let path = Path::new(folder).join(path);
    path.starts_with(folder) && !path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_a_folder_or_not() {
        for (path, expected) in [
            ("/data/d/binlog", true),
            ("binlog", true),
            ("./binlog", true),
            ("/data/d/logs/binlog", true),
            ("/data/d2/binlog", false),
            ("/data/d/../e/binlog", false),
            ("../binlog", false),
            ("/mnt/logs/binlog", false),
        ] {
            for folder in ["/data/d", "/data/d/"] {
                assert_eq!(is_below(path, folder), expected, "{path} in {folder}");
            }
        }
    }
}
