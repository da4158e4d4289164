//! Plans of a test's statements: equal ones are shown once, others side by side with the lines that differ marked.
//!
//! Plans are equal when they agree in nodes, indexes and conditions; estimates in brackets may differ.

use super::Scene;
use rqps_analysis::findings::TestFindings;
use serde::Serialize;

/// A statement's plans.
#[derive(Serialize)]
pub(super) struct StatementPlans {
    statement: String,
    /// Whether analysis found that a build's plan differs from the base's.
    differs: bool,
    variants: Vec<Variant>,
}

impl StatementPlans {
    /// Whether any build's plan differs.
    pub(super) fn differs(&self) -> bool {
        self.differs
    }
}

/// A plan with the builds that have it.
#[derive(Serialize)]
struct Variant {
    builds: String,
    differs: bool,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    text: String,
    /// Not in the base's plan.
    marked: bool,
}

pub(super) fn plans(scene: &Scene<'_>, test: &TestFindings) -> Vec<StatementPlans> {
    let mut statements: Vec<&str> = Vec::new();
    for plan in test.cells.iter().flat_map(|cell| &cell.plans) {
        if !statements.contains(&plan.statement.as_str()) {
            statements.push(&plan.statement);
        }
    }
    statements.into_iter().map(|statement| statement_plans(scene, test, statement)).collect()
}

fn statement_plans(scene: &Scene<'_>, test: &TestFindings, statement: &str) -> StatementPlans {
    let mut groups: Vec<(Vec<String>, &str, Vec<usize>, bool)> = Vec::new();
    for index in scene.base_first() {
        let Some(plan) = test.cells[index].plans.iter().find(|plan| plan.statement == statement) else { continue };
        let structure = structure(&plan.plan);
        match groups.iter_mut().find(|group| group.0 == structure) {
            Some(group) => {
                group.2.push(index);
                group.3 |= plan.differs;
            }
            None => groups.push((structure, &plan.plan, vec![index], plan.differs)),
        }
    }
    let base: Vec<String> = groups.first().map(|group| group.0.clone()).unwrap_or_default();
    let has_base = groups.first().is_some_and(|group| group.2.contains(&scene.findings.base));
    let total: usize = groups.iter().map(|group| group.2.len()).sum();
    let variants = groups.iter().enumerate().map(|(at, (structure, plan, builds, differs))| Variant {
        builds: if builds.len() == total && total > 1 { "all builds".to_owned() } else { names(scene, builds) },
        differs: *differs,
        lines: lines(plan, structure, if at > 0 && has_base { Some(&base) } else { None }),
    });
    let variants: Vec<Variant> = variants.collect();
    StatementPlans {
        statement: statement.to_owned(),
        differs: groups.iter().any(|group| group.3) || variants.len() > 1,
        variants,
    }
}

fn names(scene: &Scene<'_>, builds: &[usize]) -> String {
    builds.iter().map(|index| scene.names[*index].as_str()).collect::<Vec<_>>().join(", ")
}

fn lines(plan: &str, structure: &[String], base: Option<&[String]>) -> Vec<Line> {
    let marked = |shape: &String| base.is_some_and(|base| !shape.is_empty() && !base.contains(shape));
    plan.lines().zip(structure).map(|(text, shape)| Line { text: text.to_owned(), marked: marked(shape) }).collect()
}

/// The plan's lines without estimates and indentation.
fn structure(plan: &str) -> Vec<String> {
    plan.lines().map(|line| without_estimates(line).trim().to_owned()).collect()
}

fn without_estimates(line: &str) -> String {
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
    fn lines_that_the_base_has_not_are_marked() {
        let base = structure("Aggregate\n  ->  Index Scan using a");
        let plan = "Aggregate\n  ->  Index Only Scan using a";
        let marked: Vec<bool> = lines(plan, &structure(plan), Some(&base)).iter().map(|line| line.marked).collect();
        assert_eq!(marked, [false, true]);
    }
}
