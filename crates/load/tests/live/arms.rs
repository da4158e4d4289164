//! Several arms in slices, turns, threads, on several engines, and at a rate.

use crate::servers::Product::{self, Mariadb, Mysql, Postgres};
use crate::{RUNNING, SMALL, Trial, run, run_all, run_events, run_with_rows, schedule, trial};
use rqps_load::drive::{ArmRun, ClientCpus, Exercise, Phase, Schedule, ServerSide, Switch};
use rqps_load::{drive, prepare_data};
use rqps_model::plan::Arrival;
use rqps_model::sample::{Planted, SecondRow, Slices};
use rqps_suites::Suite;
use rqps_testkit::{LiveServer, PATIENCE};
use rqps_wire::{Endpoint, Session};
use rustix::process::Signal;
use rustix::thread::CpuSet;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What must hold of every arm that ended well.
fn check_sums(arm: &ArmRun, statements_per_event: u64) {
    assert_eq!(arm.failure, None);
    assert!(arm.accounting.is_balanced() && arm.accounting.failed == 0, "{:?}", arm.accounting);
    assert_eq!(arm.operations, arm.slices.operations.iter().sum::<u64>());
    assert_eq!(arm.busy_ns, arm.slices.busy_ns.iter().sum::<u64>());
    assert_eq!(arm.operations, arm.accounting.succeeded * statements_per_event);
    assert!(arm.operations < arm.operations_total);
    let (events, statements): (Vec<_>, Vec<_>) = arm.latency.iter().partition(|(kind, _)| kind == "event");
    assert_eq!(events[0].1.len(), arm.accounting.succeeded);
    assert_eq!(statements.iter().map(|(_, histogram)| histogram.len()).sum::<u64>(), arm.operations);
}

/// What must hold of the rows of its seconds.
fn check_rows(arm: &ArmRun, rows: &[SecondRow]) {
    assert_eq!(arm.operations, rows.iter().map(|row| row.operations).sum::<u64>());
    assert!(rows.iter().enumerate().all(|(second, row)| row.index() == second), "{rows:?}");
    assert!((rows.len() as f64) < arm.seconds + 1.0, "{} s: {rows:?}", arm.seconds);
}

#[test]
fn slices_of_two_arms_are_balanced_and_sessions_renewed() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint(), server.endpoint_with("application_name", "second")];
    let switches = RefCell::new(Vec::new());
    let mut hook = |switch| {
        switches.borrow_mut().push(switch);
        Ok(())
    };
    let progress = Cell::new(0.0);
    let session_life = Duration::from_millis(50);
    let schedule = Schedule { session_life, ..schedule(0.6) };
    let trial = Trial { schedule, ..trial(&suite, "read-only_range=10", &arms, 2) };
    let ended = run(&trial, &mut hook, &RUNNING, &|done| {
        assert!(done >= progress.get());
        progress.set(done);
    });
    let ended = ended.unwrap();
    assert_eq!(progress.get(), 1.0);
    let cycles = ended[0].slices.operations.len();
    for arm in &ended {
        check_sums(arm, 16);
        // On a slow machine slices are longer, so that there are fewer of them.
        let cycles_per_session = (session_life.as_nanos() as u64).div_ceil(arm.slice_ns) as usize;
        assert_eq!(arm.sessions as usize, 1 + (cycles - 1) / cycles_per_session, "{cycles} of {} ns", arm.slice_ns);
        assert_eq!(arm.slices.operations.len(), cycles);
        assert!(arm.slices.operations.iter().all(|operations| *operations > 0));
        let least = cycles as f64 * (arm.slice_ns - arm.lead_in_ns) as f64 / 1e9;
        assert!(arm.seconds > 0.999 * least, "{} s in {cycles} slices of {} ns", arm.seconds, arm.slice_ns);
        assert!(arm.client_cpu_ns > 0);
    }
    let total: f64 = ended.iter().map(|arm| arm.seconds).sum();
    assert!(total >= 1.2, "{total}");

    // One arm at a time, entered and left, in both orders.
    let switches = switches.into_inner();
    let [Switch::Begin, switches @ .., Switch::End] = &switches[..] else { panic!("{switches:?}") };
    let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
    for pair in switches.chunks(2) {
        let [Switch::Enter { arm, phase }, leave] = pair else { panic!("{pair:?}") };
        assert_eq!(*leave, Switch::Leave { arm: *arm, phase: *phase });
    }
    let counted: Vec<usize> = switches
        .iter()
        .filter_map(|switch| match switch {
            Switch::Enter { arm, phase: Phase::Counted } => Some(*arm),
            _ => None,
        })
        .collect();
    assert_eq!(counted.len(), 2 * cycles);
    for cycle in counted.chunks(2) {
        assert_ne!(cycle[0], cycle[1]);
        *firsts.entry(cycle[0]).or_default() += 1;
    }
    // The seed draws the order, so this holds of any number of cycles or of none.
    assert!(cycles < 8 || firsts.len() == 2 && firsts.values().all(|count| *count >= cycles / 4), "{firsts:?}");
}

#[test]
fn several_threads_share_the_sessions() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint(), server.endpoint()];
    for (test, statements) in [("point-query", 1), ("write-only", 6), ("scan", 1), ("insert", 1)] {
        let trial = Trial { threads: 2, schedule: schedule(0.15), ..trial(&suite, test, &arms, 5) };
        for (arm, rows) in run_with_rows(&trial) {
            check_rows(&arm, &rows);
            if test != "write-only" {
                check_sums(&arm, statements);
            }
            assert!(arm.accounting.is_balanced() && arm.failure.is_none());
        }
    }
    // More threads than clients are not started.
    run_all(&Trial { threads: 64, ..trial(&suite, "point-query", &arms, 2) });
}

/// A user who may not pin.
#[derive(Debug)]
struct NotPermitted;

impl ServerSide for NotPermitted {
    fn opened(&self, arm: usize, _: usize, _: (&mut Session, &str), cpu: Option<usize>) -> Result<(), String> {
        if arm == 0 && cpu.is_some() { Ok(()) } else { Err("not permitted".to_owned()) }
    }

    fn closing(&self, _: usize, _: usize) {}
}

#[test]
fn a_planted_change_is_burned_and_counted() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let arms = [server.endpoint(), server.endpoint()];
    for clients in [1, 4] {
        let begun = Instant::now();
        while let Err(why) = plant(&arms, clients) {
            assert!(begun.elapsed() < PATIENCE, "{why} with {clients} clients");
        }
    }
}

/// Plants a change once. Other work here may make events so long that there are too few slices for two lengths of
/// burns, or keep the CPU from the warm-up's statements and not from later ones: some runs say nothing of its size.
fn plant(arms: &[Endpoint], clients: u32) -> Result<(), String> {
    const SECONDS: f64 = 0.5;
    let suite = Suite::sysbench();
    let trial = Trial { schedule: schedule(SECONDS), ..trial(&suite, "point-query", arms, clients) };
    let (exercise, statements) = trial.exercise();
    let exercise = Exercise { planted: &[0.0, 0.2], ..exercise };
    let ended = drive::run(&exercise, &statements, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap();
    ended.iter().for_each(|arm| check_sums(arm, 1));
    let [base, control] = &ended[..] else { panic!("two arms") };
    assert!(base.slices.burned_ns.is_empty());
    let Slices { burned_ns, busy_ns, operations } = &control.slices;
    assert_eq!(burned_ns.len(), busy_ns.len());
    assert!(busy_ns.iter().zip(burned_ns).all(|(busy_ns, burned_ns)| burned_ns < busy_ns));
    let share = burned_ns.iter().sum::<u64>() as f64 / control.busy_ns as f64;
    if !(0.05..0.5).contains(&share) {
        return Err(format!("{share} of the time is burned"));
    }
    let wanted = SECONDS * 1e9 / (control.slice_ns - control.lead_in_ns) as f64;
    if wanted < Planted::FEWEST_SLICES as f64 {
        return Err(format!("{wanted} slices are too few"));
    }
    // Short and long burns; a few are as long as whatever else ran in between.
    let [short, long] = [false, true].map(|is_long| {
        let slices = (0..).zip(burned_ns.iter().zip(operations));
        let slices =
            slices.filter(|(cycle, (_, operations))| Planted::has_long_burns(*cycle) == is_long && **operations > 0);
        let burns: Vec<f64> = slices.map(|(_, (burned_ns, n))| *burned_ns as f64 / *n as f64).collect();
        rqps_stats::median(&burns).unwrap()
    });
    if (1.5..6.0).contains(&(long / short)) { Ok(()) } else { Err(format!("burns of {short} and {long} ns")) }
}

#[test]
fn a_session_that_cannot_be_placed_runs_all_the_same_and_its_arm_says_why() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let (suite, arms) = (Suite::sysbench(), [server.endpoint(), server.endpoint()]);
    let online = rustix::thread::sched_getaffinity(None).unwrap();
    let cpu = (0..CpuSet::MAX_CPU).find(|cpu| online.is_set(*cpu)).unwrap();
    let (exercise, statements) = trial(&suite, "point-query", &arms, 2).exercise();
    let cpus = ClientCpus { set: &[cpu], by_session: true, server_side: Some(&NotPermitted) };
    let exercise = Exercise { cpus, ..exercise };
    let ended = drive::run(&exercise, &statements, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap();
    ended.iter().for_each(|arm| check_sums(arm, 1));
    let [placed, refused] = &ended[..] else { panic!("two arms") };
    let placements = [placed, refused].map(|arm| arm.placement.clone().unwrap());
    assert_eq!(placements[0].sessions_by_cpu, BTreeMap::from([(cpu, 2 * placed.sessions)]));
    assert_eq!(placements[0].refused, None);
    assert!(placements[1].sessions_by_cpu.is_empty());
    assert_eq!(placements[1].refused.as_deref(), Some("not permitted"));
}

#[test]
fn slices_alternate_between_engines() {
    let servers = [Postgres, Mysql, Mariadb].map(Product::start);
    let arms: Vec<_> = servers.iter().map(LiveServer::endpoint).collect();
    for server in &servers {
        prepare_data::prepare_data(&server.target(), SMALL, 7, 2).unwrap();
    }
    let suite = Suite::sysbench();
    for (test, statements) in [("read-only_range=10", 16), ("point-query", 1), ("scan", 1), ("insert", 1)] {
        let trial = Trial { threads: 2, ..trial(&suite, test, &arms, 3) };
        for arm in run_all(&trial) {
            assert_eq!(arm.failure, None, "{test}");
            assert!(arm.accounting.is_balanced() && arm.accounting.failed == 0, "{:?}", arm.accounting);
            assert_eq!(arm.operations, arm.accounting.succeeded * statements, "{test}");
            assert!(arm.slices.operations.iter().all(|operations| *operations > 0), "{test}");
        }
    }
    // A server that dies takes only its own arm along.
    servers[1].kill();
    let ended = run_all(&trial(&suite, "point-query", &arms, 2));
    let failed: Vec<bool> = ended.iter().map(|arm| arm.failure.is_some()).collect();
    assert_eq!(failed, [false, true, false]);
}

/// Answers in parts are read in one go: in a closed loop, by a thread with one session. Both arms are treated alike.
#[test]
fn long_answers_are_waited_for() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint(), server.endpoint()];
    let even = Arrival::Even { rate_per_s: 100.0 };
    for (test, clients, threads, arrival, batch_scheduling) in [
        ("random-points_range=100", 1, 1, Arrival::Closed, true),
        ("random-points_range=100", 2, 2, Arrival::Closed, true),
        ("random-points_range=100", 2, 1, Arrival::Closed, false),
        ("random-points_range=100", 1, 1, even, false),
        ("random-points_range=10", 1, 1, Arrival::Closed, false),
        ("read-only_range=100", 1, 1, Arrival::Closed, false),
    ] {
        let trial = Trial { threads, arrival, schedule: schedule(0.05), ..trial(&suite, test, &arms, clients) };
        for arm in run_all(&trial) {
            assert_eq!(
                (arm.failure, arm.batch_scheduling),
                (None, batch_scheduling),
                "{test}, {clients} clients, {threads} threads"
            );
        }
    }
}

#[test]
fn a_turn_is_a_long_slice() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let schedule = Schedule { slice: Duration::from_millis(1300), ..schedule(1.25) };
    let trial = Trial { schedule, ..trial(&suite, "point-query", &arms, 1) };
    let (arm, rows) = run_with_rows(&trial).remove(0);
    check_sums(&arm, 1);
    check_rows(&arm, &rows);
    assert_eq!(arm.slices.operations.len(), 1);
    let [first, .., last] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(first.second, 1.0);
    assert!(last.second > 1.25 && first.latency_ns_p50 > Some(0), "{rows:?}");
}

#[test]
fn idle_servers_may_be_frozen() {
    let servers = [Postgres.start(), Postgres.start()];
    for server in &servers {
        prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
        server.signal_all(Signal::STOP);
    }
    let suite = Suite::sysbench();
    let arms = [servers[0].endpoint(), servers[1].endpoint()];
    let left = Cell::new(Instant::now());
    let mut hook = |switch| {
        match switch {
            Switch::Enter { arm, .. } => servers[arm].signal_all(Signal::CONT),
            Switch::Leave { arm, .. } => servers[arm].signal_all(Signal::STOP),
            Switch::Begin | Switch::End => {}
        }
        left.set(Instant::now());
        Ok(())
    };
    let life = Duration::from_millis(200);
    let schedule = Schedule { slice: Duration::from_millis(100), session_life: life, ..schedule(0.5) };
    let trial = Trial { schedule, threads: 2, ..trial(&suite, "read-write_range=10", &arms, 40) };
    let ended = run(&trial, &mut hook, &RUNNING, &|_| ()).unwrap();
    // A session that waits for a frozen server to say goodbye would take a second, and there are twenty on each thread.
    let goodbyes = left.get().elapsed();
    assert!(goodbyes < Duration::from_secs(16), "{goodbyes:?}");
    assert!(ended.iter().all(|arm| arm.failure.is_none() && arm.operations > 0), "{ended:?}");
    servers.iter().for_each(|server| server.signal_all(Signal::CONT));
}

#[test]
fn an_open_loop_keeps_its_rate_and_counts_all_that_was_due() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint(), server.endpoint()];
    for arrival in [Arrival::Even { rate_per_s: 400.0 }, Arrival::Poisson { rate_per_s: 400.0 }] {
        for threads in [1, 2] {
            let schedule = Schedule { slice: Duration::from_millis(100), ..schedule(0.5) };
            let trial = Trial { arrival, schedule, threads, ..trial(&suite, "point-query", &arms, 4) };
            for (arm, rows) in run_with_rows(&trial) {
                assert_eq!(arm.failure, None);
                let accounting = arm.accounting;
                assert!(accounting.is_balanced() && accounting.failed == 0);
                // All that is due before the last slice was to end: not before so many slices, nor after the counted
                // time.
                let planned_s = arm.slices.operations.len() as f64 * arm.slice_ns as f64 / 1e9;
                let due = |seconds: f64| 400.0 * seconds;
                // Five standard deviations of a Poisson count, and an event for each session.
                let spread = |seconds: f64| 5.0 * due(seconds).sqrt() + 4.0;
                let expected = due(planned_s) - spread(planned_s)..due(arm.seconds) + spread(arm.seconds);
                assert!(expected.contains(&(accounting.scheduled as f64)), "{accounting:?} in {expected:?}");
                assert_eq!(arm.lateness.len(), accounting.succeeded);
                // The sessions of a thread are there until its last one is done, those of the arm until all are.
                let (busy_s, whole_s) = (arm.busy_ns as f64 / 1e9, 4.0 * arm.seconds);
                assert!(busy_s > 3.999 * planned_s && busy_s < 1.001 * whole_s, "{busy_s} of {whole_s} s");
                let rate = 4.0 * arm.operations as f64 / (arm.busy_ns as f64 / 1e9);
                assert!((rate * busy_s / 4.0 - accounting.succeeded as f64).abs() < 0.01, "{rate}");
                let busy_ns: u64 = rows.iter().map(|row| row.busy_ns).sum();
                assert!(busy_ns > 0 && (busy_ns as f64) < 1.001e9 * whole_s, "{busy_ns} of {whole_s} s");
            }
        }
    }
}

#[test]
fn too_high_a_rate_is_skipped_and_counted() {
    let server = Postgres.shared();
    prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let arrival = Arrival::Even { rate_per_s: 1e6 };
    let trial = Trial { arrival, schedule: schedule(0.3), ..trial(&suite, "point-query", &arms, 2) };
    let arm = run_all(&trial).remove(0);
    let accounting = arm.accounting;
    assert!(accounting.skipped > accounting.succeeded && accounting.is_balanced(), "{accounting:?}");
    // What is sent in a slice is late by all those before it, less what was due until then of all that is sent.
    let last = arm.slices.operations.iter().rposition(|sent| *sent > 0).unwrap() as u64;
    let least_ns = (last * arm.slice_ns).saturating_sub(1000 * (accounting.succeeded + 1));
    assert!(arm.lateness.max() >= least_ns / 100 * 99, "{} ns, not {least_ns}", arm.lateness.max());
}

#[test]
fn the_same_seed_writes_the_same_rows() {
    let server = Postgres.shared();
    let suite = Suite::sysbench();
    let arms = [server.endpoint()];
    let mut seen = Vec::new();
    for seed in [5, 5, 6] {
        prepare_data::prepare_data(&server.target(), SMALL, 1, 2).unwrap();
        for test in ["read-write_range=10", "update-zipf", "insert"] {
            let trial = Trial { seed, ..trial(&suite, test, &arms, 1) };
            run_events(&trial, 20);
        }
        seen.push(server.ask("SELECT md5(string_agg(t::text, '|' ORDER BY id)), count(*) FROM sbtest1 t"));
    }
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0], seen[2]);
}
