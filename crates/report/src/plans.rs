//! How plans compare, in words and side by side.
//!
//! In: a test's cell and the cell of its peer. Out: text: equal, of the same structure with other estimates, or
//! different at a node.

use crate::{number, text};
use rqps_analysis::findings::{CellFindings, EstimateDifference, PlanFindings};
use rqps_model::WarningKind;

/// Lines of two plans side by side that a terminal shows.
const SHOWN: usize = 20;

/// The statements whose plan differs, with the first node that does; plans known to differ only.
pub(crate) fn differing(cell: &CellFindings) -> String {
    let of = |plan: &PlanFindings| match &plan.difference {
        Some(first) => format!("{} ({} instead of {})", plan.statement, first.own, first.peer),
        None => plan.statement.clone(),
    };
    let plans: Vec<String> = cell.plans.iter().filter(|plan| plan.differs).map(of).collect();
    format!("another plan of {}", text::plain(&plans.join(", ")))
}

/// What else is to be said of plans: that they are equal, or but for estimates; not told; generic on one side only; not
/// the same in all rounds.
pub(crate) fn words(peer: &CellFindings, cell: &CellFindings) -> Vec<String> {
    let mut words = Vec::new();
    let unknown: Vec<&str> =
        cell.plans.iter().filter(|plan| plan.is_not_compared).map(|plan| plan.statement.as_str()).collect();
    let is_equal = !cell.plans.is_empty() && unknown.is_empty() && cell.plans.iter().all(|plan| !plan.differs);
    let estimates: Vec<String> =
        cell.plans.iter().filter_map(|plan| Some((plan, plan.estimates.as_ref()?))).map(estimate).collect();
    match estimates.is_empty() {
        true if is_equal => words.push("plan equal".to_owned()),
        false if is_equal => words.push(format!("plan equal but for estimates: {}", estimates.join(", "))),
        _ if !unknown.is_empty() && unknown.len() == cell.plans.len() => words.push("plans not compared".to_owned()),
        _ if !unknown.is_empty() => words.push(text::plain(&format!("plan of {} not compared", unknown.join(", ")))),
        _ => {}
    }
    words.extend(cell.plans.iter().filter_map(|plan| generic(peer, plan)));
    let flips = cell.warnings.iter().any(|warning| warning.kind == WarningKind::PlanChanges);
    words.extend(flips.then(|| "not planned alike in all rounds".to_owned()));
    words
}

fn estimate((plan, found): (&PlanFindings, &EstimateDifference)) -> String {
    let rows = |rows: f64| number::significant(rows, 3);
    let EstimateDifference { node, peer_rows, rows: own } = found;
    text::plain(&format!("{} {} → {} rows at {node}", plan.statement, rows(*peer_rows), rows(*own)))
}

/// Where a prepared statement has a plan for all values on one side, and one for its values on the other.
fn generic(peer: &CellFindings, plan: &PlanFindings) -> Option<String> {
    let of_peer = of_statement(peer, plan)?.is_generic?;
    let own = plan.is_generic?;
    let statement = text::plain(&plan.statement);
    match (of_peer, own) {
        (true, false) => Some(format!("{statement} is planned anew each time, no longer by a generic plan")),
        (false, true) => Some(format!("{statement} has a generic plan, and is no longer planned each time")),
        _ => None,
    }
}

fn of_statement<'a>(cell: &'a CellFindings, plan: &PlanFindings) -> Option<&'a PlanFindings> {
    cell.plans.iter().find(|one| one.statement == plan.statement)
}

/// Plans that differ, side by side, the first node that does marked.
pub(crate) fn side_by_side(peer: (&str, &CellFindings), own: (&str, &CellFindings), width: usize) -> Vec<String> {
    let differing = own.1.plans.iter().filter(|plan| plan.differs);
    let pair = |plan| Some((of_statement(peer.1, plan)?, plan));
    differing.filter_map(pair).flat_map(|(before, plan)| table((peer.0, before), (own.0, plan), width)).collect()
}

fn table(peer: (&str, &PlanFindings), own: (&str, &PlanFindings), width: usize) -> Vec<String> {
    let column = (width.saturating_sub(12) / 2).max(16);
    let line = |mark: &str, left: &str, right: &str| {
        let left = text::fit(&text::plain(left), column);
        let padding = " ".repeat(column - text::width(&left));
        format!("      {mark} {left}{padding}  {}", text::fit(&text::plain(right), column)).trim_end().to_owned()
    };
    let (left, right) = (&peer.1.structure, &own.1.structure);
    let longest = left.len().max(right.len());
    let at = |lines: &'_ [String], at: usize| lines.get(at).cloned().unwrap_or_default();
    let first = (0..longest).find(|&n| left.get(n) != right.get(n));
    let mut lines = vec![format!("      plan of {}:", text::plain(&own.1.statement)), line(" ", peer.0, own.0)];
    let rows =
        (0..longest.min(SHOWN)).map(|n| line(if Some(n) == first { "≠" } else { " " }, &at(left, n), &at(right, n)));
    lines.extend(rows);
    lines.extend((longest > SHOWN).then(|| format!("        … {} lines more", longest - SHOWN)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_analysis::findings::PlanDifference;

    fn plan(structure: &[&str]) -> PlanFindings {
        PlanFindings {
            statement: "order".to_owned(),
            structure: structure.iter().map(|line| (*line).to_owned()).collect(),
            ..PlanFindings::default()
        }
    }

    fn cell(plan: PlanFindings) -> CellFindings {
        CellFindings { plans: vec![plan], ..CellFindings::default() }
    }

    #[test]
    fn plans_that_differ_stand_side_by_side() {
        let peer = cell(plan(&["Sort", "  Sort Key: c", "  Index Scan using k_# on sbtest#", "    Index Cond: k"]));
        let difference = PlanDifference { node: 2, peer: "Index Scan".to_owned(), own: "Seq Scan".to_owned() };
        let own = plan(&["Sort", "  Sort Key: c", "  Seq Scan on sbtest#", "    Filter: k"]);
        let own = cell(PlanFindings { differs: true, difference: Some(difference), ..own });
        assert_eq!(differing(&own), "another plan of order (Seq Scan instead of Index Scan)");
        assert_eq!(words(&peer, &own), Vec::<String>::new());
        let expected = "
      plan of order:
        pg16                               pg17
        Sort                               Sort
          Sort Key: c                        Sort Key: c
      ≠   Index Scan using k_# on sbtest#    Seq Scan on sbtest#
            Index Cond: k                      Filter: k";
        assert_eq!(side_by_side(("pg16", &peer), ("pg17", &own), 78).join("\n"), expected[1..]);
    }

    #[test]
    fn what_is_equal_is_said_with_what_is_not() {
        let peer = cell(PlanFindings { is_generic: Some(true), ..plan(&["Seq Scan"]) });
        assert_eq!(words(&peer, &peer), ["plan equal"]);
        let untold = PlanFindings { is_not_compared: true, ..plan(&[]) };
        assert_eq!(words(&peer, &cell(untold.clone())), ["plans not compared"]);
        let one_of_two = CellFindings { plans: vec![untold, plan(&["Seq Scan"])], ..CellFindings::default() };
        assert_eq!(words(&peer, &one_of_two), ["plan of order not compared"]);
        let estimates = EstimateDifference { node: "Seq Scan".to_owned(), peer_rows: 10.0, rows: 5000.0 };
        let own = PlanFindings { is_generic: Some(false), estimates: Some(estimates), ..plan(&["Seq Scan"]) };
        let expected = [
            "plan equal but for estimates: order 10.0 → 5000 rows at Seq Scan",
            "order is planned anew each time, no longer by a generic plan",
        ];
        assert_eq!(words(&peer, &cell(own)), expected);
    }
}
