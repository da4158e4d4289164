//! Steps with known numbers: a small one worked by hand, and the published lines, whose columns must follow from one
//! another.

use super::*;
use crate::evidence::timeline::tests::{self as timeline, Kind, ran};
use crate::read::seconds::tests::row;
use rqps_model::sample::{DiskUse, Growth, HostUse};

fn metrics_of(rounds: Vec<Option<Measured>>) -> InsertColumns {
    let throughput = rounds.iter().flatten().find_map(|measured| measured.sample.throughput());
    columns(&rounds, throughput).unwrap()
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
    let record = timeline::record(sample);
    record.queries.response.record(250_000_000);
    record.inserts.response.record(900_000_000);
    // 50 a second, but for two slow seconds; client 1 does as much as client 0.
    let queries = |n: u32| u64::from(25 - n / 18 * 10);
    round.seconds = (0..20).flat_map(|n| (0..2).map(move |client| row(n, client, "query", queries(n)))).collect();
    let found = metrics_of(vec![Some(round)]);
    let expected = InsertColumns {
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
        let record = timeline::record(sample);
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
    round.seconds = (0..40).map(|second| row(second, 0, "insert", 3)).collect();
    let found = columns(&[Some(round)], Some(25.0)).unwrap();
    assert_eq!((found.ips, found.p50, found.p99), (25.0, None, None));
    let mut failed = ran(Kind::Queries, 5);
    failed.sample.failure = Some("the server ended".to_owned());
    assert_eq!(columns(&[Some(failed)], None), Some(InsertColumns::default()), "it ran and has no number");
    assert_eq!(columns(&[None], None), None);
}
