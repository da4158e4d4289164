//! Texts without the literals in them: statements, plans, and what servers say of errors.
//!
//! In: text. Out: the same with `?` for each literal.

mod message;
mod plan;

pub(crate) use message::error;
pub use message::message;
pub(crate) use plan::plan;

use rqps_model::Engine;
use rqps_sql::{Dialect, redact};

/// A statement.
pub(crate) fn statement(sql: &str, engine: Engine) -> String {
    redact(sql, dialect(engine))
}

pub(crate) fn dialect(engine: Engine) -> Dialect {
    Dialect::find(engine.name()).expect("every engine has a dialect of its name")
}
