//! Visits in slices: what a slice counts, with even and closed arrival, stalls, errors and lost servers.

use super::*;

const EVEN: Arrival = Arrival::Even { rate_per_s: 1000.0 };

#[test]
fn a_slice_counts_whole_events_between_lead_in_and_end() {
    let mut bench = Bench::new("point-query", 1, 300 * US, Arrival::Closed);
    let took = bench.visit(10 * MS, MS, 0).unwrap();
    // Events start at 0, 300, ... 9900 us: those from 1200 us on count, the last ends at 10.2 ms.
    assert_eq!(took, 10_200 * US);
    assert_eq!(bench.slices.operations, [30]);
    assert_eq!(bench.slices.busy_ns, [30 * 300 * US]);
    assert_eq!((bench.tally().rows, bench.tally().accounting().scheduled), (60, 30));
}

#[test]
fn a_statement_longer_than_the_slice_is_the_slice() {
    let mut bench = Bench::new("scan", 2, 3 * SECOND, Arrival::Closed);
    assert_eq!(bench.visit(10 * MS, 0, 0).unwrap(), 3 * SECOND);
    assert_eq!((&bench.slices.operations[..], &bench.slices.busy_ns[..]), (&[2][..], &[6 * SECOND][..]));
    // With a lead-in nevertheless, the first event is that, and one is counted still.
    assert_eq!(bench.visit(10 * MS, MS, 1).unwrap(), 6 * SECOND);
    assert_eq!(bench.slices.operations, [2, 2]);
}

#[test]
fn a_transaction_is_never_cut() {
    let mut bench = Bench::new("read-only_range=10", 3, 100 * US, Arrival::Closed);
    for cycle in 0..5 {
        bench.visit(10 * MS, MS, cycle).unwrap();
        assert!(bench.port.pending.iter().all(Option::is_none));
    }
    // An event takes 1.6 ms: those that start at 1.6, 3.2, ... 9.6 ms count.
    assert_eq!(bench.slices.operations, [3 * 6 * 16; 5]);
    assert_eq!(bench.slices.busy_ns, [3 * 6 * 1600 * US; 5]);
    let statements = &bench.tally().statements;
    assert_eq!(statements[0].total(), 10 * 3 * 6 * 5);
    assert_eq!(bench.events().total(), 3 * 6 * 5);
    assert_eq!(bench.events().max(), 1600 * US);
}

#[test]
fn all_arms_of_a_cycle_draw_the_same_keys_and_cycles_differ() {
    let keys = |service_ns, moment| {
        let mut bench = Bench::new("point-query", 2, service_ns, Arrival::Closed);
        bench.visit(MS, 0, moment).unwrap();
        bench.port.sent
    };
    let (slow, fast, later) = (keys(100 * US, 7), keys(50 * US, 7), keys(100 * US, 8));
    assert!(fast.len() > slow.len());
    assert_eq!(slow[..], fast[..slow.len()]);
    assert_ne!(slow, later);
}

#[test]
fn a_stall_shows_in_every_request_that_it_delayed() {
    let mut bench = Bench::new("point-query", 1, 100 * US, EVEN);
    // The server stands still from 2 s to 3 s after the start, which is at 1 s.
    bench.port.stall = (3 * SECOND, 4 * SECOND);
    bench.visit(10 * SECOND, 0, 0).unwrap();
    bench.lane.skip_until(bench.own_ns);
    let latencies = super::super::recorder::joined(std::iter::once(bench.events()));
    let late = latencies.count_between(MS, u64::MAX);
    // 1000 arrivals fall into the stall; after it the backlog is worked off in 111 ms, in which 111 more are late.
    assert!((1090..=1120).contains(&late), "{late}");
    assert!(latencies.max() >= 999 * MS);
    let accounting = bench.tally().accounting();
    assert!(accounting.is_balanced());
    assert_eq!(accounting.succeeded + accounting.skipped, accounting.scheduled);
    assert!(accounting.scheduled.abs_diff(10_000) <= 1, "{accounting:?}");
    // Half of the arrivals of the stall wait for more than half of it.
    assert!(latencies.count_between(500 * MS, u64::MAX).abs_diff(550) < 30);
}

#[test]
fn a_stall_shows_as_much_when_slices_are_short() {
    let mut bench = Bench::new("point-query", 1, 100 * US, EVEN);
    bench.port.stall = (3 * SECOND, 4 * SECOND);
    let mut cycle = 0;
    while bench.own_ns < 10 * SECOND {
        bench.visit(20 * MS, 0, cycle).unwrap();
        // Another arm runs for as long: the plan stands still meanwhile.
        bench.port.now_ns += 20 * MS;
        cycle += 1;
    }
    let latencies = super::super::recorder::joined(std::iter::once(bench.events()));
    let stalled_ns = bench.own_ns;
    assert!(stalled_ns < 11 * SECOND);
    let late = latencies.count_between(2 * MS, u64::MAX);
    assert!((980..1200).contains(&late), "{late}");
}

#[test]
fn what_cannot_be_sent_in_time_is_skipped_and_counted() {
    // 1000 a second are due, 100 a second can be done.
    let mut bench = Bench::new("point-query", 1, 10 * MS, EVEN);
    bench.visit(2 * SECOND, 0, 0).unwrap();
    bench.lane.skip_until(2 * SECOND);
    let accounting = bench.tally().accounting();
    assert!(accounting.is_balanced());
    assert!(accounting.succeeded.abs_diff(200) <= 1 && accounting.scheduled.abs_diff(2000) <= 1, "{accounting:?}");
    // Throughput is what got through while the session was there.
    let rate = bench.slices.operations[0] as f64 / (bench.slices.busy_ns[0] as f64 / 1e9);
    assert!((rate - 100.0).abs() < 1.0, "{rate}");
}

#[test]
fn an_idle_open_loop_sends_on_time_from_any_free_session() {
    let mut bench = Bench::new("point-query", 8, 3 * MS, EVEN);
    bench.visit(SECOND, 0, 0).unwrap();
    assert_eq!(bench.tally().lateness.max(), 0);
    assert_eq!(bench.events().max(), 3 * MS);
    assert!(bench.tally().accounting().succeeded >= 999);
}

#[test]
fn a_serialization_failure_is_retried_with_the_same_keys() {
    let mut bench = Bench::new("write-only", 1, 100 * US, Arrival::Closed);
    bench.port.in_transaction = true;
    // The third statement of the first event fails, and so does the same one of the second attempt.
    bench.port.errors = vec![(2, SqlState::SERIALIZATION_FAILURE.into()), (6, SqlState::DEADLOCK_DETECTED.into())];
    bench.visit(MS, 0, 0).unwrap();
    let sent = &bench.port.sent;
    let rollback = bench.program.rollback().unwrap();
    assert_eq!((sent[3].0, sent[7].0), (rollback, rollback));
    assert_eq!((&sent[0..3], &sent[0..3]), (&sent[4..7], &sent[8..11]));
    let accounting = bench.tally().accounting();
    assert_eq!((accounting.retried, accounting.failed), (2, 0));
    assert_eq!(accounting.scheduled, accounting.succeeded);
    let errors = &bench.tally().errors;
    assert_eq!(
        errors.iter().map(|error| (error.code, error.count)).collect::<Vec<_>>(),
        [(SqlState::SERIALIZATION_FAILURE.into(), 1), (SqlState::DEADLOCK_DETECTED.into(), 1)]
    );
    // Eight statements of failed attempts and roll backs, then six of the attempt that succeeded.
    assert_eq!(bench.events().max(), 14 * 100 * US);
}

#[test]
fn other_errors_are_failures_and_the_session_goes_on() {
    let mut bench = Bench::new("write-only", 1, 100 * US, Arrival::Closed);
    bench.port.in_transaction = true;
    bench.port.errors = vec![(4, SqlState::UNIQUE_VIOLATION.into())];
    bench.visit(2 * MS, 0, 0).unwrap();
    let accounting = bench.tally().accounting();
    assert_eq!((accounting.failed, accounting.retried), (1, 0));
    assert!(accounting.is_balanced() && accounting.succeeded >= 2);
    assert_eq!(bench.tally().failed_events.total(), 1);
    // Four statements of the failed event succeeded; what counts is what completed.
    assert_eq!(bench.slices.operations[0], 4 + 6 * accounting.succeeded);
    assert_eq!(bench.program.kind_names().nth(bench.tally().errors[0].kind), Some("insert-deleted"));
}

#[test]
fn events_that_fail_allocate_nothing_but_for_the_first() {
    let allocations = |failing: usize| {
        let mut bench = Bench::new("point-query", 2, 500 * US, Arrival::Closed);
        bench.port.errors = (0..failing).map(|n| (2 * n, SqlState::UNIQUE_VIOLATION.into())).collect();
        // What the test itself keeps.
        bench.port.sent.reserve(10_000);
        let measured = allocation_counter::measure(|| _ = bench.visit(SECOND, 0, 0).unwrap());
        assert_eq!(bench.tally().accounting().failed, failing as u64);
        measured.count_total
    };
    assert_eq!(allocations(100), allocations(1));
}

#[test]
fn an_arm_on_which_everything_fails_is_given_up() {
    for test in ["point-query", "write-only"] {
        let mut bench = Bench::new(test, 2, 10 * US, Arrival::Closed);
        bench.port.in_transaction = test == "write-only";
        bench.port.broken_from = 100;
        let lost = bench.visit(10 * SECOND, 0, 0).unwrap_err();
        assert!(lost.why.contains("1000 events failed in a row") && lost.why.contains("42P01"), "{lost:?}");
        assert!(bench.tally().accounting().is_balanced());
        assert!(bench.slices.operations.is_empty());
    }
}

#[test]
fn a_lost_server_leaves_balanced_accounts() {
    let mut bench = Bench::new("read-write_range=10", 4, 100 * US, Arrival::Closed);
    bench.visit(10 * MS, 0, 0).unwrap();
    bench.port.lost_at_ns = bench.port.now_ns + 5 * MS;
    assert_eq!(bench.visit(10 * MS, 0, 1), Err(Lost::in_doubt("gone")));
    let accounting = bench.tally().accounting();
    assert!(accounting.is_balanced());
    assert_eq!(accounting.failed, 4);
    assert_eq!(bench.slices.operations.len(), 1);
}

#[test]
fn more_slices_take_no_more_memory() {
    let mut bench = Bench::new("point-query", 2, 500 * US, Arrival::Closed);
    let mut most = |visits: u64| {
        let measured = allocation_counter::measure(|| {
            for visit in 0..visits {
                bench.visit(10 * MS, MS, visit).unwrap();
                // What the test itself keeps.
                (bench.port.sent, bench.slices) = Default::default();
                bench.seconds.try_iter().for_each(drop);
            }
        });
        measured.bytes_max
    };
    assert_eq!(most(1000), most(1));
}

#[test]
fn rows_of_seconds_add_up_across_slices() {
    let mut bench = Bench::new("point-query", 2, 500 * US, Arrival::Closed);
    for cycle in 0..300 {
        bench.visit(10 * MS, MS, cycle).unwrap();
        bench.port.now_ns += 10 * MS;
    }
    let operations: u64 = bench.slices.operations.iter().sum();
    let counted_ns = bench.counted_ns;
    let Bench { lane, seconds, .. } = bench;
    lane.into_parts().0.intervals.finish(counted_ns, 0);
    let rows: Vec<Row> = seconds.try_iter().collect();
    assert_eq!(rows.len(), (counted_ns.div_ceil(SECOND)) as usize);
    assert_eq!(rows.iter().map(|row| row.operations).sum::<u64>(), operations);
    assert!(rows[..rows.len() - 1].iter().all(|row| row.operations.abs_diff(4000) < 80), "{rows:?}");
    assert!(rows.iter().all(|row| row.max_ns == 500 * US));
}
