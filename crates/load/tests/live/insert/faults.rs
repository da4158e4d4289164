//! Stalls, crashes, rates that cannot be held, and the wish to stop.

use super::{assert_made_good, bench, is_held, run, run_up_to, shape, shared, stalls, start, step};
use crate::RUNNING;
use crate::servers::Product::{self, Mysql, Postgres, Rocksdb};
use rqps_load::LoadError;
use rqps_load::insert::{Bench, State, run_step};
use rqps_load::suite::Moment;
use rqps_model::insert::Shape;
use rqps_testkit::{PATIENCE, on_each};
use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const STALL: Duration = Duration::from_secs(3);

/// Stops the server for three seconds in the middle of a step.
fn check_stall(product: Product) {
    let server = start(product);
    let endpoint = server.endpoint();
    let shape = Shape { rates_per_s: vec![200], seconds: 8.0, ..shape() };
    let bench = bench(&endpoint, &shape);
    let mut state = run_up_to(&bench, "l.i2");
    let began = AtomicBool::new(false);
    let (stepped, stood, unheard) = std::thread::scope(|scope| {
        let staller = scope.spawn(|| {
            let mut watcher = server.session();
            wait_for(&began);
            let before = Instant::now();
            server.signal_all(Signal::STOP);
            let stopped = Instant::now();
            std::thread::sleep(STALL);
            let stood = stopped.elapsed();
            server.signal_all(Signal::CONT);
            watcher.query("SELECT 1").unwrap();
            (stood, before.elapsed())
        });
        let mut tell = |moment| {
            if let Moment::Advance(done) = moment {
                began.store(done > 0.25, Ordering::Relaxed);
            }
        };
        let stepped = run_step(&bench, &step(&shape, "qp200"), &mut state, &RUNNING, &mut tell).unwrap();
        let (stood, unheard) = staller.join().unwrap();
        (stepped, stood, unheard)
    });
    let (stalls, record) = (stalls(&stepped), stepped.record);
    assert_eq!(record.failure, None);
    let stalled = stood - Duration::from_secs(1)..unheard + Duration::from_secs(2);
    for operations in [record.inserts, record.deletes, record.queries] {
        // A statement was under way when the server stopped, or was sent just after, but for one that was due later.
        let longest = Duration::from_nanos(operations.response.longest_ns);
        assert!(stalled.contains(&longest), "{longest:?}, not {stalled:?}");
    }
    // From its planned moment each write that was held up was late, not only the one that was under way: 4 a second and
    // client.
    let late = record.inserts.from_plan.counts[6..].iter().sum::<u64>();
    assert!(late >= 2 * 3 && record.inserts.response.counts[6..].iter().sum::<u64>() <= 4, "{late}");
    let quiet: Vec<usize> = (0..8)
        .filter(|second| {
            stepped.seconds.iter().all(|row| row.kind != "insert" || row.index() != *second || row.rows == 0)
        })
        .collect();
    let whole_seconds = stood.as_secs() as usize - 1..=unheard.as_secs() as usize + 1;
    assert!(whole_seconds.contains(&quiet.len()), "{quiet:?}");
    assert_eq!(stalls, vec![(quiet[0], quiet.len())]);
    assert_made_good(&record);
}

#[test]
fn a_stall_shows_with_its_length() {
    on_each(&[Postgres, Mysql], check_stall);
}

fn wait_for(flag: &AtomicBool) {
    let deadline = Instant::now() + PATIENCE;
    while !flag.load(Ordering::Relaxed) {
        assert!(Instant::now() < deadline, "the step does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Kills the server in the middle of l.i2 and starts it again: what it acknowledged is there.
fn check_crash(product: Product) {
    let mut server = start(product);
    let endpoint = server.endpoint();
    let shape = Shape { rows_written: 2_000_000, ..shape() };
    let bench = Bench { storage: product.storage(), ..bench(&endpoint, &shape) };
    let mut state = State::new();
    let mut rows = 0;
    for name in ["l.i0", "l.x"] {
        rows += run(&bench, &step(&shape, name), &mut state).record.inserts.rows;
    }
    let began = AtomicBool::new(false);
    let stepped = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&began);
            server.kill_all();
        });
        let mut tell = |moment| _ = began.fetch_or(matches!(moment, Moment::Advance(_)), Ordering::Relaxed);
        run_step(&bench, &step(&shape, "l.i2"), &mut state, &RUNNING, &mut tell).unwrap()
    });
    let record = stepped.record;
    assert!(record.failure.is_some() && record.tables.is_empty(), "{:?}", record.failure);
    assert!(record.inserts.rows > 0 && record.deletes.rows > 0);
    for operations in [record.inserts, record.deletes] {
        let accounting = operations.accounting;
        assert!(accounting.is_balanced() && accounting.skipped > 0 && accounting.failed <= 2, "{accounting:?}");
        assert_eq!(operations.rows_unknown, accounting.failed * 5);
    }
    server.start_again();
    let found: u64 = (1..=2).map(|table| server.number(&format!("SELECT count(*) FROM pi{table}"))).sum();
    let expected = rows + record.inserts.rows - record.deletes.rows;
    let range = expected - record.deletes.rows_unknown..=expected + record.inserts.rows_unknown;
    assert!(range.contains(&found), "{found} rows, acknowledged {expected}, may be {range:?}");
    // What the step before left is not known any more and is read from the server.
    assert!(state.tables().is_empty());
    let small = Shape { rows_written: 2000, ..shape.clone() };
    let bench = Bench { shape: &small, ..bench };
    let after = run(&bench, &step(&small, "l.i2"), &mut state).record;
    assert_eq!((after.inserts.rows, after.deletes.rows), (800, 800));
    let counted: u64 = (1..=2).map(|table| server.number(&format!("SELECT count(*) FROM pi{table}"))).sum();
    assert_eq!(counted, found);
}

#[test]
fn a_crash_loses_nothing_that_was_acknowledged() {
    on_each(&[Postgres, Mysql, Rocksdb], check_crash);
}

#[test]
fn a_rate_that_cannot_be_held_fails_and_says_so() {
    let server = shared(Postgres);
    let endpoint = server.endpoint();
    let shape = Shape { rates_per_s: vec![5_000_000], catch_up_seconds: 0.25, ..shape() };
    let bench = bench(&endpoint, &shape);
    let mut state = run_up_to(&bench, "l.x");
    let record = run(&bench, &step(&shape, "qr5000000"), &mut state).record;
    let sla = record.sla.unwrap();
    assert!(!is_held(&sla) && sla.reached_per_s < sla.target_per_s / 2.0, "{sla:?}");
    assert_eq!(sla.target_per_s, 10_000_000.0);
    // Writers give up after twice the planned time, however long what was sent until then lasts; what they didn't send
    // is counted.
    let longest_ns =
        [record.inserts, record.deletes, record.queries].map(|it| it.response.longest_ns).into_iter().max();
    let longest_s = longest_ns.unwrap() as f64 / 1e9;
    assert!((2.0..3.0 + longest_s).contains(&record.seconds), "{}", record.seconds);
    assert!(record.deferred_seconds > 1.0, "{}", record.deferred_seconds);
    for accounting in [record.inserts.accounting, record.deletes.accounting] {
        assert!(accounting.is_balanced() && accounting.skipped > accounting.succeeded, "{accounting:?}");
    }
    assert_eq!(record.inserts.accounting.scheduled, 200_000);
    assert!(record.queries.accounting.succeeded > 0);
    let rows: u64 = (1..=2).map(|table| server.number(&format!("SELECT count(*) FROM pi{table}"))).sum();
    assert_eq!(rows, 6100 + record.inserts.rows - record.deletes.rows);
}

#[test]
fn who_wants_to_stop_is_heard_even_if_the_server_is_not() {
    let server = start(Postgres);
    let endpoint = server.endpoint();
    let shape = Shape { rates_per_s: vec![100], seconds: 1000.0, ..shape() };
    let bench = bench(&endpoint, &shape);
    let mut state = run_up_to(&bench, "l.x");
    for is_frozen in [false, true] {
        let stop = AtomicBool::new(false);
        let mut tell = |moment| {
            if !matches!(moment, Moment::Advance(_)) {
                return;
            }
            if is_frozen {
                server.signal_all(Signal::STOP);
            }
            stop.store(true, Ordering::Relaxed);
        };
        let outcome = run_step(&bench, &step(&shape, "qr100"), &mut state, &stop, &mut tell);
        server.signal_all(Signal::CONT);
        assert!(matches!(outcome, Err(LoadError::Interrupted)), "{outcome:?}");
    }
}

#[test]
fn a_server_that_refuses_everything_ends_the_step() {
    let server = shared(Postgres);
    let endpoint = server.endpoint();
    let shape = Shape { rows_written: 10_000, ..shape() };
    let bench = bench(&endpoint, &shape);
    let mut state = run_up_to(&bench, "l.x");
    server.ask("ALTER TABLE pi1 ADD CHECK (price < 0) NOT VALID; ALTER TABLE pi2 ADD CHECK (price < 0) NOT VALID");
    let record = run_step(&bench, &step(&shape, "l.i2"), &mut state, &RUNNING, &mut |_| ()).unwrap().record;
    assert!(record.failure.as_ref().unwrap().contains("failed in a row"), "{:?}", record.failure);
    assert_eq!((record.errors[0].code.as_str(), record.errors[0].statement.as_str()), ("23514", "insert"));
    assert_eq!((record.inserts.rows, record.errors[0].count), (0, record.inserts.accounting.failed));
    assert!(record.inserts.accounting.is_balanced() && record.inserts.rows_unknown == 0);
}
