//! An Insert Benchmark that never ran: ten steps of any number of builds and rounds, with a stall, a missed target and
//! a step that failed.
//!
//! In: how many builds, rounds and seconds, and a seed. Out: findings whose parts agree. The numbers are invented and
//! must never be quoted as measurements.

use super::cell::{Draw, comparison};
use super::{Size, findings};
use rand_core::SeedableRng;
use rand_pcg::Pcg64;
use rqps_analysis::findings::{
    CellFindings, Findings, InsertColumns, InsideFindings, Mark, ResponseFindings, SlaFindings, TestFindings,
    TimelineFindings, TimelinePoint,
};
use rqps_model::Unit;
use rqps_model::insert::{Buckets, IndexBuild, Kind, Shape, Stall, Step, steps};
use rqps_model::sample::{DiskUse, Growth};
use std::collections::BTreeMap;

/// The size of an invented benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InsertSize {
    pub(crate) treatments: usize,
    pub(crate) rounds: u32,
    /// Seconds of the steps with queries, and points of every step.
    pub(crate) seconds: u32,
}

impl InsertSize {
    pub(crate) const TWO: InsertSize = InsertSize { treatments: 2, rounds: 3, seconds: 60 };
    pub(crate) const ONE_ROUND: InsertSize = InsertSize { treatments: 2, rounds: 1, seconds: 60 };
    /// The largest that the report must render in a few seconds.
    pub(crate) const LARGE: InsertSize = InsertSize { treatments: 6, rounds: 5, seconds: 600 };
}

/// The treatment whose last steps miss their target, whose l.i1 stalls and whose l.i2 fails in the last of several
/// rounds.
pub(crate) const TROUBLED: usize = 1;

/// Makes the findings.
pub(crate) fn insert_findings(size: InsertSize) -> Findings {
    let mut made =
        findings(Size { tests: 1, treatments: size.treatments, rounds: size.rounds.max(2), seconds: 2, seed: 23 });
    let shape = Shape {
        clients: 1,
        shared_table: false,
        rows_initial: 4_000_000,
        rows_written: 1_000_000,
        rates_per_s: vec![100, 500, 1000],
        seconds: f64::from(size.seconds),
        rest_seconds: 60.0,
        catch_up_seconds: 10.0,
    };
    let pattern = made.tests[0].clone();
    let mut draw = Draw(Pcg64::seed_from_u64(99));
    made.tests = steps(&shape).iter().map(|step| test(step, size, &pattern, &mut draw)).collect();
    made.groups.clear();
    made.campaign.name = "insert-small".to_owned();
    made.campaign.suite = "insert".to_owned();
    made.campaign.arrival = String::new();
    made.campaign.rounds_planned = size.rounds;
    made.campaign.rounds_complete = size.rounds;
    (made.campaign.insert, made.campaign.is_in_order) = (Some(shape), true);
    for index in 1..size.treatments {
        made.treatments[index].counts = super::counts(&made.tests, index);
        made.treatments[index].sentence =
            super::sentence(&made.treatments[index].name, made.treatments[index].counts, &made.tests, index);
    }
    made
}

fn test(step: &Step, size: InsertSize, pattern: &TestFindings, draw: &mut Draw) -> TestFindings {
    let truth = |index: usize| match (step.kind, index) {
        (_, 0) => 1.0,
        (Kind::Load, _) => 0.62 + 0.01 * index as f64,
        (Kind::Index, _) => 1.4,
        (Kind::Churn, _) => 0.97,
        (Kind::RangeQueries, _) => 1.08,
        (Kind::PointQueries, _) => 0.91,
    };
    let usual = match step.kind {
        Kind::Load => 91_000.0,
        Kind::Index => 180_000.0,
        Kind::Churn if step.batch == 5 => 2_400.0,
        Kind::Churn => 21_000.0,
        Kind::RangeQueries | Kind::PointQueries => 7_700.0,
    };
    let mut rates: Vec<Vec<f64>> = Vec::new();
    let cells = (0..size.treatments).map(|index| {
        let rounds: Vec<f64> = (0..size.rounds).map(|_| usual * truth(index) * (1.0 + 0.01 * draw.normal())).collect();
        rates.push(rounds.clone());
        cell(step, size, index, &rounds, &rates[0], &pattern.cells[index], draw)
    });
    TestFindings {
        cells: cells.collect(),
        name: step.name.clone(),
        label: step.folder.clone(),
        group: step.kind.group(),
        unit: if step.queries() { Unit::QueriesPerSecond } else { Unit::RowsPerSecond },
        clients: 1,
        interleave: None,
        statements: Vec::new(),
    }
}

fn cell(
    step: &Step,
    size: InsertSize,
    index: usize,
    rates: &[f64],
    base: &[f64],
    pattern: &CellFindings,
    draw: &mut Draw,
) -> CellFindings {
    let is_failed = |round: u32| index == TROUBLED && step.name == "l.i2" && round == 3 && size.rounds >= 3;
    let good: Vec<(u32, f64)> = (1..).zip(rates.iter().copied()).filter(|(round, _)| !is_failed(*round)).collect();
    let throughput = (good.iter().map(|(_, rate)| rate.ln()).sum::<f64>() / good.len() as f64).exp();
    let ratios = good.iter().map(|(round, rate)| (*round, rate / base[*round as usize - 1])).collect();
    let mut compared = (index > 0).then(|| comparison(ratios, 0.01));
    if let Some(comparison) = compared.as_mut().filter(|comparison| comparison.n == 1) {
        comparison.verdict = rqps_model::Verdict::Undecided;
        comparison.remark = Some("one round only".to_owned());
        (comparison.low, comparison.high, comparison.mde, comparison.q, comparison.sd) = (None, None, None, None, None);
    }
    let missed = index == TROUBLED && step.rate_per_s == Some(1000);
    if let Some(comparison) = compared.as_mut().filter(|_| missed) {
        comparison.verdict = rqps_model::Verdict::Undecided;
        comparison.remark = Some("610 of 1000 rows/s: its queries ran alongside fewer writes".to_owned());
    }
    let inside = compared.as_ref().filter(|comparison| comparison.n == 1).map(|c| InsideFindings {
        low: c.rqps * 0.985,
        high: c.rqps * 1.015,
        pieces: 10,
    });
    let timelines: Vec<TimelineFindings> = (1..)
        .zip(rates)
        .map(|(round, rate)| step_round(step, size, index, round, *rate, is_failed(round), draw))
        .collect();
    let sla = step.rate_per_s.map(|rate| SlaFindings {
        target_per_s: f64::from(rate),
        least_per_s: if missed { 0.6 } else { 0.996 } * f64::from(rate),
        reached_per_s: if missed { 0.61 } else { 0.998 } * f64::from(rate),
        rounds_held: if missed { 0 } else { size.rounds },
        rounds: size.rounds,
    });
    let is_paced = step.rate_per_s.is_some();
    let responses = [
        Some(response("insert", 2.1 + index as f64, is_paced)),
        step.deletes().then(|| response("delete", 3.4 + index as f64, is_paced)),
        step.queries().then(|| response("query", 0.13, false)),
    ];
    let responses = responses.into_iter().flatten();
    CellFindings {
        rounds: good.len() as u32,
        throughput: Some(throughput),
        throughput_by_round: rates.iter().map(|rate| Some(*rate)).collect(),
        comparison: compared,
        latency: Vec::new(),
        series: Vec::new(),
        plans: Vec::new(),
        errors: Vec::new(),
        columns: Some(columns(step, throughput, index)),
        sla,
        responses: responses.collect(),
        timelines,
        inside,
        warnings: Vec::new(),
        ..pattern.clone()
    }
}

fn step_round(
    step: &Step,
    size: InsertSize,
    index: usize,
    round: u32,
    rate: f64,
    is_failed: bool,
    draw: &mut Draw,
) -> TimelineFindings {
    let points = size.seconds.min(400);
    let inserts = step.rate_per_s.map_or(rate, f64::from);
    let seconds = if step.queries() { f64::from(size.seconds) } else { step.rows as f64 / inserts };
    let stall = (index == TROUBLED && step.name == "l.i1").then_some(Stall { from_second: 9, seconds: 3 });
    let at = |second: f64| stall.is_some_and(|stall| (9.0..12.5).contains(&second) && stall.seconds == 3);
    let series: Vec<TimelinePoint> = (1..=points)
        .map(|n| {
            let second = seconds * f64::from(n) / f64::from(points);
            let is_stalled = at(second);
            let slow = if is_stalled { 0.0 } else { 1.0 + 0.05 * draw.normal() };
            let longest =
                |ms: f64, draw: &mut Draw| ms * (0.5 * draw.normal()).exp() * if is_stalled { 400.0 } else { 1.0 };
            TimelinePoint {
                second,
                inserted: inserts * slow,
                deleted: if step.deletes() { inserts * slow } else { 0.0 },
                queries: if step.queries() { rate * slow } else { 0.0 },
                longest_insert_ms: longest(6.0, draw),
                longest_delete_ms: if step.deletes() { longest(9.0, draw) } else { 0.0 },
                longest_query_ms: if step.queries() { longest(1.1, draw) } else { 0.0 },
            }
        })
        .collect();
    let saw = |height: f64, period: f64| {
        (1..=points)
            .map(|n| {
                let second = seconds * f64::from(n) / f64::from(points);
                (second, height * (second % period) / period)
            })
            .collect::<Vec<_>>()
    };
    let mut server = BTreeMap::new();
    server.insert("dead_rows".to_owned(), saw(500_000.0, seconds / 3.0));
    server.insert("wal_bytes_kept".to_owned(), saw(2.1e9, seconds / 2.0));
    server.insert(
        "log_bytes".to_owned(),
        (0..points).map(|n| (f64::from(n) * seconds / f64::from(points), f64::from(n * n) * 1e5)).collect(),
    );
    let mark = |share: f64, what: &str| Mark { second: seconds * share, what: what.to_owned() };
    TimelineFindings {
        round,
        failure: is_failed.then(|| "the server closed the connection (insert into pi1)".to_owned()),
        seconds,
        inserted: (inserts * seconds) as u64,
        deleted: if step.deletes() { (inserts * seconds) as u64 } else { 0 },
        queries: if step.queries() { (rate * seconds) as u64 } else { 0 },
        sla_held: step.rate_per_s.map(|rate| !(index == TROUBLED && rate == 1000)),
        stalls: stall.into_iter().collect(),
        deferred_seconds: if index == TROUBLED && step.rate_per_s == Some(1000) { 12.5 } else { 0.0 },
        index_builds: match step.kind {
            Kind::Index => ["marketsegment", "registersegment", "pdc"]
                .map(|name| IndexBuild {
                    sql: format!("CREATE INDEX pi1_{name} ON pi1 (…)"),
                    seconds: 6.1 + index as f64,
                })
                .into(),
            _ => Vec::new(),
        },
        growth: Some(Growth {
            before: DiskUse { database_bytes: 410 << 20, folder_bytes: 1900 << 20 },
            after: DiskUse { database_bytes: (470 + 10 * index as u64) << 20, folder_bytes: 2300 << 20 },
        }),
        series,
        server,
        marks: vec![mark(0.33, "vacuum"), mark(0.5, "checkpoint"), mark(0.66, "vacuum"), mark(1.0, "checkpoint")],
    }
}

fn response(kind: &str, ms: f64, has_plan: bool) -> ResponseFindings {
    let buckets = Buckets { counts: [12, 4_000, 912_004, 71_000, 1_205, 33, 4, 1, 0, 0], longest_ns: 3_100_000_000 };
    ResponseFindings {
        kind: kind.to_owned(),
        rows: 50_000_000,
        response: buckets,
        from_plan: has_plan.then_some(buckets),
        quantiles_ms: [ms, ms * 2.0, ms * 5.0, ms * 20.0],
        from_plan_quantiles_ms: has_plan.then_some([ms * 1.1, ms * 2.5, ms * 9.0, ms * 90.0]),
    }
}

fn columns(step: &Step, throughput: f64, index: usize) -> InsertColumns {
    let ips = step.rate_per_s.map_or(throughput, |rate| f64::from(rate) * 0.998);
    InsertColumns {
        ips,
        qps: if step.queries() { throughput } else { 0.0 },
        wps: 70.66 + index as f64,
        wmbps: 44.4,
        wpi: 0.0014,
        wkbpi: 0.429,
        csps: 12_878.3,
        cpups: 42.8,
        cspq: 0.122,
        cpupq: 16.2,
        dbgb1: 1.93,
        dbgb2: 5.21,
        rss: 0.04,
        maxop: 3.1,
        p50: (step.kind != Kind::Index).then_some(throughput * 1.01),
        p99: (step.kind != Kind::Index).then_some(throughput * 0.9),
        ..InsertColumns::default()
    }
}
