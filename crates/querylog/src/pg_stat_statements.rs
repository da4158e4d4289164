//! An export of pg_stat_statements as CSV.
//!
//! In: bytes with a header of the columns' names, as `\copy (SELECT * FROM pg_stat_statements) TO ... CSV HEADER`
//! writes them, of any version. Out: statements without values, in a [`Log`]. Columns are found by their names: 13
//! renamed `total_time` to `total_exec_time`.

use crate::fault::{Faults, LogFault};
use crate::left_out::LeftOut;
use crate::log::{Bound, Entry, Log};
use crate::parameters::prepared;
use std::io::Read;

/// Where the columns are that count.
struct Columns {
    query: usize,
    calls: usize,
    time: usize,
    top_level: Option<usize>,
    database: Option<usize>,
}

const EXPORT: &str = "export it with \\copy (SELECT d.datname, s.* FROM pg_stat_statements s JOIN pg_database d ON \
                      d.oid = s.dbid) TO 'statements.csv' CSV HEADER";

/// Reads an export into a log.
///
/// # Errors
/// Every fault of the file, with its line.
pub fn read_pg_stat_statements(file: &str, input: impl Read, log: &mut Log) -> Result<(), Vec<LogFault>> {
    let mut faults = Faults::of(file);
    let mut reader = csv::ReaderBuilder::new().from_reader(input);
    let columns = match reader.byte_headers() {
        Ok(header) => columns(header, &mut faults),
        Err(error) => {
            faults.add(1, told(&error));
            None
        }
    };
    let Some(columns) = columns else { return faults.end() };
    for row in reader.byte_records() {
        match row {
            Ok(row) => {
                let line = row.position().map_or(1, csv::Position::line);
                if let Err(what) = take(&row, &columns, log) {
                    faults.add(line, what);
                }
            }
            Err(error) => {
                faults.add(error.position().map_or(1, csv::Position::line), told(&error));
            }
        }
        if faults.are_enough() {
            break;
        }
    }
    faults.end()
}

/// What is wrong with a row, without the line, which stands in front.
pub(crate) fn told(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} fields, and the header {expected_len}")
        }
        csv::ErrorKind::Io(error) => format!("it cannot be read: {error}"),
        other => format!("{other:?}"),
    }
}

fn columns(header: &csv::ByteRecord, faults: &mut Faults<'_>) -> Option<Columns> {
    let find = |name: &str| {
        header.iter().position(|field| {
            field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field).eq_ignore_ascii_case(name.as_bytes())
        })
    };
    let time = find("total_exec_time").or_else(|| find("total_time"));
    let missing: Vec<&str> = [("query", find("query")), ("calls", find("calls")), ("total_exec_time", time)]
        .into_iter()
        .filter(|(_, place)| place.is_none())
        .map(|(name, _)| name)
        .collect();
    if !missing.is_empty() {
        faults.add(1, format!("the header does not have {}; {EXPORT}", missing.join(", ")));
    }
    Some(Columns {
        query: find("query")?,
        calls: find("calls")?,
        time: time?,
        top_level: find("toplevel"),
        database: find("datname").or_else(|| find("dbid")),
    })
}

fn take(row: &csv::ByteRecord, columns: &Columns, log: &mut Log) -> Result<(), String> {
    let number = |place: usize, name: &str| {
        let text = String::from_utf8_lossy(&row[place]);
        let read = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        read.ok_or_else(|| format!("`{name}` is `{text}`, expected a number from 0 on"))
    };
    let (calls, milliseconds) = (number(columns.calls, "calls")?, number(columns.time, "total time")?);
    let text = std::str::from_utf8(&row[columns.query]);
    let sql = text.unwrap_or_default();
    let is_nested = columns.top_level.is_some_and(|place| row[place].starts_with(b"f"));
    log.add(Entry {
        sql: prepared(sql).unwrap_or(sql),
        database: columns.database.and_then(|place| std::str::from_utf8(&row[place]).ok()),
        calls,
        milliseconds,
        bound: Bound::Unknown,
        is_text: false,
        left_out: match text {
            Err(_) => Some(LeftOut::Encoding),
            Ok(_) => is_nested.then_some(LeftOut::Nested),
        },
    });
    Ok(())
}
