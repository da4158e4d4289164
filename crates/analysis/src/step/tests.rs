//! Steps with known numbers: a small one worked by hand, and the published lines, whose columns must follow from one another.

use super::*;
use crate::findings::StepMetrics;
use crate::measured::tests::measured;
use crate::round::ratio_of_round;
use rqps_model::insert::Sla;
use rqps_model::sample::{Accounting, DiskUse, Growth, HostUse, Slices, SuiteRecord};

/// What a made-up step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Rows,
    Index,
    Queries,
}

/// A step of one client that did nothing yet.
pub(crate) fn ran(kind: Kind, seconds: u32) -> Measured {
    let mut step = measured(1000, u64::from(seconds) * 1_000_000_000, Slices::default());
    let operations = |count| Operations {
        accounting: Accounting { scheduled: count, succeeded: count, ..Accounting::default() },
        rows: 50 * count,
        ..Operations::default()
    };
    step.sample.suite = "insert".to_owned();
    step.sample.record = Some(SuiteRecord::Insert(StepRecord {
        step: "qr1000".to_owned(),
        clients: 1,
        threads: 1,
        seconds: f64::from(seconds),
        planned_seconds: None,
        inserts: operations(20),
        deletes: operations(20),
        queries: if kind == Kind::Queries { operations(1000) } else { Operations::default() },
        rows_indexed: (kind == Kind::Index).then_some(1000),
        sla: (kind == Kind::Queries).then_some(Sla { target_per_s: 1000.0, reached_per_s: 1000.0 }),
        ..StepRecord::default()
    }));
    step
}

fn metrics_of(rounds: Vec<Option<Measured>>) -> StepMetrics {
    let throughput = rounds.iter().flatten().find_map(|measured| measured.sample.throughput());
    step(&rounds, &[], throughput, 240).unwrap().metrics
}

#[test]
fn columns_of_a_step_worked_by_hand() {
    // 20 s, 2 CPUs: 1000 rows, 1000 queries.
    let mut round = ran(Kind::Queries, 20);
    let sample = &mut round.sample;
    sample.resources.host = HostUse {
        seconds: 20.0,
        cpus: 2,
        cpu_user_s: 9.0,
        cpu_system_s: 3.0,
        context_switches: 5000,
        disk_reads: 40,
        disk_read_bytes: 40 << 20,
        disk_writes: 200,
        disk_write_bytes: 100 << 20,
        ..HostUse::default()
    };
    sample.resources.server.memory_bytes = 3 << 29;
    let of = |database_bytes, folder_bytes| DiskUse { database_bytes, folder_bytes };
    sample.growth = Some(Growth { before: of(1 << 30, 2 << 30), after: of(5 << 29, 3 << 30) });
    let record = sample.step_mut().unwrap();
    record.queries.response.record(250_000_000);
    record.inserts.response.record(900_000_000);
    // 50 a second, but for two slow seconds; client 1 does as much as client 0.
    let second = |second, client, queries| SecondRow { second, client, queries, ..SecondRow::default() };
    round.seconds = (0..20).flat_map(|n| (0..2).map(move |client| second(n, client, 25 - n / 18 * 10))).collect();
    let found = metrics_of(vec![Some(round)]);
    let expected = StepMetrics {
        ips: 50.0,
        qps: 50.0,
        rps: 2.0,
        rmbps: 2.0,
        wps: 10.0,
        wmbps: 5.0,
        rpq: 0.04,
        rkbpq: 2048.0 / 50.0,
        wpi: 0.2,
        wkbpi: 5120.0 / 50.0,
        csps: 250.0,
        cpups: 30.0,
        cspq: 5.0,
        cpupq: 12_000.0,
        dbgb1: 2.5,
        dbgb2: 3.0,
        rss: 1.5,
        maxop: 0.25,
        p50: Some(50.0),
        p99: Some(30.0),
    };
    assert_eq!(found, expected);
}

/// Lines of a published summary: ips qps rps wps wmbps csps cpups | wpi wkbpi cspq cpupq, of a server with four CPUs.
const PUBLISHED: [([f64; 7], [f64; 4]); 4] = [
    ([105_820.0, 0.0, 0.0, 70.7, 44.4, 12_878.0, 42.8], [0.001, 0.429, 0.122, 16.0]),
    ([39_062.0, 0.0, 0.0, 203.7, 68.2, 9_986.0, 35.7], [0.005, 1.789, 0.256, 37.0]),
    ([200.0, 7_717.0, 0.0, 292.3, 6.7, 29_729.0, 27.8], [1.464, 34.334, 3.852, 144.0]),
    ([999.0, 7_744.0, 0.1, 501.9, 18.8, 30_015.0, 28.6], [0.503, 19.295, 3.876, 148.0]),
];

#[test]
fn published_columns_follow_from_one_another() {
    const SECONDS: f64 = 1000.0;
    for ([ips, qps, rps, wps, wmbps, csps, cpups], [wpi, wkbpi, cspq, cpupq]) in PUBLISHED {
        let mut round = ran(if qps > 0.0 { Kind::Queries } else { Kind::Rows }, SECONDS as u32);
        let sample = &mut round.sample;
        sample.score.count = (if qps > 0.0 { qps } else { ips } * SECONDS) as u64;
        let record = sample.step_mut().unwrap();
        record.inserts.rows = (ips * SECONDS) as u64;
        sample.resources.host = HostUse {
            seconds: SECONDS,
            cpus: 4,
            cpu_user_s: cpups / 100.0 * 4.0 * SECONDS,
            context_switches: (csps * SECONDS) as u64,
            disk_reads: (rps * SECONDS) as u64,
            disk_writes: (wps * SECONDS) as u64,
            disk_write_bytes: (wmbps * 1_048_576.0 * SECONDS) as u64,
            ..HostUse::default()
        };
        let found = metrics_of(vec![Some(round)]);
        // What was printed was rounded: rates to a tenth or a whole, the rest to three places.
        let near = |found: f64, printed: f64, slack: f64, what: &str| {
            assert!((found - printed).abs() <= slack, "{what} of {ips} {qps}: {found}, printed {printed}");
        };
        near(found.wpi, wpi, 0.0005 + wpi * 0.003, "wpi");
        near(found.wkbpi, wkbpi, 0.0005 + wkbpi * (0.003 + 0.05 / wmbps), "wkbpi");
        near(found.cspq, cspq, 0.0006, "cspq");
        near(found.cpupq, cpupq, 0.5 + cpupq * 0.05 / cpups, "cpupq");
        near(found.cpups, cpups, 1e-9, "cpups");
        assert_eq!((found.ips.round(), found.qps.round()), (ips, qps));
    }
}

#[test]
fn indexed_rows_have_a_rate_and_no_seconds() {
    let mut round = ran(Kind::Index, 40);
    let inserted = |second| if second == 0 { 3000 } else { 0 };
    round.seconds =
        (0..40).map(|second| SecondRow { second, inserted: inserted(second), ..SecondRow::default() }).collect();
    assert!(round.sample.step().unwrap().stalls(&round.seconds).is_empty());
    let found = step(&[Some(round)], &[], Some(25.0), 240).unwrap();
    assert_eq!((found.metrics.ips, found.metrics.p50, found.metrics.p99), (25.0, None, None));
    assert!(found.queries.is_none() && found.sla.is_none());
}

#[test]
fn rounds_are_added_and_a_failed_one_is_shown_only() {
    let mut rounds =
        vec![Some(ran(Kind::Queries, 20)), None, Some(ran(Kind::Queries, 40)), Some(ran(Kind::Queries, 5))];
    for (round, number) in rounds.iter_mut().zip(1..) {
        let Some(round) = round else { continue };
        round.sample.round = number;
        let record = round.sample.step_mut().unwrap();
        record.sla = Some(Sla { target_per_s: 1000.0, reached_per_s: if number == 3 { 500.0 } else { 1000.0 } });
        record.inserts.response.record(1_000_000 * u64::from(number));
        record.inserts.from_plan.record(2_000_000);
    }
    rounds[3].as_mut().unwrap().sample.failure = Some("the server ended".to_owned());
    let latency = LatencyFindings {
        kind: "insert".to_owned(),
        count: 2,
        quantiles_us: [1000.0, 0.0, 2000.0, 3000.0, 4000.0, 0.0],
        curve: Vec::new(),
    };
    let found = step(&rounds, &[latency], Some(35.0), 240).unwrap();
    assert_eq!((found.seconds, found.rounds.len(), found.metrics.qps), (30.0, 3, 35.0));
    assert_eq!(found.rounds[2].failure.as_deref(), Some("the server ended"));
    let sla = found.sla.unwrap();
    assert_eq!((sla.rounds_held, sla.rounds, sla.reached_per_s, sla.is_held()), (1, 2, 750.0, false));
    let inserts = found.inserts.unwrap();
    assert_eq!((inserts.rows, inserts.response.total(), inserts.response.longest_ns), (2000, 2, 3_000_000));
    // The histogram tells the end of the bucket: no more than the longest of all may be shown.
    assert_eq!(inserts.quantiles_ms, [1.0, 2.0, 3.0, 3.0]);
    assert_eq!((inserts.from_plan.unwrap().total(), inserts.from_plan_quantiles_ms), (2, None));
    assert!(found.deletes.is_none(), "none was recorded");
    let failed = step(&rounds[3..], &[], None, 240).unwrap();
    assert_eq!((failed.seconds, failed.metrics, failed.sla), (5.0, StepMetrics::default(), None));
    assert_eq!(step(&[None, Some(measured(0, 0, Slices::default()))], &[], None, 240), None);
}

/// A step of queries with these rates by the second.
fn paced(rates: &[u32]) -> Measured {
    let mut round = ran(Kind::Queries, rates.len() as u32);
    round.seconds =
        (0..).zip(rates).map(|(second, &queries)| SecondRow { second, queries, ..SecondRow::default() }).collect();
    round.sample.score.count = rates.iter().map(|&rate| u64::from(rate)).sum();
    round
}

fn inside_of(own: &[u32], base: &[u32]) -> Option<crate::findings::InsideFindings> {
    let (own, base) = (paced(own), paced(base));
    let ratio = ratio_of_round(&own, &base).unwrap();
    inside::inside(&[Some(own)], &[Some(base)], &[ratio])
}

#[test]
fn a_single_round_has_an_interval_inside_and_several_have_none() {
    let rates = |mean: u32| -> Vec<u32> { (0..60).map(|n| mean + n * 7 % 11 * mean / 100).collect() };
    let found = inside_of(&rates(2000), &rates(1000)).unwrap();
    assert!(found.low < 2.0 && 2.0 < found.high && found.high - found.low < 0.2, "{found:?}");
    assert_eq!(found.pieces, 12);
    assert_eq!(inside_of(&rates(1000)[..9], &rates(1000)), None, "nine seconds are too few");
    let (own, base) = (paced(&rates(2000)), paced(&rates(1000)));
    let ratio = ratio_of_round(&own, &base).unwrap();
    assert_eq!(inside::inside(&[Some(own.clone())], &[Some(base.clone())], &[ratio, ratio]), None);
    let mut index = own;
    index.sample.step_mut().unwrap().rows_indexed = Some(7);
    assert_eq!(inside::inside(&[Some(index)], &[Some(base)], &[ratio]), None, "indexed rows have no seconds");
}

#[test]
fn the_interval_inside_holds_in_95_of_100_where_seconds_are_independent() {
    use rand_core::{Rng, SeedableRng};
    let mut random = rand_pcg::Pcg64::seed_from_u64(11);
    let mut rates = |seconds: usize, mean: f64| -> Vec<u32> {
        // A sum of twelve uniform values less six is near enough to normal.
        let mut normal = || (0..12).map(|_| random.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
        (0..seconds).map(|_| (mean * (1.0 + 0.1 * normal())).max(0.0) as u32).collect()
    };
    for (own, base) in [(30, 30), (60, 45), (300, 200)] {
        let held = (0..500).filter(|_| {
            let found = inside_of(&rates(own, 90_000.0), &rates(base, 100_000.0)).unwrap();
            found.low <= 0.9 && 0.9 <= found.high
        });
        let share = held.count() as f64 / 500.0;
        assert!((0.90..=0.98).contains(&share), "{own} s and {base} s: {share}");
    }
}
