//! The database of the user's own data, and what every session to it is told.
//!
//! In: character set, collation, locale and time-outs of a plan. Out: an empty database, statements for new sessions.
//! The database has the name that all of rqps's have, so that whatever observes a server finds it.

use crate::drive::{kill, look_every};
use crate::error::LoadError;
use crate::mysql;
use crate::session::{connect, execute};
use rqps_model::own::{Own, OwnData, OwnTest};
use rqps_wire::{Endpoint, Protocol, Session, Target};
use std::time::Duration;

/// The database from which PostgreSQL's can be made.
const POSTGRES_MAINTENANCE: &str = "postgres";

/// The character set of a database of MySQL or MariaDB where nothing is said.
const CHARSET: &str = "utf8mb4";

/// Makes the database anew, empty.
pub(super) fn make(target: &Target, data: &OwnData) -> Result<(), LoadError> {
    let name = &target.endpoint.database;
    let (maintenance, options) = match target.endpoint.protocol() {
        Protocol::Postgres => {
            let locale = data.locale.as_ref().map(|locale| format!(" LOCALE '{}'", locale.replace('\'', "''")));
            (POSTGRES_MAINTENANCE, format!(" ENCODING 'UTF8'{} TEMPLATE template0", locale.unwrap_or_default()))
        }
        Protocol::Mysql => {
            let collation = data.collation.get(&target.engine()).map(|name| format!(" COLLATE {name}"));
            let charset = data.charset.as_deref().unwrap_or(CHARSET);
            ("mysql", format!(" CHARACTER SET {charset}{}", collation.unwrap_or_default()))
        }
    };
    let maintenance = Endpoint { database: maintenance.to_owned(), ..target.endpoint.clone() };
    let mut session = connect(&maintenance)?;
    execute(&mut session, &format!("DROP DATABASE IF EXISTS {name}"))?;
    let made = session.execute(&format!("CREATE DATABASE {name}{options}"));
    made.map(drop).map_err(LoadError::wire("making the database; `locale`, `charset` and `collation` choose its kind"))
}

/// What decides how text compares and what values are taken, by the key of `[data]` that would say it: what the server
/// gave where the user said nothing.
pub(super) fn given(target: &Target, data: &OwnData) -> Result<Vec<(&'static str, String)>, LoadError> {
    let mut session = connect(&target.endpoint)?;
    for sql in session_statements(data, target) {
        execute(&mut session, &sql)?;
    }
    let engine = target.engine();
    let wanted: Vec<(&str, &str)> = match target.endpoint.protocol() {
        Protocol::Postgres if data.locale.is_none() => {
            let locale = "SELECT datcollate || ', ' || datctype FROM pg_database WHERE datname = current_database()";
            vec![("locale", locale)]
        }
        Protocol::Postgres => Vec::new(),
        Protocol::Mysql => {
            let collation = ("collation", "SELECT @@collation_database");
            let mode = ("sql-mode", "SELECT @@sql_mode");
            let is_open = [data.collation.contains_key(&engine), data.sql_mode.contains_key(&engine)];
            [collation, mode].into_iter().zip(is_open).filter(|(_, is_said)| !is_said).map(|(one, _)| one).collect()
        }
    };
    wanted.into_iter().map(|(what, sql)| Ok((what, mysql::single(&mut session, sql)?))).collect()
}

/// Events of the database that run while tests do, in words.
pub(super) fn running_events(target: &Target) -> Result<Option<String>, LoadError> {
    if target.endpoint.protocol() == Protocol::Postgres {
        return Ok(None);
    }
    let mut session = connect(&target.endpoint)?;
    let events =
        "SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() AND STATUS = 'ENABLED'";
    let events = mysql::single(&mut session, events)?;
    let scheduler = mysql::single(&mut session, "SELECT @@event_scheduler")?;
    let run = events != "0" && scheduler == "ON";
    Ok(run
        .then(|| format!("{events} events run while tests do, since event_scheduler is ON; --set event_scheduler=OFF")))
}

/// What a new session of a test is told.
pub(crate) fn opening(own: &Own, test: &OwnTest, target: &Target) -> Vec<String> {
    let mut opening = session_statements(&own.data, target);
    let millis = (test.timeout_seconds * 1e3).ceil() as u64;
    match target.endpoint.protocol() {
        Protocol::Postgres => {
            opening.push(format!("SET statement_timeout = {millis}"));
            if let Some(level) = &test.isolation {
                opening.push(format!("SET default_transaction_isolation = '{level}'"));
            }
        }
        Protocol::Mysql => {
            if keeps_timeouts(target) {
                opening.push(format!("SET max_statement_time = {}", test.timeout_seconds));
            } else if target.is_since(Some([5, 7, 8]), None) {
                opening.push(format!("SET max_execution_time = {millis}"));
            }
            if let Some(level) = &test.isolation {
                opening.push(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"));
            }
        }
    }
    opening
}

/// A session to ask a test's statements in, where none takes longer than it may. Where the server does not keep the
/// time-out, the session does: one that missed its deadline must be ended.
pub(super) fn limited(own: &Own, test: &OwnTest, target: &Target) -> Result<Session, LoadError> {
    let mut session = connect(&target.endpoint)?;
    for sql in opening(own, test, target) {
        execute(&mut session, &sql)?;
    }
    session.set_deadline(client_timeout(test, target).map(|timeout| timeout + look_every(timeout)));
    Ok(session)
}

/// Ends a session on MySQL that missed its deadline, with what it waits for.
pub(super) fn end(session: &Session, target: &Target) -> Result<(), LoadError> {
    let kill_it = format!("KILL {}", session.backend_pid());
    kill(&target.endpoint, &kill_it).map_err(LoadError::wire("killing a statement"))
}

/// How long a statement of a test may take before the client has it ended, where the server does not see to that.
pub(crate) fn client_timeout(test: &OwnTest, target: &Target) -> Option<Duration> {
    (!keeps_timeouts(target)).then(|| Duration::from_secs_f64(test.timeout_seconds))
}

/// Whether a server keeps the time-out of any statement: MariaDB since 10.1. MySQL does since 5.7.8, of SELECT alone.
fn keeps_timeouts(target: &Target) -> bool {
    target.endpoint.protocol() == Protocol::Postgres || target.is_since(None, Some([10, 1, 1]))
}

/// What every session to the user's data is told.
pub(crate) fn session_statements(data: &OwnData, target: &Target) -> Vec<String> {
    let mut statements = Vec::new();
    if target.endpoint.protocol() == Protocol::Mysql {
        statements.push(format!("SET NAMES {}", data.charset.as_deref().unwrap_or(CHARSET)));
        let mode = data.sql_mode.get(&target.engine());
        statements.extend(mode.map(|mode| format!("SET SESSION sql_mode = '{}'", mode.replace('\'', "''"))));
    }
    statements.extend(data.session.get(&target.engine()).into_iter().flatten().cloned());
    statements
}
