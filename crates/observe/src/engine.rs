//! The one place of this crate that asks which engine a server is.
//!
//! In: a protocol and what stores the tables. Out: what is read of that engine. Engines have modules of their own,
//! which know nothing of this one.

use crate::counters::Counters;
use crate::seen::Seen;
use crate::{mysql, postgres};
use rqps_model::StorageEngine;
use rqps_wire::{Protocol, Session, WireError};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reads every counter that this server has of the database that the session is in. Whole views are read, so that one
/// reader serves every version: what a version lacks is not there, and what is new appears under its own name.
pub fn read_counters(session: &mut Session, protocol: Protocol) -> Result<Counters, WireError> {
    match protocol {
        Protocol::Postgres => postgres::read(session),
        Protocol::Mysql => mysql::read(session),
    }
}

/// Whether counters are kept that are 0 before and after. PostgreSQL's are few; of MySQL's thousand most belong to
/// features not in use, and a campaign keeps ten thousand readings.
pub(crate) const fn keeps_idle_counters(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::Postgres)
}

/// What stores the tables of the measured database, as the server says and not as it was wished: in small letters,
/// several with commas, nothing where an engine leaves no choice. A server without the plugin may put tables elsewhere
/// and call that a warning.
pub fn storage_engine(session: &mut Session, protocol: Protocol) -> Result<String, WireError> {
    match protocol {
        Protocol::Postgres => Ok(String::new()),
        Protocol::Mysql => mysql::storage_engine(session),
    }
}

/// Where to look for what the measured database takes on disk.
#[derive(Debug)]
pub(crate) enum DatabaseSize {
    /// The server knows, by this query.
    Query(&'static str),
    /// It is what the files of this folder take.
    Folder(PathBuf),
}

impl DatabaseSize {
    pub(crate) fn of(
        protocol: Protocol,
        storage: Option<StorageEngine>,
        data_folder: &Path,
        database: &str,
    ) -> DatabaseSize {
        match (protocol, storage) {
            (Protocol::Postgres, _) => DatabaseSize::Query(postgres::DATABASE_BYTES),
            (Protocol::Mysql, Some(StorageEngine::Rocksdb)) => DatabaseSize::Folder(mysql::rocksdb_folder(data_folder)),
            // Each table has a file of its own there.
            (Protocol::Mysql, _) => DatabaseSize::Folder(data_folder.join(database)),
        }
    }
}

/// What is read of a server each second.
#[derive(Debug)]
pub(crate) enum MonitorQueries {
    /// PostgreSQL, with what is kept from one second to the next.
    Postgres(postgres::monitor::Queries),
    /// InnoDB.
    Innodb,
    /// RocksDB.
    Rocksdb,
}

impl MonitorQueries {
    /// `planned` are statements, by name, whose planning is timed where the server tells that.
    pub(crate) fn of(
        protocol: Protocol,
        storage: Option<StorageEngine>,
        planned: &[(&'static str, String)],
    ) -> MonitorQueries {
        match (protocol, storage) {
            (Protocol::Postgres, _) => MonitorQueries::Postgres(postgres::monitor::Queries::with_planning_of(planned)),
            (Protocol::Mysql, Some(StorageEngine::Rocksdb)) => MonitorQueries::Rocksdb,
            (Protocol::Mysql, _) => MonitorQueries::Innodb,
        }
    }

    /// The server's numbers now; what it refuses is not there.
    pub(crate) fn read(&mut self, session: &mut Session) -> Result<Counters, WireError> {
        match self {
            MonitorQueries::Postgres(queries) => queries.read(session),
            MonitorQueries::Innodb => mysql::monitor::innodb(session),
            MonitorQueries::Rocksdb => mysql::monitor::rocksdb(session),
        }
    }
}

/// How a server is asked what its sessions do.
#[derive(Debug)]
pub(crate) enum WaitQueries {
    /// PostgreSQL.
    Postgres(postgres::waits::Queries),
    /// MySQL and MariaDB.
    Mysql(mysql::waits::Queries),
}

impl WaitQueries {
    pub(crate) fn of(protocol: Protocol, session: &mut Session) -> Result<WaitQueries, WireError> {
        match protocol {
            Protocol::Postgres => postgres::waits::Queries::prepare(session).map(WaitQueries::Postgres),
            Protocol::Mysql => Ok(WaitQueries::Mysql(mysql::waits::Queries::of(session))),
        }
    }

    /// The least and the most time from one moment to the next.
    pub(crate) const fn gaps(&self) -> Range<Duration> {
        match self {
            WaitQueries::Postgres(_) => postgres::waits::GAPS,
            WaitQueries::Mysql(_) => mysql::waits::GAPS,
        }
    }

    /// What all but this session do now.
    pub(crate) fn read(&mut self, session: &mut Session) -> Result<Vec<Seen>, WireError> {
        match self {
            WaitQueries::Postgres(queries) => queries.read(session),
            WaitQueries::Mysql(queries) => queries.read(session),
        }
    }
}
