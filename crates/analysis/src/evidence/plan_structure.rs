//! A plan as the server prints it → its structure: which nodes, nested how, using which index, and how that of one
//! build compares with another's.
//!
//! In: the text of EXPLAIN. Out: [`Node`]s that are equal when two servers would do the same work, whatever costs, row
//! numbers, table numbers and the printing habits of a version are; the first node in which two plans differ; and where
//! none does, estimates that do. It explains nothing: whether a change matters is for the cell's verdict to say.

mod columns;
mod mysql;
mod node;
mod operations;
mod postgres;

use crate::findings::{EstimateDifference, PlanDifference};
use node::Node;

/// Estimates of the same node that differ by less come from other samples of the same data.
const OTHER_ESTIMATE: f64 = 2.0;

/// The nodes of a plan from the root down, in the form in which its engine prints it.
pub(crate) fn structure(plan: &str) -> Vec<Node> {
    mysql::structure(plan).unwrap_or_else(|| postgres::structure(plan))
}

/// Whether there is a plan, and not the server's reason for printing none.
pub(crate) fn is_told(plan: &str) -> bool {
    !plan.is_empty() && !mysql::is_untold(plan)
}

/// The structure as lines, for people.
pub(crate) fn lines(plan: &str) -> Vec<String> {
    structure(plan).iter().flat_map(Node::lines).collect()
}

/// The first node in which a plan differs from the peer's; `None` where none does, and where either is not known.
pub(crate) fn difference(peer: &str, own: &str) -> Option<PlanDifference> {
    let (peer, own) = (structure(peer), structure(own));
    if peer.is_empty() || own.is_empty() {
        return None;
    }
    first_difference(&peer, &own)
}

/// The first nodes in which two plans differ, in words; `None` where they don't.
fn first_difference(peer: &[Node], own: &[Node]) -> Option<PlanDifference> {
    let longest = peer.len().max(own.len());
    let at = (0..longest).find(|&at| peer.get(at) != own.get(at))?;
    let (of_peer, of_own) = (peer.get(at), own.get(at));
    let name = |node: Option<&Node>| node.map(|node| node.name.clone());
    let is_same_name = name(of_peer) == name(of_own);
    let is_same_depth = of_peer.map(|node| node.depth) == of_own.map(|node| node.depth);
    let word = |node: Option<&Node>| match node {
        None => "nothing".to_owned(),
        Some(node) if is_same_name && is_same_depth => node.whole(),
        Some(node) if is_same_name => format!("{}, {} deep", node.name, node.depth),
        Some(node) => node.name.clone(),
    };
    Some(PlanDifference { node: at as u32 + 1, peer: word(of_peer), own: word(of_own) })
}

/// Where two plans of the same structure have the most different estimates of rows, if they differ at all.
pub(crate) fn estimates(peer: &str, own: &str) -> Option<EstimateDifference> {
    let (peer, own) = (structure(peer), structure(own));
    if peer != own {
        return None;
    }
    let both = peer.iter().zip(&own).filter_map(|(peer, own)| Some((own, peer.rows?.max(1.0), own.rows?.max(1.0))));
    let factor = |peer: f64, own: f64| (own / peer).max(peer / own);
    let (node, peer_rows, rows) = both.max_by(|a, b| factor(a.1, a.2).total_cmp(&factor(b.1, b.2)))?;
    let found = EstimateDifference { node: node.name.clone(), peer_rows, rows };
    (factor(peer_rows, rows) >= OTHER_ESTIMATE).then_some(found)
}

/// The first nodes in which plans of two rounds differ: of the first one, and of the other.
pub(crate) fn between(first: &str, other: &str) -> Option<(String, String)> {
    let found = first_difference(&structure(first), &structure(other))?;
    Some((found.peer, found.own))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAN: &str = "\
Aggregate  (cost=8.31..8.32 rows=1 width=8)
  ->  Index Scan using sbtest1_pkey on sbtest1  (cost=0.29..8.31 rows=100 width=121)
        Index Cond: ((id >= $1) AND (id <= $2))";

    #[test]
    fn the_first_difference_is_named() {
        let check = |other: &str, node: u32, peer: &str, own: &str| {
            let found = difference(SCAN, other).unwrap();
            assert_eq!((found.node, found.peer.as_str(), found.own.as_str()), (node, peer, own));
        };
        let scan = "Index Scan using sbtest#_pkey on sbtest#";
        let index_only = "Index Only Scan using sbtest#_pkey on sbtest#";
        check(&SCAN.replace("Index Scan", "Index Only Scan"), 2, scan, index_only);
        check("Aggregate", 2, scan, "nothing");
        let filter = format!("{scan} (Filter: id)");
        check(&SCAN.replace("Index Cond", "Filter"), 2, &format!("{scan} (Index Cond: id)"), &filter);
        assert_eq!(difference(SCAN, SCAN), None);
        assert_eq!(difference(SCAN, ""), None, "what is not known differs from nothing");
        assert!(is_told(SCAN) && is_told("no table: extra=No tables used") && !is_told(""));
        assert!(!is_told("not told: 1064 (42000)") && !is_told("MySQL 5.5.34 explains no statement but SELECT"));
    }

    #[test]
    fn estimates_are_compared_where_the_structure_is_the_same() {
        let other = |rows: &str| SCAN.replace("rows=100", &format!("rows={rows}"));
        assert_eq!((estimates(SCAN, SCAN), estimates(SCAN, &other("120"))), (None, None));
        let found = estimates(SCAN, &other("1200")).unwrap();
        assert_eq!((found.peer_rows, found.rows), (100.0, 1200.0));
        assert!(found.node.starts_with("Index Scan"));
        assert_eq!(estimates(SCAN, &other("1200").replace("Index Scan", "Seq Scan")), None);
        let mysql = |rows| format!("sbtest1: type=range key=k_1\n  select=SIMPLE rows={rows} filtered=100.00\ntree:\n");
        assert_eq!(estimates(&mysql(10), &mysql(5000)).unwrap().rows, 5000.0);
    }

    #[test]
    fn a_structure_reads_as_lines() {
        let expected = ["Aggregate", "  Index Scan using sbtest#_pkey on sbtest#", "    Index Cond: id"];
        assert_eq!(lines(SCAN), expected);
    }
}
