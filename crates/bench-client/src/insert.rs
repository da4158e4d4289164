//! Step l.i0 of the Insert Benchmark: rqps beside a straightforward Python inserter, and rqps into a server that does
//! nothing.
//!
//! In: a server. Out: client CPU microseconds per row, rows per second of one thread, peak memory. That each client did
//! insert the same number of rows by the same number of statements is asked of the server after each run. rqps is
//! charged for its whole process, from its start on; the Python program only for its loop.

use crate::args::Args;
use crate::engine::{OF_SINK, kind};
use crate::inserter::Inserter;
use crate::output::{say, warn};
use crate::own_client::{OwnClient, PartResult, run_part};
use crate::place::Place;
use crate::rounds::{Measured, alternate};
use crate::test_server::TestServer;
use crate::workload::{INSERT, INSERT_SINK};
use anyhow::{Context, Result, bail};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Rows of a statement in this step.
const BATCH: u64 = 100;

/// Rows by which it is tried out how fast the client is.
const TRIAL_ROWS: u64 = 500_000;

/// Who inserts.
enum Client {
    Own(OwnClient),
    Python(Inserter),
}

impl Client {
    fn name(&self) -> &str {
        match self {
            Client::Own(client) => &client.name,
            Client::Python(inserter) => &inserter.name,
        }
    }

    fn run(&self, place: &Place) -> Result<PartResult> {
        let (_, result) = match self {
            Client::Own(client) => client.run(INSERT, place, 0.0)?,
            Client::Python(inserter) => run_part(&mut inserter.command(place))?,
        };
        Ok(result)
    }
}

/// All inserters of rqps, and the Python program where there is one and rqps is alone.
pub(crate) fn compare(server: &TestServer, args: &Args, own: Vec<OwnClient>) -> Result<Measured> {
    let is_alone = own.len() == 1;
    let mut clients: Vec<Client> = own.into_iter().map(Client::Own).collect();
    if is_alone {
        let engine = server.place.engine;
        match Inserter::find(engine, server.folder())? {
            Some(inserter) => {
                say(&format!("{INSERT}: beside {}", inserter.versions));
                clients.push(Client::Python(inserter));
            }
            None => warn(&format!("{INSERT}: rqps alone, since {}", kind(engine).how_to_install)),
        }
    }
    let place = Place { rows: args.insert_rows, ..server.place.clone() };
    let rounds =
        alternate(INSERT, clients.len(), args.rounds, |client| Ok(insert(server, &place, &clients[client])?.cpu_us()));
    let names: Vec<&str> = clients.iter().map(Client::name).collect();
    Ok(rounds.rows(INSERT, &names, "us/row"))
}

/// One client fills its table, which is then looked at.
fn insert(server: &TestServer, place: &Place, client: &Client) -> Result<PartResult> {
    let before = if kind(server.place.engine).counts_all { statements(server)? } else { 0 };
    let result = client.run(place)?;
    let rows: u64 = number(server, "SELECT count(*) FROM pi1", 0)?;
    let statements = statements(server)? - before;
    if result.operations != place.rows || rows != place.rows || statements != place.rows.div_ceil(BATCH) {
        bail!(
            "{} was to insert {} rows by statements of {BATCH}; it says it inserted {}, and the server has {rows} by \
             {statements} statements",
            client.name(),
            place.rows,
            result.operations
        );
    }
    Ok(result)
}

/// How many statements filled the table, or on MySQL how many inserts there ever were.
fn statements(server: &TestServer) -> Result<u64> {
    let (sql, column) = kind(server.place.engine).statements;
    number(server, sql, column)
}

fn number(server: &TestServer, sql: &str, column: usize) -> Result<u64> {
    let answer = server.query(sql, column)?;
    answer.parse().with_context(|| format!("`{sql}` is answered by {answer}"))
}

/// Rows per second of one thread of each client of rqps, and what a row costs it, where the server costs next to
/// nothing.
pub(crate) fn sink(server: &TestServer, args: &Args, own: &[OwnClient]) -> Result<Measured> {
    let place = open_sink(server.folder())?;
    let place = Place { rows: rows_for(&place, args.seconds)?, ..place };
    let rounds = alternate(INSERT_SINK, own.len(), args.rounds, |client| Ok(own[client].run(INSERT, &place, 0.0)?.1));
    let names: Vec<&str> = own.iter().map(|client| client.name.as_str()).collect();
    let mut rows = rounds.map(PartResult::per_s).rows(INSERT_SINK, &names, "rows/s").rows;
    rows.extend(rounds.map(PartResult::cpu_us).rows(INSERT_SINK, &names, "us/row").rows);
    Ok(Measured { rows, failure: rounds.failure })
}

/// Peak memory in KB of one inserter after a tenth of the rows and at their end.
pub(crate) fn memory(server: &TestServer, seconds: f64) -> Result<(u64, u64)> {
    let place = open_sink(server.folder())?;
    let rows = rows_for(&place, seconds)?;
    let this = OwnClient::this()?;
    let peak_kb = |rows: u64| {
        say(&format!("memory of an inserter of {rows} rows"));
        anyhow::Ok(this.run(INSERT, &Place { rows, ..place.clone() }, 0.0)?.1.peak_kb)
    };
    Ok((peak_kb(whole_batches(rows / 10))?, peak_kb(rows)?))
}

/// Rows that take about so long.
fn rows_for(sink: &Place, seconds: f64) -> Result<u64> {
    let (_, trial) = OwnClient::this()?.run(INSERT, &Place { rows: TRIAL_ROWS, ..sink.clone() }, 0.0)?;
    Ok(whole_batches((trial.per_s() * seconds) as u64))
}

/// The sink acknowledges whole statements only.
fn whole_batches(rows: u64) -> u64 {
    rows.div_ceil(BATCH).max(1) * BATCH
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
    Ok(Place { engine: OF_SINK, socket, user: String::new(), database: String::new(), rows: 0 })
}

#[cfg(test)]
mod tests;
