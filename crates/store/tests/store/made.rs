//! Campaigns made up for tests: every field filled, numbers that differ from sample to sample, the same each time.

use hdrhistogram::Histogram;
use rqps_model::cpu_events::{CpuEvents, EventCount, EventCounts};
use rqps_model::facts::{BuildFacts, HostFacts, SettingsFacts, StatementPlan};
use rqps_model::plan::{Arrival, DataShape, Stage, SuitePlan, TestPlan, TreatmentPlan};
use rqps_model::sample::{Accounting, CounterReading, ErrorCount, Failures, HostUse, Moment, ProcessUse, Resources};
use rqps_model::sample::{MonitorRow, Score, SecondRow, SessionUse, Slices};
use rqps_model::{Engine, FORMAT, Group, Interleave, Part, Placement, Plan, ProgramPages, Sample, Unit, part};
use rqps_store::{Campaign, EVENT, RowsPart, SampleParts, Start, Writer, latency_part};
use std::collections::BTreeMap;
use std::path::Path;

const DATA: DataShape = DataShape { tables: 1, rows: 100_000 };

/// A plan of so many treatments, tests and rounds.
pub(crate) fn plan(treatments: usize, tests: usize, rounds: u32) -> Plan {
    let treatment = |n: usize| TreatmentPlan {
        name: format!("pg{}.x10a_c2r24", 1200 + n),
        build: "postgres:17.11".parse().expect("a build"),
        storage: None,
        profile: "x10a".into(),
        set: [("jit".to_owned(), "off".to_owned())].into(),
        planted: None,
    };
    let test = |n: usize| TestPlan {
        name: format!("random-points_range={}", 10 + n),
        label: format!("random-points_range={}", 10 + n),
        group: Group::Point,
        unit: Unit::QueriesPerSecond,
        writes: n % 4 == 3,
        rank: n as u32,
        interleave: Some(Interleave::Slices),
        seconds: 10.0,
        timed: true,
        before: vec!["vacuum".into()],
    };
    Plan {
        format: FORMAT,
        name: "made".into(),
        suite: SuitePlan::Sysbench(DATA),
        seed: 7,
        treatments: (0..treatments).map(treatment).collect(),
        base: 0,
        why_one_by_one: None,
        why_continued: None,
        time: None,
        profiled: false,
        stages: vec![Stage::side_by_side(DATA, vec![1], (0..tests).map(test).collect())],
        warmup_seconds: 0.5,
        slice_ms: 10.0,
        turn_seconds: None,
        arrival: Arrival::Closed,
        placement: Placement::Same,
        program_pages: ProgramPages::Small,
        kept_floors: Vec::new(),
        cpu_events: false,
        machine: None,
        margin: 0.02,
        rounds,
        forced: Vec::new(),
    }
}

pub(crate) fn host() -> HostFacts {
    HostFacts { hostname: "made".into(), cpus: 2, memory_bytes: 24 << 30, ..HostFacts::default() }
}

/// The name that the store gives to this machine.
pub(crate) fn host_id() -> String {
    let root = tempfile::tempdir().expect("a folder");
    create(root.path(), &plan(1, 1, 1)).host_id().to_owned()
}

pub(crate) fn start() -> Start {
    Start {
        at: "2026-11-20T05:14:00.000Z".into(),
        rqps_version: "0.1.0".into(),
        command_line: vec!["rqps".into(), "run".into(), "--quick".into()],
        ..Start::default()
    }
}

pub(crate) fn create(root: &Path, plan: &Plan) -> Writer {
    Campaign::create(root, &plan.name, plan, &host(), "[campaign]\nname = \"made\"\n", start()).expect("created")
}

/// One sample of a plan with so many slices.
pub(crate) fn parts(plan: &Plan, round: u32, treatment: usize, test: usize, cycles: u64) -> SampleParts {
    // Any odd numbers that make the samples differ.
    let mark = u64::from(round) * 1009 + treatment as u64 * 131 + test as u64 * 17;
    let slices = Slices {
        operations: (0..cycles).map(|cycle| 100 + (cycle * mark) % 37).collect(),
        busy_ns: (0..cycles).map(|cycle| 9_000_000 + (cycle * mark) % 999_983).collect(),
        burned_ns: Vec::new(),
    };
    let operations: u64 = slices.operations.iter().sum();
    let counter = |n: u64| (format!("pg_stat_made.counter_number_{n}"), (mark * n) as f64 / 3.0);
    let cycles = EventCount { count: u64::MAX / 3, enabled_ns: 9_100_000_000, running_ns: 4_000_000_001 };
    let sample = Sample {
        format: FORMAT,
        round,
        treatment: plan.treatments[treatment].name.clone(),
        suite: plan.suite.name().to_owned(),
        test: plan.tests()[test].name.clone(),
        clients: 1,
        started_at: "2026-11-20T05:15:00.250Z".into(),
        interleave: Some(Interleave::Slices),
        server_start: format!("{round}.{}", plan.treatments[treatment].name),
        data_copy: "b".into(),
        host: host_id(),
        score: Score { unit: Unit::QueriesPerSecond, count: operations, factor: 1.0 },
        rows: operations * 100,
        busy_ns: slices.busy_ns.iter().sum(),
        seconds: 9.1 + 0.1 * mark as f64,
        sessions: 12,
        batch_scheduling: false,
        planted: None,
        placement: None,
        program_text: None,
        accounting: Accounting { scheduled: operations + 3, succeeded: operations, failed: 2, skipped: 1, retried: 5 },
        errors: vec![ErrorCount {
            statement: "update".into(),
            code: "40001".into(),
            count: 2,
            message: "could not serialize access \u{2014} \"twice\"\n".into(),
        }],
        failures: Failures { serialization: 2, ..Failures::default() },
        resources: Resources {
            sessions: Some(SessionUse { sessions: 14, run_delay_s: 0.1 + 0.2, ..SessionUse::default() }),
            host: HostUse { seconds: 10.0, cpus: 2, cpu_user_s: 3.07, disk_flushes: mark, ..HostUse::default() },
            server: ProcessUse { cpu_user_s: 0.1 + 0.2, memory_bytes: 1 << 30, processes: 7, ..ProcessUse::default() },
            client: ProcessUse::default(),
            operations,
        },
        cpu_events: Some(CpuEvents {
            counted: BTreeMap::from([("cycles".to_owned(), EventCounts { user: Some(cycles), kernel: None })]),
            refused: BTreeMap::from([("there is no PMU".to_owned(), vec!["cycles (kernel)".to_owned()])]),
        }),
        planning_us: Some(41.0),
        counters: (1..120).map(counter).collect(),
        record: None,
        growth: None,
        not_sampled: BTreeMap::from([("system calls".to_owned(), "tracefs is not mounted".to_owned())]),
        warnings: vec!["the client used 40 % of a CPU".into()],
        failure: None,
    };
    let second = |second: u32| SecondRow {
        second: f64::from(second),
        wall_second: f64::from(second) * 2.1,
        kind: EVENT.into(),
        client: Some(second),
        operations: 900 + mark % 100,
        latency_ns_p50: Some(400_000),
        latency_ns_p95: Some(700_000),
        latency_ns_p99: Some(800_000),
        latency_ns_max: 900_000,
        ..SecondRow::default()
    };
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("bounds");
    (1..200u64).for_each(|n| histogram.record(n * n * 1000 + mark).expect("in range"));
    let reading = |moment, n: f64| CounterReading { moment, values: [("pg_stat_made.commits".to_owned(), n)].into() };
    let latencies = [("point_select".to_owned(), histogram.clone()), (EVENT.to_owned(), histogram)].into();
    let counters = [reading(Moment::Before, 17.0), reading(Moment::After, 9e15 + 0.5)];
    let server = [("dead_rows".to_owned(), 7.0)].into();
    let watch = [MonitorRow { second: 1.5, server, ..MonitorRow::default() }];
    // By name, as they are read back.
    let parts = vec![
        Part::lines(part::COUNTERS, &counters),
        latency_part(&latencies, sample.seconds).expect("plain kinds"),
        Part::lines(part::MONITOR, &watch),
        Part::json(part::PLANS, &statement_plans()),
        Part::lines(part::SECONDS, &(1..=10).map(second).collect::<Vec<_>>()),
        Part::json(part::SLICES, &slices),
    ];
    SampleParts { parts, ..SampleParts::of(sample) }
}

/// A part that was written row by row.
pub(crate) fn rows(writer: &Writer, name: &str, count: u32) -> RowsPart {
    let rows = writer.rows(name).expect("begun");
    (0..count).for_each(|row| rows.add(&[row, row % 7]));
    rows
}

pub(crate) fn build_facts() -> BuildFacts {
    BuildFacts {
        name: "pg1711".into(),
        engine: Engine::Postgres,
        version: "17.11".parse().expect("a version"),
        banner: "postgres (PostgreSQL) 17.11".into(),
        folder: "/opt/pg".into(),
        origin: "postgres:/opt/pg".into(),
        source: String::new(),
        sha256: "00".repeat(32),
        compiler: "gcc".into(),
        flags: "-O2".into(),
        configure: "--with-icu".into(),
        extensions: vec!["pg_prewarm".into()],
        library_folders: Vec::new(),
        size_bytes: 1,
        symbols: "none".into(),
    }
}

pub(crate) fn settings_facts() -> SettingsFacts {
    SettingsFacts {
        configuration: "x10a_c2r24".into(),
        effective: [("jit".to_owned(), "off".to_owned())].into(),
        server_cpus: vec![0],
        ..SettingsFacts::default()
    }
}

pub(crate) fn statement_plans() -> Vec<StatementPlan> {
    vec![StatementPlan {
        statement: "point_select".into(),
        sql: "select 1".into(),
        plan: "Result\n".into(),
        planning_us: None,
        is_generic: None,
    }]
}
