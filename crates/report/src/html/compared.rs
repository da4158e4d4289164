//! The results at each number of clients: the matrix, and per build the table with the interval plot.

use super::matrix::{self, Matrix};
use super::{Scene, Shown, shown, shown_cell};
use crate::interval::Interval;
use crate::svg::Tick;
use crate::svg::interval::{self, Rounds};
use crate::svg::ratio_axis::RatioAxis;
use crate::{insert, number, order};
use rqps_analysis::findings::TestFindings;
use serde::Serialize;

/// Results at one number of clients.
#[derive(Serialize)]
pub(super) struct Level {
    /// Empty where the campaign has one level only.
    title: String,
    matrix: Option<Matrix>,
    builds: Vec<Build>,
}

/// One build's table with intervals.
#[derive(Serialize)]
struct Build {
    name: String,
    base: String,
    /// Whether the table is shown at once.
    open: bool,
    ticks: Vec<Tick>,
    blocks: Vec<Block>,
    /// How many intervals reach beyond the axis.
    clipped: usize,
    /// Whether a round's inside is drawn.
    has_inside: bool,
    /// Whether a row is marked as measured beside too few writes.
    has_missed: bool,
}

#[derive(Serialize)]
struct Block {
    title: &'static str,
    rows: Vec<Row>,
    group: Option<Group>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    id: String,
    base: String,
    new: String,
    unit: &'static str,
    tip: String,
    shown: Option<Shown>,
    plot: minijinja::Value,
    /// Estimate, written at the edge when it lies beyond the axis.
    beyond: String,
}

#[derive(Serialize)]
struct Group {
    median: String,
    range: String,
    shown: Option<Shown>,
    plot: minijinja::Value,
}

pub(super) fn levels(scene: &Scene<'_>) -> Vec<Level> {
    let levels = order::levels(scene.findings);
    let single = levels.len() == 1;
    levels
        .iter()
        .map(|level| Level {
            title: if single { String::new() } else { order::plural(u64::from(level.clients), "client") },
            matrix: matrix::matrix(scene, level),
            builds: scene.others.iter().map(|index| build(scene, level, *index)).collect(),
        })
        .collect()
}

fn build(scene: &Scene<'_>, level: &order::Level<'_>, index: usize) -> Build {
    let tests = || level.blocks.iter().flat_map(|block| &block.tests).map(|(_, test)| *test);
    let of_test = |test: &TestFindings| {
        let cell = &test.cells[index];
        Some((cell.comparison.as_ref()?.rqps, Interval::of(cell)))
    };
    let shown: Vec<(f64, Interval)> = tests().filter_map(of_test).collect();
    let ends: Vec<(f64, f64)> =
        shown.iter().map(|(rqps, interval)| interval.ends().unwrap_or((*rqps, *rqps))).collect();
    let axis = RatioAxis::fit(&ends, scene.margin());
    Build {
        name: scene.names[index].clone(),
        base: scene.names[scene.findings.base].clone(),
        open: scene.others.len() == 1,
        ticks: axis.ticks(),
        blocks: level.blocks.iter().map(|found| block(scene, level.clients, found, index, axis)).collect(),
        has_inside: shown.iter().any(|(_, interval)| matches!(interval, Interval::Inside(..))),
        has_missed: tests().any(|test| !insert::ratio_sign(scene.findings, test, index).is_empty()),
        clipped: shown.iter().filter(|(rqps, interval)| interval::is_clipped(axis, *rqps, *interval)).count(),
    }
}

fn block(scene: &Scene<'_>, clients: u32, block: &order::Block<'_>, index: usize, axis: RatioAxis) -> Block {
    let whole = |comparison| (comparison, Interval::over_rounds(comparison));
    let group = order::group_of(scene.findings, block.group, clients, index).map(|group| Group {
        median: number::ratio(group.median),
        range: format!("{} to {}", number::ratio(group.min), number::ratio(group.max)),
        shown: group.comparison.as_ref().map(shown),
        plot: interval::row(axis, group.comparison.as_ref().map(whole), scene.margin(), Rounds::Hidden),
    });
    Block {
        title: block.title,
        rows: block.tests.iter().map(|(at, test)| row(scene, *at, test, index, axis)).collect(),
        group,
    }
}

fn row(scene: &Scene<'_>, at: usize, test: &TestFindings, index: usize, axis: RatioAxis) -> Row {
    let throughput = |index: usize| super::test::throughput(&test.cells[index]);
    let cell = &test.cells[index];
    let comparison = cell.comparison.as_ref();
    let beyond = comparison.map(|c| (c.rqps, axis.place(c.rqps)));
    Row {
        name: test.name.clone(),
        id: super::test::id(at),
        base: throughput(scene.findings.base),
        new: throughput(index),
        unit: test.unit.symbol(),
        tip: matrix::tip(scene, test, index),
        shown: shown_cell(scene, test, index),
        plot: interval::row(axis, comparison.map(|c| (c, Interval::of(cell))), scene.margin(), Rounds::Hidden),
        beyond: match beyond {
            Some((ratio, place)) if place > 100.0 => format!("right {}", number::change(ratio)),
            Some((ratio, place)) if place < 0.0 => format!("left {}", number::change(ratio)),
            _ => String::new(),
        },
    }
}
