//! A statement of a pgbench script, asked about or executed apart from the timed part.
//!
//! In: a statement with the values that it has when its script comes to it. Out: its text in parts, its values as
//! literals, and what its script wants to keep of the answer.

use crate::error::LoadError;
use crate::program::StatementForm;
use crate::program::own::{Filled, push_literal};
use rqps_sql::{Dialect, is_transaction_border, statements};
use rqps_wire::{Rows, Session};

/// The values of a statement, as literals.
pub(super) fn literals(filled: &Filled) -> Vec<String> {
    let literal = |slot| {
        let mut text = Vec::new();
        push_literal(&mut text, filled.any(slot), Dialect::Postgres);
        String::from_utf8_lossy(&text).into_owned()
    };
    (0..filled.values.len()).map(literal).collect()
}

/// The statements of a text but for those that begin and end transactions.
pub(super) fn parts(sql: &str) -> Vec<String> {
    let statements = statements(sql, Dialect::Postgres).into_iter().map(|statement| statement.text);
    statements.filter(|text| !is_transaction_border(text, Dialect::Postgres)).collect()
}

/// Executes a statement with its values; what its script wants to keep of the answer.
pub(super) fn run(session: &mut Session, form: &StatementForm, filled: &Filled) -> Result<Rows, LoadError> {
    let mut statement = match form.capacity {
        Some(capacity) => {
            let mut statement = session.text_statement(capacity);
            statement.set_sql(parts(&filled.sql).join(";\n").as_bytes());
            statement
        }
        None => {
            let parsed = session.parsed_each_time(&form.sql, &form.parameters);
            let mut statement = parsed.map_err(LoadError::wire("executing a statement"))?;
            if !filled.values.is_empty() {
                statement.set_any(|slot| filled.any(slot));
            }
            statement
        }
    };
    if form.keeps_last_rows {
        statement.keep_last_rows();
    }
    let reply = session.run(&statement).map_err(LoadError::wire("executing a statement"))?;
    match (reply.error, session.last_error()) {
        (Some(_), Some(error)) => Err(LoadError::Shape(format!("it failed: {error}"))),
        _ => Ok(session.kept_rows().clone()),
    }
}
