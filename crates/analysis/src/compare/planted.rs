//! Changes that were planted: what is true of them, and how many the campaign found.
//!
//! In: the samples of a treatment whose client burned time, and of the base; later the comparisons. Out: the true ratio
//! of each round, and counts over all tests. What was burned is known slice by slice, so that the truth is what the
//! burning did to the very number that a round gives: the number less what it would be had nothing been burned. What a
//! burn costs besides its time (`side_cost`) is estimated from short and long burns, and is part of the truth.

mod side_cost;

use crate::compare::round::planted_log_ratio;
use crate::findings::{Comparison, PlantedCell, PlantedFindings, SideCost, TestFindings};
use crate::read::measured::Measured;
use rqps_model::Plan;
use rqps_stats::{Effect, RandomEffects, mean};

/// Treatments in which a change is planted; they are judged apart from the others.
pub(crate) fn treatments(plan: &Plan) -> Vec<usize> {
    (0..plan.treatments.len()).filter(|&at| plan.treatments[at].planted.is_some()).collect()
}

/// What is true of a cell by what was burned alone, by its rounds and those of the base; `None` where nothing was
/// planted.
pub(crate) fn truth(arm: &[Option<Measured>], base: &[Option<Measured>]) -> Option<PlantedCell> {
    let of_round = |(arm, base): (&Option<Measured>, &Option<Measured>)| {
        let (arm, base) = (arm.as_ref()?, base.as_ref()?);
        Some((arm.sample.round, planted_log_ratio(arm, base)?))
    };
    let rounds: Vec<(u32, f64)> = arm.iter().zip(base).filter_map(of_round).collect();
    let log_ratios: Vec<f64> = rounds.iter().map(|round| round.1).collect();
    let ratio = mean(&log_ratios).ok()?.exp();
    let seen = arm.iter().zip(base).filter_map(|(arm, base)| side_cost::of_round(arm.as_ref()?, base.as_ref()?));
    let seen = Effect::together(&seen.collect::<Vec<_>>());
    Some(PlantedCell {
        ratio,
        by_round: rounds.into_iter().map(|(round, log_ratio)| (round, log_ratio.exp())).collect(),
        side_cost: 0.0,
        side_cost_seen: seen.map(|Effect { value: share, standard_error }| SideCost { share, standard_error }),
    })
}

/// Adds to the truths of a treatment what its burns cost besides. A test by itself sees that less well than its ratio,
/// so that each is helped by the others.
pub(crate) fn add_side_costs(tests: &mut [TestFindings], treatment: usize) {
    let seen = |cell: &PlantedCell| {
        cell.side_cost_seen.map(|seen| Effect { value: seen.share, standard_error: seen.standard_error })
    };
    let cells = || tests.iter().filter_map(|test| test.cells[treatment].planted.as_ref());
    let Some(all) = RandomEffects::new(&cells().filter_map(seen).collect::<Vec<_>>()) else { return };
    for cell in tests.iter_mut().filter_map(|test| test.cells[treatment].planted.as_mut()) {
        cell.add(all.of(seen(cell)));
    }
}

/// What became of each planted change; `pairs` are the treatments that are the same.
pub(crate) fn summary(
    plan: &Plan,
    tests: &[TestFindings],
    pairs: &[(usize, usize)],
    base: usize,
) -> Vec<PlantedFindings> {
    let twins: Vec<usize> = pairs
        .iter()
        .filter_map(|&(a, b)| [(a, b), (b, a)].into_iter().find(|pair| pair.0 == base))
        .map(|pair| pair.1)
        .collect();
    let unplanted: Vec<bool> =
        twins.iter().flat_map(|&twin| comparisons(tests, twin)).filter_map(|(_, one)| excludes_one(one)).collect();
    let of = |treatment: usize| {
        let cells: Vec<(&PlantedCell, &Comparison)> =
            comparisons(tests, treatment).filter_map(|(planted, one)| Some((planted?, one))).collect();
        let logs: Vec<f64> = cells.iter().map(|(planted, _)| planted.ratio.ln()).collect();
        let held: Vec<bool> = cells.iter().filter_map(|(planted, one)| planted.is_held(one)).collect();
        let is_found = |one: &Comparison| one.high.is_some_and(|high| high < 1.0);
        Some(PlantedFindings {
            treatment,
            share: plan.treatments[treatment].planted?,
            ratio: mean(&logs).ok()?.exp(),
            least: logs.iter().copied().fold(f64::INFINITY, f64::min).exp(),
            most: logs.iter().copied().fold(f64::NEG_INFINITY, f64::max).exp(),
            side_cost: mean(&cells.iter().map(|(planted, _)| planted.side_cost).collect::<Vec<_>>()).ok()?,
            intervals: held.len() as u32,
            found: cells.iter().filter(|(_, one)| is_found(one)).count() as u32,
            held: held.iter().filter(|is_held| **is_held).count() as u32,
            unplanted_intervals: unplanted.len() as u32,
            unplanted_found: unplanted.iter().filter(|is_found| **is_found).count() as u32,
        })
    };
    treatments(plan).into_iter().filter_map(of).collect()
}

fn comparisons(tests: &[TestFindings], treatment: usize) -> impl Iterator<Item = (Option<&PlantedCell>, &Comparison)> {
    tests.iter().filter_map(move |test| {
        let cell = &test.cells[treatment];
        Some((cell.planted.as_ref(), cell.comparison.as_ref()?))
    })
}

/// Whether an interval does not hold 1; `None` without one.
fn excludes_one(comparison: &Comparison) -> Option<bool> {
    let (low, high) = comparison.low.zip(comparison.high)?;
    Some(low > 1.0 || high < 1.0)
}
