//! Whether the tables are consistent, and how much they hold: asked on a server at rest, never in counted time.
//!
//! In: a target, its warehouses, the quirks of the run, a seed. Out: the conditions that are broken, each with how
//! often and where; what clients count as well. It changes nothing.

use super::condition::{CONDITIONS, Condition, Expectation, QUICK};
use crate::error::LoadError;
use crate::random::{Purpose, shuffle, stream};
use crate::session::{connect, execute};
use rqps_model::tproc_c::{Check, Quirk, Warehouses};
use rqps_wire::{Protocol, Session, Table, Target};
use std::collections::BTreeSet;

/// A quick check looks at so many warehouses at most.
const WAREHOUSES_CHECKED: usize = 20;

/// Keys that are shown of those that violate a condition.
const EXAMPLES: usize = 3;

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Its name, such as `C2`.
    pub condition: &'static str,
    /// What was to be expected of it; where it was to hold, the run is invalid.
    pub expectation: Expectation,
    /// Rows that violate it.
    pub rows: u64,
    /// Up to three of their keys, such as `d_w_id 1, d_id 4`.
    pub examples: Vec<String>,
}

/// Checks the conditions, after a run with these quirks; quickly those that cost little, on at most 20 warehouses,
/// drawn by the seed.
pub fn check(
    target: &Target,
    data: &Warehouses,
    quirks: &BTreeSet<Quirk>,
    check: Check,
    seed: u64,
) -> Result<Vec<Broken>, LoadError> {
    let (conditions, warehouses) = match check {
        Check::Quick => (&CONDITIONS[..QUICK], drawn(data.warehouses, seed)),
        Check::Full => (&CONDITIONS[..], None),
    };
    let mut session = connect(&target.endpoint)?;
    // Sums by customer and order are kept in memory.
    execute(
        &mut session,
        match target.endpoint.protocol() {
            Protocol::Postgres => "SET work_mem = '256MB'",
            Protocol::Mysql => "SET SESSION tmp_table_size = 268435456, SESSION max_heap_table_size = 268435456",
        },
    )?;
    let mut broken = Vec::new();
    for condition in conditions {
        if let Some((rows, examples)) = violations(&mut session, condition, warehouses.as_deref())? {
            let expectation = condition.expectation(target.engine(), quirks);
            broken.push(Broken { condition: condition.name, expectation, rows, examples });
        }
    }
    Ok(broken)
}

/// The warehouses of a quick check; `None` where they are all.
fn drawn(warehouses: u32, seed: u64) -> Option<Vec<u32>> {
    let mut all: Vec<u32> = (1..=warehouses).collect();
    if all.len() <= WAREHOUSES_CHECKED {
        return None;
    }
    shuffle(&mut stream(seed, Purpose::Check, 0, 0), &mut all);
    all.truncate(WAREHOUSES_CHECKED);
    all.sort_unstable();
    Some(all)
}

fn violations(
    session: &mut Session,
    condition: &Condition,
    warehouses: Option<&[u32]>,
) -> Result<Option<(u64, Vec<String>)>, LoadError> {
    let query = condition.query(warehouses);
    let mut ask = |sql: &str| {
        let doing = format!("checking consistency condition {}", condition.name);
        session.query(sql).map_err(LoadError::wire(doing))
    };
    let rows = number(&ask(&format!("SELECT COUNT(*) FROM ({query}) violations"))?, 0)?;
    if rows == 0 {
        return Ok(None);
    }
    let found = ask(&format!("{query} ORDER BY {} LIMIT {EXAMPLES}", condition.keys))?;
    let example = |row: &Vec<Option<String>>| {
        let key =
            |(column, value): (&String, &Option<String>)| format!("{column} {}", value.as_deref().unwrap_or("NULL"));
        found.columns.iter().zip(row).map(key).collect::<Vec<_>>().join(", ")
    };
    Ok(Some((rows, found.rows.iter().map(example).collect())))
}

/// What the tables count that clients count as well; its growth over a run must be theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// The sum of the districts' next orders: it grows with every new order that was committed.
    pub next_orders: u64,
    /// Rows of history: they grow with every payment.
    pub payments: u64,
    /// New orders that wait for delivery.
    pub undelivered: u64,
}

/// Reads the counters.
pub fn count(target: &Target) -> Result<Counters, LoadError> {
    let sql = "SELECT (SELECT SUM(d_next_o_id) FROM district), (SELECT COUNT(*) FROM history), \
               (SELECT COUNT(*) FROM new_order)";
    let counted = connect(&target.endpoint)?.query(sql).map_err(LoadError::wire("counting orders and payments"))?;
    let number = |column| number(&counted, column);
    Ok(Counters { next_orders: number(0)?, payments: number(1)?, undelivered: number(2)? })
}

/// A number in the first row.
fn number(table: &Table, column: usize) -> Result<u64, LoadError> {
    let value = table.rows.first().and_then(|row| row.get(column)?.as_deref()?.parse().ok());
    value.ok_or_else(|| {
        LoadError::Shape("the server has no number of rows for an answer: is district empty?".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_check_of_many_warehouses_draws_twenty() {
        assert_eq!((drawn(1, 7), drawn(20, 7)), (None, None));
        let some = drawn(1000, 7).unwrap();
        let distinct: BTreeSet<&u32> = some.iter().collect();
        assert!(distinct.len() == 20 && some.iter().all(|warehouse| (1..=1000).contains(warehouse)));
        assert_eq!(Some(&some), drawn(1000, 7).as_ref());
        assert_ne!(Some(&some), drawn(1000, 8).as_ref());
    }
}
