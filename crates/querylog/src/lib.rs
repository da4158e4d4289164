//! What a server saw, from files that its user exported: pg_stat_statements, PostgreSQL's logs, slow query logs.
//!
//! In: bytes of such files. Out: the statements that took most time, with their counts, times and real values, and the
//! text of a first workload file of them. It asks no server, opens no file, and must not judge what it was not told.

mod choice;
mod context;
mod fault;
mod left_out;
mod lines;
mod log;
mod parameters;
mod pg_stat_statements;
mod postgres_log;
mod sample;
mod slow_log;
mod template;
mod workload;

pub use choice::{Choice, LeftOutShare, Statement, choose};
pub use fault::LogFault;
pub use left_out::LeftOut;
pub use log::{Filter, Log};
pub use pg_stat_statements::read_pg_stat_statements;
pub use postgres_log::read_postgres_log;
pub use rqps_sql::Dialect;
pub use slow_log::read_slow_log;
pub use template::{Column, Unknown};
pub use workload::{Workload, write};
