//! How noisy the campaign was: floors, spread of rounds, and the smallest change it could have seen, by group and test.

use super::scene::Scene;
use crate::footnote::begun;
use crate::svg::Tick;
use crate::svg::spread::{SpreadAxis, quantile};
use crate::{number, order};
use rqps_analysis::findings::{Comparison, TestFindings};
use serde::Serialize;

/// The section.
#[derive(Serialize)]
pub(super) struct Noise {
    /// Why no smallest change can be named; empty where one can.
    none: &'static str,
    ticks: Vec<Tick>,
    groups: Vec<Group>,
    tests: Vec<Test>,
    /// What the seconds of a round went to; empty where it is not known.
    round: String,
}

#[derive(Serialize)]
struct Group {
    title: &'static str,
    cells: usize,
    median: String,
    ninth: String,
    plot: minijinja::Value,
}

#[derive(Serialize)]
struct Test {
    name: String,
    clients: u32,
    /// Floor, sd of rounds, se inside a round, MDE.
    medians: [String; 4],
}

pub(super) fn noise(scene: &Scene<'_>) -> Noise {
    let axis = SpreadAxis::fit(comparisons(scene, |_| true).filter_map(|c| c.mde));
    let group = |group: rqps_model::Group, axis: SpreadAxis| {
        let mdes = sorted(comparisons(scene, |test| test.group == group).filter_map(|c| c.mde));
        Some(Group {
            title: group.title(),
            cells: mdes.len(),
            median: number::percent(quantile(&mdes, 0.5)?),
            ninth: number::percent(quantile(&mdes, 0.9)?),
            plot: axis.row(&mdes),
        })
    };
    Noise {
        none: if axis.is_some() { "" } else { why_none(scene) },
        round: scene.findings.campaign.round_seconds.map(|seconds| begun(&seconds.to_string())).unwrap_or_default(),
        ticks: axis.map(SpreadAxis::ticks).unwrap_or_default(),
        groups: axis
            .map_or_else(Vec::new, |axis| rqps_model::Group::ALL.into_iter().filter_map(|g| group(g, axis)).collect()),
        tests: match axis.is_none() && scene.findings.is_open_loop() {
            // The spread of a requested rate is not noise.
            true => Vec::new(),
            false => scene.findings.tests.iter().filter_map(|found| test(scene, found)).collect(),
        },
    }
}

fn why_none(scene: &Scene<'_>) -> &'static str {
    let has_rounds = comparisons(scene, |_| true).any(|found| found.n > 1);
    match () {
        () if has_rounds && scene.findings.is_open_loop() => {
            "Events came at the requested rate, so rounds agree in throughput however noisy they were: no smallest \
             change can be named."
        }
        () if has_rounds => "Nothing could be compared over rounds: no smallest change can be named.",
        () => {
            "Rounds show how much runs differ, and there are too few: the smallest change that this \
             campaign would have found is unknown."
        }
    }
}

/// Median over all cells of the smallest change that would have been found.
pub(super) fn median_mde(scene: &Scene<'_>) -> Option<f64> {
    quantile(&sorted(comparisons(scene, |_| true).filter_map(|c| c.mde)), 0.5)
}

/// `None` where nothing is known of it.
fn test(scene: &Scene<'_>, found: &TestFindings) -> Option<Test> {
    let median = |value: fn(&Comparison) -> Option<f64>| {
        let values = scene.others.iter().filter_map(|index| found.cells[*index].comparison.as_ref()).filter_map(value);
        quantile(&sorted(values), 0.5)
    };
    let all = [median(|c| c.floor), median(|c| c.sd), median(|c| c.cycle_se), median(|c| c.mde)];
    all.iter().any(Option::is_some).then(|| Test {
        name: found.name.clone(),
        clients: found.clients,
        medians: all.map(|value| value.map_or_else(|| number::NONE.to_owned(), number::percent)),
    })
}

fn comparisons<'a>(
    scene: &'a Scene<'_>,
    of: impl Fn(&TestFindings) -> bool + 'a,
) -> impl Iterator<Item = &'a Comparison> {
    let tests = order::levels(scene.findings).into_iter().flat_map(|level| level.blocks).flat_map(|block| block.tests);
    let chosen = tests.map(|(_, test)| test).filter(move |test| of(test));
    chosen.flat_map(|test| &test.cells).filter_map(|cell| cell.comparison.as_ref())
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}
