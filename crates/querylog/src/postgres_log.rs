//! PostgreSQL's logs as csvlog or jsonlog.
//!
//! In: bytes, which of the two told by their first. Out: executions with their values, in a [`Log`]. A statement and
//! its duration stand in one message (`log_min_duration_statement`), or in two of one session (`log_statement` and
//! `log_duration`). Of the extended protocol only the execution counts, not parse and bind.

use crate::fault::{Faults, LogFault};
use crate::left_out::LeftOut;
use crate::lines::Lines;
use crate::log::{Bound, Entry, Log};
use crate::parameters::{Logged, executed, logged, prepared};
use crate::pg_stat_statements::told;
use serde_json::Value;
use std::collections::HashMap;
use std::io::BufRead;

/// How many columns a csvlog has: until 12, of 13, from 14 on.
const COLUMNS: [usize; 3] = [23, 24, 26];

/// Sessions whose statement waits for its duration, at most.
const WAITING_MAX: usize = 100_000;

/// What counts of a record.
#[derive(Debug, Default, Clone)]
struct Record {
    time: String,
    database: String,
    session: String,
    severity: String,
    message: String,
    detail: String,
    is_utf8: bool,
}

/// A statement that was logged without its duration.
#[derive(Debug)]
struct Waiting {
    sql: String,
    detail: String,
    database: String,
    is_text: bool,
    is_utf8: bool,
}

/// Statements of a log as they come.
struct Sessions<'l> {
    log: &'l mut Log,
    waiting: HashMap<String, Waiting>,
    statements: u64,
    cut_values: u64,
}

/// Reads a log into a log.
///
/// # Errors
/// Every fault of the file, with its line.
pub fn read_postgres_log(file: &str, mut input: impl BufRead, log: &mut Log) -> Result<(), Vec<LogFault>> {
    let mut faults = Faults::of(file);
    let is_json = match input.fill_buf() {
        Ok(start) => start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'),
        Err(error) => {
            faults.add(1, format!("it cannot be read: {error}"));
            return faults.end();
        }
    };
    let mut sessions = Sessions { log, waiting: HashMap::new(), statements: 0, cut_values: 0 };
    let is_cut = match is_json {
        true => read_json(input, &mut sessions, &mut faults),
        false => read_csv(input, &mut sessions, &mut faults),
    };
    sessions.end();
    let (statements, cut_values) = (sessions.statements, sessions.cut_values);
    if is_cut {
        log.note(format!("{file} ends within a record, which is left out"));
    }
    if cut_values > 0 {
        log.note(format!(
            "{file}: calls whose values are not used, since the log has them cut off: {cut_values}; \
             log_parameter_max_length = -1 logs them whole"
        ));
    }
    if statements == 0 && faults.is_empty() {
        let help = "have the server log them: log_min_duration_statement = 0 (or a sample of them), lc_messages = 'C'";
        faults.add(1, format!("no statement is logged here; {help}"));
    }
    faults.end()
}

/// What is wrong with a record of so many columns.
fn odd_record(line: u64, columns: usize) -> String {
    let what = if line == 1 { "it is neither a csvlog nor a jsonlog" } else { "it is no record of a csvlog" };
    format!("{what}: columns {columns}, expected 23, 24 or 26; log_destination = 'csvlog' writes such a log")
}

/// Whether the last record is cut.
fn read_csv(input: impl BufRead, sessions: &mut Sessions<'_>, faults: &mut Faults<'_>) -> bool {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input);
    let mut row = csv::ByteRecord::new();
    // A record of another length may be the last one, which the copy has not whole.
    let mut odd: Option<(u64, usize)> = None;
    loop {
        match reader.read_byte_record(&mut row) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                faults.add(error.position().map_or(1, csv::Position::line), told(&error));
                return false;
            }
        }
        if let Some((line, columns)) = odd.take() {
            faults.add(line, odd_record(line, columns));
            // Of what is no log at all, each line would only say so again.
            if line == 1 || faults.are_enough() {
                return false;
            }
        }
        if !COLUMNS.contains(&row.len()) {
            odd = Some((row.position().map_or(1, csv::Position::line), row.len()));
            continue;
        }
        let field = |at: usize| String::from_utf8_lossy(&row[at]).into_owned();
        sessions.take(Record {
            time: field(0),
            database: field(2),
            session: field(5),
            severity: field(11),
            message: field(13),
            detail: field(14),
            is_utf8: std::str::from_utf8(&row[13]).is_ok() && std::str::from_utf8(&row[14]).is_ok(),
        });
    }
    match odd {
        // The only record: then it is no csvlog at all.
        Some((1, columns)) => {
            faults.add(1, odd_record(1, columns));
            false
        }
        odd => odd.is_some(),
    }
}

/// Whether the last record is cut.
fn read_json(input: impl BufRead, sessions: &mut Sessions<'_>, faults: &mut Faults<'_>) -> bool {
    let mut lines = Lines::of(input);
    loop {
        let read = match lines.next() {
            Ok(None) => return false,
            Ok(Some(line)) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(Some(line)) => serde_json::from_slice::<Value>(line).map_err(|error| error.to_string()),
            Err(error) => Err(format!("it cannot be read: {error}")),
        };
        match read {
            Ok(record) => {
                let field = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                sessions.take(Record {
                    time: field("timestamp"),
                    database: field("dbname"),
                    session: field("session_id"),
                    severity: field("error_severity"),
                    message: field("message"),
                    detail: field("detail"),
                    is_utf8: true,
                });
            }
            Err(_) if !lines.is_whole() => return true,
            Err(what) => {
                faults.add(lines.number(), format!("the record cannot be read: {what}"));
                if faults.are_enough() {
                    return false;
                }
            }
        }
    }
}

impl Sessions<'_> {
    fn take(&mut self, record: Record) {
        if let Some(seconds) = seconds(&record.time) {
            self.log.at(seconds);
        }
        if record.severity != "LOG" {
            return;
        }
        let (milliseconds, rest) = match duration(&record.message) {
            Some((milliseconds, rest)) => (Some(milliseconds), rest),
            None => (None, record.message.as_str()),
        };
        let statement = statement(rest);
        match (milliseconds, statement) {
            (Some(milliseconds), Some((sql, is_text))) => {
                let Record { detail, database, is_utf8, .. } = &record;
                self.executed(sql, detail, database, (is_text, *is_utf8), milliseconds);
            }
            // The duration of what was logged before.
            (Some(milliseconds), None) if rest.is_empty() => {
                if let Some(waiting) = self.waiting.remove(&record.session) {
                    let Waiting { sql, detail, database, is_text, is_utf8 } = waiting;
                    self.executed(&sql, &detail, &database, (is_text, is_utf8), milliseconds);
                }
            }
            (None, Some((sql, is_text))) => {
                let Record { session, detail, database, is_utf8, .. } = record.clone();
                let waiting = Waiting { sql: sql.to_owned(), detail, database, is_text, is_utf8 };
                if let Some(before) = self.waiting.insert(session, waiting) {
                    self.untimed(before);
                }
                if self.waiting.len() > WAITING_MAX {
                    self.end();
                }
            }
            _ => {}
        }
    }

    /// Counts statements whose duration nobody logged.
    fn end(&mut self) {
        let mut waiting: Vec<(String, Waiting)> = self.waiting.drain().collect();
        waiting.sort_by(|(one, _), (other, _)| one.cmp(other));
        waiting.into_iter().for_each(|(_, waiting)| self.untimed(waiting));
    }

    fn untimed(&mut self, waiting: Waiting) {
        let Waiting { sql, detail, database, is_text, is_utf8 } = waiting;
        self.executed(&sql, &detail, &database, (is_text, is_utf8), 0.0);
    }

    fn executed(&mut self, sql: &str, detail: &str, database: &str, kind: (bool, bool), milliseconds: f64) {
        self.statements += 1;
        let (is_text, is_utf8) = kind;
        // SQL's EXECUTE has the statement in its detail.
        let by_name = detail.strip_prefix("prepare: ").and_then(prepared);
        let values = match by_name {
            Some(_) => executed(sql).map(Logged::Whole),
            None => logged(detail),
        };
        let bound = match &values {
            Some(Logged::Whole(values)) => Bound::Given(values),
            Some(Logged::Cut) => {
                self.cut_values += 1;
                Bound::Unknown
            }
            None => Bound::Unknown,
        };
        self.log.add(Entry {
            sql: by_name.unwrap_or(sql),
            database: Some(database),
            calls: 1.0,
            milliseconds,
            bound,
            is_text: is_text && by_name.is_none(),
            left_out: (!is_utf8).then_some(LeftOut::Encoding),
        });
    }
}

/// The milliseconds of a message and what follows: `duration: 1.234 ms  statement: ...`.
fn duration(message: &str) -> Option<(f64, &str)> {
    let (number, rest) = message.strip_prefix("duration: ")?.split_once(" ms")?;
    Some((number.parse().ok()?, rest.trim_start_matches(' ')))
}

/// The statement of a message, and whether it was sent as text: `statement: ...`, `execute NAME: ...`.
fn statement(message: &str) -> Option<(&str, bool)> {
    if let Some(sql) = message.strip_prefix("statement: ") {
        return Some((sql, true));
    }
    let named = message.strip_prefix("execute ")?;
    // Further rows of a portal are no further execution.
    let (_, sql) = named.split_once(": ").filter(|_| !named.starts_with("fetch from "))?;
    Some((sql, false))
}

/// Seconds of a time such as `2024-05-10 17:44:36.400 CEST`; its zone does not matter where only spans do.
fn seconds(time: &str) -> Option<f64> {
    let civil: jiff::civil::DateTime = time.get(..19)?.replace(' ', "T").parse().ok()?;
    let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use rqps_sql::Dialect;

    fn read(text: &str) -> (Log, Vec<String>) {
        let mut log = Log::new(Dialect::Postgres, Filter::default());
        let faults = read_postgres_log("pg.json", text.as_bytes(), &mut log).err().unwrap_or_default();
        (log, faults.iter().map(ToString::to_string).collect())
    }

    fn record(session: &str, message: &str) -> String {
        let time = "2026-01-01 10:00:00.000 UTC";
        format!(
            "{}\n",
            serde_json::json!({ "timestamp": time, "session_id": session, "error_severity": "LOG", "message": message })
        )
    }

    #[test]
    fn durations_of_messages_of_their_own_belong_to_the_sessions_last_statement() {
        let text = [
            record("a", "statement: SELECT x FROM t WHERE a = 1"),
            record("b", "statement: SELECT x FROM t WHERE a = 2"),
            record("b", "duration: 2.5 ms"),
            record("a", "duration: 1.5 ms"),
            record("a", "duration: 9 ms"),
            record("a", "duration: 0.1 ms  parse <unnamed>: SELECT x FROM u"),
            record("a", "duration: 3 ms  execute <unnamed>: SELECT x FROM u"),
            record("a", "duration: 3 ms  execute fetch from <unnamed>: SELECT x FROM u"),
            record("b", "statement: SELECT x FROM t WHERE a = 3"),
        ];
        let (log, faults) = read(&text.concat());
        assert_eq!(faults, [""; 0]);
        let shares: Vec<(f64, f64)> =
            log.groups.values().map(|group| (group.share.calls, group.share.milliseconds)).collect();
        assert_eq!(shares, [(3.0, 4.0), (1.0, 3.0)]);
    }

    #[test]
    fn faults_are_told_with_their_lines_and_a_cut_end_is_not_one() {
        let good = record("a", "duration: 1 ms  statement: SELECT x FROM t");
        let (_, faults) = read(&format!("{good}{{\"a\": \n{good}"));
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("pg.json:2: the record cannot be read"), "{faults:?}");
        let (log, faults) = read(&format!("{good}{{\"a\": "));
        assert_eq!((faults.len(), log.notes.len()), (0, 1));
        let (_, faults) = read("2024-05-10 17:44:36 CEST [1] LOG:  statement: SELECT 1\nx\n");
        assert!(faults[0].starts_with("pg.json:1: it is neither a csvlog nor a jsonlog: columns 1, expected 23"));
        assert_eq!(faults.len(), 1, "{faults:?}");
        let (_, faults) = read(&record("a", "Dauer: 1 ms"));
        assert!(faults[0].contains("lc_messages"), "{faults:?}");
    }
}
