//! The loop against a simulated server and a virtual clock: what it counts is known to the nanosecond.
//!
//! In: service times, stalls and errors as a script. Out: the same tallies as from a real server. No thread, no sleep.

use super::arrival::Pace;
use super::lane::{Around, Lane};
use super::port::{Lost, Port};
use super::recorder::Fine;
use super::schedule::Visit;
use super::tally::Tally;
use crate::program::sysbench::{Player, Script};
use crate::program::{Cue, Ended, EvenPlan, Parameters, Program, StatementForm, Step, Turn};
use crate::random::Purpose;
use rand_pcg::Pcg64;
use rqps_model::plan::{Arrival, DataShape};
use rqps_suites::Suite;
use rqps_wire::{ErrorCode, Protocol, Reply, Rows, SqlState, TransactionStatus};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const US: u64 = 1000;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Ignores its parameters but remembers the first number.
#[derive(Default, Clone)]
struct Recorded {
    first: Option<i32>,
}

impl Parameters for Recorded {
    fn set_i32(&mut self, slot: usize, value: i32) {
        if slot == 0 {
            self.first = Some(value);
        }
    }
    fn set_i64(&mut self, _: usize, _: i64) {}
    fn set_text(&mut self, _: usize, _: &[u8]) {}
    fn set_sql(&mut self, _: &[u8]) {}
}

/// A server with one worker a session.
struct Simulated {
    now_ns: u64,
    rows: Rows,
    statements: Vec<Vec<Recorded>>,
    /// When each session's reply comes, and what it says.
    pending: Vec<Option<(u64, Option<ErrorCode>)>>,
    sent: Vec<(usize, Option<i32>)>,
    /// How long a statement takes.
    service_ns: u64,
    /// Whatever is being served meanwhile is held up until the end.
    stall: (u64, u64),
    /// The sent statements, by number, that fail.
    errors: Vec<(usize, ErrorCode)>,
    /// All statements from this one on fail with the code.
    broken_from: usize,
    /// The server is gone from then on.
    lost_at_ns: u64,
    in_transaction: bool,
    rollback: usize,
}

impl Simulated {
    fn new(program: &Script, sessions: usize, service_ns: u64) -> Simulated {
        Simulated {
            now_ns: SECOND,
            rows: Rows::default(),
            statements: vec![vec![Recorded::default(); program.statements().len()]; sessions],
            pending: vec![None; sessions],
            sent: Vec::new(),
            service_ns,
            stall: (u64::MAX, u64::MAX),
            errors: Vec::new(),
            broken_from: usize::MAX,
            lost_at_ns: u64::MAX,
            in_transaction: false,
            rollback: program.rollback().unwrap_or(usize::MAX),
        }
    }
}

impl Port for Simulated {
    type Statement = Recorded;

    fn now_ns(&mut self) -> u64 {
        self.now_ns
    }

    fn statements(&mut self, session: usize) -> (&Rows, &mut [Recorded]) {
        (&self.rows, &mut self.statements[session])
    }

    fn submit(&mut self, session: usize, statement: usize) -> Result<(), Lost> {
        let number = self.sent.len();
        self.sent.push((statement, self.statements[session][statement].first));
        let mut done_ns = self.now_ns + self.service_ns;
        if (self.stall.0..self.stall.1).contains(&done_ns) {
            done_ns = self.stall.1;
        }
        let mut error = self.errors.iter().find(|(at, _)| *at == number).map(|(_, code)| *code);
        if number >= self.broken_from && statement != self.rollback {
            error = Some(SqlState(*b"42P01").into());
        }
        assert!(self.pending[session].replace((done_ns, error)).is_none(), "one statement at a time");
        Ok(())
    }

    fn receive(&mut self, session: usize) -> Result<Option<Reply>, Lost> {
        if self.now_ns >= self.lost_at_ns {
            return Err(Lost("gone".to_owned()));
        }
        let Some((done_ns, error)) = self.pending[session] else { return Ok(None) };
        if done_ns > self.now_ns {
            return Ok(None);
        }
        self.pending[session] = None;
        let failed = error.is_some() && self.in_transaction;
        let in_transaction = if failed { TransactionStatus::Failed } else { TransactionStatus::Idle };
        Ok(Some(Reply { rows: 2, affected: 2, bytes: 10, error, in_transaction }))
    }

    fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<u32>) -> Result<(), Lost> {
        let until = timeout.map_or(u64::MAX, |timeout| self.now_ns + timeout.as_nanos() as u64);
        let next = self.pending.iter().flatten().map(|(done_ns, _)| *done_ns).min().unwrap_or(u64::MAX);
        let until = until.min(next).min(self.lost_at_ns.max(self.now_ns));
        assert_ne!(until, u64::MAX, "waiting for nothing");
        self.now_ns = self.now_ns.max(until);
        let is_lost = self.now_ns >= self.lost_at_ns;
        for (session, pending) in self.pending.iter().enumerate() {
            if pending.is_some_and(|(done_ns, _)| is_lost || done_ns <= self.now_ns) {
                ready.push(session as u32);
            }
        }
        Ok(())
    }

    fn forget(&mut self, session: usize) {
        self.pending[session] = None;
    }

    fn error_message(&self, _: usize) -> String {
        "as scripted".to_owned()
    }
}

struct Bench {
    program: &'static Script,
    lane: Lane<Player<'static>>,
    port: Simulated,
    own_ns: u64,
    counted_ns: u64,
}

impl Bench {
    fn new(test: &str, sessions: u32, service_ns: u64, arrival: Arrival) -> Bench {
        let data = DataShape { tables: 1, rows: 1000 };
        let script = Script::compile(Suite::sysbench().test(test).unwrap(), data, Protocol::Postgres).unwrap();
        let program: &Script = Box::leak(Box::new(script));
        let players = (0..sessions).map(|client| (client, Player::new(program, client)));
        let lane = Lane::new(players, 1, program.kind_names().len(), 1, Pace::new(arrival, 1, sessions, 1, 0));
        let port = Simulated::new(program, sessions as usize, service_ns);
        Bench { program, lane, port, own_ns: 0, counted_ns: 0 }
    }

    fn visit(&mut self, slice_ns: u64, lead_in_ns: u64, moment: u64) -> Result<u64, Lost> {
        let start_ns = self.port.now_ns;
        let visit = Visit {
            continues: false,
            pause_ns: u64::MAX,
            count_until_ns: u64::MAX,
            behind_ns: 0,
            start_ns,
            count_from_ns: Some(start_ns + lead_in_ns),
            end_ns: start_ns + slice_ns,
            events: u32::MAX,
            is_paced: true,
            purpose: Purpose::Keys,
            moment,
            own_base_ns: self.own_ns,
            counted_base_ns: self.counted_ns,
            origin_ns: 0,
        };
        let kinds: Vec<String> = self.program.kind_names().map(str::to_owned).collect();
        let around = Around { seed: 1, kinds: &kinds, stop: &AtomicBool::new(false), tick: &|_| () };
        let drained = self.lane.visit(&mut self.port, &visit, &around)?.at_ns;
        self.own_ns += drained - start_ns;
        self.counted_ns += drained - start_ns - lead_in_ns;
        Ok(drained - start_ns)
    }

    /// From the planned start where there is a plan.
    fn events(&self) -> &Fine {
        let counts = &self.tally().events[0];
        if matches!(self.lane.pace, Pace::Open(_)) { &counts.from_plan } else { &counts.response }
    }

    fn tally(&self) -> &Tally {
        &self.lane.tally
    }
}

const EVEN: Arrival = Arrival::Even { rate_per_s: 1000.0 };

#[test]
fn a_slice_counts_whole_events_between_lead_in_and_end() {
    let mut bench = Bench::new("point-query", 1, 300 * US, Arrival::Closed);
    let took = bench.visit(10 * MS, MS, 0).unwrap();
    // Events start at 0, 300, ... 9900 us: those from 1200 us on count, the last ends at 10.2 ms.
    assert_eq!(took, 10_200 * US);
    assert_eq!(bench.tally().slices.operations, [30]);
    assert_eq!(bench.tally().slices.busy_ns, [30 * 300 * US]);
    assert_eq!((bench.tally().rows, bench.tally().accounting().scheduled), (60, 30));
}

#[test]
fn a_statement_longer_than_the_slice_is_the_slice() {
    let mut bench = Bench::new("scan", 2, 3 * SECOND, Arrival::Closed);
    assert_eq!(bench.visit(10 * MS, 0, 0).unwrap(), 3 * SECOND);
    assert_eq!(
        (&bench.tally().slices.operations[..], &bench.tally().slices.busy_ns[..]),
        (&[2][..], &[6 * SECOND][..])
    );
    // With a lead-in nevertheless, the first event is that, and one is counted still.
    assert_eq!(bench.visit(10 * MS, MS, 1).unwrap(), 6 * SECOND);
    assert_eq!(bench.tally().slices.operations, [2, 2]);
}

#[test]
fn a_transaction_is_never_cut() {
    let mut bench = Bench::new("read-only_range=10", 3, 100 * US, Arrival::Closed);
    for cycle in 0..5 {
        bench.visit(10 * MS, MS, cycle).unwrap();
        assert!(bench.port.pending.iter().all(Option::is_none));
    }
    // An event takes 1.6 ms: those that start at 1.6, 3.2, ... 9.6 ms count.
    assert_eq!(bench.tally().slices.operations, [3 * 6 * 16; 5]);
    assert_eq!(bench.tally().slices.busy_ns, [3 * 6 * 1600 * US; 5]);
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
    let latencies = super::recorder::joined(std::iter::once(bench.events()));
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
    let latencies = super::recorder::joined(std::iter::once(bench.events()));
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
    let rate = bench.tally().slices.operations[0] as f64 / (bench.tally().slices.busy_ns[0] as f64 / 1e9);
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
    assert_eq!(bench.tally().slices.operations[0], 4 + 6 * accounting.succeeded);
    assert_eq!(bench.program.kind_names().nth(bench.tally().errors[0].kind), Some("insert-deleted"));
}

#[test]
fn an_arm_on_which_everything_fails_is_given_up() {
    for test in ["point-query", "write-only"] {
        let mut bench = Bench::new(test, 2, 10 * US, Arrival::Closed);
        bench.port.in_transaction = test == "write-only";
        bench.port.broken_from = 100;
        let lost = bench.visit(10 * SECOND, 0, 0).unwrap_err();
        assert!(lost.0.contains("1000 events failed in a row") && lost.0.contains("42P01"), "{lost:?}");
        assert!(bench.tally().accounting().is_balanced());
        assert!(bench.tally().slices.operations.is_empty());
    }
}

#[test]
fn a_lost_server_leaves_balanced_accounts() {
    let mut bench = Bench::new("read-write_range=10", 4, 100 * US, Arrival::Closed);
    bench.visit(10 * MS, 0, 0).unwrap();
    bench.port.lost_at_ns = bench.port.now_ns + 5 * MS;
    assert_eq!(bench.visit(10 * MS, 0, 1), Err(Lost("gone".to_owned())));
    let accounting = bench.tally().accounting();
    assert!(accounting.is_balanced());
    assert_eq!(accounting.failed, 4);
    assert_eq!(bench.tally().slices.operations.len(), 1);
}

#[test]
fn rows_of_seconds_add_up_across_slices() {
    let mut bench = Bench::new("point-query", 2, 500 * US, Arrival::Closed);
    for cycle in 0..300 {
        bench.visit(10 * MS, MS, cycle).unwrap();
        bench.port.now_ns += 10 * MS;
    }
    let operations: u64 = bench.tally().slices.operations.iter().sum();
    let counted_ns = bench.counted_ns;
    let Lane { tally, .. } = bench.lane;
    let rows = tally.intervals.finish(counted_ns, 0);
    assert_eq!(rows.len(), (counted_ns.div_ceil(SECOND)) as usize);
    assert_eq!(rows.iter().map(|row| row.operations).sum::<u64>(), operations);
    assert!(rows[..rows.len() - 1].iter().all(|row| row.operations.abs_diff(4000) < 80), "{rows:?}");
    assert!(rows.iter().all(|row| row.max_ns == 500 * US));
}

/// A session that goes by its own plan, if it has one, and knows its end.
struct Planned {
    forms: Vec<StatementForm>,
    is_planned: bool,
    left: u32,
    ended: Vec<(u64, u64, Option<u64>)>,
}

impl Program for Planned {
    const HAS_TURNS: bool = true;

    fn statements(&self) -> &[StatementForm] {
        &self.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, _: &mut [S]) -> Step {
        match cue {
            Cue::Answer(_) => Step::End,
            Cue::Begin | Cue::Again => Step::Send { statement: 0, kind: 0 },
        }
    }

    fn plan(&self) -> Option<EvenPlan> {
        let gap_ns = 10.0 * MS as f64;
        let plan = EvenPlan { gap_ns, phase: 0.5, catch_up_ns: 30 * MS, give_up_ns: u64::MAX };
        self.is_planned.then_some(plan)
    }

    fn turn(&mut self, _: u64) -> Turn {
        if self.left == 0 { Turn::Over } else { Turn::Begin }
    }

    fn ended(&mut self, ended: &Ended<'_>) {
        self.left -= 1;
        self.ended.push((ended.at_ns, ended.took_ns, ended.from_plan_ns));
    }
}

/// A visit from the first second to that moment, all of it counted.
fn whole_visit(end_ns: u64) -> Visit {
    Visit {
        continues: false,
        pause_ns: u64::MAX,
        behind_ns: 0,
        start_ns: SECOND,
        count_until_ns: u64::MAX,
        count_from_ns: Some(SECOND),
        end_ns,
        events: u32::MAX,
        is_paced: true,
        purpose: Purpose::Keys,
        moment: 0,
        own_base_ns: 0,
        counted_base_ns: 0,
        origin_ns: 0,
    }
}

/// What a planned session's events were, if the visit pauses each time after so long.
fn planned_events(pause: Option<u64>) -> Vec<(u64, u64, Option<u64>)> {
    let (tally, ended) = in_visits(Some(40), whole_visit(u64::MAX), pause);
    assert_eq!((tally.accounting().succeeded, tally.accounting().is_balanced()), (40, true));
    ended
}

/// What a session counts, and its events, with a plan and so many of them, or without. The visit pauses each time after
/// so long.
fn in_visits(planned: Option<u32>, whole: Visit, pause: Option<u64>) -> (Tally, Vec<(u64, u64, Option<u64>)>) {
    let program = Planned {
        forms: vec![StatementForm::prepared("", &[])],
        is_planned: planned.is_some(),
        left: planned.unwrap_or(u32::MAX),
        ended: Vec::new(),
    };
    let mut lane = Lane::new([(0, program)].into_iter(), 1, 1, 1, Pace::Closed);
    let script = Bench::new("point-query", 1, 0, Arrival::Closed).program;
    let mut port = Simulated::new(script, 1, 2 * MS);
    port.stall = (SECOND + 100 * MS, SECOND + 150 * MS);
    let visit = Visit { pause_ns: pause.map_or(u64::MAX, |pause| SECOND + pause), ..whole };
    let kinds = ["point".to_owned()];
    let around = Around { seed: 1, kinds: &kinds, stop: &AtomicBool::new(false), tick: &|_| () };
    let (mut next, mut visits) = (visit, 1);
    loop {
        let left = lane.visit(&mut port, &next, &around).unwrap();
        if left.is_idle {
            break;
        }
        assert_eq!(left.at_ns, next.pause_ns, "it pauses when it should, whatever is under way");
        visits += 1;
        next = Visit { continues: true, pause_ns: left.at_ns + pause.unwrap(), ..visit };
    }
    assert!(pause.is_none_or(|pause| visits >= 240 * MS / pause), "{visits}");
    let (tally, programs) = lane.into_parts();
    (tally, programs.into_iter().next().unwrap().ended)
}

/// A run with ramp-up and an end by its own clock: the stall in it counts, and pauses do not.
#[test]
fn a_span_counts_the_same_in_slices_of_any_length() {
    let whole = Visit { count_from_ns: Some(SECOND + 50 * MS), ..whole_visit(SECOND + 250 * MS) };
    for pause in [None, Some(MS), Some(7 * MS), Some(60 * MS)] {
        let (tally, ended) = in_visits(None, whole, pause);
        // Each takes 2 ms: 25 begin before the stall, which holds the last of them up, and 50 after it.
        let counts = tally.accounting();
        assert_eq!((counts.scheduled, counts.succeeded), (75, 75), "{pause:?}");
        assert_eq!((ended.len(), ended[ended.len() - 1].0), (100, SECOND + 250 * MS), "{pause:?}");
    }
}

#[test]
fn pauses_change_nothing_on_the_clock_of_the_arm() {
    let whole = planned_events(None);
    // The events that the stall held up are made good; what is further behind is deferred.
    assert_eq!(whole[0], (SECOND + 7 * MS, 2 * MS, Some(2 * MS)));
    assert!(whole.iter().any(|(_, took_ns, _)| *took_ns > 40 * MS), "{whole:?}");
    for pause in [MS, 3 * MS, 7 * MS, 60 * MS] {
        assert_eq!(planned_events(Some(pause)), whole, "{pause}");
    }
}

/// A session that waits 7 ms behind each event; every other event turns out to be of another kind.
struct Thinking {
    forms: Vec<StatementForm>,
    due_ns: u64,
    begun: usize,
    is_over: bool,
}

impl Program for Thinking {
    const HAS_TURNS: bool = true;

    fn statements(&self) -> &[StatementForm] {
        &self.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, _: &mut [S]) -> Step {
        self.is_over = matches!(cue, Cue::Answer(_));
        self.begun += usize::from(!self.is_over);
        if self.is_over { Step::End } else { Step::Send { statement: 0, kind: 0 } }
    }

    fn event(&self) -> usize {
        if self.is_over { self.begun % 2 } else { 0 }
    }

    fn turn(&mut self, _: u64) -> Turn {
        Turn::NotBefore(self.due_ns)
    }

    fn ended(&mut self, ended: &Ended<'_>) {
        self.due_ns = ended.at_ns + 7 * MS;
    }
}

#[test]
fn an_event_begins_when_its_pause_is_over_and_counts_as_what_it_became() {
    for pause in [None, Some(MS), Some(5 * MS)] {
        let forms = vec![StatementForm::prepared("", &[])];
        let program = Thinking { forms, due_ns: 0, begun: 0, is_over: false };
        let mut lane = Lane::new([(0, program)].into_iter(), 1, 1, 2, Pace::Closed);
        let script = Bench::new("point-query", 1, 0, Arrival::Closed).program;
        let mut port = Simulated::new(script, 1, 2 * MS);
        let kinds = ["point".to_owned()];
        let around = Around { seed: 1, kinds: &kinds, stop: &AtomicBool::new(false), tick: &|_| () };
        let visit = whole_visit(SECOND + 100 * MS);
        let pause_ns = |from_ns| pause.map_or(u64::MAX, |pause: u64| from_ns + pause);
        let mut next = Visit { pause_ns: pause_ns(SECOND), ..visit };
        let left = loop {
            let left = lane.visit(&mut port, &next, &around).unwrap();
            if left.is_idle {
                break left;
            }
            next = Visit { continues: true, pause_ns: pause_ns(left.at_ns), ..visit };
        };
        // One begins every 9 ms, the last at 99 ms; the pause behind it is not waited for.
        assert_eq!(left.at_ns, SECOND + 101 * MS, "{pause:?}");
        let (tally, programs) = lane.into_parts();
        let accounts = tally.events.iter().map(|events| events.accounting);
        let counted: Vec<(u64, u64)> = accounts.map(|account| (account.scheduled, account.succeeded)).collect();
        assert_eq!((counted, programs[0].begun), (vec![(6, 6), (6, 6)], 12), "{pause:?}");
    }
}
