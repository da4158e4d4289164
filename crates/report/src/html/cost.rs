//! Tables of one test whose columns are the builds: costs per operation, what the CPU counted, latencies, server
//! counters that moved.

use super::scene::Scene;
use crate::{latency, metric, number, order, verdict_style};
use rqps_analysis::count_title;
use rqps_analysis::findings::{
    CellFindings, CounterFindings, CounterUnit, LatencyFindings, TestFindings, WorkFindings,
};
use rqps_model::{Engine, Verdict};
use serde::Serialize;

/// A table with a name in front of each row.
#[derive(Serialize)]
pub(super) struct Table {
    /// How many builds there are: few fit beside another table.
    builds: usize,
    heads: Vec<String>,
    rows: Vec<Row>,
    /// Whether a number has a verdict of its own.
    has_verdicts: bool,
}

#[derive(Serialize)]
pub(super) struct Row {
    name: String,
    cells: Vec<Cell>,
}

/// A value and, where it has one, its ratio to the base.
#[derive(Serialize)]
struct Cell {
    value: String,
    relative: String,
    /// Whether it moved by more than the eye should pass over.
    moved: bool,
    /// Of what was compared with the base's by round.
    judged: Option<JudgedMeasure>,
}

/// The verdict on a quantile of latency or on a cost.
#[derive(Serialize)]
pub(super) struct JudgedMeasure {
    hue: &'static str,
    glyph: &'static str,
    /// Ratio, interval and verdict, in words.
    tip: String,
    is_changed: bool,
}

impl JudgedMeasure {
    pub(super) fn of(cell: &CellFindings, measure: &str) -> Option<Self> {
        let one = cell.measure(measure)?;
        let remark = one.remark.as_ref().map_or_else(String::new, |remark| format!(", {remark}"));
        Some(Self {
            hue: verdict_style::hue(one.verdict),
            glyph: verdict_style::glyph(one.verdict),
            tip: format!("{} {}{remark}", latency::interval(one), one.verdict),
            is_changed: one.verdict.is_change(),
        })
    }
}

/// A cost or counter that moved by more than this stands out; half of it hides in noise.
const STANDS_OUT: f64 = 0.05;

/// The kind of whole events.
const EVENT: &str = "event";

/// Counters shown per test.
const COUNTERS: usize = 12;

impl Table {
    /// Without weight on what moved in undecided cells: where throughput may not have changed, nothing else is
    /// highlighted but what has a verdict of its own.
    pub(super) fn weighed(mut self, scene: &Scene<'_>, test: &TestFindings) -> Table {
        let index = |head: &String| scene.names.iter().position(|name| name == head);
        let is_decided = |index: usize| {
            test.cells[index].comparison.as_ref().is_some_and(|found| found.verdict != Verdict::Undecided)
        };
        for (column, head) in self.heads.iter().enumerate() {
            if !index(head).is_some_and(is_decided) {
                self.rows.iter_mut().for_each(|row| row.cells[column].moved = false);
            }
            for cell in self.rows.iter_mut().map(|row| &mut row.cells[column]) {
                cell.moved = cell.judged.as_ref().map_or(cell.moved, |judged| judged.is_changed);
            }
        }
        self
    }
}

fn heads(scene: &Scene<'_>) -> Vec<String> {
    scene.base_first().into_iter().map(|index| scene.names[index].clone()).collect()
}

/// `None` without rows.
pub(super) fn table(scene: &Scene<'_>, rows: Vec<Row>) -> Option<Table> {
    let heads = heads(scene);
    let has_verdicts = rows.iter().flat_map(|row| &row.cells).any(|cell| cell.judged.is_some());
    (!rows.is_empty()).then_some(Table { builds: heads.len(), heads, rows, has_verdicts })
}

fn cell(value: String, relative: Option<f64>) -> Cell {
    let moved = relative.is_some_and(|r| r == 0.0 || r.ln().abs() > STANDS_OUT.ln_1p());
    Cell { value, relative: relative.map_or_else(String::new, number::change), moved, judged: None }
}

/// A share of a whole, and by how many percentage points it differs from the base's.
fn share(value: f64, base: Option<f64>) -> Cell {
    let difference = base.map(|base| value - base);
    let moved = difference.is_some_and(|difference| difference.abs() > STANDS_OUT);
    Cell {
        value: number::percent(value),
        relative: difference.map_or_else(String::new, number::points),
        moved,
        judged: None,
    }
}

fn empty() -> Cell {
    Cell { value: number::NONE.to_owned(), relative: String::new(), moved: false, judged: None }
}

/// A row of one number: the base's, and each other build's with its ratio to it.
pub(super) fn row(
    scene: &Scene<'_>,
    name: String,
    value: impl Fn(usize) -> Option<f64>,
    show: impl Fn(f64) -> String,
) -> Row {
    let base = value(scene.findings.base).filter(|base| *base > 0.0);
    let of = |index: usize| match value(index) {
        Some(value) => {
            let relative = base.filter(|_| index != scene.findings.base).map(|base| value / base);
            cell(show(value), relative)
        }
        None => empty(),
    };
    Row { name, cells: scene.base_first().into_iter().map(of).collect() }
}

/// A row of one share of a whole.
pub(super) fn shares(scene: &Scene<'_>, name: String, value: impl Fn(usize) -> Option<f64>) -> Row {
    let base = value(scene.findings.base);
    let is_compared = |index: usize| index != scene.findings.base;
    let of = |index: usize| value(index).map_or_else(empty, |value| share(value, base.filter(|_| is_compared(index))));
    Row { name, cells: scene.base_first().into_iter().map(of).collect() }
}

/// Costs per operation; metrics that are zero on all builds are left out.
pub(super) fn costs(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    let used = |metric: &&metric::Metric| {
        test.cells.iter().filter_map(|c| c.cost.as_ref()).any(|c| (metric.cost.of)(c) != 0.0)
    };
    let row = |metric: &metric::Metric| {
        if metric.is_share() {
            let value = |index: usize| test.cells[index].cost.as_ref().map(metric.cost.of);
            return shares(scene, metric.title.to_owned(), value);
        }
        let cells = scene.base_first().into_iter().map(|index| match &test.cells[index].cost {
            Some(cost) => {
                let relative = cost.relative.get(metric.cost.name).copied().filter(|_| index != scene.findings.base);
                let judged = JudgedMeasure::of(&test.cells[index], metric.cost.name);
                Cell { judged, ..cell((metric.show)((metric.cost.of)(cost)), relative) }
            }
            None => empty(),
        });
        Row { name: metric.title.to_owned(), cells: cells.collect() }
    };
    let rows: Vec<Row> = metric::ALL.iter().filter(used).map(row).collect();
    table(scene, rows).map(|table| table.weighed(scene, test))
}

/// What the CPU counted per operation, and for which part of the time, where that is not all of it; amounts that stand
/// for more than was counted have a sign before them.
pub(super) fn cpu_events(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    let found = |index: usize, name: &str| test.cells[index].work(name).filter(|work| work.counted.is_some());
    let counted = test.cells.iter().flat_map(|cell| &cell.work).filter(|work| work.counted.is_some());
    let names = order::distinct(counted.map(|work| work.name.as_str()));
    let per_op = |name: &str| {
        let mut row = row(scene, count_title(name).to_owned(), |at| Some(found(at, name)?.per_op), metric::count);
        for (cell, index) in row.cells.iter_mut().zip(scene.base_first()) {
            cell.judged = JudgedMeasure::of(&test.cells[index], name);
            if found(index, name).is_some_and(WorkFindings::is_scaled) {
                cell.value.insert_str(0, "≈ ");
            }
        }
        row
    };
    let mut rows: Vec<Row> = names.iter().map(|name| per_op(name)).collect();
    let of_itself = |at: usize| Some(1.0 / found(at, WorkFindings::CYCLES_PER_INSTRUCTION)?.per_op);
    if (0..test.cells.len()).any(|at| of_itself(at).is_some()) {
        rows.push(row(scene, "instructions of a cycle (IPC)".to_owned(), of_itself, metric::count));
    }
    let least = |at: usize| names.iter().filter_map(|name| found(at, name)?.counted).reduce(f64::min);
    if (0..test.cells.len()).filter_map(least).any(|share| share < 1.0) {
        rows.push(shares(scene, "counted for this part of the time, at least".to_owned(), least));
    }
    table(scene, rows).map(|table| table.weighed(scene, test))
}

/// Latency at the usual percentiles, for events and each statement kind.
pub(super) fn latencies(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    const NAMES: [&str; 6] = ["p50", "p90", "p95", "p99", "p99.9", "max"];
    let latencies = test.cells.iter().flat_map(|cell| &cell.latency);
    let mut kinds = order::distinct(latencies.map(|latency| latency.kind.as_str()));
    kinds.retain(|kind| *kind == EVENT || !test.cells.iter().all(|cell| is_event(cell, kind)));
    let of = |index: usize, kind: &str| of_kind(&test.cells[index], kind);
    let mut rows = Vec::new();
    for kind in &kinds {
        // All percentiles of whole events, the two that matter most of each statement inside them.
        let chosen: &[usize] = if *kind == EVENT || kinds.len() == 1 { &[0, 1, 2, 3, 4, 5] } else { &[0, 3] };
        for at in chosen {
            let us = |index: usize| of(index, kind).map(|latency| latency.quantiles_us[*at]);
            let mut row = row(scene, format!("{kind} {}", NAMES[*at]), us, number::duration_us);
            if *kind == EVENT {
                for (cell, index) in row.cells.iter_mut().zip(scene.base_first()) {
                    cell.judged = JudgedMeasure::of(&test.cells[index], NAMES[*at]);
                }
            }
            rows.push(row);
        }
    }
    table(scene, rows).map(|table| table.weighed(scene, test))
}

fn of_kind<'a>(cell: &'a CellFindings, kind: &str) -> Option<&'a LatencyFindings> {
    cell.latency.iter().find(|latency| latency.kind == kind)
}

/// Whether a statement took what the event took that consists of it alone, so that its rows would be the same again. In
/// an open loop they are not: an event may begin late.
fn is_event(cell: &CellFindings, kind: &str) -> bool {
    let same = |(event, other): (&LatencyFindings, &LatencyFindings)| {
        event.count == other.count && event.quantiles_us == other.quantiles_us
    };
    of_kind(cell, kind).is_none() || of_kind(cell, EVENT).zip(of_kind(cell, kind)).is_some_and(same)
}

/// Server counters with their title, engine by engine, since engines have none in common: those that moved on any
/// build, those that moved most first; where an engine has one build only, the largest.
pub(super) fn counters(scene: &Scene<'_>, test: &TestFindings) -> Vec<(String, Table)> {
    let engines = order::engines(scene.findings);
    let of_engine = |engine: &Engine| {
        let builds: Vec<usize> = scene
            .base_first()
            .into_iter()
            .filter(|index| scene.findings.treatments[*index].build.engine == *engine)
            .collect();
        let names = match builds[..] {
            [only] if engines.len() > 1 => {
                test.cells[only].counters.iter().take(COUNTERS).map(|counter| counter.name.as_str()).collect()
            }
            _ => moved(test, &builds),
        };
        let title = match (engines.len(), builds.len()) {
            (1, _) => "Server counters that moved".to_owned(),
            (_, 1) => format!("Largest counters of {}", engine.title()),
            _ => format!("Counters of {} that moved", engine.title()),
        };
        let rows: Vec<Row> = names.into_iter().map(|name| counter_row(test, &builds, name)).collect();
        let heads: Vec<String> = builds.iter().map(|index| scene.names[*index].clone()).collect();
        let table = Table { builds: heads.len(), heads, rows, has_verdicts: false };
        (!table.rows.is_empty()).then(|| (title, table.weighed(scene, test)))
    };
    engines.iter().filter_map(of_engine).collect()
}

fn moved<'a>(test: &'a TestFindings, builds: &[usize]) -> Vec<&'a str> {
    let counters = builds.iter().flat_map(|index| &test.cells[*index].counters);
    let sizes = order::grouped(counters.map(|counter| (counter.name.as_str(), movement(counter))));
    let largest = |sizes: Vec<f64>| sizes.into_iter().fold(0.0, f64::max);
    let mut moved: Vec<(&str, f64)> = sizes.into_iter().map(|(name, sizes)| (name, largest(sizes))).collect();
    moved.retain(|(_, size)| *size > STANDS_OUT.ln_1p());
    moved.sort_by(|a, b| b.1.total_cmp(&a.1));
    moved.truncate(COUNTERS);
    moved.into_iter().map(|(name, _)| name).collect()
}

fn counter_row(test: &TestFindings, builds: &[usize], name: &str) -> Row {
    let cells =
        builds.iter().map(|index| match test.cells[*index].counters.iter().find(|counter| counter.name == name) {
            Some(counter) => cell(with_unit(counter), counter.relative),
            None => empty(),
        });
    Row { name: name.to_owned(), cells: cells.collect() }
}

/// Its value in the unit that it has.
fn with_unit(counter: &CounterFindings) -> String {
    let value = counter.per_kilo_op;
    match counter.unit() {
        Some(CounterUnit::Microseconds(us)) => number::duration_us(value * us),
        Some(CounterUnit::Bytes) if value != 0.0 => number::bytes(value),
        _ => number::significant(value, 3),
    }
}

/// How far a counter moved, as the size of a log ratio; from or to nothing counts as far. Levels that rose on one side
/// and fell on the other have no ratio.
fn movement(counter: &CounterFindings) -> f64 {
    match counter.relative {
        Some(relative) if relative > 0.0 => relative.ln().abs(),
        Some(0.0) => 10.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_unit_that_their_name_tells() {
        let check = |name: &str, per_kilo_op: f64, expected: &str| {
            let counter = CounterFindings { name: name.to_owned(), per_kilo_op, relative: None };
            assert_eq!(with_unit(&counter), expected, "{name}");
        };
        check("pg_stat_database.active_time", 61.4, "61.4 ms");
        check("pg_stat_wal.wal_bytes", 151_552.0, "148 KiB");
        check("pg_stat_wal.wal_fpi", 3.004, "3.00");
        check("status.Rocksdb_stall_micros", 0.0, "0");
    }
}
