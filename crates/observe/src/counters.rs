//! A server's own counters, and asking a server for what it may not have.
//!
//! In: two readings; a session and a statement. Out: numbers by name, `view.column`, and what changed between them.
//! `engine` knows what is read of each engine.

use rqps_wire::{Session, Table, WireError};
use std::collections::BTreeMap;

/// Server counters by name.
pub type Counters = BTreeMap<String, f64>;

/// A server's answer, `None` if it refuses: it has no such view, variable, function or engine. One list of statements
/// serves every version; that a connection was lost is not hidden.
pub(crate) fn try_query(session: &mut Session, sql: &str) -> Result<Option<Table>, WireError> {
    match session.query(sql) {
        Ok(table) => Ok(Some(table)),
        Err(WireError::Server { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What changed: later minus earlier, for counters that both readings have.
pub fn changes(before: &Counters, after: &Counters) -> Counters {
    let change = |(name, now): (&String, &f64)| Some((name.clone(), now - before.get(name)?));
    after.iter().filter_map(change).filter(|(_, change)| *change != 0.0).collect()
}

/// Leaves out of two readings what is 0 in both.
pub fn drop_idle(before: &mut Counters, after: &mut Counters) {
    let idle = |name: &String, one: &f64, other: &Counters| *one == 0.0 && other.get(name) == Some(&0.0);
    let names: Vec<String> =
        before.iter().filter(|(name, value)| idle(name, value, after)).map(|(name, _)| name.clone()).collect();
    for name in names {
        before.remove(&name);
        after.remove(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(pairs: &[(&str, f64)]) -> Counters {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn changes_are_differences_of_what_both_have() {
        let before = counters(&[("a.same", 3.0), ("a.grew", 3.0), ("a.shrank", 3.0), ("a.gone", 3.0)]);
        let after = counters(&[("a.same", 3.0), ("a.grew", 5.0), ("a.shrank", 1.0), ("a.new", 9.0)]);
        assert_eq!(changes(&before, &after), counters(&[("a.grew", 2.0), ("a.shrank", -2.0)]));
    }

    #[test]
    fn only_what_is_0_in_both_is_idle() {
        let pairs = [("a.idle", 0.0), ("a.begun", 0.0), ("a.ended", 4.0), ("a.only", 0.0)];
        let (mut before, mut after) =
            (counters(&pairs), counters(&[("a.idle", 0.0), ("a.begun", 2.0), ("a.ended", 0.0)]));
        let changed = changes(&before, &after);
        drop_idle(&mut before, &mut after);
        assert_eq!(before, counters(&pairs[1..]));
        assert_eq!(changes(&before, &after), changed);
    }
}
