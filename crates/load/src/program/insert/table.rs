//! The benchmark's tables outside of measured time: made, asked for their ids, brought to rest, put back.
//!
//! In: an endpoint and the shape. Out: empty tables, [`State`], a rested server. Several tables at once, each on a
//! session of its own.

use super::probes::{IdProbe, probe_id};
use super::sql;
use crate::error::LoadError;
use crate::mysql::{rows, single};
use crate::session::{PARALLEL_MAX, connect, execute, parallel_each};
use crate::work::{SettleGoal, Worked, checkpoint, settle, vacuum};
use rqps_model::StorageEngine;
use rqps_model::insert::{Shape, TableIds};
use rqps_model::plan::DataShape;
use rqps_wire::{Endpoint, Protocol, Session, Target};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often a rest looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// What one step leaves to the next: the ids that each table holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub(crate) tables: Vec<TableIds>,
}

impl State {
    /// Before the first step.
    pub fn new() -> State {
        State::default()
    }

    /// What a server holds, after a crash or in another process.
    pub fn read(endpoint: &Endpoint, shape: &Shape) -> Result<State, LoadError> {
        let mut session = connect(endpoint)?;
        let tables = (0..shape.tables() as usize).map(|table| {
            let name = sql::table_name(table);
            let oldest = probe_id(&mut session, &name, IdProbe::Oldest)?.unwrap_or(1);
            let newest = probe_id(&mut session, &name, IdProbe::Newest)?.unwrap_or(0);
            Ok(TableIds { oldest, newest })
        });
        Ok(State { tables: tables.collect::<Result<_, LoadError>>()? })
    }

    /// The ids that the first table holds.
    pub(crate) fn of_first_table(endpoint: &Endpoint, shape: &Shape) -> Result<TableIds, LoadError> {
        Ok(State::read(endpoint, &Shape { clients: 1, ..shape.clone() })?.tables[0])
    }

    /// The ids that each table holds; empty if that is not known.
    pub fn tables(&self) -> &[TableIds] {
        &self.tables
    }

    /// Whether it knows every table of that shape.
    pub(crate) fn fits(&self, shape: &Shape) -> bool {
        self.tables.len() == shape.tables() as usize
    }
}

/// Drops and makes all tables.
pub(crate) fn create(endpoint: &Endpoint, shape: &Shape, storage: StorageEngine) -> Result<(), LoadError> {
    on_tables(endpoint, shape, |session, table| {
        sql::create_table(endpoint.protocol(), table, storage).iter().try_for_each(|sql| execute(session, sql))
    })
}

/// What follows l.i2: statistics, what is dead removed, what is dirty written back, and at least `rest_seconds` of the
/// shape.
pub fn rest(target: &Target, shape: &Shape, stop: &AtomicBool) -> Result<Worked, LoadError> {
    let begun = Instant::now();
    let endpoint = &target.endpoint;
    let protocol = endpoint.protocol();
    let left = match protocol {
        Protocol::Postgres => {
            on_tables(endpoint, shape, |session, table| vacuum(session, &sql::rest(protocol, table)))?;
            checkpoint(endpoint).map(|()| None)?
        }
        Protocol::Mysql => {
            on_tables(endpoint, shape, |session, table| execute(session, &sql::rest(protocol, table)))?;
            let data = DataShape { tables: shape.tables(), rows: shape.rows_loaded() / u64::from(shape.tables()) };
            settle(target, data, SettleGoal::Both)?
        }
    };
    while begun.elapsed().as_secs_f64() < shape.rest_seconds {
        if stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        std::thread::sleep(LOOK);
    }
    Ok(Worked { seconds: begun.elapsed().as_secs_f64(), left })
}

/// The statement that sets the next id of a table back to what it is now.
pub(crate) fn id_reset(session: &mut Session, engine: Protocol, table: &str) -> Result<String, LoadError> {
    match engine {
        Protocol::Postgres => {
            let sequence = format!("{table}_transactionid_seq");
            let set = format!("format('SELECT setval(%L, %s, %L)', '{sequence}', last_value, is_called)");
            single(session, &format!("SELECT {set} FROM {sequence}"))
        }
        Protocol::Mysql => {
            let made = rows(session, &format!("SHOW CREATE TABLE {table}"))?;
            let made = made.into_iter().flatten().flatten().next_back().unwrap_or_default();
            let digits = made.split_once(" AUTO_INCREMENT=").map_or("1", |(_, rest)| rest);
            let next = digits.split(' ').next().unwrap_or(digits);
            Ok(format!("ALTER TABLE {table} AUTO_INCREMENT = {next}, ALGORITHM = INPLACE"))
        }
    }
}

/// The rows of all tables, counted one by one.
pub fn count_rows(endpoint: &Endpoint, shape: &Shape) -> Result<u64, LoadError> {
    let rows = AtomicU64::new(0);
    on_tables(endpoint, shape, |session, table| {
        let doing = || format!("counting the rows of {table}");
        let answer = session.query(&sql::count(table)).map_err(LoadError::wire(doing()))?;
        let found = answer.single().unwrap_or_default();
        let counted: u64 = found.parse().map_err(|_| LoadError::Mismatch {
            place: table.to_owned(),
            what: "count of rows",
            found: found.to_owned(),
            needed: "a number".to_owned(),
        })?;
        rows.fetch_add(counted, Ordering::Relaxed);
        Ok(())
    })?;
    Ok(rows.into_inner())
}

/// Calls `act` for every table, several at once.
fn on_tables(
    endpoint: &Endpoint,
    shape: &Shape,
    act: impl Fn(&mut Session, &str) -> Result<(), LoadError> + Sync,
) -> Result<(), LoadError> {
    parallel_each(endpoint, shape.tables(), PARALLEL_MAX, |session, number| {
        act(session, &sql::table_name(number as usize))
    })
}
