//! Loads the user's own data: SQL files and dumps, tables whose rows are drawn, pgbench's tables.
//!
//! In: a target, the data of a plan. Out: tables at rest with fresh statistics, and what was left out on the way. Files
//! are sent in their order, as `send` knows.

use super::send::Sender;
use super::{database, rows};
use crate::data_set::Restore;
use crate::error::LoadError;
use crate::load_report::LoadReport;
use crate::mysql;
use crate::session::{connect, execute};
use crate::work::{SettleGoal, Worked, analyze_table, checkpoint, provide_prewarm, settle, vacuum, warm_all};
use rqps_model::own::OwnData;
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_wire::{Protocol, Session, Target};
use std::time::Instant;

/// Makes the database anew and loads all of the data.
pub(crate) fn load(
    target: &Target,
    data: &OwnData,
    seed: u64,
    restore: &Restore<'_>,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<LoadReport, LoadError> {
    let begun = Instant::now();
    database::make(target, data)?;
    let mut sender = Sender::new(target, data, restore);
    let all_bytes = data.file_bytes(target.engine()).max(1) as f64;
    let mut sent_bytes = 0.0;
    for file in data.files.get(&target.engine()).into_iter().flatten() {
        let advance = |bytes: u64| progress(((sent_bytes + bytes as f64) / all_bytes).min(1.0));
        sender.send(file, &advance)?;
        sent_bytes += file.bytes as f64;
    }
    let mut notes = sender.end()?;
    rows::draw_tables(target, data, seed, progress)?;
    if let Some(scale) = data.pgbench_scale {
        rows::pgbench_tables(target, scale)?;
    }
    let load_seconds = begun.elapsed().as_secs_f64();
    let left = finish(target, data)?;
    notes.extend(left);
    notes.extend(database::running_events(target)?);
    let rows = count_rows(target)?;
    let settle_seconds = begun.elapsed().as_secs_f64() - load_seconds;
    let left = (!notes.is_empty()).then(|| notes.join("; "));
    let given = database::given(target, data)?;
    Ok(LoadReport { rows, load_seconds, index_seconds: 0.0, settle_seconds, left, given })
}

/// Loads what one build or treatment gets besides, on top of what all have.
pub(crate) fn load_only_for(
    target: &Target,
    data: &OwnData,
    treatment: &str,
    restore: &Restore<'_>,
) -> Result<Option<String>, LoadError> {
    let Some((_, files)) = data.files_only_for(treatment) else { return Ok(None) };
    let mut sender = Sender::new(target, data, restore);
    for file in files.get(&target.engine()).into_iter().flatten() {
        sender.send(file, &|_| ())?;
    }
    let mut notes = sender.end()?;
    notes.extend(finish(target, data)?);
    Ok((!notes.is_empty()).then(|| notes.join("; ")))
}

/// Work on all tables between tests.
pub(crate) fn work_on(name: Work, target: &Target, data: &OwnData) -> Result<Worked, LoadError> {
    match name {
        Work::Warm => warm_all(target),
        Work::Vacuum | Work::Analyze | Work::Postwrite => {
            let begun = Instant::now();
            let left = finish(target, data)?;
            Ok(Worked { seconds: begun.elapsed().as_secs_f64(), left })
        }
        Work::Checkpoint | Work::ResetBinlog => Ok(Worked::default()),
    }
}

/// Fresh statistics, or what the user wants instead, and everything written back.
fn finish(target: &Target, data: &OwnData) -> Result<Option<String>, LoadError> {
    let endpoint = &target.endpoint;
    let mut session = connect(endpoint)?;
    if let Some(statements) = data.finish.get(&target.engine()) {
        for sql in statements {
            execute(&mut session, sql)?;
        }
    }
    match endpoint.protocol() {
        Protocol::Postgres => {
            if !data.finish.contains_key(&target.engine()) {
                vacuum(&mut session, "VACUUM (ANALYZE)")?;
            }
            // Here, so that bringing tables into memory later changes nothing in the database.
            provide_prewarm(endpoint)?;
            checkpoint(endpoint).map(|()| None)
        }
        Protocol::Mysql => {
            if !data.finish.contains_key(&target.engine()) {
                for table in tables(&mut session)? {
                    analyze_table(&mut session, &format!("`{}`", table.replace('`', "``")))?;
                }
            }
            let shape = DataShape { tables: 1, rows: data.rows_drawn() };
            settle(target, shape, SettleGoal::Both)
        }
    }
}

/// The tables of the database, on MySQL and MariaDB.
fn tables(session: &mut Session) -> Result<Vec<String>, LoadError> {
    let sql = "SELECT TABLE_NAME FROM information_schema.TABLES \
               WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME";
    Ok(mysql::rows(session, sql)?.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}

/// About how many rows there are, as statistics have it.
fn count_rows(target: &Target) -> Result<u64, LoadError> {
    let sql = match target.endpoint.protocol() {
        Protocol::Postgres => {
            "SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint FROM pg_class c JOIN pg_namespace n \
             ON n.oid = relnamespace WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema')"
        }
        Protocol::Mysql => {
            "SELECT CAST(COALESCE(SUM(TABLE_ROWS), 0) AS UNSIGNED) FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE()"
        }
    };
    let rows = mysql::single(&mut connect(&target.endpoint)?, sql)?;
    Ok(rows.parse().unwrap_or(0))
}
