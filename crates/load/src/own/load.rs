//! Loads the user's own data: SQL files and dumps, tables whose rows are drawn, pgbench's tables.
//!
//! In: a target, the data of a plan. Out: tables at rest with fresh statistics, and what was left out on the way. Files
//! are sent statement by statement in their order; what a server refuses stops the load with file and line, unless the
//! user said to go on after such an error.

use super::{database, rows};
use crate::error::LoadError;
use crate::load_report::LoadReport;
use crate::mysql;
use crate::session::{connect, execute};
use crate::work::{SettleGoal, Worked, analyze_table, checkpoint, flush_commits, provide_prewarm, settle, warm_all};
use rqps_model::own::{InputFile, OwnData};
use rqps_model::plan::DataShape;
use rqps_sql::dump::{Dump, Item, What};
use rqps_suites::Work;
use rqps_wire::{Protocol, ServerError, Session, Target, WireError};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::time::Instant;

/// PostgreSQL's error for a setting that a server lacks: dumps of newer versions set such.
const UNKNOWN_SETTING: &str = "42704";

/// The first bytes of a file that gzip wrote.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Makes the database anew and loads all of the data.
pub(crate) fn load(
    target: &Target,
    data: &OwnData,
    seed: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<LoadReport, LoadError> {
    let begun = Instant::now();
    database::make(target, data)?;
    let mut notes = Vec::new();
    let all_bytes = data.file_bytes(target.engine()).max(1) as f64;
    let mut sent_bytes = 0.0;
    for file in data.files.get(&target.engine()).into_iter().flatten() {
        let advance = |bytes: u64| progress(((sent_bytes + bytes as f64) / all_bytes).min(1.0));
        send_file(target, data, file, &mut notes, &advance)?;
        sent_bytes += file.bytes as f64;
    }
    rows::draw_tables(target, data, seed, progress)?;
    if let Some(scale) = data.pgbench_scale {
        rows::pgbench_tables(target, scale)?;
    }
    let load_seconds = begun.elapsed().as_secs_f64();
    let left = finish(target, data)?;
    notes.extend(left);
    let rows = count_rows(target)?;
    let settle_seconds = begun.elapsed().as_secs_f64() - load_seconds;
    let left = (!notes.is_empty()).then(|| notes.join("; "));
    Ok(LoadReport { rows, load_seconds, index_seconds: 0.0, settle_seconds, left })
}

/// Loads what one build or treatment gets besides, on top of what all have.
pub(crate) fn load_only_for(target: &Target, data: &OwnData, treatment: &str) -> Result<Option<String>, LoadError> {
    let Some((_, files)) = data.files_only_for(treatment) else { return Ok(None) };
    let mut notes = Vec::new();
    for file in files {
        send_file(target, data, file, &mut notes, &|_| ())?;
    }
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
                flush_commits(endpoint)?;
                execute(&mut session, "VACUUM (ANALYZE)")?;
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

/// Sends a file, statement by statement.
fn send_file(
    target: &Target,
    data: &OwnData,
    file: &InputFile,
    notes: &mut Vec<String>,
    advance: &dyn Fn(u64),
) -> Result<(), LoadError> {
    let name = file.path.display().to_string();
    let failed = |error: std::io::Error| LoadError::Shape(format!("{name}: {error}"));
    let opened = open(file).map_err(failed)?;
    let mut session = connect(&target.endpoint)?;
    for sql in session_head(target, data) {
        execute(&mut session, &sql)?;
    }
    let mut left_out = std::collections::BTreeMap::<String, usize>::new();
    let mut dump = Dump::new(opened, super::dialect(target.engine()));
    let mut copy = None;
    let mut sent = 0;
    while let Some(item) = dump.next() {
        let item = item.map_err(|error| LoadError::Shape(format!("{name}: {error}")))?;
        let at = |error: WireError| LoadError::Shape(format!("{name}:{}: {error}", item.line));
        match item.what {
            What::Statement(sql) => {
                sent += sql.len() as u64;
                let sql = replaced(sql, data, target);
                match session.execute(&sql) {
                    Ok(_) => {}
                    Err(WireError::Server { error, .. }) if is_ignored(&error, data, &sql) => {
                        *left_out.entry(format!("error {}", error.error_code())).or_default() += 1;
                    }
                    Err(error) => return Err(at(error)),
                }
            }
            What::Copy(sql) => copy = Some(sql),
            What::CopyRows(first) => {
                let sql = copy.take().unwrap_or_default();
                let line = item.line;
                let mut broken = None;
                let feed = |writer: &mut rqps_wire::CopyWriter<'_>| {
                    writer.write(&first)?;
                    sent += first.len() as u64;
                    loop {
                        match dump.next() {
                            Some(Ok(Item { what: What::CopyRows(rows), .. })) => {
                                writer.write(&rows)?;
                                sent += rows.len() as u64;
                                advance(sent);
                            }
                            // The rows end before anything else comes.
                            Some(Ok(_)) | None => return Ok(()),
                            Some(Err(error)) => {
                                broken = Some(error);
                                return Ok(());
                            }
                        }
                    }
                };
                let copied = session.copy_in(&sql, feed);
                if let Some(error) = broken {
                    return Err(LoadError::Shape(format!("{name}: {error}")));
                }
                copied.map_err(|error| LoadError::Shape(format!("{name}:{line}: {error}")))?;
            }
            What::CopyEnd => copy = None,
            // There is one database, and the session is in it.
            What::Connect(_) | What::Use(_) | What::CreateDatabase(_) => {}
            What::LeftOut { what, why: _ } => *left_out.entry(what).or_default() += 1,
        }
        advance(sent);
    }
    if !left_out.is_empty() {
        let told = left_out.iter().map(|(what, count)| format!("{count} × {what}"));
        notes.push(format!("left out of {name}: {}", told.collect::<Vec<_>>().join(", ")));
    }
    Ok(())
}

/// What a session is told that loads.
fn session_head(target: &Target, data: &OwnData) -> Vec<String> {
    let mut head = database::session_statements(data, target);
    if target.endpoint.protocol() == Protocol::Mysql {
        head.push("SET foreign_key_checks = 0, unique_checks = 0".to_owned());
    }
    head
}

/// Whether loading goes on after an error.
fn is_ignored(error: &ServerError, data: &OwnData, sql: &str) -> bool {
    let codes = [error.code().to_string(), error.number().to_string()];
    let is_setting = codes[0] == UNKNOWN_SETTING && sql.trim_start().to_ascii_uppercase().starts_with("SET ");
    is_setting || data.ignore.iter().any(|ignored| codes.contains(ignored))
}

/// The statement with the words replaced that the user wants replaced.
fn replaced(sql: String, data: &OwnData, target: &Target) -> String {
    match data.replace.get(&target.engine()) {
        Some(words) if !words.is_empty() => rqps_sql::replace_words(&sql, words, super::dialect(target.engine())),
        _ => sql,
    }
}

/// Opens a file, unpacked if gzip wrote it, once its content is known to be what was planned.
fn open(file: &InputFile) -> std::io::Result<Box<dyn BufRead>> {
    let mut opened = File::open(&file.path)?;
    if opened.metadata()?.len() != file.bytes {
        return Err(std::io::Error::other("it is not the file any more that was planned: its size is another"));
    }
    let mut first = [0; 2];
    let read = opened.read(&mut first)?;
    opened.seek(SeekFrom::Start(0))?;
    let reader = BufReader::with_capacity(1 << 20, opened);
    Ok(match read == 2 && first == GZIP {
        true => Box::new(BufReader::with_capacity(1 << 20, flate2::bufread::MultiGzDecoder::new(reader))),
        false => Box::new(reader),
    })
}
