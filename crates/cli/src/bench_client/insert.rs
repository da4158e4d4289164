//! Step l.i0 of the Insert Benchmark: rqps beside a straightforward Python inserter, and rqps into a server that does nothing.
//!
//! In: a stand. Out: client CPU microseconds per row, rows per second of one thread, peak memory. That each client did insert
//! the same number of rows by the same number of statements is asked of the server after each run. rqps is charged
//! for its whole process, from its start on; the Python program only for its loop.

use super::inserter::Inserter;
use super::place::Place;
use super::process::{Told, part_command, told_by};
use super::rounds::{Measured, alternate};
use super::stand::Stand;
use super::table::Row;
use super::workload::{INSERT, INSERT_SINK};
use crate::args::BenchClientArgs;
use crate::screen::Screen;
use anyhow::{Context, Result, bail};
use rqps_model::Engine;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Rows of a statement in this step.
const BATCH: u64 = 100;

/// Rows by which it is tried out how fast the client is.
const TRIAL_ROWS: u64 = 500_000;

const RQPS: &str = "rqps";

/// All inserters, or rqps alone where there is no other.
pub(super) fn compare(stand: &Stand, args: &BenchClientArgs, screen: Screen) -> Result<Measured> {
    let engine = stand.place.engine;
    let inserter = Inserter::find(engine, stand.folder())?;
    match &inserter {
        Some(inserter) => screen.say(&format!("{INSERT}: beside {}", inserter.versions)),
        None => screen.warn(&format!("{INSERT}: rqps alone, since {}", Inserter::how_to_install(engine))),
    }
    let place = Place { rows: args.insert_rows, ..stand.place.clone() };
    let clients: Vec<Option<&Inserter>> = [None].into_iter().chain(inserter.iter().map(Some)).collect();
    let rounds = alternate(INSERT, clients.len(), args.rounds, screen, |client| {
        Ok(cpu_us(&insert(stand, &place, clients[client])?))
    });
    let names: Vec<&str> = clients.iter().map(|client| client.map_or(RQPS, |inserter| &inserter.name)).collect();
    Ok(rounds.rows(INSERT, &names, "us/row"))
}

/// One client fills its table, which is then looked at; no inserter is rqps itself.
fn insert(stand: &Stand, place: &Place, client: Option<&Inserter>) -> Result<Told> {
    let before = statements_before(stand)?;
    let (_, told) = match client {
        None => told_by(&mut part_command(INSERT, place, 0.0)?)?,
        Some(inserter) => told_by(&mut inserter.command(place))?,
    };
    let rows: u64 = number(stand, "SELECT count(*) FROM pi1", 0)?;
    let statements = statements(stand)? - before;
    if told.operations != place.rows || rows != place.rows || statements != place.rows.div_ceil(BATCH) {
        bail!(
            "{} was to insert {} rows by statements of {BATCH}; it says it inserted {}, and the server has {rows} by \
             {statements} statements",
            client.map_or(RQPS, |inserter| &inserter.name),
            place.rows,
            told.operations
        );
    }
    Ok(told)
}

/// How many statements filled the table, or on MySQL how many inserts there ever were.
fn statements(stand: &Stand) -> Result<u64> {
    match stand.place.engine {
        // Each statement is a transaction, and a row knows its own.
        Engine::Postgres => number(stand, "SELECT count(DISTINCT xmin::text) FROM pi1", 0),
        Engine::Mysql | Engine::Mariadb => number(stand, "SHOW GLOBAL STATUS LIKE 'Com_insert'", 1),
    }
}

/// What [`statements`] tells before a client makes its table.
fn statements_before(stand: &Stand) -> Result<u64> {
    if stand.place.engine == Engine::Postgres { Ok(0) } else { statements(stand) }
}

fn number(stand: &Stand, sql: &str, column: usize) -> Result<u64> {
    let answer = stand.ask(sql, column)?;
    answer.parse().with_context(|| format!("`{sql}` is answered by {answer}"))
}

fn cpu_us(told: &Told) -> f64 {
    told.cpu_s * 1e6 / told.operations as f64
}

fn per_s(told: &Told) -> f64 {
    told.operations as f64 / told.seconds
}

/// Rows per second of one thread of rqps, and what a row costs it, where the server costs next to nothing.
pub(super) fn sink(stand: &Stand, args: &BenchClientArgs, screen: Screen) -> Result<Measured> {
    let place = open_sink(stand.folder())?;
    let rows = rows_for(&place, args.seconds)?;
    let rounds = alternate(INSERT_SINK, 1, args.rounds, screen, |_| {
        Ok(told_by(&mut part_command(INSERT, &place_of(&place, rows), 0.0)?)?.1)
    });
    let told = &rounds.values[0];
    let row = |unit, value: fn(&Told) -> f64| {
        let values: Vec<f64> = told.iter().map(value).collect();
        Row::new(INSERT_SINK, RQPS, unit, values.clone(), &values)
    };
    let rows = if told.is_empty() { Vec::new() } else { vec![row("rows/s", per_s), row("us/row", cpu_us)] };
    Ok(Measured { rows, failure: rounds.failure })
}

/// Peak memory in KB of one inserter after a tenth of the rows and at their end.
pub(super) fn memory(stand: &Stand, seconds: f64, screen: Screen) -> Result<(u64, u64)> {
    let place = open_sink(stand.folder())?;
    let rows = rows_for(&place, seconds)?;
    let peak_kb = |rows: u64| {
        screen.say(&format!("memory of an inserter of {rows} rows"));
        let (_, told) = told_by(&mut part_command(INSERT, &place_of(&place, rows), 0.0)?)?;
        anyhow::Ok(told.peak_kb)
    };
    Ok((peak_kb(whole_batches(rows / 10))?, peak_kb(rows)?))
}

/// Rows that take about so long.
fn rows_for(sink: &Place, seconds: f64) -> Result<u64> {
    let (_, told) = told_by(&mut part_command(INSERT, &place_of(sink, TRIAL_ROWS), 0.0)?)?;
    Ok(whole_batches((per_s(&told) * seconds) as u64))
}

/// The sink acknowledges whole statements only.
fn whole_batches(rows: u64) -> u64 {
    rows.div_ceil(BATCH).max(1) * BATCH
}

fn place_of(sink: &Place, rows: u64) -> Place {
    Place { rows, ..sink.clone() }
}

/// Opens a server that does nothing. Its threads are of this process, which is not charged, and end with it.
fn open_sink(folder: &Path) -> Result<Place> {
    let socket = folder.join("sink");
    // The one before is not needed any more.
    let _ = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).with_context(|| format!("cannot listen on {}", socket.display()))?;
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || rqps_wire::acknowledge(stream, BATCH as u32));
        }
    });
    Ok(Place { engine: Engine::Postgres, socket, user: String::new(), database: String::new(), rows: 0 })
}

#[cfg(test)]
mod tests;
