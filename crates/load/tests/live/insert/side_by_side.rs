//! Two servers that take turns: each stands still while the other works, and what is counted is of its own time.

use super::accounting::{check_every_step, check_sums};
use super::{assert_made_good, bench, run_up_to, shape, stalls, start, step};
use crate::RUNNING;
use crate::servers::Product::{self, Mysql, Postgres};
use rqps_load::LoadError;
use rqps_load::drive::{ClientCpus, ServerSide};
use rqps_load::insert::{Bench, State, StepRun, run_side_by_side};
use rqps_load::suite::Moment;
use rqps_model::insert::{Kind, Shape, Step, TableIds};
use rqps_testkit::{LiveServer, on_each};
use rqps_wire::{Endpoint, Session};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Two servers of a product.
struct Two {
    servers: [LiveServer; 2],
    endpoints: [Endpoint; 2],
}

impl Two {
    fn start(product: Product) -> Two {
        let servers = [start(product), start(product)];
        let endpoints = [servers[0].endpoint(), servers[1].endpoint()];
        Two { servers, endpoints }
    }

    fn benches<'a>(&'a self, shape: &'a Shape) -> [Bench<'a>; 2] {
        [bench(&self.endpoints[0], shape), bench(&self.endpoints[1], shape)]
    }

    /// Freezes and thaws as a campaign does.
    fn switch(&self, moment: Moment) {
        match moment {
            Moment::Start => self.all(Signal::STOP),
            Moment::Enter(arm) => self.servers[arm].signal_all(Signal::CONT),
            Moment::Leave(arm) => self.servers[arm].signal_all(Signal::STOP),
            Moment::Stop => self.all(Signal::CONT),
            Moment::Advance(_) => {}
        }
    }

    fn all(&self, signal: Signal) {
        self.servers.iter().for_each(|server| server.signal_all(signal));
    }

    /// Runs a step on both, with `act` at every moment.
    fn run(
        &self,
        benches: &[Bench<'_>; 2],
        step: &Step,
        states: [&mut State; 2],
        stop: &AtomicBool,
        act: &mut dyn FnMut(Moment),
    ) -> Result<[Result<StepRun, LoadError>; 2], LoadError> {
        let mut states = states;
        let ran = run_side_by_side(benches, step, &mut states, stop, act);
        self.all(Signal::CONT);
        Ok(ran?.try_into().expect("a run for each server"))
    }
}

#[test]
fn every_step_leaves_the_rows_that_it_counted_on_both() {
    check_accounts_of_both(Postgres, &[shape()]);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_a_shared_table_and_on_mysql_too_every_step_leaves_the_rows_that_it_counted_on_both() {
    let on_shared_table = Shape { clients: 5, shared_table: true, ..shape() };
    check_accounts_of_both(Postgres, std::slice::from_ref(&on_shared_table));
    check_accounts_of_both(Mysql, &[shape(), on_shared_table]);
}

fn check_accounts_of_both(product: Product, shapes: &[Shape]) {
    for shape in shapes {
        let two = Two::start(product);
        let benches = two.benches(shape).map(|bench| Bench { threads: 2, ..bench });
        let mut beside = State::new();
        check_every_step(&two.servers[0], &benches[0], &mut |step, state| {
            let mut entered = [0; 2];
            let mut act = |moment| {
                two.switch(moment);
                if let Moment::Enter(arm) = moment {
                    entered[arm] += 1;
                }
            };
            let [first, second] =
                two.run(&benches, step, [state, &mut beside], &RUNNING, &mut act).unwrap().map(Result::unwrap);
            check_sums(&second, shape);
            assert_eq!([&first.record.failure, &second.record.failure], [&None, &None]);
            // They took turns, as often where the same rows make a slice.
            let by_rows = matches!(step.kind, Kind::Load | Kind::Churn);
            // So few rows are indexed in less than a slice.
            let least = if step.kind == Kind::Index { 1 } else { 2 };
            assert!(entered.iter().all(|times| *times >= least), "{entered:?}");
            assert!(!by_rows || entered[0] == entered[1], "{entered:?}");
            if first.record.inserts.accounting.skipped + second.record.inserts.accounting.skipped == 0 {
                assert_eq!(first.record.inserts.rows, second.record.inserts.rows);
            }
            let wall = first.seconds.iter().all(|row| row.wall_second >= row.second);
            assert!(wall, "its own time passes no faster than that of the machine");
            first
        });
        let rows = |ids: &TableIds| ids.newest >= ids.oldest;
        assert!(beside.tables().iter().all(rows), "{beside:?}");
    }
}

/// Leaves the first server frozen in thirty of its own slices of 100 ms.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_stall_is_of_the_servers_own_time_and_of_no_other() {
    let two = Two::start(Postgres);
    let shape = Shape { rates_per_s: vec![200], seconds: 8.0, ..shape() };
    let benches = two.benches(&shape).map(|bench| Bench { slice: Duration::from_millis(100), ..bench });
    let [mut first, mut second] = [&benches[0], &benches[1]].map(|bench| run_up_to(bench, "l.i2"));
    let (mut done, mut frozen) = (0.0, 0);
    let mut act = |moment| match moment {
        Moment::Enter(0) if done > 0.25 && frozen < 30 => frozen += 1,
        Moment::Advance(so_far) => done = so_far,
        moment => two.switch(moment),
    };
    let step = step(&shape, "qp200");
    let runs = two.run(&benches, &step, [&mut first, &mut second], &RUNNING, &mut act).unwrap();
    let [first, second] = runs.map(Result::unwrap);
    for operations in [first.record.inserts, first.record.deletes, first.record.queries] {
        // What was under way, or was sent next: slices last a little longer than they should, and never shorter.
        let longest_s = operations.response.longest_ns as f64 / 1e9;
        assert!((2.0..5.0).contains(&longest_s), "{longest_s}");
    }
    let [stall] = stalls(&first)[..] else { panic!("{:?}", stalls(&first)) };
    assert!((2..=4).contains(&stall.1), "{stall:?}");
    assert_ne!(stalls(&second), [stall], "the other one had its own slices meanwhile");
    assert_made_good(&first.record);
    assert_eq!(second.record.inserts.rows, 3200);
}

#[test]
fn a_server_that_dies_leaves_the_other_to_its_end() {
    on_each(&[Postgres, Mysql], |product: Product| {
        let two = Two::start(product);
        let shape = Shape { rows_written: 20_000, ..shape() };
        let benches = two.benches(&shape);
        let [mut first, mut second] = [&benches[0], &benches[1]].map(|bench| run_up_to(bench, "l.x"));
        let mut entered = 0;
        let mut act = |moment| {
            two.switch(moment);
            if moment == Moment::Enter(0) {
                entered += 1;
                if entered == 3 {
                    two.servers[0].signal_all(Signal::KILL);
                }
            }
        };
        let step = step(&shape, "l.i1");
        let runs = two.run(&benches, &step, [&mut first, &mut second], &RUNNING, &mut act).unwrap();
        let [dead, alive] = runs.map(|run| run.unwrap().record);
        assert!(dead.failure.is_some() && dead.tables.is_empty() && first.tables().is_empty(), "{:?}", dead.failure);
        assert!(dead.inserts.accounting.is_balanced() && dead.inserts.accounting.skipped > 0);
        assert_eq!((alive.failure, alive.inserts.rows, alive.deletes.rows), (None, 2 * 16_000, 2 * 16_000));
    });
}

/// Notes to which servers sessions were opened.
#[derive(Debug, Default)]
struct Opened(Mutex<BTreeSet<usize>>);

impl ServerSide for Opened {
    fn opened(&self, arm: usize, _: usize, _: (&mut Session, &'static str), _: Option<usize>) -> Result<(), String> {
        self.0.lock().unwrap().insert(arm);
        Ok(())
    }

    fn closing(&self, _: usize, _: usize) {}
}

#[test]
fn a_server_that_cannot_be_reached_fails_alone() {
    let server = start(Postgres);
    let endpoint = server.endpoint();
    let nowhere =
        Endpoint { transport: rqps_wire::Transport::Unix { path: "/nonexistent".into() }, ..server.endpoint() };
    let shape = shape();
    let opened = Opened::default();
    let cpus = ClientCpus { server_side: Some(&opened), ..ClientCpus::default() };
    let benches = [&nowhere, &endpoint].map(|endpoint| Bench { cpus, ..bench(endpoint, &shape) });
    let mut states = [State::new(), State::new()];
    let mut states: Vec<&mut State> = states.iter_mut().collect();
    let runs = run_side_by_side(&benches, &step(&shape, "l.i0"), &mut states, &RUNNING, &mut |moment| {
        assert!(!matches!(moment, Moment::Enter(0) | Moment::Leave(0)));
    });
    let [unreached, reached] = &runs.unwrap()[..] else { panic!("two runs") };
    assert!(unreached.is_err());
    assert_eq!(reached.as_ref().unwrap().record.inserts.rows, 2 * 3000);
    assert_eq!(opened.0.into_inner().unwrap(), [1].into(), "its sessions are those of the second server");
}

#[test]
fn who_wants_to_stop_is_heard_with_a_statement_under_way_on_a_frozen_server() {
    let two = Two::start(Postgres);
    let shape = Shape { rates_per_s: vec![100], seconds: 1000.0, ..shape() };
    let benches = two.benches(&shape);
    let [mut first, mut second] = [&benches[0], &benches[1]].map(|bench| run_up_to(bench, "l.x"));
    let stop = AtomicBool::new(false);
    let mut entered = 0;
    let mut act = |moment| {
        two.switch(moment);
        entered += u32::from(moment == Moment::Enter(1));
        stop.store(entered > 5, Ordering::Relaxed);
    };
    let step = step(&shape, "qr100");
    let ran = two.run(&benches, &step, [&mut first, &mut second], &stop, &mut act);
    assert!(matches!(ran, Err(LoadError::Interrupted)), "{ran:?}");
}
