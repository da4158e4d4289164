//! What the engines' ways to count a statement's work have in common.
//!
//! In: a session in a transaction, one of a test's statements. Out: what the server counted of its execution.

use crate::error::LoadError;
use crate::program::sysbench::Rendered;
use rqps_wire::Session;
use std::collections::BTreeMap;

/// A server's counts, by its own names.
pub(super) type Counts = BTreeMap<String, f64>;

/// Executes a test's statements one by one and tells what the server counted of each.
pub(super) trait Counter {
    /// Executes one kind with these values.
    fn count(&mut self, session: &mut Session, kind: usize, values: Rendered) -> Result<Counts, LoadError>;
}
