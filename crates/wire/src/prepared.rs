//! A statement on the side of the client: its bytes, and of a prepared one which session it lives in and where its
//! values lie in them.
//!
//! In: bytes and the place of each parameter, as a protocol encodes it. Out: bytes with values in their places, once
//! their types are checked. It must not know how a protocol writes a number.

use std::sync::Arc;

use crate::session_state::SessionId;

/// The type of a statement's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterType {
    /// A 32-bit integer.
    Int4,
    /// A 64-bit integer.
    Int8,
    /// A text of always the same length, so that it can be replaced in place. As with a quoted literal, PostgreSQL
    /// finds out the type: `char(n)` when it meets such a column, else `text`.
    Text {
        /// The length in bytes.
        len: usize,
    },
    /// A value of any kind and length, or NULL. PostgreSQL finds out the type as for a quoted literal; MySQL gets the
    /// type of each value with it. A statement has only parameters of this type, or none.
    Any,
}

/// A value for a parameter of type Any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnyValue<'v> {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(&'v [u8]),
}

/// Where a parameter's value lies in the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) start: usize,
    pub(crate) parameter: ParameterType,
}

/// What a prepared statement is besides its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The session that it lives in, and its number there; `None` if it is parsed anew at each execution.
    pub(crate) home: Option<(SessionId, u32)>,
    pub(crate) sql: Arc<str>,
    pub(crate) slots: Box<[Slot]>,
    /// Where in the bytes the values begin, if the parameters are of type Any.
    pub(crate) any_from: Option<usize>,
}

impl Prepared {
    /// Whether its values, and their types, are written anew for each execution.
    #[inline]
    pub(crate) fn takes_any(&self) -> bool {
        self.any_from.is_some()
    }
}

/// Whether parameters are of type Any; they all are, or none.
pub(crate) fn take_any(parameters: &[ParameterType]) -> bool {
    let count = parameters.iter().filter(|parameter| **parameter == ParameterType::Any).count();
    assert!(count == 0 || count == parameters.len(), "parameters of type Any have none of another beside them");
    count > 0
}

/// A statement as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// What lives in a session; a text carries its SQL along, and so fits any session.
    pub(crate) prepared: Option<Prepared>,
}

impl Encoded {
    /// The session and the number of a prepared statement that lives in one.
    #[inline]
    pub(crate) fn prepared_as(&self) -> Option<(SessionId, u32)> {
        self.prepared.as_ref().and_then(|prepared| prepared.home)
    }

    /// Writes a value of this type into the bytes.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, given: ParameterType, value: &[u8]) {
        let Some(prepared) = &self.prepared else {
            panic!("a text statement has no parameters");
        };
        let Slot { start, parameter } = prepared.slots[slot];
        assert_eq!(parameter, given, "type of parameter {slot}");
        self.bytes[start..start + value.len()].copy_from_slice(value);
    }

    /// Cuts the bytes off where the values of parameters of type Any begin; how many there are.
    pub(crate) fn begin_values(&mut self) -> usize {
        let prepared = self.prepared.as_ref().filter(|prepared| prepared.takes_any());
        let Some(Prepared { any_from: Some(from), slots, .. }) = prepared else {
            panic!("the statement has no parameters of type Any");
        };
        self.bytes.truncate(*from);
        slots.len()
    }

    /// Replaces what follows the first `start` bytes of a text statement.
    pub(crate) fn replace_text(&mut self, start: usize, sql: &[u8]) {
        assert!(self.prepared.is_none(), "the text of a prepared statement is fixed");
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(sql);
    }

    /// The SQL of a prepared statement, or else this text.
    pub(crate) fn sql_or<'s>(&'s self, text: &'s [u8]) -> &'s str {
        match &self.prepared {
            Some(prepared) => &prepared.sql,
            None => std::str::from_utf8(text).unwrap_or("(not UTF-8)"),
        }
    }
}
