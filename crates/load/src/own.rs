//! The user's own data and questions, apart from timed parts: loading, asking for values, plans, work, answers.
//!
//! In: a target and what a plan says of the user's workload. Out: loaded tables at rest, the rows that sources of
//! values hold, plans, the work of statements, answers. Dumps and SQL files are the only files that this crate opens.

mod answers;
mod columns;
mod database;
mod left_out;
mod load;
mod plans;
mod refused;
mod rows;
mod script_statement;
mod send;
mod sources;
mod statement_work;
mod taken_back;

pub(crate) use answers::answers;
pub(crate) use columns::Columns;
pub(crate) use database::{client_timeout, opening};
pub(crate) use load::{load, load_only_for, work_on};
pub use plans::plans;
pub(crate) use sources::inputs;
pub use statement_work::statement_work;

use rqps_model::Engine;
use rqps_sql::Dialect;

/// How an engine reads SQL.
pub(crate) fn dialect(engine: Engine) -> Dialect {
    Dialect::find(engine.name()).expect("every engine has a dialect of its name")
}
