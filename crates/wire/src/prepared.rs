//! A prepared statement on the side of the client: which session it lives in, and where its values lie in its bytes.
//!
//! In: the place of each parameter, as a protocol encodes it. Out: the place of a value, once its type is checked. It
//! must not know how a protocol writes a number.

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
    /// The session that it lives in.
    pub(crate) session: SessionId,
    /// Its number there.
    pub(crate) index: u32,
    pub(crate) sql: Arc<str>,
    pub(crate) slots: Box<[Slot]>,
}

impl Prepared {
    /// Writes a value of this type into the bytes.
    #[inline]
    pub(crate) fn set(&self, bytes: &mut [u8], slot: usize, given: ParameterType, value: &[u8]) {
        let Slot { start, parameter } = self.slots[slot];
        assert_eq!(parameter, given, "type of parameter {slot}");
        bytes[start..start + value.len()].copy_from_slice(value);
    }
}
