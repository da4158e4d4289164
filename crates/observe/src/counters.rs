//! A server's own counters, before and after a test, whatever its engine.
//!
//! In: a session to a server. Out: numbers by name, `view.column`, and what changed between two readings. Each engine has
//! a module of its own, which reads whole views, so that one reader serves every version: what a version lacks is simply
//! not there, and what is new appears under its own name.

use rqps_wire::{Protocol, Session, WireError};
use std::collections::BTreeMap;

/// Server counters by name.
pub type Counters = BTreeMap<String, f64>;

/// Reads every counter that this server has of the database that the session is in.
pub fn read(session: &mut Session, protocol: Protocol) -> Result<Counters, WireError> {
    match protocol {
        Protocol::Postgres => crate::postgres::read(session),
        Protocol::Mysql => crate::mysql::read(session),
    }
}

/// What changed: later minus earlier, for counters that both readings have.
pub fn changes(before: &Counters, after: &Counters) -> Counters {
    let change = |(name, now): (&String, &f64)| Some((name.clone(), now - before.get(name)?));
    after.iter().filter_map(change).filter(|(_, change)| *change != 0.0).collect()
}

/// Leaves out of two readings what is 0 in both: of MySQL's thousand counters most belong to features not in use, and a
/// campaign keeps ten thousand readings. PostgreSQL's are few, and kept whole.
pub fn drop_idle(protocol: Protocol, before: &mut Counters, after: &mut Counters) {
    if protocol == Protocol::Postgres {
        return;
    }
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
        drop_idle(Protocol::Postgres, &mut before, &mut after);
        assert_eq!(before.len(), 4);
        drop_idle(Protocol::Mysql, &mut before, &mut after);
        assert_eq!(before, counters(&pairs[1..]));
        assert_eq!(changes(&before, &after), changed);
    }
}
