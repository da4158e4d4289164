//! The work of a statement on PostgreSQL: EXPLAIN executes it and tells blocks, WAL and rows.
//!
//! In: a session in a transaction, a statement. Out: the numbers of the plan's topmost node, which has those of all
//! nodes below it and of routines that it calls, the rows that its scans looked at, and the rows that it wrote. EXPLAIN
//! does not tell these, nor the rows that a routine reads: they are the transaction's own statistics of tables.

use super::counter::{Counter, Counts, Execution, Preparation};
use crate::error::LoadError;
use crate::plan_capture::postgres::{execution_of, prepare};
use crate::session::execute;
use rqps_wire::{Session, Target};
use serde_json::Value;

/// Rows that all scans of tables looked at, those that no condition let through included: EXPLAIN has them by node.
const ROWS_SCANNED: &str = "Rows Scanned";
/// Rows that were inserted, updated and deleted.
const ROWS_WRITTEN: &str = "Rows Written";

/// Rows read and written so far; nothing where the server does not count them.
const OF_TABLES: &str = "PREPARE rqps_work_tables AS \
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), sum(n_tup_ins + n_tup_upd + n_tup_del) \
    FROM pg_stat_xact_user_tables WHERE current_setting('track_counts')::boolean";

/// Numbers of a node that are counts of its work; blocks come in many kinds.
const COUNTS: [&str; 4] = ["Actual Rows", "WAL Records", "WAL FPI", "WAL Bytes"];
const BLOCKS: &str = " Blocks";

/// Statements that are sent prepared were prepared; those sent as text are explained as they are.
pub(super) struct Explained {
    /// Before a statement.
    explain: String,
    /// By kind.
    is_prepared: Vec<bool>,
    /// Those that were not executed yet: what the server refuses to prepare is refused where it is executed.
    to_prepare: Vec<Option<Preparation>>,
    /// Those of which the statistics of tables tell what the plan does not: asking takes longer than most statements.
    asks_tables: Vec<bool>,
}

impl Explained {
    pub(super) fn new(
        session: &mut Session,
        target: &Target,
        kinds: Vec<Option<Preparation>>,
    ) -> Result<Explained, LoadError> {
        execute(session, OF_TABLES)?;
        let wal = if target.version.part(0) >= 13 { "WAL, " } else { "" };
        let explain = format!("EXPLAIN (ANALYZE, BUFFERS, {wal}TIMING OFF, FORMAT JSON) ");
        let is_prepared: Vec<bool> = kinds.iter().map(Option::is_some).collect();
        Ok(Explained { explain, asks_tables: vec![true; kinds.len()], is_prepared, to_prepare: kinds })
    }
}

impl Counter for Explained {
    fn count(&mut self, session: &mut Session, kind: usize, execution: &Execution) -> Result<Counts, LoadError> {
        if let Some((sql, types)) = &self.to_prepare[kind] {
            prepare(session, &name(kind), sql, types)?;
            self.to_prepare[kind] = None;
        }
        let statement = match self.is_prepared[kind] {
            true => &execution_of(&name(kind), &execution.literals),
            false => &execution.text,
        };
        let before = if self.asks_tables[kind] { of_tables(session)? } else { None };
        let told = session.query(&format!("{}{statement}", self.explain));
        let told = told.map_err(LoadError::wire("counting the work of a statement"))?;
        let plan: Option<Value> = told.single().and_then(|text| serde_json::from_str(text).ok());
        let node = plan.as_ref().map(|plan| &plan[0]["Plan"]).filter(|node| node.is_object());
        let node = node.ok_or_else(|| LoadError::Shape("the server explains no plan in JSON".to_owned()))?;
        let mut counts = counts(node);
        self.asks_tables[kind] = writes(node) || !counts.contains_key(ROWS_SCANNED);
        let after = if before.is_some() { of_tables(session)? } else { None };
        if let Some(([read, written], before)) = after.zip(before) {
            counts.entry(ROWS_SCANNED.to_owned()).or_insert(read - before[0]);
            counts.insert(ROWS_WRITTEN.to_owned(), written - before[1]);
        }
        Ok(counts)
    }
}

/// Rows of tables that the transaction has read and written.
fn of_tables(session: &mut Session) -> Result<Option<[f64; 2]>, LoadError> {
    let found =
        session.query("EXECUTE rqps_work_tables").map_err(LoadError::wire("counting the rows of a statement"))?;
    let row = found.rows.into_iter().next().unwrap_or_default();
    let numbers: Vec<f64> = row.into_iter().flatten().filter_map(|number| number.parse().ok()).collect();
    Ok(numbers.try_into().ok())
}

fn name(kind: usize) -> String {
    format!("rqps_work_{kind}")
}

/// The counts of a plan by its topmost node.
fn counts(node: &Value) -> Counts {
    let is_count = |name: &str| COUNTS.contains(&name) || name.ends_with(BLOCKS);
    let fields = node.as_object().into_iter().flatten();
    let of_all = fields.filter(|(name, _)| is_count(name)).filter_map(|(name, it)| Some((name.clone(), it.as_f64()?)));
    of_all.chain(rows_scanned(node).map(|rows| (ROWS_SCANNED.to_owned(), rows))).collect()
}

/// Whether a plan writes to a table.
fn writes(node: &Value) -> bool {
    node["Node Type"] == "ModifyTable" || node["Plans"].as_array().into_iter().flatten().any(writes)
}

/// Rows that the scans in a plan looked at; nothing where it has none. A node tells them for one of its loops.
fn rows_scanned(node: &Value) -> Option<f64> {
    let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
    let is_scan = node["Node Type"].as_str().is_some_and(|kind| kind.ends_with("Scan"));
    // The scan of a bitmap's index has none: the rows are looked at in the table.
    let is_of_table = is_scan && node["Relation Name"].is_string();
    let rows = number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
    let own = is_of_table.then(|| rows * number("Actual Loops"));
    let below = node["Plans"].as_array().into_iter().flatten();
    own.into_iter().chain(below.filter_map(rows_scanned)).reduce(|sum, rows| sum + rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_topmost_node_has_all_blocks_and_scans_have_the_rows() {
        let scan = json!({
            "Node Type": "Index Scan", "Relation Name": "sbtest1", "Actual Rows": 1, "Actual Loops": 2, "Rows Removed by Filter": 4,
            "Shared Hit Blocks": 3
        });
        let bitmap = json!({
            "Node Type": "Bitmap Heap Scan", "Relation Name": "sbtest1", "Actual Rows": 7, "Actual Loops": 1,
            "Plans": [{"Node Type": "Bitmap Index Scan", "Actual Rows": 7, "Actual Loops": 1}]
        });
        let plan = json!({
            "Node Type": "ModifyTable", "Operation": "Update", "Actual Rows": 0, "Actual Loops": 1, "Total Cost": 8.0,
            "Shared Hit Blocks": 9, "Temp Written Blocks": 0, "WAL Bytes": 300, "Plans": [scan, bitmap]
        });
        let expected = [
            ("Actual Rows", 0.0),
            (ROWS_SCANNED, 17.0),
            ("Shared Hit Blocks", 9.0),
            ("Temp Written Blocks", 0.0),
            ("WAL Bytes", 300.0),
        ];
        assert_eq!(counts(&plan), expected.map(|(name, amount)| (name.to_owned(), amount)).into());
        let call = json!({ "Node Type": "Result", "Actual Rows": 1, "Actual Loops": 1, "Shared Hit Blocks": 40 });
        assert_eq!(counts(&call).get(ROWS_SCANNED), None, "what a routine reads, the plan of its call does not tell");
    }
}
