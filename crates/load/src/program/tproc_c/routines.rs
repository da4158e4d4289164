//! Makes the routines that some forms call.
//!
//! In: a server, what is run. Out: its routines, new ones in place of those that were there. They are a schema of their
//! own on PostgreSQL, procedures of the database on MySQL and MariaDB.

use super::arm::{form_and_quirks, words};
use super::script::{names, section};
use crate::error::LoadError;
use crate::session::{connect, execute};
use rqps_model::tproc_c::{Form, TprocC};
use rqps_wire::{Protocol, Target};

const POSTGRES: &str = include_str!("postgres.sql");
const MYSQL: &str = include_str!("mysql.sql");

/// Makes the routines of a server's form; nothing where the client sends all statements.
pub fn provide_routines(target: &Target, shape: &TprocC) -> Result<(), LoadError> {
    let endpoint = &target.endpoint;
    let (form, quirks) = form_and_quirks(shape, endpoint.engine)?;
    if form == Form::ClientSql {
        return Ok(());
    }
    let words = words(endpoint.protocol(), form, &quirks);
    let file = match endpoint.protocol() {
        Protocol::Postgres => POSTGRES,
        Protocol::Mysql => MYSQL,
    };
    let mut session = connect(endpoint)?;
    names(file).try_for_each(|name| match section(file, name, &words) {
        Some(sql) => execute(&mut session, sql.text()),
        None => Ok(()),
    })
}
