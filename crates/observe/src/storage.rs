//! What stores the tables of the measured database, as the server tells it and not as it was asked for.
//!
//! In: a session in that database. Out: the storage engine in small letters; nothing where an engine leaves no choice. A
//! server without the plugin may put tables elsewhere and call that a warning, so whoever compares must read it back.

use rqps_wire::{Protocol, Session, WireError};

const ENGINES: &str = "select distinct lower(ENGINE) from information_schema.TABLES \
    where TABLE_SCHEMA = database() and TABLE_TYPE = 'BASE TABLE' order by 1";

/// The storage engine of all tables; several are told one after the other, with commas.
pub fn storage_engine(session: &mut Session, protocol: Protocol) -> Result<String, WireError> {
    if protocol == Protocol::Postgres {
        return Ok(String::new());
    }
    let told = session.query(ENGINES)?;
    let names: Vec<&str> = told.rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    Ok(names.join(","))
}
