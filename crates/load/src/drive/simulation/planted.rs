//! A planted change: what burning between statements does to throughput, and that it is counted to the nanosecond.

use super::*;
use rqps_model::sample::Planted;

/// Visits with and without a change of `held_ns` a statement; the tallies of both.
fn visits(test: &str, service_ns: u64, held_ns: f64) -> [Bench; 2] {
    [0.0, held_ns].map(|held_ns| {
        let mut bench = Bench::new(test, 1, service_ns, Arrival::Closed);
        if held_ns > 0.0 {
            bench.lane.plant([held_ns; 2], 0);
        }
        for cycle in 0..20 {
            bench.visit(10 * MS, MS, cycle).unwrap();
        }
        bench
    })
}

fn sums(bench: &Bench) -> [u64; 3] {
    let slices = &bench.slices;
    [&slices.operations, &slices.busy_ns, &slices.burned_ns].map(|list| list.iter().sum())
}

#[test]
fn throughput_falls_by_what_was_burned() {
    for test in ["point-query", "read-only_range=10", "write-only"] {
        let [base, control] = visits(test, 99 * US, 1.0 * US as f64);
        let ([count, busy_ns, none], [fewer, busy_with_ns, burned_ns]) = (sums(&base), sums(&control));
        assert_eq!((busy_ns, none), (count * 99 * US, 0), "{test}");
        assert_eq!((busy_with_ns, burned_ns), (fewer * 100 * US, fewer * US), "{test}");
        // What is left without the burns is what the base did, slice by slice.
        let slices = control.slices.without_burns();
        let rate = |operations: &u64, busy_ns: &u64| *operations as f64 / *busy_ns as f64;
        let mut rates =
            slices.operations.iter().zip(&slices.busy_ns).map(|(operations, busy_ns)| rate(operations, busy_ns));
        assert!(rates.all(|rate| (rate * 99_000.0 - 1.0).abs() < 1e-12), "{test}");
    }
}

#[test]
fn slices_have_short_and_long_burns() {
    let mut bench = Bench::new("point-query", 1, 98 * US, Arrival::Closed);
    bench.lane.plant([1.0 * US as f64, 3.0 * US as f64], 0);
    let cycles = 0..2 * Planted::FEWEST_SLICES;
    cycles.clone().for_each(|cycle| _ = bench.visit(10 * MS, MS, cycle).unwrap());
    let slices = &bench.slices;
    let burned = slices.burned_ns.iter().zip(&slices.operations).map(|(burned_ns, operations)| burned_ns / operations);
    let planned = cycles.map(|cycle| if Planted::has_long_burns(cycle) { 3 * US } else { US });
    assert_eq!(burned.collect::<Vec<_>>(), planned.collect::<Vec<_>>());
}

#[test]
fn latency_holds_the_burn_since_a_session_counts_from_its_last_answer() {
    let [base, control] = visits("point-query", 99 * US, 1.0 * US as f64);
    assert_eq!((base.events().max(), control.events().max()), (99 * US, 100 * US));
}

#[test]
fn what_was_burned_in_uncounted_events_does_not_count() {
    let mut bench = Bench::new("point-query", 1, 290 * US, Arrival::Closed);
    bench.lane.plant([10.0 * US as f64; 2], 0);
    bench.visit(10 * MS, MS, 0).unwrap();
    // As without a change, of events of 300 us those from 1200 us on count.
    assert_eq!(bench.slices.operations, [30]);
    assert_eq!(bench.slices.burned_ns, [30 * 10 * US]);
    bench.port.lost_at_ns = bench.port.now_ns + 5 * MS;
    assert!(bench.visit(10 * MS, MS, 1).is_err());
    assert_eq!(bench.slices.burned_ns.len(), 1, "nor what a visit burned that is left out");
}

#[test]
fn a_burn_holds_up_every_session_of_its_thread() {
    let mut bench = Bench::new("point-query", 4, 100 * US, Arrival::Closed);
    bench.lane.plant([4.0 * US as f64; 2], 0);
    bench.visit(10 * MS, MS, 0).unwrap();
    let [operations, _, burned_ns] = sums(&bench);
    // Each burn is a quarter as long, and counts for four sessions but for those that have ended.
    let most_ns = operations * 4 * US;
    assert!(burned_ns <= most_ns && burned_ns as f64 > 0.98 * most_ns as f64, "{burned_ns} of {most_ns}");
}
