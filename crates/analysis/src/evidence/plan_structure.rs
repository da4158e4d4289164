//! A plan as the server prints it → its structure: which nodes, nested how, using which index.
//!
//! In: the text of EXPLAIN. Out: [`Node`]s that are equal when two servers would do the same work, whatever costs, row
//! numbers, table numbers and the printing habits of a version are. It explains nothing: whether a change matters is
//! for the cell's verdict to say.

mod mysql;
mod node;

use node::{Node, without_numbers};
use rqps_model::facts::StatementPlan;

/// Nodes that got another name in a later version and do the same: (old, new).
const RENAMED: [(&str, &str); 1] = [("Result Cache", "Memoize")];

/// The nodes of a plan from the root down, in the form in which its engine prints it.
pub(crate) fn structure(plan: &str) -> Vec<Node> {
    mysql::structure(plan).unwrap_or_else(|| postgres(plan))
}

fn postgres(plan: &str) -> Vec<Node> {
    let mut columns: Vec<usize> = Vec::new();
    let mut nodes = Vec::new();
    for line in plan.lines() {
        let text = line.trim_start();
        let column = line.len() - text.len();
        let node = match text.strip_prefix("->") {
            Some(node) => node,
            None if nodes.is_empty() && !is_heading(text) => text,
            None => continue,
        };
        while columns.last().is_some_and(|&outer| outer >= column && !nodes.is_empty()) {
            columns.pop();
        }
        nodes.push(Node { depth: columns.len(), name: name(node) });
        columns.push(column);
    }
    nodes
}

/// Whether two plans of a statement do the same work.
pub(crate) fn same_structure(a: &StatementPlan, b: &StatementPlan) -> bool {
    same_plan(&a.plan, &b.plan)
}

/// The same for texts. An unknown plan is like any other.
fn same_plan(a: &str, b: &str) -> bool {
    let (a, b) = (structure(a), structure(b));
    a.is_empty() || b.is_empty() || a == b
}

/// The first nodes in which two plans differ, in words; `None` where they don't.
pub(crate) fn first_difference(base: &str, plan: &str) -> Option<(String, String)> {
    let (base, plan) = (structure(base), structure(plan));
    let longest = base.len().max(plan.len());
    let at = (0..longest).find(|&n| base.get(n) != plan.get(n))?;
    let word = |nodes: &[Node]| nodes.get(at).map_or_else(|| "nothing".to_owned(), |node| node.name.clone());
    Some((word(&base), word(&plan)))
}

/// Lines that clients and servers put above a plan.
fn is_heading(text: &str) -> bool {
    text.is_empty() || text == "QUERY PLAN" || text.chars().all(|c| c == '-')
}

/// A node's name with its index and table, without costs, aliases and the numbers in names.
fn name(node: &str) -> String {
    let end = ["(cost=", "(actual ", "(rows="].iter().filter_map(|mark| node.find(mark)).min().unwrap_or(node.len());
    let mut words: Vec<&str> = node[..end].split_whitespace().collect();
    if let Some(on) = words.iter().position(|&word| word == "on") {
        // What follows the table's name is an alias.
        words.truncate(on + 2);
    }
    let mut name = without_numbers(&words.join(" "));
    for (old, new) in RENAMED {
        name = name.replace(old, new);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAN: &str = "\
Aggregate  (cost=8.31..8.32 rows=1 width=8)
  ->  Index Scan using sbtest1_pkey on sbtest1  (cost=0.29..8.31 rows=1 width=121)
        Index Cond: ((id >= $1) AND (id <= $2))";

    #[test]
    fn costs_rows_tables_and_properties_are_no_structure() {
        let check = |other: &str| assert_eq!(structure(SCAN), structure(other), "{other}");
        check(
            "\
                            QUERY PLAN
------------------------------------------------------------------
 Aggregate  (cost=12.00..13.00 rows=5 width=8)
   ->  Index Scan using sbtest12_pkey on public.sbtest12 t  (cost=0.42..8.44 rows=77 width=121)
         Index Cond: ((t.id >= $1) AND (t.id <= $2))
         Index Searches: 1"
                .replace("public.", "")
                .as_str(),
        );
        check("Aggregate\n  ->  Index Scan using sbtest3_pkey on sbtest3\n");
    }

    #[test]
    fn nodes_indexes_and_nesting_are() {
        let check = |other: &str| assert_ne!(structure(SCAN), structure(other), "{other}");
        check(&SCAN.replace("Index Scan", "Index Only Scan"));
        check(&SCAN.replace("sbtest1_pkey", "k_1"));
        check(&SCAN.replace("Aggregate", "GroupAggregate"));
        check(&SCAN.replace("  ->", "  ->  Sort  (cost=1.0..2.0)\n        ->"));
        assert_ne!(
            structure("Nested Loop\n  ->  Seq Scan on a\n  ->  Seq Scan on b\n"),
            structure("Nested Loop\n  ->  Seq Scan on a\n        ->  Seq Scan on b\n"),
        );
    }

    #[test]
    fn a_renamed_node_is_the_same() {
        assert_eq!(structure("Result Cache  (cost=1..2)"), structure("Memoize  (cost=3..4)"));
    }

    #[test]
    fn the_first_difference_is_named() {
        let other = SCAN.replace("Index Scan", "Index Only Scan");
        let (base, plan) = first_difference(SCAN, &other).unwrap();
        assert_eq!(base, "Index Scan using sbtest#_pkey on sbtest#");
        assert_eq!(plan, "Index Only Scan using sbtest#_pkey on sbtest#");
        assert_eq!(first_difference(SCAN, SCAN), None);
        assert_eq!(first_difference(SCAN, "Aggregate").unwrap().1, "nothing");
    }

    #[test]
    fn odd_text_is_no_trouble() {
        for text in
            ["", "->", "  ->  ->  ->", "\n\n--\n", "-> é\n->", "[{\"Plan\": 1}]", "a: b=", ": type=", "x: type=\n:"]
        {
            structure(text);
        }
    }
}
