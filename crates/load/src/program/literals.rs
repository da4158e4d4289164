//! The parameters of a statement as SQL literals: what a program fills in for EXPLAIN, for counts by kind of statement
//! and for tests, where a session would send them.
//!
//! In: values in the order of the parameters. Out: literals, and the whole statement with them in it.

use super::Parameters;
use rqps_wire::AnyValue;

/// The parameters of one statement, written out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Literals {
    /// As SQL literals.
    pub(crate) list: Vec<String>,
    /// For a statement sent as text: its SQL.
    pub(crate) sql: String,
}

impl Literals {
    /// The statement with its parameters in it, where `pieces` is its SQL cut at them.
    pub(crate) fn written_out(self, pieces: &[String]) -> String {
        if !self.sql.is_empty() {
            return self.sql;
        }
        let literals = self.list.iter().map(String::as_str).chain(std::iter::repeat(""));
        pieces.iter().map(String::as_str).zip(literals).flat_map(|(piece, literal)| [piece, literal]).collect()
    }
}

impl Parameters for Literals {
    fn set_i32(&mut self, _: usize, value: i32) {
        self.list.push(value.to_string());
    }

    fn set_i64(&mut self, _: usize, value: i64) {
        self.list.push(value.to_string());
    }

    fn set_text(&mut self, _: usize, value: &[u8]) {
        self.list.push(format!("'{}'", String::from_utf8_lossy(value)));
    }

    fn set_sql(&mut self, sql: &[u8]) {
        self.sql = String::from_utf8_lossy(sql).into_owned();
    }

    // Only the user's own statements have such parameters, and `own` has `Filled` for them.
    fn set_any<'v>(&mut self, _: impl Fn(usize) -> AnyValue<'v>) {}
}
