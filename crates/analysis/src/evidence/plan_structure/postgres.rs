//! A plan of PostgreSQL → its structure: nodes, nested as they are printed, with their index and table, and the columns
//! of their conditions and keys.
//!
//! In: the text of EXPLAIN of any version. Out: one node for each that the server prints. Costs, aliases, schemas,
//! constants, and lines that only some versions have are left out.

use super::columns::columns;
use super::node::{Node, rows, without_numbers};

/// Nodes that got another name in a later version and do the same: (old, new).
const RENAMED: [(&str, &str); 1] = [("Result Cache", "Memoize")];

/// Lines below a node that say what it does, and not how much of it.
const CONDITIONS: [&str; 8] =
    ["Index Cond", "Recheck Cond", "TID Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond", "Order By"];

/// The same of keys, whose order matters.
const KEYS: [&str; 3] = ["Sort Key", "Presorted Key", "Group Key"];

/// The nodes of a plan from the root down.
pub(super) fn structure(plan: &str) -> Vec<Node> {
    let mut columns: Vec<usize> = Vec::new();
    let mut nodes: Vec<Node> = Vec::new();
    for line in plan.lines() {
        let text = line.trim_start();
        let column = line.len() - text.len();
        let node = match text.strip_prefix("->") {
            Some(node) => node,
            None if nodes.is_empty() && !is_heading(text) => text,
            None => {
                if let Some(node) = nodes.last_mut() {
                    node.conditions.extend(condition(text));
                }
                continue;
            }
        };
        while columns.last().is_some_and(|&outer| outer >= column && !nodes.is_empty()) {
            columns.pop();
        }
        nodes.push(Node { depth: columns.len(), name: name(node), rows: rows(node), ..Node::default() });
        columns.push(column);
    }
    nodes.iter_mut().for_each(|node| node.conditions.sort());
    nodes
}

/// A line below a node in the form in which it is compared; `None` where it is not.
fn condition(line: &str) -> Option<String> {
    let (what, told) = line.split_once(": ")?;
    let mut found = columns(told);
    match () {
        () if what == "Workers Planned" => return Some(line.trim_end().to_owned()),
        () if KEYS.contains(&what) => {}
        () if CONDITIONS.contains(&what) => found.sort(),
        () => return None,
    }
    (!found.is_empty()).then(|| format!("{what}: {}", found.join(", ")))
}

/// Lines that clients and servers put above a plan.
fn is_heading(text: &str) -> bool {
    text.is_empty() || text == "QUERY PLAN" || text.chars().all(|c| c == '-')
}

/// A node's name with its index and table, without costs, schemas, aliases and the numbers in names.
fn name(node: &str) -> String {
    let end = ["(cost=", "(actual ", "(rows="].iter().filter_map(|mark| node.find(mark)).min().unwrap_or(node.len());
    let mut words: Vec<&str> = node[..end].split_whitespace().collect();
    if let Some(on) = words.iter().position(|&word| word == "on") {
        // What follows the table's name is an alias.
        words.truncate(on + 2);
        if let Some(table) = words.get_mut(on + 1).filter(|table| !table.contains('"')) {
            *table = table.rsplit('.').next().unwrap_or(table);
        }
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
    fn costs_rows_tables_values_and_habits_of_versions_are_no_structure() {
        let check = |other: &str| assert_eq!(structure(SCAN), structure(other), "{other}");
        check(
            "\
                            QUERY PLAN
------------------------------------------------------------------
 Aggregate  (cost=12.00..13.00 rows=5 width=8)
   ->  Index Scan using sbtest12_pkey on public.sbtest12 t  (cost=0.42..8.44 rows=77 width=121)
         Index Cond: ((t.id >= 17) AND (t.id <= 116))
         Index Searches: 1",
        );
        check("Aggregate\n  ->  Index Scan using sbtest3_pkey on sbtest3\n        Index Cond: (id > 1)\n");
    }

    #[test]
    fn nodes_indexes_nesting_and_columns_of_conditions_are() {
        let check = |other: &str| assert_ne!(structure(SCAN), structure(other), "{other}");
        check(&SCAN.replace("Index Scan", "Index Only Scan"));
        check(&SCAN.replace("sbtest1_pkey", "k_1"));
        check(&SCAN.replace("Aggregate", "GroupAggregate"));
        check(&SCAN.replace("  ->", "  ->  Sort  (cost=1.0..2.0)\n        ->"));
        check(&SCAN.replace("Index Cond", "Filter"));
        check(&SCAN.replace("(id <= $2)", "(k <= $2)"));
        assert_ne!(
            structure("Nested Loop\n  ->  Seq Scan on a\n  ->  Seq Scan on b\n"),
            structure("Nested Loop\n  ->  Seq Scan on a\n        ->  Seq Scan on b\n"),
        );
        let sort = |key: &str| structure(&format!("Sort\n  Sort Key: {key}\n  ->  Seq Scan on a"));
        assert_eq!(sort("a, b"), sort("x.a, x.b"));
        assert_ne!(sort("a, b"), sort("b, a"));
        let gather =
            |workers| structure(&format!("Gather\n  Workers Planned: {workers}\n  ->  Parallel Seq Scan on a"));
        assert_ne!(gather(1), gather(2));
    }

    #[test]
    fn a_renamed_node_is_the_same() {
        assert_eq!(structure("Result Cache  (cost=1..2)"), structure("Memoize  (cost=3..4)"));
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
