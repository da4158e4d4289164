//! The results at each number of clients: the matrix, and per build the table with the interval plot.

use super::cost::JudgedMeasure;
use super::matrix::{self, Matrix};
use super::scene::{Scene, Shown, shown, shown_cell, test_id, throughput};
use crate::interval::Interval;
use crate::latency::{self, Quantile};
use crate::rounds;
use crate::svg::Tick;
use crate::svg::interval::{self, Rounds};
use crate::svg::ratio_axis::RatioAxis;
use crate::{number, order, suite};
use rqps_analysis::findings::TestFindings;
use serde::Serialize;

/// Results at one number of clients.
#[derive(Serialize)]
pub(super) struct Level {
    /// Empty where the campaign has one level only.
    title: String,
    matrix: Option<Matrix>,
    builds: Vec<Build>,
    /// What changes cost a day; the first line says so.
    day: Vec<String>,
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
    /// Whether a row is marked as measured alongside too few writes.
    has_missed: bool,
    /// Whether a row sums up a group.
    has_groups: bool,
    /// Whether a row has an interval; in an open loop only those have one whose builds did not keep up.
    has_intervals: bool,
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
    /// In an open loop, in place of the plot.
    latencies: Vec<Latency>,
    /// Estimate, written at the edge when it lies beyond the axis.
    beyond: String,
}

/// A quantile of the events' latency.
#[derive(Serialize)]
struct Latency {
    name: &'static str,
    base: String,
    new: String,
    change: String,
    judged: Option<JudgedMeasure>,
}

#[derive(Serialize)]
struct Group {
    median: String,
    range: String,
    shown: Option<Shown>,
    plot: minijinja::Value,
}

/// Of no more builds than this the tables with intervals stand open.
const OPEN: usize = 3;

pub(super) fn levels(scene: &Scene<'_>) -> Vec<Level> {
    order::levels(scene.findings)
        .iter()
        .map(|level| Level {
            title: scene.level(level.clients),
            matrix: matrix::matrix(scene, level),
            builds: scene.others.iter().map(|index| build(scene, level, *index)).collect(),
            day: suite::day(scene.findings, level),
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
    let blocks: Vec<Block> = level.blocks.iter().map(|found| block(scene, level.clients, found, index, axis)).collect();
    Build {
        name: scene.names[index].clone(),
        base: scene.names[scene.findings.base].clone(),
        open: scene.others.len() <= OPEN || scene.findings.is_open_loop(),
        ticks: axis.ticks(),
        has_groups: blocks.iter().any(|block| block.group.is_some()),
        has_intervals: shown.iter().any(|(_, interval)| *interval != Interval::Unknown),
        blocks,
        has_inside: shown.iter().any(|(_, interval)| matches!(interval, Interval::Inside(..))),
        has_missed: tests().any(|test| !rounds::ratio_sign(scene.findings, test, index).is_empty()),
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
    let cell = &test.cells[index];
    let comparison = cell.comparison.as_ref();
    let beyond = comparison.map(|c| (c.rqps, axis.place(c.rqps)));
    Row {
        name: suite::row(scene.findings, test),
        id: test_id(at),
        base: throughput(&test.cells[scene.findings.base]),
        new: throughput(cell),
        unit: test.unit.symbol(),
        tip: matrix::tip(scene, test, index),
        shown: shown_cell(scene, test, index),
        plot: interval::row(axis, comparison.map(|c| (c, Interval::of(cell))), scene.margin(), Rounds::Hidden),
        latencies: match scene.findings.is_open_loop() {
            true => latency::QUANTILES.map(|quantile| compared(scene, test, index, quantile)).into(),
            false => Vec::new(),
        },
        beyond: match beyond {
            Some((ratio, place)) if place > 100.0 => format!("right {}", number::change(ratio)),
            Some((ratio, place)) if place < 0.0 => format!("left {}", number::change(ratio)),
            _ => String::new(),
        },
    }
}

fn compared(scene: &Scene<'_>, test: &TestFindings, index: usize, (name, quantile): Quantile) -> Latency {
    let (base, cell) = (&test.cells[scene.findings.base], &test.cells[index]);
    Latency {
        name,
        base: latency::shown(base, quantile),
        new: latency::shown(cell, quantile),
        change: latency::change(base, cell, quantile),
        judged: JudgedMeasure::of(cell, name),
    }
}
