//! `rqps compare --json`: one flat row per test and treatment, for scripts.
//!
//! The shape is a contract. Top level: `format` (1), `campaign`, `suite`, `base`, `margin`, `rounds`, `treatments`
//! (`name`, `engine`, `version`, `storage_engine`, `sentence`, counts by verdict), `rows`, `groups`, `planted` (of each
//! treatment in which a change was planted the `share` of a statement asked for, the true `ratio` with the `least` and
//! the `most` of a test, the `side_cost` of burning, how many `intervals` there are, and how many of them `found` it
//! and `held` the true ratio; of the base measured again `unplanted_intervals` and `unplanted_found`), `forced` (what
//! engines force to differ), `side_by_side` (their settings by what they do), `warnings`. A row has `test`, `group`,
//! `clients`, `treatment`, `base`, `rqps`, `low`, `high`, `verdict`, `n`, `mde`, `q`, `base_throughput`, `throughput`,
//! `unit`, `remark`, `latency_us` and `base_latency_us` (`p50`, `p95`, `p99` of whole events, in an open loop from
//! their planned start; `null` where events have no latency), `planted` (the true `ratio` of a planted change, also
//! `by_round`, and its `side_cost`; else `null`), `measures` (of each quantile and cost that is known its `measure`,
//! `ratio` to the base, `low`, `high`, `by_round`, `verdict`, `remark`, `n`, `mde`, `q`), `statement_times` (of tests
//! that send several kinds of statement) and the `warnings` of its cell; of the Insert Benchmark also `sla` and
//! `base_sla` (whether background inserts kept up in every round: `held`, `missed`; `null` where nothing writes behind
//! queries; a ratio with a missed one does not compare), `stalls` (seconds of all rounds in which next to nothing was
//! inserted), `inside` (of a single round the interval `[low, high]` that the seconds inside the two runs tell: how
//! steady they were, no interval over rounds) and `failure` (why the step failed in some round); elsewhere these are
//! `null`. A warning has `kind`, `cause`, `advice` and `in_full` (the whole list where the cause has only the first of
//! it). Every key is always there; what is not known is `null`. Ratios and shares are fractions in full precision. Keys
//! may be added, none is renamed or removed within a format.

use crate::rounds;
use crate::{latency, order};
use rqps_analysis::findings::{
    CellFindings, Comparison, Findings, GroupFindings, PlantedFindings, TestFindings, Warning,
};
use rqps_model::{StorageEngine, Verdict};
use serde_json::{Value, json};

/// Version of this shape.
const FORMAT: u32 = 1;

/// The comparison as indented JSON.
pub fn compare_json(findings: &Findings) -> String {
    let others = order::others(findings);
    let rows = findings.tests.iter().flat_map(|test| others.iter().map(move |index| row(findings, test, *index)));
    let document = json!({
        "format": FORMAT,
        "campaign": findings.campaign.name,
        "suite": findings.campaign.suite.name(),
        "base": base(findings),
        "margin": findings.campaign.margin,
        "rounds": findings.campaign.rounds_complete,
        "treatments": (0..findings.treatments.len()).map(|index| treatment(findings, index)).collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
        "groups": findings.groups.iter().map(|g| group(findings, g)).collect::<Vec<_>>(),
        "planted": findings.planted.iter().map(|one| planted(findings, one)).collect::<Vec<_>>(),
        "forced": findings.forced,
        "side_by_side": findings.side_by_side,
        "warnings": warnings(&findings.warnings),
    });
    format!("{document:#}\n")
}

fn base(findings: &Findings) -> &str {
    &findings.treatments[findings.base].name
}

fn treatment(findings: &Findings, index: usize) -> Value {
    let treatment = &findings.treatments[index];
    let counted = Verdict::ALL.into_iter().zip(treatment.counts);
    let counts = counted.map(|(verdict, count)| (verdict.name().to_owned(), Value::from(count)));
    json!({
        "name": treatment.name,
        "engine": treatment.build.engine.name(),
        "version": treatment.build.version.to_string(),
        "storage_engine": treatment.storage.map(StorageEngine::name),
        "sentence": treatment.sentence,
        "counts": counts.collect::<serde_json::Map<_, _>>(),
        "warnings": warnings(&treatment.warnings),
    })
}

fn row(findings: &Findings, test: &TestFindings, index: usize) -> Value {
    let cell = &test.cells[index];
    let comparison = cell.comparison.as_ref();
    let is_recorded = !cell.timelines.is_empty();
    let mut row = json!({
        "test": test.name,
        "group": test.group.name(),
        "clients": test.clients,
        "treatment": findings.treatments[index].name,
        "base": base(findings),
        "base_throughput": test.cells[findings.base].throughput,
        "throughput": cell.throughput,
        "unit": test.unit.symbol(),
        "latency_us": latency_us(cell),
        "base_latency_us": latency_us(&test.cells[findings.base]),
        "measures": cell.measures,
        "statement_times": cell.statement_times,
        "sla": sla(cell),
        "base_sla": sla(&test.cells[findings.base]),
        "stalls": is_recorded.then(|| rounds::stalled_seconds(cell)),
        "inside": cell.inside.map(|inside| [inside.low, inside.high]),
        "failure": rounds::failure(cell),
        "planted": cell.planted,
        "warnings": warnings(&cell.warnings),
    });
    add_comparison(&mut row, comparison);
    row
}

fn planted(findings: &Findings, planted: &PlantedFindings) -> Value {
    let mut all = json!(planted);
    all["treatment"] = json!(findings.treatments[planted.treatment].name);
    all
}

fn latency_us(cell: &CellFindings) -> Option<Value> {
    let [p50, _, p95, p99, ..] = latency::events(cell)?;
    Some(json!({ "p50": p50, "p95": p95, "p99": p99 }))
}

fn sla(cell: &CellFindings) -> Option<&'static str> {
    Some(if cell.sla?.is_held() { "held" } else { "missed" })
}

fn group(findings: &Findings, group: &GroupFindings) -> Value {
    let mut row = json!({
        "group": group.group.name(),
        "clients": group.clients,
        "treatment": findings.treatments[group.treatment].name,
        "base": base(findings),
        "tests": group.tests,
        "min": group.min,
        "median": group.median,
        "mean": group.mean,
        "max": group.max,
    });
    add_comparison(&mut row, group.comparison.as_ref());
    row
}

fn add_comparison(row: &mut Value, comparison: Option<&Comparison>) {
    let all = json!(comparison);
    for key in ["rqps", "low", "high", "verdict", "n", "mde", "q", "remark"] {
        row[key] = all[key].clone();
    }
}

fn warnings(warnings: &[Warning]) -> Vec<Value> {
    let view = |w: &Warning| json!({ "kind": w.kind, "cause": w.cause, "advice": w.advice, "in_full": w.in_full });
    warnings.iter().map(view).collect()
}
