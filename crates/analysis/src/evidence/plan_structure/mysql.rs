//! A plan of MySQL or MariaDB → its structure: how each table is reached, by which index, what is sorted or kept aside.
//!
//! In: the text that is kept of a plan: a line for each table with what was chosen (`sbtest1: type=range key=PRIMARY
//! extra=Using where`), estimates indented below it, then the server's own tree and JSON. Out: one node for each table
//! and for each sort or temporary table, with the columns that are looked up by, what is done on the way, and in which
//! kind of subquery. The lines look alike on every version, so a plan of 5.6 can be compared with one of 8.0; of the
//! JSON only the columns of an index are taken, unless the server refuses to tell these lines. Conditions, costs and
//! rows are no structure.

use super::node::{Node, looked_up_by, rows, without_numbers};
use super::operations;
use serde_json::Value;

/// What is recorded of a server that prints no plan.
const UNTOLD: [&str; 2] = ["not told: ", " explains no statement but "];

/// Whether the server printed no plan whose structure can be read.
pub(super) fn is_untold(plan: &str) -> bool {
    is_refused(plan) && by_operations(plan).is_none()
}

/// Whether the text begins with the reason why the server refused EXPLAIN's rows.
fn is_refused(plan: &str) -> bool {
    plan.lines().next().is_some_and(|first| UNTOLD.iter().any(|words| first.contains(words)))
}

fn by_operations(plan: &str) -> Option<Vec<Node>> {
    operations::structure(&json(plan)?)
}

/// Rows are judged by their index entries first.
const INDEX_CONDITION: &str = "Using index condition";

/// What EXPLAIN says of the way to a table and means on every version, in our words. What only some versions say, such
/// as `Backward index scan`, would make equal plans differ.
const ON_THE_WAY: [(&str, &str); 10] = [
    (INDEX_CONDITION, "index condition"),
    ("Using index for group-by", "loose index scan"),
    ("Using index for skip scan", "skip scan"),
    ("Using MRR", "multi-range read"),
    ("Rowid-ordered scan", "multi-range read"),
    ("Not exists", "not exists"),
    ("FirstMatch", "first match"),
    ("LooseScan", "loose scan"),
    ("Start temporary", "duplicate weedout"),
    ("Range checked for each record", "range checked for each row"),
];

/// How rows are joined that wait in a buffer; the word for hashing is part of those for the others.
const JOIN_BUFFERS: [(&str, &str); 5] = [
    ("hash join", "hash join"),
    ("BNLH", "hash join"),
    ("BKA", "batched key access"),
    ("Batched Key Access", "batched key access"),
    ("join buffer", "block nested loop"),
];

/// The select types of a statement's own tables. Any other is a subquery.
const OUTERMOST: [&str; 6] = ["SIMPLE", "PRIMARY", "UPDATE", "DELETE", "INSERT", "REPLACE"];

/// The nodes of such a plan, none where the server printed no plan; `None` for any other text.
pub(super) fn structure(plan: &str) -> Option<Vec<Node>> {
    if is_refused(plan) {
        return Some(by_operations(plan).unwrap_or_default());
    }
    plan.lines().next()?;
    let key_columns = key_columns(plan);
    let mut nodes: Vec<Node> = Vec::new();
    // Where the nodes of the table begin whose lines are read.
    let mut begins = 0;
    for line in plan.lines().take_while(|line| !line.ends_with(':')) {
        if line.starts_with(' ') {
            nodes.last_mut().into_iter().for_each(|node| node.rows = rows(line));
            let select = line.split("select=").nth(1).and_then(|rest| rest.split("possible_keys=").next());
            nodes[begins..].iter_mut().for_each(|node| nest(node, select.unwrap_or_default()));
            continue;
        }
        begins = nodes.len();
        nodes.extend(table(line, &key_columns)?);
    }
    Some(nodes)
}

/// Puts a node of a subquery deeper, and says of which kind that is.
fn nest(node: &mut Node, told: &str) {
    let select = told.split("rows=").next().unwrap_or_default().trim();
    if !select.is_empty() && !OUTERMOST.contains(&select) {
        node.depth = 1;
        node.conditions.push(format!("in {}", select.to_lowercase()));
    }
}

/// The nodes of one table's line.
fn table(line: &str, key_columns: &[(String, Vec<String>)]) -> Option<Vec<Node>> {
    let (name, chosen) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))?;
    let (chosen, extra) = chosen.split_once("extra=").unwrap_or((chosen, ""));
    let words: Vec<(&str, &str)> = chosen.split_whitespace().map(|word| word.split_once('=')).collect::<Option<_>>()?;
    let word = |key: &str| words.iter().find(|(word, _)| *word == key).map(|(_, value)| *value);
    let has = |told: &str| extra.split(';').any(|part| part.trim() == told);
    let node = |name: &str| Node { name: without_numbers(name), ..Node::default() };
    let mut nodes = Vec::new();
    if has("Using filesort") {
        nodes.push(node("sort"));
    }
    if has("Using temporary") {
        nodes.push(node("temporary table"));
    }
    if let Some(kind) = word("type") {
        let key = word("key").map(|key| format!(" using {key}")).unwrap_or_default();
        // "Using index condition" is something else.
        let covering = if has("Using index") { ", covering" } else { "" };
        let mut of_table = key_columns.iter().filter(|(table, _)| table == name).map(|(_, columns)| columns);
        let columns = of_table.next().filter(|columns| of_table.all(|others| others == *columns)).cloned();
        nodes.push(Node {
            // For a range only updates and deletes have a `ref`, and only with the old optimizer.
            conditions: word("ref")
                .filter(|_| kind != "range")
                .map(|told| looked_up_by(told.split(',')))
                .into_iter()
                .chain(on_the_way(kind, extra))
                .collect(),
            key_columns: columns.filter(|_| !["ALL", "index", "index_merge"].contains(&kind)),
            ..node(&format!("{} on {name}{key}{covering}", method(kind)))
        });
    }
    Some(nodes)
}

/// What is done on the way to a table, in our words.
fn on_the_way(kind: &str, extra: &str) -> Vec<String> {
    let parts = || extra.split(';').map(str::trim);
    let mut told: Vec<&str> = Vec::new();
    for (words, ours) in ON_THE_WAY {
        // In a lookup 5.7 says so of the condition by which it looks up.
        if words == INDEX_CONDITION && kind != "range" {
            continue;
        }
        if parts().any(|part| part.starts_with(words)) && !told.contains(&ours) {
            told.push(ours);
        }
    }
    let buffered = parts().filter(|part| part.starts_with("Using join buffer"));
    told.extend(
        buffered.filter_map(|part| JOIN_BUFFERS.iter().find(|(words, _)| part.contains(words)).map(|how| how.1)),
    );
    told.into_iter().map(str::to_owned).collect()
}

/// By table, the columns of its index that are used; more than once for a table that is read more than once. MySQL's
/// first form of JSON and MariaDB's tell them.
fn key_columns(plan: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    json(plan).iter().for_each(|json| collect_key_columns(json, &mut found));
    found
}

fn json(plan: &str) -> Option<Value> {
    serde_json::from_str(plan.split_once("\njson:\n")?.1).ok()
}

fn collect_key_columns(json: &Value, found: &mut Vec<(String, Vec<String>)>) {
    if let (Some(table), Some(columns)) = (json["table_name"].as_str(), json["used_key_parts"].as_array()) {
        found.push((table.to_owned(), columns.iter().filter_map(Value::as_str).map(str::to_owned).collect()));
    }
    match json {
        Value::Object(members) => members.values().for_each(|value| collect_key_columns(value, found)),
        Value::Array(values) => values.iter().for_each(|value| collect_key_columns(value, found)),
        _ => {}
    }
}

/// An access in words.
fn method(kind: &str) -> &str {
    match kind {
        "const" | "eq_ref" | "system" => "one row",
        "ALL" => "table scan",
        "index" => "index scan",
        "ref" | "ref_or_null" => "lookup",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::plan_structure::{between, difference};

    fn names(plan: &str) -> Vec<String> {
        let nodes = structure(plan).unwrap_or_else(|| panic!("no plan of MySQL: {plan}"));
        nodes.into_iter().map(|node| node.name).collect()
    }

    #[test]
    fn estimates_and_further_forms_are_no_structure() {
        let old = "sbtest1: type=range key=k_1 key_len=4 extra=Using where; Using index\n  select=SIMPLE \
                   rows=101\njson:\n{\n  \"a\": 1\n}";
        let new = "sbtest12: type=range key=k_12 key_len=4 extra=Using index; Using where\n  select=SIMPLE \
                   rows=98\ntree:\n-> Filter";
        assert_eq!(names(old), ["range on sbtest# using k_#, covering"]);
        assert_eq!(difference(old, new), None);
    }

    #[test]
    fn sorting_and_what_is_kept_aside_are() {
        let plan = "sbtest1: type=range key=PRIMARY key_len=4 extra=Using where; Using temporary; Using filesort";
        assert_eq!(names(plan), ["sort", "temporary table", "range on sbtest# using PRIMARY"]);
        assert_eq!(names("sbtest1: type=const key=PRIMARY ref=const"), ["one row on sbtest# using PRIMARY"]);
        assert_eq!(names("sbtest1: type=ALL extra=Using where"), ["table scan on sbtest#"]);
        assert_eq!(names("no table: extra=No tables used"), Vec::<String>::new());
        let other = plan.replace("PRIMARY", "k_1");
        let (was, is) = between(plan, &other).expect("another index");
        assert_eq!((was.as_str(), is.as_str()), ("range on sbtest# using PRIMARY", "range on sbtest# using k_#"));
        assert!(difference(plan, &plan.replace("; Using filesort", "")).is_some());
    }

    #[test]
    fn what_is_done_on_the_way_is_structure_and_what_only_some_versions_say_is_not() {
        let plan = "orders: type=range key=day extra=Using where";
        let with = |extra: &str| difference(plan, &format!("{plan}; {extra}")).map(|found| found.own);
        let check = |extra: &str, told: &str| {
            assert_eq!(with(extra), Some(format!("range on orders using day ({told})")), "{extra}");
        };
        check("Using index condition", "index condition");
        check("Using MRR", "multi-range read");
        check("Rowid-ordered scan", "multi-range read");
        check("Using index for group-by (scanning)", "loose index scan");
        check("FirstMatch(customers)", "first match");
        check("Using join buffer (Block Nested Loop)", "block nested loop");
        check("Using join buffer (flat, BNL join)", "block nested loop");
        check("Using join buffer (hash join)", "hash join");
        check("Using join buffer (incremental, BKA join)", "batched key access");
        let lookup = "orders: type=ref key=day ref=const";
        assert_eq!(difference(lookup, &format!("{lookup} extra=Using index condition")), None);
        assert_eq!((with("Backward index scan"), with("Using where with pushed condition (x)")), (None, None));
    }

    #[test]
    fn columns_of_an_index_are_structure_where_both_servers_tell_them() {
        let plan = |columns: &str| {
            let table = format!(r#"{{"table_name": "orders", "key": "day", "used_key_parts": [{columns}]}}"#);
            format!(
                "orders: type=range key=day key_len=4\n  select=SIMPLE rows=9\njson:\n\
                 {{\"query_block\": {{\"nested_loop\": [{{\"table\": {table}}}]}}}}"
            )
        };
        let (one, two) = (plan("\"day\""), plan("\"day\", \"shop\""));
        let found = difference(&one, &two).expect("another column");
        let expected =
            ["(columns day)", "(columns day, shop)"].map(|columns| format!("range on orders using day {columns}"));
        assert_eq!([found.peer, found.own], expected);
        let untold = one.split_once("\njson").expect("it has JSON").0;
        assert_eq!((difference(untold, &two), difference(&two, untold)), (None, None));
        // Bytes of a key depend on the version and on the character set.
        assert_eq!(difference(&one, &one.replace("key_len=4", "key_len=16")), None);
    }

    #[test]
    fn columns_of_a_table_that_is_read_twice_in_two_ways_are_not_told() {
        let json =
            r#"[{"table_name": "t", "used_key_parts": ["a"]}, {"table_name": "t", "used_key_parts": ["a", "b"]}]"#;
        let nodes = structure(&format!("t: type=range key=k\n  rows=9\njson:\n{json}")).expect("a plan");
        assert_eq!(nodes[0].key_columns, None);
    }

    #[test]
    fn a_subquery_is_told_by_its_kind() {
        let plan = |kind: &str| {
            format!(
                "orders: type=ALL\n  select=PRIMARY rows=9\nlines: type=ref key=k ref=const\n  select={kind} rows=1"
            )
        };
        let found = difference(&plan("DEPENDENT SUBQUERY"), &plan("SUBQUERY")).expect("another kind");
        assert_eq!(found.own, "lookup on lines using k (by const; in subquery)");
        assert_eq!(structure(&plan("MATERIALIZED")).expect("a plan")[1].depth, 1);
        // A statement that writes has a name of its own from 5.7 on.
        let update = "orders: type=range key=day\n  select=UPDATE rows=9";
        assert_eq!(difference(update, &update.replace("UPDATE", "SIMPLE")), None);
    }

    #[test]
    fn how_many_columns_of_an_index_are_used_is_structure() {
        let one = "orders1: type=ref key=k_1 key_len=4 ref=const";
        let both = one.replace("ref=const", "ref=const,test.customers1.c_id");
        let found = difference(one, &both).expect("another column");
        let expected = ["(by const)", "(by const, c_id)"].map(|by| format!("lookup on orders# using k_# {by}"));
        assert_eq!([found.peer, found.own], expected);
        assert_eq!(difference(&both, &both.replace("test.customers1", "customers2")), None);
    }

    #[test]
    fn a_plan_that_was_not_told_differs_from_none() {
        let plan = "sbtest1: type=range key=PRIMARY";
        assert_eq!(difference(plan, "MySQL 5.5.34 explains no statement but SELECT"), None);
        assert_eq!(difference("not told: 1064 (42000)", plan), None);
    }

    #[test]
    fn other_text_is_not_taken_for_a_plan_of_mysql() {
        for text in ["", "Seq Scan on sbtest1  (cost=0.00..1.00 rows=1)", "Result\n  ->  Append", "Sort: x"] {
            assert!(structure(text).is_none(), "{text}");
        }
    }
}
