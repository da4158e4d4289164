//! Slow query logs of MySQL, Percona Server and MariaDB, of any version.
//!
//! In: bytes. Out: executions with their values, in a [`Log`]. An entry is a head of lines that begin with `#`, each
//! with keys and values in any order and number, then perhaps `use db;` and `SET timestamp=N;`, then the statement up
//! to a `;` at a line's end before the next head. Unknown keys are passed over.

use crate::fault::{Faults, LogFault};
use crate::left_out::LeftOut;
use crate::lines::Lines;
use crate::log::{Bound, Entry, Log};
use std::io::BufRead;

/// What stands in place of a statement that is none.
const ADMINISTRATOR: &[u8] = b"# administrator command:";

/// What a head says.
#[derive(Debug, Default)]
struct Head {
    seconds: Option<f64>,
    /// How many statements it stands for, where only some were logged.
    rate: f64,
    is_replica: bool,
    /// A statement of a stored routine.
    is_nested: bool,
}

/// Where in an entry the last line was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before the first head, or behind the lines with which a server starts.
    Start,
    Head,
    /// Behind the head, where `use db;` and `SET timestamp=N;` may stand.
    Preamble,
    Statement,
}

/// The entry under way.
struct Reading<'l> {
    log: &'l mut Log,
    at: At,
    head: Head,
    database: Option<String>,
    statement: Vec<u8>,
    entries: u64,
    /// Lines before the first head.
    passed_over: u64,
}

/// Reads a slow log into a log.
///
/// # Errors
/// Every fault of the file, with its line.
pub fn read_slow_log(file: &str, input: impl BufRead, log: &mut Log) -> Result<(), Vec<LogFault>> {
    let mut faults = Faults::of(file);
    let mut lines = Lines::of(input);
    let mut reading = Reading {
        log,
        at: At::Start,
        head: Head::default(),
        database: None,
        statement: Vec::new(),
        entries: 0,
        passed_over: 0,
    };
    loop {
        match lines.next() {
            Ok(None) => break,
            Ok(Some(line)) => {
                if let Err(what) = reading.take(line) {
                    faults.add(lines.number(), what);
                }
            }
            Err(error) => faults.add(lines.number(), format!("it cannot be read: {error}")),
        }
        if faults.are_enough() {
            return faults.end();
        }
    }
    let is_cut = reading.at != At::Start && !(reading.at == At::Statement && ends(&reading.statement));
    reading.end();
    let (entries, passed_over) = (reading.entries, reading.passed_over);
    if is_cut {
        log.note(format!("{file} ends within an entry, which is left out"));
    }
    if entries > 0 && passed_over > 0 {
        log.note(format!("{file} begins within an entry, which is left out"));
    }
    if entries == 0 && faults.is_empty() {
        faults.add(1, "no statement is logged here; a slow log has lines such as `# Query_time: 0.1  Lock_time: 0.0`");
    }
    faults.end()
}

impl Reading<'_> {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        if is_start_of_server(line) && (self.at != At::Statement || ends(&self.statement)) {
            self.end();
            self.at = At::Start;
            self.database = None;
            return Ok(());
        }
        let begins = is_head(line) && (self.at != At::Statement || ends(&self.statement));
        if begins && matches!(self.at, At::Statement | At::Preamble) {
            self.end();
            self.at = At::Start;
        }
        match self.at {
            At::Start if is_head(line) => {
                self.at = At::Head;
                self.head = Head { rate: 1.0, ..Head::default() };
                self.head.take(line, &mut self.database)
            }
            // What a server says when it starts, or the end of an entry whose beginning is in another file.
            At::Start => {
                self.passed_over += u64::from(!is_of_start(line));
                Ok(())
            }
            At::Head if line.starts_with(b"#") && !line.starts_with(ADMINISTRATOR) => {
                self.head.take(line, &mut self.database)
            }
            At::Head | At::Preamble => {
                self.at = At::Preamble;
                self.preamble(line);
                Ok(())
            }
            At::Statement => {
                self.statement.push(b'\n');
                self.statement.extend_from_slice(line);
                Ok(())
            }
        }
    }

    /// `use db;`, `SET timestamp=N;`, or the first line of the statement.
    fn preamble(&mut self, line: &[u8]) {
        if let Some(name) = line.strip_prefix(b"use ").and_then(|rest| rest.strip_suffix(b";")) {
            self.database = Some(String::from_utf8_lossy(name).trim_matches('`').to_owned());
            return;
        }
        if let Some(seconds) = timestamp(line) {
            self.log.at(seconds);
            return;
        }
        self.at = At::Statement;
        self.statement.extend_from_slice(line);
    }

    /// The entry is over.
    fn end(&mut self) {
        let statement = std::mem::take(&mut self.statement);
        if self.at != At::Statement {
            return;
        }
        self.entries += 1;
        let text = std::str::from_utf8(&statement);
        let sql = text.unwrap_or_default();
        let left_out = match text {
            Err(_) => Some(LeftOut::Encoding),
            Ok(_) if statement.starts_with(ADMINISTRATOR) => Some(LeftOut::Administrator),
            Ok(_) if self.head.is_replica => Some(LeftOut::Replication),
            Ok(_) if self.head.is_nested => Some(LeftOut::Nested),
            Ok(_) if !ends(&statement) => Some(LeftOut::Cut),
            Ok(_) => None,
        };
        self.log.add(Entry {
            sql,
            database: self.database.as_deref(),
            calls: self.head.rate,
            milliseconds: self.head.seconds.unwrap_or(0.0) * 1000.0 * self.head.rate,
            bound: Bound::Unknown,
            is_text: false,
            left_out,
        });
    }
}

impl Head {
    /// Takes a line of the head.
    fn take(&mut self, line: &[u8], database: &mut Option<String>) -> Result<(), String> {
        let line = String::from_utf8_lossy(line);
        self.is_replica |= line.contains("User@Host: [SQL_SLAVE]");
        self.is_nested |= line.starts_with("# Stored_routine: ");
        if let Some(number) = value(&line, "Query_time:") {
            let read = number.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
            self.seconds = Some(read.ok_or_else(|| format!("`Query_time` is `{number}`, expected seconds"))?);
        }
        if let Some(name) = value(&line, "Schema:").filter(|name| !name.ends_with(':')) {
            *database = Some(name.to_owned());
        }
        if let Some(number) = value(&line, "Log_slow_rate_limit:") {
            let read = number.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 1.0);
            self.rate =
                read.ok_or_else(|| format!("`Log_slow_rate_limit` is `{number}`, expected a number from 1 on"))?;
        }
        Ok(())
    }
}

/// The word behind a key of a head.
fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    if line.starts_with("# explain:") {
        return None;
    }
    let at = line.find(key).filter(|at| line[..*at].ends_with([' ', '#']))?;
    line[at + key.len()..].split_whitespace().next()
}

/// Whether a line begins an entry: its time or its user, written as servers write them.
fn is_head(line: &[u8]) -> bool {
    if let Some(time) = line.strip_prefix(b"# Time: ") {
        let digits = time.iter().take_while(|byte| byte.is_ascii_digit()).count();
        return digits == 6 && time.get(6) == Some(&b' ') || digits == 4 && time.get(4) == Some(&b'-');
    }
    line.strip_prefix(b"# User@Host: ").is_some_and(|user| user.windows(4).any(|window| window == b"] @ "))
}

/// Whether a statement may end here.
fn ends(statement: &[u8]) -> bool {
    statement.trim_ascii_end().ends_with(b";")
}

/// The first of the lines that a server writes when it opens the file.
fn is_start_of_server(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    line.contains(", Version: ") && line.trim_end().ends_with("started with:")
}

/// The others of these lines, and empty ones.
fn is_of_start(line: &[u8]) -> bool {
    line.is_empty()
        || line.starts_with(b"Tcp port: ")
        || line.starts_with(b"TCP Port: ")
        || line.starts_with(b"Time  ")
        || line.starts_with(b"Time\t")
}

/// The seconds of `SET timestamp=N;`, before which ids may stand.
fn timestamp(line: &[u8]) -> Option<f64> {
    let line = std::str::from_utf8(line).ok()?;
    let list = line.strip_prefix("SET ").or_else(|| line.strip_prefix("set "))?.strip_suffix(';')?;
    let is_ours = |part: &str| ["last_insert_id=", "insert_id=", "timestamp="].iter().any(|key| part.starts_with(key));
    if !list.split(',').all(is_ours) {
        return None;
    }
    list.split(',').find_map(|part| part.strip_prefix("timestamp=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use rqps_sql::Dialect;

    fn read(text: &[u8]) -> (Log, Vec<String>) {
        let mut log = Log::new(Dialect::Mysql, Filter::default());
        let faults = read_slow_log("slow.log", text, &mut log).err().unwrap_or_default();
        (log, faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn faults_are_told_with_their_lines_and_a_cut_end_is_not_one() {
        let good = "# User@Host: a[a] @ b []\n# Query_time: 1  Lock_time: 0\nSET timestamp=5;\nSELECT x FROM t;\n";
        let (log, faults) = read(format!("{good}# User@Host: a[a] @ b []\n# Query_time: 1\nSELECT x").as_bytes());
        assert_eq!((faults.len(), log.notes.len()), (0, 1));
        assert_eq!(log.left_out.keys().collect::<Vec<_>>(), [&LeftOut::Cut]);
        let (_, faults) = read(format!("{good}# User@Host: a[a] @ b []\n# Query_time: soon\nSELECT x;\n").as_bytes());
        assert_eq!(faults, ["slow.log:6: `Query_time` is `soon`, expected seconds"]);
        let (_, faults) = read(b"SELECT 1;\n");
        assert!(faults[0].starts_with("slow.log:1: no statement is logged here"), "{faults:?}");
        let (log, faults) = read(format!("  AND a = 1;\n{good}").as_bytes());
        assert_eq!((faults.len(), log.notes.len(), log.groups.len()), (0, 1, 1));
        assert!(read(b"").1[0].starts_with("slow.log:1: no statement is logged here"));
    }

    #[test]
    fn bytes_that_are_no_text_are_counted() {
        let (log, faults) = read(b"# User@Host: a[a] @ b []\n# Query_time: 1\nSELECT '\xff' FROM t;\n");
        assert_eq!(faults, [""; 0]);
        assert_eq!(log.left_out[&LeftOut::Encoding].calls, 1.0);
    }
}
