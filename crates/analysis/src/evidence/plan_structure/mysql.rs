//! A plan of MySQL or MariaDB → its structure: how each table is reached, by which index, what is sorted or kept aside.
//!
//! In: the text that is kept of a plan: a line for each table with what was chosen (`sbtest1: type=range key=PRIMARY
//! extra=Using where`), estimates indented below it, then the server's own tree and JSON. Out: one node for each table
//! and for each sort or temporary table, with what columns are looked up by. The first lines look alike on every
//! version, so a plan of 5.6 can be compared with one of 8.0; conditions, costs and rows are no structure.

use super::node::{Node, rows, without_numbers};

/// What is recorded of a server that prints no plan.
const UNTOLD: [&str; 2] = ["not told: ", " explains no statement but "];

/// Whether the text says why the server printed no plan.
pub(super) fn is_untold(plan: &str) -> bool {
    plan.lines().next().is_some_and(|first| UNTOLD.iter().any(|words| first.contains(words)))
}

/// The nodes of such a plan, none where the server printed no plan; `None` for any other text.
pub(super) fn structure(plan: &str) -> Option<Vec<Node>> {
    if is_untold(plan) {
        return Some(Vec::new());
    }
    plan.lines().next()?;
    let mut nodes: Vec<Node> = Vec::new();
    for line in plan.lines().take_while(|line| !line.ends_with(':')) {
        if line.starts_with(' ') {
            // What was estimated is of the table above.
            nodes.last_mut().into_iter().for_each(|node| node.rows = rows(line));
            continue;
        }
        nodes.extend(table(line)?);
    }
    Some(nodes)
}

/// The nodes of one table's line.
fn table(line: &str) -> Option<Vec<Node>> {
    let (name, chosen) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))?;
    let (chosen, extra) = chosen.split_once("extra=").unwrap_or((chosen, ""));
    let words: Vec<(&str, &str)> = chosen.split_whitespace().map(|word| word.split_once('=')).collect::<Option<_>>()?;
    let word = |key: &str| words.iter().find(|(word, _)| *word == key).map(|(_, value)| *value);
    let has = |told: &str| extra.split(';').any(|part| part.trim() == told);
    let node = |name: &str, conditions| Node { depth: 0, name: without_numbers(name), conditions, rows: None };
    let mut nodes = Vec::new();
    if has("Using filesort") {
        nodes.push(node("sort", Vec::new()));
    }
    if has("Using temporary") {
        nodes.push(node("temporary table", Vec::new()));
    }
    if let Some(kind) = word("type") {
        let key = word("key").map(|key| format!(" using {key}")).unwrap_or_default();
        // "Using index condition" is something else.
        let covering = if has("Using index") { ", covering" } else { "" };
        let name = format!("{} on {name}{key}{covering}", method(kind));
        nodes.push(node(&name, word("ref").map(looked_up_by).into_iter().collect()));
    }
    Some(nodes)
}

/// What the columns of an index are compared with, one for each column that is used: `by const, id`.
fn looked_up_by(told: &str) -> String {
    let of_column = |one: &str| without_numbers(one.rsplit('.').next().unwrap_or(one));
    format!("by {}", told.split(',').map(of_column).collect::<Vec<_>>().join(", "))
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
        assert_eq!(difference(plan, &plan.replace("Using where", "Using index condition")), None);
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
