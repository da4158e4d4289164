//! Work done on a server between tests, by name.
//!
//! In: a [`Work`], a target, the data's shape. Out: the seconds it took, and what was left undone. What the published
//! driver does between tests is here without its idle waiting: there, `postwrite` sleeps until a minimum time has
//! passed so that the server writes back by itself; here the writing is forced, and then it is done.

mod mysql;
mod postgres;
mod settle;

pub(crate) use mysql::{analyze, analyze_table};
pub(crate) use postgres::{checkpoint, provide_prewarm, vacuum};
pub(crate) use settle::{SettleGoal, settle};

use crate::error::LoadError;
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_wire::{Protocol, Target};
use std::time::Instant;

/// What became of a work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worked {
    /// The seconds it took.
    pub seconds: f64,
    /// What was not reached in the time allowed, such as pages that are still dirty: the test runs nevertheless.
    pub left: Option<String>,
}

/// Does the work on every table.
pub fn work(name: Work, target: &Target, data: DataShape) -> Result<Worked, LoadError> {
    let begun = Instant::now();
    let left = match target.endpoint.protocol() {
        Protocol::Postgres => postgres::work(name, &target.endpoint, data).map(|()| None)?,
        Protocol::Mysql => mysql::work(name, target, data)?,
    };
    Ok(Worked { seconds: begun.elapsed().as_secs_f64(), left })
}

/// Brings every table of the database and its indexes into memory.
pub(crate) fn warm_all(target: &Target) -> Result<Worked, LoadError> {
    let begun = Instant::now();
    match target.endpoint.protocol() {
        Protocol::Postgres => postgres::warm_all(&target.endpoint)?,
        Protocol::Mysql => mysql::warm_all(&target.endpoint)?,
    }
    Ok(Worked { seconds: begun.elapsed().as_secs_f64(), left: None })
}

/// What is due on a server before and after every test, whatever the plan says.
pub fn between_tests(target: &Target) -> Result<(), LoadError> {
    match target.endpoint.protocol() {
        Protocol::Postgres => Ok(()),
        Protocol::Mysql => mysql::reset_binlog(target),
    }
}
