//! What the engines' ways to count a statement's work have in common.
//!
//! In: a session in a transaction, one of a test's statements with its values. Out: what the server counted of its
//! execution.

use crate::error::LoadError;
use rqps_wire::Session;
use std::collections::BTreeMap;

/// A server's counts, by its own names.
pub(crate) type Counts = BTreeMap<String, f64>;

/// A statement as it is prepared: its SQL with markers, and the types of its parameters.
pub(crate) type Preparation = (String, Vec<&'static str>);

/// One execution of a statement.
#[derive(Debug)]
pub(crate) struct Execution {
    /// Its SQL with the values in it.
    pub(crate) text: String,
    /// The values by themselves, as literals, for a statement that was prepared.
    pub(crate) literals: Vec<String>,
}

/// Executes a test's statements one by one and tells what the server counted of each.
pub(crate) trait Counter {
    /// Executes one kind with these values.
    fn count(&mut self, session: &mut Session, kind: usize, execution: &Execution) -> Result<Counts, LoadError>;
}
