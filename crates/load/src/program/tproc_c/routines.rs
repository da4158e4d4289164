//! Makes the routines that some forms call.
//!
//! In: a server, what is run. Out: its routines, new ones in place of those that were there. They are a schema of their
//! own on PostgreSQL, procedures of the database on MySQL and MariaDB. Those that are executed to be taken back have
//! names of their own, so that a run never finds them.

use super::arm::{form_and_quirks, words};
use super::script::{Words, names, section};
use crate::error::LoadError;
use crate::session::{connect, execute};
use rqps_model::tproc_c::{Form, TprocC};
use rqps_wire::{Protocol, Target};

const POSTGRES: &str = include_str!("postgres.sql");
const MYSQL: &str = include_str!("mysql.sql");

/// A schema on PostgreSQL, the beginning of names elsewhere.
const NAMES: &str = "tproc";
/// The same of those that are taken back.
const NAMES_TAKEN_BACK: &str = "rqps_work";
/// The word for them in SQL.
const TAKEN_BACK: &str = "taken-back";

/// Makes the routines of a server's form; nothing where the client sends all statements.
pub fn provide_routines(target: &Target, shape: &TprocC) -> Result<(), LoadError> {
    let (form, quirks) = form_and_quirks(shape, target.engine())?;
    match form {
        Form::ClientSql => Ok(()),
        _ => make(target, &words(target.endpoint.protocol(), form, &quirks), &str::to_owned, |_| true),
    }
}

/// Does something while there are the routines of a form without borders of transactions, called as [`renamed`] says.
pub(super) fn with_routines_to_take_back<T>(
    target: &Target,
    shape: &TprocC,
    act: impl FnOnce() -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    let (form, quirks) = form_and_quirks(shape, target.engine())?;
    let words = words(target.endpoint.protocol(), form, &quirks).into_iter().chain([TAKEN_BACK]).collect();
    let done = make(target, &words, &renamed, |_| true).and_then(|()| act());
    let gone = make(target, &words, &renamed, |name| name.starts_with("drop"));
    let done = done?;
    gone.map(|()| done)
}

/// SQL that makes or calls them, for those that are taken back.
pub(super) fn renamed(sql: &str) -> String {
    sql.replace(NAMES, NAMES_TAKEN_BACK)
}

/// Executes those sections of the engine's file.
fn make(
    target: &Target,
    words: &Words,
    renamed: &dyn Fn(&str) -> String,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<(), LoadError> {
    let file = match target.endpoint.protocol() {
        Protocol::Postgres => POSTGRES,
        Protocol::Mysql => MYSQL,
    };
    let mut session = connect(&target.endpoint)?;
    names(file).filter(|name| is_wanted(name)).try_for_each(|name| match section(file, name, words) {
        Some(sql) => execute(&mut session, &renamed(sql.text())),
        None => Ok(()),
    })
}
