//! Rows that are drawn, and the tables of pgbench, sent to a server.
//!
//! In: tables of a plan, a seed. Out: rows in the order of their numbers, the same on every engine and build.

use super::dialect;
use crate::error::LoadError;
use crate::program::own::push_literal;
use crate::session::{connect, execute};
use rqps_draw::{Drawn, Rows};
use rqps_model::own::{OwnData, OwnTable};
use rqps_pgbench::{InitStep, Tables, Work};
use rqps_wire::{AnyValue, Protocol, Session, Target};

/// Rows of one INSERT.
const ROWS_PER_INSERT: u64 = 500;

/// A write to COPY.
const CHUNK_BYTES: usize = 64 << 10;

/// Fills every table whose rows are drawn.
pub(super) fn draw_tables(
    target: &Target,
    data: &OwnData,
    seed: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<(), LoadError> {
    let all = data.rows_drawn().max(1) as f64;
    let mut done = 0;
    let mut session = connect(&target.endpoint)?;
    for sql in super::database::session_statements(data, target) {
        execute(&mut session, &sql)?;
    }
    for (number, table) in (1..).zip(&data.tables) {
        let rows = Rows::new(&table.columns, seed ^ (number << 32))
            .map_err(|error| LoadError::Shape(format!("table {}: {error}", table.name)))?;
        let advance = |row: u64| progress(((done + row) as f64 / all).min(1.0));
        match target.endpoint.protocol() {
            Protocol::Postgres => copy(&mut session, table, &rows, &advance),
            Protocol::Mysql => insert(&mut session, table, &rows, target, &advance),
        }
        .map_err(|error| LoadError::Shape(format!("filling table {}: {error}", table.name)))?;
        done += table.rows;
    }
    Ok(())
}

fn names(table: &OwnTable) -> String {
    table.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

fn copy(session: &mut Session, table: &OwnTable, rows: &Rows, advance: &dyn Fn(u64)) -> Result<(), LoadError> {
    let sql = format!("COPY {} ({}) FROM STDIN", table.name, names(table));
    let feed = |writer: &mut rqps_wire::CopyWriter<'_>| {
        let mut values = Vec::new();
        let mut text = Vec::with_capacity(CHUNK_BYTES + 1024);
        for row in 0..table.rows {
            rows.fill(row, &mut values);
            for (column, value) in values.iter().enumerate() {
                if column > 0 {
                    text.push(b'\t');
                }
                push_copy(&mut text, value);
            }
            text.push(b'\n');
            if text.len() >= CHUNK_BYTES {
                writer.write(&text)?;
                text.clear();
                advance(row);
            }
        }
        writer.write(&text)
    };
    session.copy_in(&sql, feed).map(drop).map_err(LoadError::wire("copying rows"))
}

/// Appends a value as COPY reads it.
fn push_copy(text: &mut Vec<u8>, value: &Drawn) {
    match value {
        Drawn::Null => text.extend_from_slice(b"\\N"),
        Drawn::Integer(number) => text.extend_from_slice(number.to_string().as_bytes()),
        Drawn::Float(number) => text.extend_from_slice(format!("{number:?}").as_bytes()),
        Drawn::Text(value) => {
            for byte in value.bytes() {
                match byte {
                    b'\\' => text.extend_from_slice(b"\\\\"),
                    b'\t' => text.extend_from_slice(b"\\t"),
                    b'\n' => text.extend_from_slice(b"\\n"),
                    b'\r' => text.extend_from_slice(b"\\r"),
                    other => text.push(other),
                }
            }
        }
    }
}

fn insert(
    session: &mut Session,
    table: &OwnTable,
    rows: &Rows,
    target: &Target,
    advance: &dyn Fn(u64),
) -> Result<(), LoadError> {
    let head = format!("INSERT INTO {} ({}) VALUES ", table.name, names(table));
    let dialect = dialect(target.engine());
    let (mut values, mut text) = (Vec::new(), Vec::new());
    execute(session, "SET autocommit = 0")?;
    for first in (0..table.rows).step_by(ROWS_PER_INSERT as usize) {
        text.clear();
        text.extend_from_slice(head.as_bytes());
        for row in first..table.rows.min(first + ROWS_PER_INSERT) {
            rows.fill(row, &mut values);
            text.extend_from_slice(if row == first { b"(" } else { b", (" });
            for (column, value) in values.iter().enumerate() {
                if column > 0 {
                    text.extend_from_slice(b", ");
                }
                push_literal(&mut text, any(value), dialect);
            }
            text.push(b')');
        }
        execute(session, &String::from_utf8_lossy(&text))?;
        advance(first);
    }
    execute(session, "COMMIT")?;
    execute(session, "SET autocommit = 1")
}

fn any(value: &Drawn) -> AnyValue<'_> {
    match value {
        Drawn::Null => AnyValue::Null,
        Drawn::Integer(number) => AnyValue::Integer(*number),
        Drawn::Float(number) => AnyValue::Float(*number),
        Drawn::Text(text) => AnyValue::Text(text.as_bytes()),
    }
}

/// Makes and fills pgbench's tables as `pgbench -i` does.
pub(super) fn pgbench_tables(target: &Target, scale: u32) -> Result<(), LoadError> {
    if target.endpoint.protocol() != Protocol::Postgres {
        return Err(LoadError::Shape("pgbench's tables are made on PostgreSQL alone".to_owned()));
    }
    let mut session = connect(&target.endpoint)?;
    // Rows are frozen on no version, so that all begin alike.
    let tables = Tables { freeze: false, ..Tables::new(scale) };
    for step in [InitStep::Create, InitStep::Fill, InitStep::PrimaryKeys] {
        for work in tables.work(step) {
            match work {
                Work::Sql(sql) => execute(&mut session, &sql)?,
                Work::Copy { sql, table } => {
                    let feed = |writer: &mut rqps_wire::CopyWriter<'_>| {
                        let mut text = Vec::with_capacity(CHUNK_BYTES + 1024);
                        for row in 0..tables.rows(table) {
                            tables.write_row(table, row, &mut text);
                            if text.len() >= CHUNK_BYTES {
                                writer.write(&text)?;
                                text.clear();
                            }
                        }
                        writer.write(&text)
                    };
                    session.copy_in(&sql, feed).map(drop).map_err(LoadError::wire("filling pgbench's tables"))?;
                }
            }
        }
    }
    Ok(())
}
