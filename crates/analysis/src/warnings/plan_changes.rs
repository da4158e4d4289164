//! Warnings about a statement whose plan is another one than the base's, or was another one in some rounds: then the
//! cell's number is a mixture of two plans.
//!
//! In: a cell's samples, each with the plans of its own round and number of clients. Out: a warning for each statement
//! and plan that is not the first round's. Plans of the same structure are the same, whatever they cost; rounds without
//! a plan are skipped.

use super::cell::Cell;
use super::warning;
use crate::evidence::plan_structure::{between, structure};
use crate::findings::Warning;
use crate::read::measured::Measured;
use crate::words::rounds_in_words;
use rqps_model::WarningKind;
use rqps_model::facts::StatementPlan;
use std::collections::BTreeMap;

pub(super) fn against_base(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    for plan in cell.plans.iter().filter(|plan| plan.differs) {
        let Some(first) = &plan.difference else { continue };
        let message = format!("another plan for {}: {} instead of {}", plan.statement, first.own, first.peer);
        found.push(warning(WarningKind::PlanChanged, message));
    }
}

/// Warns of every statement that was not planned alike in all rounds.
pub(super) fn between_rounds(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let of_rounds = || cell.rounds.iter().flatten().flat_map(known);
    let mut firsts: Vec<&StatementPlan> = Vec::new();
    for (_, plan) in of_rounds() {
        if firsts.iter().all(|first| first.statement != plan.statement) {
            firsts.push(plan);
        }
    }
    for kept in firsts {
        let mut changes: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
        for (round, plan) in of_rounds().filter(|(_, plan)| plan.statement == kept.statement) {
            if let Some(difference) = between(&kept.plan, &plan.plan) {
                changes.entry(difference).or_default().push(round);
            }
        }
        for ((first, other), rounds) in changes {
            let (statement, rounds) = (&kept.statement, rounds_in_words(rounds));
            let message = format!("another plan for {statement} in {rounds} than at first: {other} instead of {first}");
            found.push(warning(WarningKind::PlanChanges, message));
        }
    }
}

/// A sample's plans that have a structure, with its round.
fn known(measured: &Measured) -> impl Iterator<Item = (u32, &StatementPlan)> {
    let plans = measured.plans.iter().filter(|plan| !structure(&plan.plan).is_empty());
    plans.map(|plan| (measured.sample.round, plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::facts::SettingsFacts;
    use rqps_model::sample::Slices;

    const SCAN: &str = "Seq Scan on sbtest1  (cost=0.00..2.00 rows=9 width=4)";
    const INDEX: &str = "Index Scan using k_1 on sbtest1  (cost=0.29..8.31 rows=1 width=4)";
    const INDEX_DEARER: &str = "Index Scan using k_1 on sbtest1  (cost=0.42..9.99 rows=3 width=4)";

    /// Warnings about a cell with these plans in its rounds; `None` where there is none.
    fn check(of_rounds: &[Option<&str>], expected: &[&str]) {
        let trial = |(at, plan): (usize, &Option<&str>)| {
            let mut trial = measured(1000, 1_000_000_000, Slices::default());
            trial.sample.round = at as u32 + 1;
            trial.plans.extend(plan.map(|plan| StatementPlan {
                statement: "point".to_owned(),
                plan: plan.to_owned(),
                ..StatementPlan::default()
            }));
            Some(trial)
        };
        let rounds: Vec<Option<Measured>> = of_rounds.iter().enumerate().map(trial).collect();
        let cell = Cell {
            rounds: &rounds,
            base_rounds: &[],
            other_rounds: &[],
            left_out: &[],
            ratios: &[],
            is_closed: true,
            timeout_seconds: None,
            cost: None,
            base_cost: None,
            settings: &SettingsFacts::default(),
            plans: &[],
            answers: &[],
        };
        let mut found = Vec::new();
        between_rounds(&cell, &mut found);
        assert!(found.iter().all(|warning| warning.kind == WarningKind::PlanChanges), "{found:?}");
        assert_eq!(found.iter().map(|warning| warning.cause.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn only_another_structure_is_another_plan() {
        check(&[None, None], &[]);
        check(&[Some(INDEX), Some(INDEX_DEARER)], &[]);
        check(&[Some(INDEX), None, Some("")], &[]);
        check(
            &[Some(INDEX), Some(SCAN), Some(INDEX_DEARER), Some(SCAN)],
            &["another plan for point in rounds 2, 4 than at first: Seq Scan on sbtest# instead of Index Scan using \
                 k_# on sbtest#"],
        );
    }

    #[test]
    fn each_other_plan_is_told_with_its_rounds() {
        let other = INDEX.replace("k_1", "sbtest1_pkey");
        check(
            &[Some(INDEX), Some(SCAN), Some(&other)],
            &[
                "another plan for point in round 3 than at first: Index Scan using sbtest#_pkey on sbtest# instead of \
                 Index Scan using k_# on sbtest#",
                "another plan for point in round 2 than at first: Seq Scan on sbtest# instead of Index Scan using k_# \
                 on sbtest#",
            ],
        );
    }

    #[test]
    fn the_first_round_that_has_a_plan_is_what_others_are_compared_with() {
        check(&[None, Some(""), Some(SCAN), Some(SCAN)], &[]);
        check(
            &[None, Some(SCAN), Some(INDEX)],
            &["another plan for point in round 3 than at first: Index Scan using k_# on sbtest# instead of Seq Scan \
                 on sbtest#"],
        );
    }
}
