//! A plan of MySQL that is told only as operations → its structure, in the words of a plan that is told by tables.
//!
//! In: MySQL's JSON plan, version 2: `{"query_plan": {"operation": …, "inputs": […]}}`. For the hypergraph optimizer
//! the server refuses EXPLAIN's rows, and its tree leaves out what the JSON has. Out: one node for each table and for
//! each sort or temporary table, as EXPLAIN's rows have them, so that the plans of both optimizers can be compared.
//! What filters or groups on the way is no structure there and none here. A plan with a join or a merge of indexes is
//! not told: which rows it would have is not known.

use super::node::{Node, looked_up_by, without_numbers};
use serde_json::Value;

/// Operations that no row of EXPLAIN stands for.
const WITHOUT_ROW: [&str; 8] = [
    "aggregate",
    "delete_rows",
    "filter",
    "limit",
    "materialize",
    "rows_fetched_before_execution",
    "stream",
    "zero_rows",
];

/// The nodes of such a plan; `None` of any other, and of one with an operation whose rows are not known.
pub(super) fn structure(json: &Value) -> Option<Vec<Node>> {
    let mut nodes = Vec::new();
    // `<not executable by iterator executor>` is none.
    let is_told = |plan: &&Value| plan["operation"].as_str().is_some_and(|operation| !operation.starts_with('<'));
    collect(json.get("query_plan").filter(is_told)?, &mut nodes)?;
    Some(nodes)
}

fn collect(operation: &Value, nodes: &mut Vec<Node>) -> Option<()> {
    let is_temporary = operation["temp_table"] == true;
    match operation["access_type"].as_str() {
        Some("sort") => nodes.push(named("sort")),
        Some("materialize") if is_temporary => nodes.push(named("temporary table")),
        // An insert has a row as well.
        Some("table" | "index" | "insert_values") => nodes.extend(access(operation)),
        // An update has no kind.
        None => {}
        Some(kind) if WITHOUT_ROW.contains(&kind) => {}
        Some(_) => return None,
    }
    operation["inputs"].as_array().into_iter().flatten().try_for_each(|input| collect(input, nodes))
}

/// The way to a table; none to a temporary table, which has a node of its own.
fn access(operation: &Value) -> Option<Node> {
    let word = |key: &str| operation[key].as_str();
    let table = word("table_name").filter(|name| !name.starts_with('<'))?;
    let is_single_row = word("operation").is_some_and(|told| told.starts_with("Single-row "));
    let method = match word("index_access_type") {
        None => "table scan".to_owned(),
        Some("index_range_scan") => "range".to_owned(),
        Some("index_lookup") if is_single_row => "one row".to_owned(),
        Some("index_lookup") => "lookup".to_owned(),
        Some(other) => other.replace('_', " "),
    };
    let key = word("index_name").map(|key| format!(" using {key}")).unwrap_or_default();
    let covering = if operation["covering"] == true { ", covering" } else { "" };
    let columns = operation["lookup_references"].as_array();
    let by = columns.map(|columns| looked_up_by(columns.iter().filter_map(Value::as_str)));
    // As in rows, not of a lookup.
    let pushed = word("pushed_index_condition").filter(|_| method == "range").map(|_| "index condition".to_owned());
    let conditions = by.into_iter().chain(pushed).collect();
    let rows = operation["estimated_rows"].as_f64();
    Some(Node { conditions, rows, ..named(&format!("{method} on {table}{key}{covering}")) })
}

fn named(name: &str) -> Node {
    Node { name: without_numbers(name), ..Node::default() }
}

#[cfg(test)]
mod tests {
    use crate::evidence::plan_structure::{difference, estimates, is_told, lines};

    /// What MySQL 9.7.4 with the hypergraph optimizer says of its rows.
    const REFUSED: &str = "not told: ERROR 3999 (42000): The hypergraph optimizer does not yet support 'EXPLAIN with \
                           TRADITIONAL format'";

    fn told(operations: &str) -> String {
        format!(
            "{REFUSED}\ntree:\n-> Whatever\njson:\n{{\n  \"query\": \"…\",\n  \"query_plan\": {operations},\n  \
             \"query_type\": \"select\",\n  \"json_schema_version\": \"2.0\"\n}}"
        )
    }

    const RANGE: &str = r#"{"covering": false, "operation": "Index range scan on sbtest1 using PRIMARY over (1 <= id)",
        "index_name": "PRIMARY", "table_name": "sbtest1", "access_type": "index", "key_columns": ["id"],
        "estimated_rows": 1838.0, "index_access_type": "index_range_scan"}"#;

    /// A plan by rows, as the other optimizer has it.
    fn by_rows(table: &str) -> String {
        format!("sbtest1: {table}\n  select=SIMPLE possible_keys=PRIMARY rows=1838 filtered=100.00\ntree:\n-> Other")
    }

    #[test]
    fn operations_are_compared_with_rows() {
        let own = told(RANGE);
        assert!(is_told(&own));
        assert_eq!(lines(&own), ["range on sbtest# using PRIMARY"]);
        let rows = by_rows("type=range key=PRIMARY key_len=4 extra=Using where");
        assert_eq!((difference(&rows, &own), estimates(&rows, &own)), (None, None));
        let found = difference(&rows, &told(&RANGE.replace("false", "true"))).expect("covering");
        assert_eq!(found.own, "range on sbtest# using PRIMARY, covering");
        let found = estimates(&rows, &told(&RANGE.replace("1838.0", "9.0"))).expect("others");
        assert_eq!((found.peer_rows, found.rows), (1838.0, 9.0));
        let pushed = RANGE.replace("\"covering\"", r#""pushed_index_condition": "(id > 1)", "covering""#);
        assert_eq!(lines(&told(&pushed)), ["range on sbtest# using PRIMARY", "  index condition"]);
        let scan = RANGE.replace("index_range_scan", "index_scan");
        let found = difference(&by_rows("type=ALL"), &told(&scan)).expect("another way");
        assert_eq!([found.peer, found.own], ["table scan on sbtest#", "index scan on sbtest# using PRIMARY"]);
    }

    #[test]
    fn what_is_sorted_and_kept_aside_stands_before_its_table() {
        let aside = |inner: &str| {
            format!(
                r#"{{"operation": "Sort: sbtest1.c", "access_type": "sort", "inputs": [
                {{"operation": "Table scan on <temporary>", "table_name": "<temporary>", "access_type": "table",
                "inputs": [{{"operation": "Temporary table with deduplication", "temp_table": true,
                "access_type": "materialize", "inputs": [{inner}]}}]}}]}}"#
            )
        };
        let own = told(&aside(RANGE));
        assert_eq!(lines(&own), ["sort", "temporary table", "range on sbtest# using PRIMARY"]);
        let rows = by_rows("type=range key=PRIMARY key_len=4 extra=Using where; Using temporary; Using filesort");
        assert_eq!(difference(&rows, &own), None);
    }

    #[test]
    fn a_lookup_says_by_how_many_columns() {
        let single = r#"{"covering": false, "operation": "Single-row index lookup on sbtest1 using PRIMARY (id = 9)",
            "index_name": "PRIMARY", "table_name": "sbtest1", "access_type": "index", "estimated_rows": 1.0,
            "index_access_type": "index_lookup", "lookup_references": ["const"]}"#;
        let written = format!(r#"{{"operation": "Update sbtest1 (immediate)", "inputs": [{single}]}}"#);
        let rows = by_rows("type=const key=PRIMARY key_len=4 ref=const");
        assert_eq!(difference(&rows, &told(single)), None);
        let by_range = by_rows("type=range key=PRIMARY key_len=4 ref=const extra=Using where");
        assert_eq!(difference(&by_range, &told(RANGE)), None, "an update's range has a ref");
        let found = difference(&by_range, &told(&written)).expect("another way");
        assert_eq!(found.own, "one row on sbtest# using PRIMARY");
        let lookup = single.replace("Single-row index", "Index").replace("\"const\"", "\"const\", \"test.orders.day\"");
        assert_eq!(lines(&told(&lookup)), ["lookup on sbtest# using PRIMARY", "  by const, day"]);
    }

    #[test]
    fn an_insert_is_told_as_by_rows() {
        let insert = r#"{"operation": "Insert into sbtest1", "table_name": "sbtest1", "access_type": "insert_values",
            "inputs": [{"operation": "Rows fetched before execution", "access_type": "rows_fetched_before_execution"}]}"#;
        assert_eq!(lines(&told(insert)), ["table scan on sbtest#"]);
        assert_eq!(difference(&by_rows("type=ALL"), &told(insert)), None);
    }

    #[test]
    fn joins_and_other_forms_are_not_told() {
        let join = format!(
            r#"{{"operation": "Nested loop inner join", "access_type": "join", "inputs": [{RANGE}, {RANGE}]}}"#
        );
        assert!(!is_told(&told(&join)) && lines(&told(&join)).is_empty());
        assert!(!is_told(&told(r#"{"operation": "<not executable by iterator executor>"}"#)));
        assert!(!is_told(&told("{}")) && !is_told(REFUSED));
        assert_eq!(difference(&by_rows("type=ALL"), &told(&join)), None);
    }
}
