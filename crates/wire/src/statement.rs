//! A statement that is encoded once and sent many times, whatever the protocol.
//!
//! In: parameter values between executions. Out: bytes for [`crate::Session::submit`]. Setting a value writes into
//! the bytes and allocates nothing.

use crate::prepared::{AnyValue, ParameterType};
use crate::rows::KEPT_LAST;
use crate::{mysql, postgres};

/// An encoded statement.
///
/// A prepared one belongs to the session that prepared it; one of [`crate::Session::text_statement`] carries
/// its SQL and fits any session of the same protocol.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(crate) form: Form,
    /// Rows of the answer that are kept.
    pub(crate) kept_rows: usize,
}

/// The encodings, one for each protocol.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    Postgres(postgres::Statement),
    Mysql(mysql::Statement),
}

/// Passes a call on to whichever encoding it is.
macro_rules! pass_on {
    ($form:expr, $statement:ident => $call:expr) => {
        match $form {
            Form::Postgres($statement) => $call,
            Form::Mysql($statement) => $call,
        }
    };
}

impl Statement {
    /// Sets parameter `slot`, counted from 0, of type Int4.
    ///
    /// # Panics
    /// If there is no such parameter, or it is of another type.
    #[inline]
    pub fn set_i32(&mut self, slot: usize, value: i32) {
        match &mut self.form {
            Form::Postgres(statement) => statement.encoded.set(slot, ParameterType::Int4, &value.to_be_bytes()),
            Form::Mysql(statement) => statement.encoded.set(slot, ParameterType::Int4, &value.to_le_bytes()),
        }
    }

    /// Sets parameter `slot`, counted from 0, of type Int8.
    ///
    /// # Panics
    /// If there is no such parameter, or it is of another type.
    #[inline]
    pub fn set_i64(&mut self, slot: usize, value: i64) {
        match &mut self.form {
            Form::Postgres(statement) => statement.encoded.set(slot, ParameterType::Int8, &value.to_be_bytes()),
            Form::Mysql(statement) => statement.encoded.set(slot, ParameterType::Int8, &value.to_le_bytes()),
        }
    }

    /// Sets parameter `slot`, counted from 0, of type Text. Until then it is all spaces.
    ///
    /// # Panics
    /// If there is no such parameter, or it is of another type or length.
    #[inline]
    pub fn set_text(&mut self, slot: usize, value: &[u8]) {
        let encoded = match &mut self.form {
            Form::Postgres(statement) => &mut statement.encoded,
            Form::Mysql(statement) => &mut statement.encoded,
        };
        encoded.set(slot, ParameterType::Text { len: value.len() }, value);
    }

    /// Sets all parameters of a statement whose parameters are of type Any, `value` gives that of each; until then they
    /// are NULL. Allocates only for more bytes than ever before.
    ///
    /// # Panics
    /// If the parameters are of other types.
    #[inline]
    pub fn set_any<'v>(&mut self, value: impl Fn(usize) -> AnyValue<'v>) {
        pass_on!(&mut self.form, statement => statement.set_any(value));
    }

    /// Replaces the SQL of a text statement. Allocates only for more bytes than any text before and
    /// the capacity. The text must not contain a NUL byte.
    ///
    /// # Panics
    /// If the statement is a prepared one.
    pub fn set_sql(&mut self, sql: &[u8]) {
        pass_on!(&mut self.form, statement => statement.set_sql(sql));
    }

    /// Of each answer so many rows are kept from now on, to be read with [`crate::Session::kept_rows`]; none at first.
    pub fn keep_rows(&mut self, count: usize) {
        self.kept_rows = count;
    }

    /// Of each result of an answer the last row is kept from now on, with the names of its columns (see
    /// [`crate::Rows::last`]). MySQL has no names here: nothing is kept of it.
    pub fn keep_last_rows(&mut self) {
        if let Form::Postgres(statement) = &mut self.form {
            statement.describe();
            self.kept_rows = KEPT_LAST;
        }
    }

    /// The SQL text.
    pub fn sql(&self) -> &str {
        match &self.form {
            Form::Postgres(statement) => statement.encoded.sql_or(statement.own_sql()),
            Form::Mysql(statement) => statement.encoded.sql_or(statement.sql_bytes()),
        }
    }

    /// The bytes that one execution sends.
    pub fn request_bytes(&self) -> usize {
        pass_on!(&self.form, statement => statement.bytes().len())
    }
}
