//! One section per test, those that changed first: rounds, time series, latency, costs, counters, SQL, plans, errors.

use super::cost::{self, Table};
use super::explained::{self, Amounts};
use super::plan::{self, StatementPlans};
use super::profile::{self, Profile};
use super::scene::{Notice, Scene, Shown, absence, latency_change, notice, shown_cell, test_id, throughput};
use super::statement_times::{self, StatementTimes};
use super::timeline::{self, Timeline};
use crate::footnote::{begun, is_of_timeline};
use crate::interval::Interval;
use crate::order::grouped;
use crate::svg::interval::{self, Rounds};
use crate::svg::ratio_axis::RatioAxis;
use crate::svg::{Plot, Tick, latency, series};
use crate::{metric, not_sampled, number, rounds, suite, why};
use rqps_analysis::findings::{Comparison, TestFindings};
use rqps_model::sample::ErrorCount;
use rqps_model::{Interleave, Verdict, WarningKind, plural};
use serde::Serialize;

/// All tests, in two lists.
#[derive(Serialize)]
pub(super) struct Tests {
    /// Regressed or improved on some build, the largest change first.
    changed: Vec<Test>,
    /// All others, in published order.
    others: Vec<Test>,
}

/// One test.
#[derive(Serialize)]
struct Test {
    id: String,
    name: String,
    group: &'static str,
    clients: String,
    /// Clients again beside the name, where the campaign has several levels.
    level: String,
    interleave: String,
    unit: &'static str,
    open: bool,
    /// Place in published order, for sorting back.
    rank: usize,
    /// Size of the largest change, for sorting.
    size: f64,
    /// How many half widths of its interval a ratio is away from 1, at most: what is clear comes first, however small.
    clear: f64,
    /// Verdicts present.
    verdicts: String,
    chips: Vec<Chip>,
    /// Ratio of the only build; empty where there are many.
    headline: Option<Shown>,
    /// By build that changed: what stands behind it, and what else is told of it.
    why: Vec<(String, String, Vec<String>)>,
    /// By build, in a test that sends several kinds of statement.
    statement_times: Vec<StatementTimes>,
    /// By build whose functions were sampled.
    profiles: Vec<Profile>,
    /// By build whose sessions were asked what they wait for.
    explained: Vec<Amounts>,
    /// What could not be sampled.
    not_sampled: Vec<String>,
    ticks: Vec<Tick>,
    rows: Vec<Row>,
    /// What a test recorded by the second shows in place of series and latency.
    timeline: Option<Timeline>,
    /// Whether a round's inside is drawn.
    has_inside: bool,
    /// What an interval in parentheses says; empty where there is none.
    one_round: &'static str,
    series: Option<Plot>,
    latency: Option<Plot>,
    latencies: Option<Table>,
    costs: Option<Table>,
    /// What they are per: a statement, a thousand rows.
    costs_per: &'static str,
    cpu_events: Option<Table>,
    counters: Vec<(String, Table)>,
    /// What a thousand of is what they are per.
    counted_by: &'static str,
    statements: Vec<(String, String)>,
    plans: Vec<StatementPlans>,
    plans_differ: bool,
    /// By build.
    errors: Vec<(String, ErrorCount, &'static str)>,
    /// Kinds with builds and warnings.
    warnings: Vec<(WarningKind, Vec<(String, Notice)>)>,
}

/// A build's verdict as a small square.
#[derive(Serialize)]
struct Chip {
    class: String,
    glyph: &'static str,
    name: String,
}

#[derive(Serialize)]
struct Row {
    name: String,
    index: usize,
    colour: String,
    throughput: String,
    rounds: u32,
    shown: Option<Shown>,
    plot: minijinja::Value,
    is_base: bool,
    absence: String,
}

/// With more changed tests than this, none is open at first.
const OPEN: usize = 3;

pub(super) fn tests(scene: &Scene<'_>) -> Tests {
    let all = scene.findings.tests.iter().enumerate().map(|(index, found)| test(scene, index, found));
    let is_in_order = scene.findings.campaign.is_in_order;
    // Where each test begins with what the one before left, they stay in their order.
    let is_changed = |test: &Test| !is_in_order && has_changed(test);
    let (mut changed, mut others): (Vec<Test>, Vec<Test>) = all.partition(is_changed);
    changed.sort_by(|a, b| b.size.total_cmp(&a.size));
    let mut shown_first: Vec<&mut Test> =
        changed.iter_mut().chain(&mut others).filter(|test| has_changed(test)).collect();
    if shown_first.len() <= OPEN {
        shown_first.iter_mut().for_each(|test| test.open = true);
    }
    if is_in_order && let Some(first) = others.first_mut() {
        first.open = true;
    }
    Tests { changed, others }
}

fn has_changed(test: &Test) -> bool {
    test.verdicts.contains("regressed") || test.verdicts.contains("improved")
}

fn test(scene: &Scene<'_>, index: usize, test: &TestFindings) -> Test {
    let comparisons: Vec<_> = scene.others.iter().filter_map(|at| test.cells[*at].comparison.as_ref()).collect();
    let has = |verdict: Verdict| comparisons.iter().any(|c| c.verdict == verdict);
    let verdicts: Vec<&str> = Verdict::ALL.into_iter().filter(|v| has(*v)).map(Verdict::name).collect();
    let sizes = comparisons.iter().filter(|c| c.verdict.is_change()).map(|c| c.rqps.ln().abs());
    let ends = scene.others.iter().filter_map(|at| Interval::of(&test.cells[*at]).ends());
    let rounds = comparisons.iter().flat_map(|c| c.by_round.iter().map(|round| round.rqps).chain([c.rqps]));
    let values: Vec<f64> = ends.flat_map(|(low, high)| [low, high]).chain(rounds).collect();
    let axis = RatioAxis::around(&values, scene.margin());
    let plans = plan::plans(scene, test);
    // Whole events come first where they were measured.
    let kind = test.cells.iter().flat_map(|cell| &cell.latency).map(|latency| latency.kind.as_str()).next();
    let timeline = timeline::timeline(scene, test);
    let has_timeline = timeline.is_some();
    Test {
        id: test_id(index),
        name: test.name.clone(),
        group: test.group.title(),
        clients: plural(test.clients, "client"),
        level: scene.level(test.clients),
        interleave: match test.interleave {
            Some(Interleave::Slices) => "builds alternated in slices".to_owned(),
            Some(Interleave::Turns) => "builds alternated in turns".to_owned(),
            None if scene.findings.campaign.is_in_order => "whole passes, one build after the other".to_owned(),
            None => "one build after the other".to_owned(),
        },
        unit: test.unit.symbol(),
        open: false,
        rank: index,
        size: sizes.fold(0.0, f64::max),
        clear: comparisons.iter().filter_map(|comparison| clearness(comparison)).fold(0.0, f64::max),
        verdicts: verdicts.join(" "),
        chips: scene.others.iter().map(|at| chip(scene, test, *at)).collect(),
        headline: match scene.others[..] {
            [only] => headline(scene, test, only),
            _ => None,
        },
        why: why_of(scene, test),
        statement_times: statement_times::statement_times(scene, test),
        profiles: profile::profiles(scene, test, &test_id(index)),
        explained: [explained::statements, explained::waits, explained::stacks, explained::calls]
            .map(|of| of(scene, test))
            .concat(),
        not_sampled: not_sampled::sentences(test.cells.iter().map(|cell| (test, cell)))
            .iter()
            .map(|it| begun(it))
            .collect(),
        ticks: axis.ticks(),
        rows: scene.base_first().into_iter().map(|at| row(scene, test, at, axis)).collect(),
        timeline,
        has_inside: scene.others.iter().any(|at| matches!(Interval::of(&test.cells[*at]), Interval::Inside(..))),
        one_round: match comparisons.iter().any(|comparison| comparison.n == 1) && has_timeline {
            true => rounds::ONE_ROUND,
            false => "",
        },
        series: series::plot(test, &scene.colours, unit_in_words(test)),
        latency: kind.filter(|_| !has_timeline).and_then(|kind| latency::plot(test, kind, &scene.colours)),
        latencies: if has_timeline { None } else { cost::latencies(scene, test) },
        costs: cost::costs(scene, test),
        costs_per: metric::per(scene.findings, test),
        cpu_events: cost::cpu_events(scene, test),
        counters: cost::counters(scene, test),
        counted_by: suite::operation(scene.findings),
        statements: test.statements.clone(),
        plans_differ: plans.iter().any(|plan| plan.differs),
        plans,
        errors: errors(scene, test),
        warnings: warnings(scene, test),
    }
}

/// What stands behind each change, with the build's name where there are several.
fn why_of(scene: &Scene<'_>, test: &TestFindings) -> Vec<(String, String, Vec<String>)> {
    let name = |index: usize| if scene.others.len() > 1 { scene.names[index].clone() } else { String::new() };
    let of = |index: &usize| {
        let sentence = begun(&why::sentence(scene.findings, test, *index)?);
        let more = why::more(scene.findings, test, *index);
        Some((name(*index), sentence, more.iter().map(|words| begun(words)).collect()))
    };
    scene.others.iter().filter_map(of).collect()
}

/// The ratio of the only build; in an open loop, where no interval belongs to it, how its latency compares.
fn headline(scene: &Scene<'_>, test: &TestFindings, index: usize) -> Option<Shown> {
    let mut shown = shown_cell(scene, test, index)?;
    if scene.findings.is_open_loop() && Interval::of(&test.cells[index]) == Interval::Unknown {
        shown.interval = latency_change(test, scene.findings.base, index).join(", ");
    }
    Some(shown)
}

/// The log ratio in half widths of its interval, to a hundredth.
fn clearness(comparison: &Comparison) -> Option<f64> {
    let (low, high) = Interval::over_rounds(comparison).ends()?;
    let clear = 2.0 * comparison.rqps.ln().abs() / (high / low).ln();
    clear.is_finite().then(|| (clear * 100.0).round() / 100.0)
}

fn unit_in_words(test: &TestFindings) -> &'static str {
    match test.unit {
        rqps_model::Unit::QueriesPerSecond => "Queries per second",
        rqps_model::Unit::RowsPerSecond => "Rows per second",
        rqps_model::Unit::NewOrdersPerMinute => "New orders per minute",
        rqps_model::Unit::KiloRowsPerSecond => "Thousands of rows per second and client",
    }
}

fn chip(scene: &Scene<'_>, test: &TestFindings, index: usize) -> Chip {
    let name = scene.names[index].clone();
    match shown_cell(scene, test, index) {
        Some(shown) => {
            Chip { name: format!("{name}: {} {}", shown.word, shown.ratio), class: shown.class, glyph: shown.glyph }
        }
        None => Chip { class: "none".to_owned(), glyph: number::NONE, name: format!("{name}: no comparison") },
    }
}

fn row(scene: &Scene<'_>, test: &TestFindings, index: usize, axis: RatioAxis) -> Row {
    let cell = &test.cells[index];
    let is_base = index == scene.findings.base;
    Row {
        name: scene.names[index].clone(),
        index,
        colour: scene.colours[index].clone(),
        throughput: throughput(cell),
        rounds: cell.rounds,
        shown: shown_cell(scene, test, index),
        plot: interval::row(
            axis,
            cell.comparison.as_ref().map(|c| (c, Interval::of(cell))),
            scene.margin(),
            Rounds::Dots,
        ),
        is_base,
        absence: if is_base || cell.comparison.is_some() { String::new() } else { absence(cell) },
    }
}

/// Errors with their class.
fn errors(scene: &Scene<'_>, test: &TestFindings) -> Vec<(String, ErrorCount, &'static str)> {
    let of = |index: usize| {
        test.cells[index]
            .errors
            .iter()
            .map(move |error| (scene.names[index].clone(), error.clone(), error.class().name()))
    };
    scene.base_first().into_iter().flat_map(of).collect()
}

/// By kind; a warning that several builds share stands once.
fn warnings(scene: &Scene<'_>, test: &TestFindings) -> Vec<(WarningKind, Vec<(String, Notice)>)> {
    let of_build = |index: usize| {
        let cell = &test.cells[index];
        let shown = cell.warnings.iter().filter(move |warning| !is_of_timeline(cell, warning));
        shown.map(move |warning| (warning, index))
    };
    let by_warning = grouped(scene.base_first().into_iter().flat_map(of_build));
    grouped(by_warning.into_iter().map(|(warning, builds)| (warning.kind, (scene.joined(&builds), notice(warning)))))
}
