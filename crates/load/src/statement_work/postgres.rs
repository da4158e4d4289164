//! The work of a statement on PostgreSQL: EXPLAIN executes it and tells blocks, WAL and rows.
//!
//! In: a session in a transaction, a statement. Out: the numbers of the plan's topmost node, which has those of all
//! nodes below it, and the rows that its scans looked at.

use super::counter::{Counter, Counts, Execution, Preparation};
use crate::error::LoadError;
use crate::plan_capture::postgres::{execution_of, prepare};
use rqps_wire::{Session, Target};
use serde_json::Value;

/// Rows that all scans of tables looked at, those that no condition let through included: EXPLAIN has them by node.
pub(super) const ROWS_SCANNED: &str = "Rows Scanned";

/// Numbers of a node that are counts of its work; blocks come in many kinds.
const COUNTS: [&str; 4] = ["Actual Rows", "WAL Records", "WAL FPI", "WAL Bytes"];
const BLOCKS: &str = " Blocks";

/// Statements that are sent prepared were prepared; those sent as text are explained as they are.
pub(super) struct Explained {
    /// Before a statement.
    explain: String,
    /// By kind.
    is_prepared: Vec<bool>,
}

impl Explained {
    pub(super) fn new(
        session: &mut Session,
        target: &Target,
        kinds: Vec<Option<Preparation>>,
    ) -> Result<Explained, LoadError> {
        for (index, kind) in kinds.iter().enumerate() {
            if let Some((sql, types)) = kind {
                prepare(session, &name(index), sql, types)?;
            }
        }
        let wal = if target.version.part(0) >= 13 { "WAL, " } else { "" };
        let explain = format!("EXPLAIN (ANALYZE, BUFFERS, {wal}TIMING OFF, FORMAT JSON) ");
        Ok(Explained { explain, is_prepared: kinds.iter().map(Option::is_some).collect() })
    }
}

impl Counter for Explained {
    fn count(&mut self, session: &mut Session, kind: usize, execution: &Execution) -> Result<Counts, LoadError> {
        let statement = match self.is_prepared[kind] {
            true => &execution_of(&name(kind), &execution.literals),
            false => &execution.text,
        };
        let told = session.query(&format!("{}{statement}", self.explain));
        let told = told.map_err(LoadError::wire("counting the work of a statement"))?;
        let plan: Option<Value> = told.single().and_then(|text| serde_json::from_str(text).ok());
        let node = plan.as_ref().map(|plan| &plan[0]["Plan"]).filter(|node| node.is_object());
        let node = node.ok_or_else(|| LoadError::Shape("the server explains no plan in JSON".to_owned()))?;
        Ok(counts(node))
    }
}

fn name(kind: usize) -> String {
    format!("rqps_work_{kind}")
}

/// The counts of a plan by its topmost node.
fn counts(node: &Value) -> Counts {
    let is_count = |name: &str| COUNTS.contains(&name) || name.ends_with(BLOCKS);
    let fields = node.as_object().into_iter().flatten();
    let of_all = fields.filter(|(name, _)| is_count(name)).filter_map(|(name, it)| Some((name.clone(), it.as_f64()?)));
    of_all.chain([(ROWS_SCANNED.to_owned(), rows_scanned(node))]).collect()
}

/// Rows that the scans in a plan looked at. A node tells them for one of its loops.
fn rows_scanned(node: &Value) -> f64 {
    let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
    let is_scan = node["Node Type"].as_str().is_some_and(|kind| kind.ends_with("Scan"));
    // The scan of a bitmap's index has none: the rows are looked at in the table.
    let is_of_table = is_scan && node["Relation Name"].is_string();
    let rows = number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
    let own = if is_of_table { rows * number("Actual Loops") } else { 0.0 };
    let below = node["Plans"].as_array().into_iter().flatten();
    own + below.map(rows_scanned).sum::<f64>()
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
    }
}
