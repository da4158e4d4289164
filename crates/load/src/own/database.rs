//! The database of the user's own data, and what every session to it is told.
//!
//! In: character set, collation, locale and time-outs of a plan. Out: an empty database, statements for new sessions.
//! The database has the name that all of rqps's have, so that whatever observes a server finds it.

use crate::drive::look_every;
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

/// The encoding of a database of PostgreSQL, and its locale where nothing is said, which is that of its data folder.
const ENCODING: &str = "UTF8";
const LOCALE: &str = "C.UTF-8";

/// Makes the database anew, empty.
pub(super) fn make(target: &Target, data: &OwnData) -> Result<(), LoadError> {
    let name = &target.endpoint.database;
    let (maintenance, options) = match target.endpoint.protocol() {
        Protocol::Postgres => {
            let locale = data.locale.as_ref().map(|locale| format!(" LOCALE '{}'", locale.replace('\'', "''")));
            (POSTGRES_MAINTENANCE, format!(" ENCODING '{ENCODING}'{} TEMPLATE template0", locale.unwrap_or_default()))
        }
        Protocol::Mysql => ("mysql", format!(" CHARACTER SET {}", charset_and_collation(data, target))),
    };
    let maintenance = Endpoint { database: maintenance.to_owned(), ..target.endpoint.clone() };
    let mut session = connect(&maintenance)?;
    execute(&mut session, &format!("DROP DATABASE IF EXISTS {name}"))?;
    let made = session.execute(&format!("CREATE DATABASE {name}{options}"));
    made.map(drop).map_err(LoadError::wire("making the database; `locale`, `charset` and `collation` choose its kind"))
}

/// The character set of a database and its sessions on MySQL and MariaDB, with the collation if the user wants one:
/// without it sessions would compare their literals by the character set's default.
fn charset_and_collation(data: &OwnData, target: &Target) -> String {
    let collation = data.collation.get(&target.engine()).map(|name| format!(" COLLATE {name}"));
    format!("{}{}", data.charset.as_deref().unwrap_or(CHARSET), collation.unwrap_or_default())
}

/// What a dump says of its database's text and the user says nothing of, in words. The database is made before the dump
/// is read, so that nothing of it is taken over.
pub(super) fn not_taken_over(data: &OwnData, target: &Target, says: &[(&'static str, String)]) -> Vec<String> {
    let plain = |name: &str| name.replace('-', "").to_ascii_lowercase();
    let mut told: Vec<String> = Vec::new();
    for (what, value) in says {
        // The key that would say it, what the user says with it, and what the database has where he says nothing.
        let (key, is_said, usual) = match *what {
            "CHARACTER SET" | "CHARSET" => ("charset", data.charset.is_some(), CHARSET),
            "COLLATE" => ("collation", data.collation.contains_key(&target.engine()), ""),
            "LOCALE" | "LC_COLLATE" | "LC_CTYPE" => ("locale", data.locale.is_some(), LOCALE),
            "ENCODING" => ("", false, ENCODING),
            _ => ("", data.locale.is_some(), LOCALE),
        };
        if is_said || plain(value) == plain(usual) {
            continue;
        }
        let remedy = if key.is_empty() { String::new() } else { format!(": say {key} = \"{value}\" in [data]") };
        told.push(format!("CREATE DATABASE says {what} {value}, which is not taken over{remedy}"));
    }
    told
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
        statements.push(format!("SET NAMES {}", charset_and_collation(data, target)));
        let mode = data.sql_mode.get(&target.engine());
        statements.extend(mode.map(|mode| format!("SET SESSION sql_mode = '{}'", mode.replace('\'', "''"))));
    }
    statements.extend(data.session.get(&target.engine()).into_iter().flatten().cloned());
    statements
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;
    use rqps_wire::Transport;

    fn target(engine: Engine) -> Target {
        let endpoint = Endpoint {
            engine,
            transport: Transport::Unix { path: "/nowhere".into() },
            user: "u".to_owned(),
            password: None,
            database: "d".to_owned(),
            options: Vec::new(),
        };
        Target { endpoint, version: "8.0.33".parse().expect("a version"), storage: None }
    }

    #[test]
    fn sessions_compare_by_the_collation_that_the_user_names() {
        let mysql = target(Engine::Mysql);
        assert_eq!(session_statements(&OwnData::default(), &mysql), ["SET NAMES utf8mb4"]);
        let collation = [(Engine::Mysql, "latin1_german1_ci".to_owned())].into();
        let data = OwnData { charset: Some("latin1".to_owned()), collation, ..OwnData::default() };
        assert_eq!(session_statements(&data, &mysql), ["SET NAMES latin1 COLLATE latin1_german1_ci"]);
        assert_eq!(session_statements(&data, &target(Engine::Mariadb)), ["SET NAMES latin1"]);
    }

    #[test]
    fn what_a_dump_says_of_its_database_is_told_unless_the_user_says_it() {
        let says = |all: &[(&'static str, &str)]| {
            all.iter().map(|(what, value)| (*what, (*value).to_owned())).collect::<Vec<_>>()
        };
        let (postgres, mysql) = (target(Engine::Postgres), target(Engine::Mysql));
        let dump = says(&[("ENCODING", "UTF8"), ("LOCALE", "en_US.UTF-8")]);
        let told = "CREATE DATABASE says LOCALE en_US.UTF-8, which is not taken over: say locale = \"en_US.UTF-8\" in \
                    [data]";
        assert_eq!(not_taken_over(&OwnData::default(), &postgres, &dump), [told]);
        let german = OwnData { locale: Some("de_DE.UTF-8".to_owned()), ..OwnData::default() };
        assert_eq!(not_taken_over(&german, &postgres, &dump), [""; 0]);
        let same = says(&[("LC_COLLATE", "C.utf8"), ("LC_CTYPE", "C.UTF-8")]);
        assert_eq!(not_taken_over(&OwnData::default(), &postgres, &same), [""; 0]);
        let latin = says(&[("ENCODING", "LATIN1"), ("ICU_LOCALE", "de-DE")]);
        let told = not_taken_over(&OwnData::default(), &postgres, &latin);
        assert_eq!(told[0], "CREATE DATABASE says ENCODING LATIN1, which is not taken over");
        assert!(told[1].contains("ICU_LOCALE de-DE") && !told[1].contains("say "), "{told:?}");

        let dump = says(&[("CHARACTER SET", "utf8mb4"), ("COLLATE", "utf8mb4_0900_ai_ci")]);
        let told = not_taken_over(&OwnData::default(), &mysql, &dump);
        assert!(told.len() == 1 && told[0].ends_with(": say collation = \"utf8mb4_0900_ai_ci\" in [data]"), "{told:?}");
        let collation = [(Engine::Mysql, "utf8mb4_bin".to_owned())].into();
        assert_eq!(not_taken_over(&OwnData { collation, ..OwnData::default() }, &mysql, &dump), [""; 0]);
    }
}
