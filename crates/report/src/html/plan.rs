//! Plans of a test's statements: equal ones are shown once, others side by side with the lines that differ marked.
//!
//! Plans are equal when they agree in nodes, indexes and conditions; estimates may differ. Plans of different engines
//! stand side by side and are not compared: their words mean different things.

use super::scene::Scene;
use crate::order::{distinct, grouped};
use rqps_analysis::findings::TestFindings;
use serde::Serialize;

/// A statement's plans.
#[derive(Serialize)]
pub(super) struct StatementPlans {
    statement: String,
    /// Whether any build's plan differs.
    pub(super) differs: bool,
    variants: Vec<Variant>,
}

/// A plan with the builds that have it.
#[derive(Serialize)]
struct Variant {
    builds: String,
    /// The build whose plan it differs from; empty where it does not.
    differs_from: String,
    lines: Vec<Line>,
    /// Further forms of the same plan, as the server prints them; empty where there are none.
    more: String,
}

#[derive(Serialize)]
struct Line {
    text: String,
    /// Not in the base's plan.
    marked: bool,
}

pub(super) fn plans(scene: &Scene<'_>, test: &TestFindings) -> Vec<StatementPlans> {
    let plans = test.cells.iter().flat_map(|cell| &cell.plans);
    let statements = distinct(plans.map(|plan| plan.statement.as_str()));
    statements.into_iter().map(|statement| statement_plans(scene, test, statement)).collect()
}

/// Builds whose plans are equal.
struct Alike<'a> {
    structure: Vec<String>,
    plan: &'a str,
    builds: Vec<usize>,
    differs: bool,
}

fn statement_plans(scene: &Scene<'_>, test: &TestFindings, statement: &str) -> StatementPlans {
    let of = |index: usize| test.cells[index].plans.iter().find(|plan| plan.statement == statement);
    let plans = scene.base_first().into_iter().filter_map(|index| {
        let plan = of(index)?;
        let engine = scene.findings.treatments[index].build.engine;
        // One that is equal to its peer's may still be printed otherwise.
        let is_equal = !plan.differs && !plan.is_not_compared;
        let form = if is_equal { of(scene.findings.peer(index)).unwrap_or(plan) } else { plan };
        Some(((engine, structure(&form.plan)), (index, plan)))
    });
    let alike = grouped(plans).into_iter().map(|((_, structure), found)| Alike {
        structure,
        plan: &found[0].1.plan,
        builds: found.iter().map(|(index, _)| *index).collect(),
        differs: found.iter().any(|(_, plan)| plan.differs),
    });
    let groups: Vec<Alike<'_>> = alike.collect();
    let total: usize = groups.iter().map(|group| group.builds.len()).sum();
    // What others of its engine are compared with, where it has a plan.
    let peer = |group: &Alike<'_>| {
        let peer = scene.findings.peer(group.builds[0]);
        groups.iter().find(|other| other.builds.contains(&peer)).filter(|other| other.builds != group.builds)
    };
    let variants: Vec<Variant> = groups
        .iter()
        .map(|group| {
            let (text, more) = parts(group.plan);
            let is_all = group.builds.len() == total && total > 1;
            Variant {
                builds: if is_all { "all builds".to_owned() } else { scene.joined(&group.builds) },
                differs_from: match peer(group).filter(|_| group.differs) {
                    Some(peer) if peer.builds.contains(&scene.findings.base) => "the base".to_owned(),
                    Some(peer) => scene.names[peer.builds[0]].clone(),
                    None => String::new(),
                },
                lines: lines(text, &group.structure, peer(group).map(|peer| peer.structure.as_slice())),
                more: more.to_owned(),
            }
        })
        .collect();
    StatementPlans {
        statement: statement.to_owned(),
        differs: groups.iter().any(|group| group.differs || peer(group).is_some()),
        variants,
    }
}

fn lines(plan: &str, structure: &[String], base: Option<&[String]>) -> Vec<Line> {
    let marked = |shape: &String| base.is_some_and(|base| !shape.is_empty() && !base.contains(shape));
    plan.lines().zip(structure).map(|(text, shape)| Line { text: text.to_owned(), marked: marked(shape) }).collect()
}

/// What is compared of a plan, and the further forms behind it: MySQL's tree and JSON have a line of their own in
/// front.
fn parts(plan: &str) -> (&str, &str) {
    let starts = ["\ntree:\n", "\njson:\n"].into_iter().filter_map(|title| plan.find(title)).min();
    starts.map_or((plan, ""), |at| (&plan[..at], plan[at..].trim_start_matches('\n')))
}

/// The lines of what is compared, without estimates and indentation.
fn structure(plan: &str) -> Vec<String> {
    parts(plan).0.lines().map(|line| without_estimates(line).trim().to_owned()).collect()
}

fn without_estimates(line: &str) -> String {
    // MySQL's estimates have lines of their own.
    if line.starts_with("  select=") {
        return String::new();
    }
    match (line.find("(cost="), line.find("(actual")) {
        (Some(at), Some(other)) => line[..at.min(other)].to_owned(),
        (Some(at), None) | (None, Some(at)) => line[..at].to_owned(),
        (None, None) => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_do_not_make_plans_differ() {
        let old = "Index Scan using k_1 on sbtest1  (cost=0.43..8.45 rows=1 width=121)\n  Index Cond: (k = 1)";
        let new = "Index Scan using k_1 on sbtest1  (cost=0.42..8.44 rows=2 width=121)\n    Index Cond: (k = 1)";
        assert_eq!(structure(old), structure(new));
        assert_ne!(structure(old), structure(&new.replace("Index Scan", "Seq Scan")));
    }

    #[test]
    fn what_stands_behind_a_plan_of_mysql_is_not_compared() {
        let old = "sbtest1: type=range key=k_1\n  select=SIMPLE rows=100\njson:\n{\n  \"rows\": 100\n}";
        let new = "sbtest1: type=range key=k_1\n  select=SIMPLE rows=98\ntree:\n-> Index range scan\njson:\n{}";
        assert_eq!(structure(old), structure(new));
        assert_eq!(
            parts(new),
            ("sbtest1: type=range key=k_1\n  select=SIMPLE rows=98", "tree:\n-> Index range scan\njson:\n{}")
        );
        assert_ne!(structure(old), structure(&new.replace("k_1", "PRIMARY")));
        assert_eq!(parts("Seq Scan"), ("Seq Scan", ""));
    }

    #[test]
    fn lines_that_the_base_has_not_are_marked() {
        let base = structure("Aggregate\n  ->  Index Scan using a");
        let plan = "Aggregate\n  ->  Index Only Scan using a";
        let marked: Vec<bool> = lines(plan, &structure(plan), Some(&base)).iter().map(|line| line.marked).collect();
        assert_eq!(marked, [false, true]);
    }
}
