//! One invented test: throughput of every round, ratios, costs, latencies, series, plans and counters that agree.

use super::facts::Invented;
use super::suite::Test;
use super::{INTERLEAVE, Size};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rqps_analysis::findings::{
    CellFindings, Comparison, Cost, CounterFindings, LatencyFindings, PlanFindings, TestFindings, Warning,
};
use rqps_model::sample::ErrorCount;
use rqps_model::{Group, Verdict, WarningKind};

/// Numbers drawn for one test.
pub(crate) struct Draw(pub(crate) Pcg64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Sum of twelve uniform numbers: normal enough here.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Makes one test over all builds.
pub(crate) fn test_findings(test: &Test, index: usize, builds: &[Invented], size: Size) -> TestFindings {
    let mut draw = Draw(Pcg64::seed_from_u64(size.seed * 1000 + index as u64));
    let noise = if test.group == Group::Write { 0.013 } else { 0.004 + 0.004 * draw.uniform() };
    let days: Vec<f64> = (0..size.rounds).map(|_| 1.0 + 0.03 * draw.normal()).collect();
    let truths: Vec<f64> = builds.iter().map(|build| truth(test, build.major, &builds[0], &mut draw)).collect();
    let rounds: Vec<Vec<f64>> = truths
        .iter()
        .map(|truth| days.iter().map(|day| test.throughput * day * truth * (1.0 + noise * draw.normal())).collect())
        .collect();
    let cells = builds
        .iter()
        .enumerate()
        .map(|(at, build)| {
            let ratios = rounds[at].iter().zip(&rounds[0]).map(|(this, base)| this / base);
            let by_round: Vec<(u32, f64)> = ratios.enumerate().map(|(n, r)| (n as u32 + 1, r)).collect();
            let compared = (at > 0).then(|| comparison(by_round, noise));
            cell(test, build, &rounds[at], compared, truths[at], size, &mut draw)
        })
        .collect();
    TestFindings {
        name: test.name.to_owned(),
        label: test.label.clone(),
        group: test.group,
        unit: test.unit,
        clients: 1,
        interleave: INTERLEAVE,
        statements: test.statements.clone(),
        cells,
    }
}

/// What the build really does to the test, loosely after what has been published about these versions.
fn truth(test: &Test, major: u32, base: &Invented, draw: &mut Draw) -> f64 {
    let since = |version: u32, factor: f64| if major >= version && base.major < version { factor } else { 1.0 };
    let named = match test.name {
        "hot-points" => since(17, 1.9),
        "point-query" | "point-query.pre" => since(17, 0.972),
        "range-covered-pk" | "range-covered-si" => since(14, 0.82) * since(16, 0.9),
        "points-covered-pk" | "points-covered-si" => since(15, 0.97) * since(18, 0.97),
        "read-only-count" => since(19, 2.47),
        "scan" => since(18, 1.12),
        "update-zipf" => since(17, 1.06),
        "update-index" | "update-nonindex" => since(17, 1.05),
        "insert" => since(18, 0.955),
        _ => 1.0,
    };
    named * (1.0 + 0.004 * draw.normal() * f64::from(u8::from(major != base.major)))
}

/// Judges rounds as simply as will do for an invented campaign.
pub(crate) fn comparison(by_round: Vec<(u32, f64)>, floor: f64) -> Comparison {
    let n = by_round.len() as f64;
    let logs: Vec<f64> = by_round.iter().map(|(_, ratio)| ratio.ln()).collect();
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let moderated = ((4.0 * floor * floor + (n - 1.0) * variance) / (n + 3.0)).sqrt();
    let half = 2.26 * moderated / n.sqrt();
    let narrow = 0.8 * half;
    let margin = 1.02_f64.ln();
    let verdict = match () {
        () if mean - narrow > -margin && mean + narrow < margin => Verdict::Equal,
        () if mean + half < 0.0 => Verdict::Regressed,
        () if mean - half > 0.0 => Verdict::Improved,
        () => Verdict::Undecided,
    };
    let real = verdict == Verdict::Equal && mean.abs() > half;
    let mut sorted: Vec<f64> = by_round.iter().map(|(_, ratio)| *ratio).collect();
    sorted.sort_by(f64::total_cmp);
    let q = (-3.0 * mean.abs() / half).exp();
    Comparison {
        rqps: mean.exp(),
        low: Some((mean - half).exp()),
        high: Some((mean + half).exp()),
        median: sorted[sorted.len() / 2],
        by_round,
        verdict,
        remark: real.then(|| "real but below the margin".to_owned()),
        beyond_margin: mean.abs() - half > margin,
        n: n as u32,
        mde: Some(3.4 * moderated / n.sqrt()),
        p: Some(q * 0.6),
        q: Some(q),
        floor: Some(floor),
        sd: Some(variance.sqrt()),
        cycle_se: Some(moderated * 0.4),
        rounds_needed: (verdict == Verdict::Undecided).then_some(2 * n as u32),
    }
}

fn cell(
    test: &Test,
    build: &Invented,
    rounds: &[f64],
    comparison: Option<Comparison>,
    truth: f64,
    size: Size,
    draw: &mut Draw,
) -> CellFindings {
    let throughput = (rounds.iter().map(|t| t.ln()).sum::<f64>() / rounds.len() as f64).exp();
    let mut warnings = Vec::new();
    if test.name == "point-query" {
        warnings.push(Warning {
            kind: WarningKind::ClientBound,
            cause: "The client used 41 % of the CPU time of this test.".to_owned(),
            advice: Some("Read the ratio as a lower bound of the server's change.".to_owned()),
            in_full: None,
        });
    }
    let errors = match test.name {
        "update-one" => vec![ErrorCount {
            statement: "main".to_owned(),
            code: "40001".to_owned(),
            count: 12,
            message: "could not serialize access due to concurrent update".to_owned(),
        }],
        _ => Vec::new(),
    };
    let kinds = test.statements.iter().map(|(kind, _)| kind.as_str());
    let latency = std::iter::once("event").chain(kinds.filter(|_| test.statements.len() > 1));
    CellFindings {
        rounds: rounds.len() as u32,
        throughput: Some(throughput),
        throughput_by_round: rounds.iter().map(|t| Some(*t)).collect(),
        cost: Some(cost(test, throughput, truth, comparison.is_some(), draw)),
        latency: latency.map(|kind| latency_findings(kind, 1e6 / throughput)).collect(),
        series: rounds.iter().map(|mean| series(*mean, size.seconds, test.group == Group::Write, draw)).collect(),
        plans: plans(test, build),
        counters: counters(comparison.is_some(), truth, draw),
        comparison,
        errors,
        warnings,
        ..CellFindings::default()
    }
}

fn series(mean: f64, seconds: u32, dips: bool, draw: &mut Draw) -> Vec<(f64, f64)> {
    (1..=seconds)
        .map(|second| {
            let dip = if dips && second % 17 > 14 { 0.82 } else { 1.0 };
            (f64::from(second), mean * dip * (1.0 + 0.02 * draw.normal()))
        })
        .collect()
}

fn latency_findings(kind: &str, mean_us: f64) -> LatencyFindings {
    let at = |percentile: f64| mean_us * (0.85 + 0.25 * (-(1.0 - percentile / 100.0 + 1e-6).ln()).powf(1.35));
    let ladder = (0..48).map(|n| 100.0 * (1.0 - 10_f64.powf(-f64::from(n) / 9.5)));
    LatencyFindings {
        kind: kind.to_owned(),
        count: 812_345,
        quantiles_us: [50.0, 90.0, 95.0, 99.0, 99.9, 100.0].map(at),
        curve: ladder.map(|percentile| (percentile, at(percentile))).collect(),
    }
}

fn cost(test: &Test, throughput: f64, truth: f64, compared: bool, draw: &mut Draw) -> Cost {
    let busy_us = 1e6 / throughput;
    let writes = f64::from(u8::from(test.group == Group::Write));
    let wobble = 1.0 + 0.004 * draw.normal();
    let relative = [
        ("cpu_per_op", 1.0 / truth),
        ("cs_per_op", wobble),
        ("ops_per_s", truth * wobble),
        ("host_cpu_us", 1.0 / truth),
        ("server_cpu_us", wobble / truth),
        ("client_cpu_us", wobble),
        ("server_user_share", 1.0),
        ("server_memory_bytes", 1.03),
    ];
    let named = relative.iter().map(|(name, ratio)| ((*name).to_owned(), *ratio));
    Cost {
        cpu_per_op: busy_us * 0.97 / 1e6 / 2.0 * 100.0,
        cs_per_op: 2.06 * wobble,
        r_per_op: 0.0,
        rkb_per_op: 0.0,
        wkb_per_op: 1.24 * writes,
        ops_per_s: throughput,
        host_cpu_us: busy_us * 0.97,
        server_cpu_us: busy_us * 0.74 * wobble,
        client_cpu_us: busy_us * 0.18,
        server_user_share: 0.64,
        server_write_bytes_per_op: 1310.0 * writes,
        flushes_per_op: 0.002 * writes,
        server_faults_per_op: 0.012,
        server_memory_bytes: 6.4e9,
        steal_share: 0.018,
        idle_share: 0.51,
        relative: if compared { named.collect() } else { Default::default() },
    }
}

fn plans(test: &Test, build: &Invented) -> Vec<PlanFindings> {
    let planned = test.statements.iter().filter(|(_, sql)| !sql.starts_with("BEGIN") && !sql.starts_with("COMMIT"));
    let cost = 8.44 + f64::from(build.major) * 0.01;
    planned
        .map(|(statement, sql)| {
            let differs = test.name == "read-only-count" && build.major >= 19;
            let scan = if differs || test.name.contains("-covered") { "Index Only Scan" } else { "Index Scan" };
            let condition = sql.split("WHERE ").nth(1).unwrap_or("(id = 1)").trim_end_matches(" ORDER BY c");
            let mut plan = format!(
                "{scan} using sbtest1_pkey on sbtest1  (cost=0.43..{cost:.2} rows=1 width=121)\n  Index Cond: \
                 ({condition})"
            );
            if test.name == "read-only-count" {
                let indented = plan.replace('\n', "\n      ");
                plan = format!("Aggregate  (cost=60.12..60.13 rows=1 width=8)\n  ->  {indented}");
            }
            PlanFindings { statement: statement.clone(), plan, differs }
        })
        .collect()
}

fn counters(compared: bool, truth: f64, draw: &mut Draw) -> Vec<CounterFindings> {
    let names = [
        "pg_stat_database.blks_hit",
        "pg_stat_database.tup_fetched",
        "pg_stat_database.tup_returned",
        "pg_stat_database.xact_commit",
        "pg_statio_user_indexes.idx_blks_hit",
        "pg_statio_user_tables.heap_blks_hit",
        "pg_stat_user_indexes.idx_scan",
        "pg_stat_user_indexes.idx_tup_read",
        "pg_stat_bgwriter.buffers_alloc",
        "pg_stat_wal.wal_bytes",
        "pg_stat_wal.wal_records",
        "pg_stat_wal.wal_buffers_full",
    ];
    let mut counters: Vec<CounterFindings> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let moved = if at < 3 { truth.powf(-1.4) } else { 1.0 };
            let relative = moved * (1.0 + 0.002 * draw.normal());
            let per_kilo_op = 10_f64.powf(4.5 - at as f64 * 0.6) * relative;
            CounterFindings { name: (*name).to_owned(), per_kilo_op, relative: compared.then_some(relative) }
        })
        .collect();
    counters.sort_by(|a, b| {
        let moved = |c: &CounterFindings| c.relative.map_or(0.0, |relative| relative.ln().abs());
        moved(b).total_cmp(&moved(a))
    });
    counters
}
