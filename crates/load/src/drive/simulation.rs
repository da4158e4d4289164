//! The loop against a simulated server and a virtual clock: what it counts is known to the nanosecond.
//!
//! In: service times, stalls and errors as a script. Out: the same tallies as from a real server. No thread, no sleep.

use super::arrival::Pace;
use super::intervals::{ROOM, Row};
use super::lane::{Around, Lane, Left};
use super::port::{Lost, Piece, Port};
use super::recorder::Fine;
use super::schedule::Visit;
use super::tally::Tally;
use crate::program::sysbench::{Player, Script};
use crate::program::{Parameters, Program};
use crate::random::Purpose;
use rqps_model::plan::{Arrival, DataShape};
use rqps_model::sample::Slices;
use rqps_suites::Suite;
use rqps_wire::{AnyValue, ErrorCode, Protocol, Reply, Rows, SqlState, TransactionStatus};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

mod asides;
mod overdue;
mod pauses;
mod planted;
mod slices;

const US: u64 = 1000;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// What a server says to a statement that somebody killed.
const INTERRUPTED: ErrorCode = ErrorCode { state: SqlState(*b"70100"), number: ErrorCode::INTERRUPTED_NUMBER };

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
    fn set_any<'v>(&mut self, _: impl Fn(usize) -> AnyValue<'v>) {}
}

/// A server with one worker a session.
struct Simulated {
    now_ns: u64,
    rows: Rows,
    statements: Vec<Vec<Recorded>>,
    /// When each session's reply comes, and what it says.
    pending: Vec<Option<(u64, Option<ErrorCode>)>>,
    sent: Vec<(usize, Option<i32>)>,
    /// Statements of each session that wait to be sent together.
    queued: Vec<u64>,
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
    /// How often the loop is to look for overdue statements.
    look_every_ns: Option<u64>,
    /// How long a killed statement goes on.
    kill_ns: u64,
    /// Sessions whose statement was killed, and sessions that took that in afterwards, each with the time.
    killed: Vec<(usize, u64)>,
    absorbed: Vec<(usize, u64)>,
}

impl Simulated {
    fn new(program: &Script, sessions: usize, service_ns: u64) -> Simulated {
        Simulated {
            now_ns: SECOND,
            rows: Rows::default(),
            statements: vec![vec![Recorded::default(); program.statements().len()]; sessions],
            pending: vec![None; sessions],
            sent: Vec::new(),
            queued: vec![0; sessions],
            service_ns,
            stall: (u64::MAX, u64::MAX),
            errors: Vec::new(),
            broken_from: usize::MAX,
            lost_at_ns: u64::MAX,
            in_transaction: false,
            rollback: program.rollback().unwrap_or(usize::MAX),
            look_every_ns: None,
            kill_ns: 0,
            killed: Vec::new(),
            absorbed: Vec::new(),
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

    fn queue(&mut self, session: usize, piece: Piece) -> Result<(), Lost> {
        match piece {
            Piece::Statement(_) => self.queued[session] += 1,
            Piece::Sync => {}
            Piece::End => {
                let done_ns = self.now_ns + std::mem::take(&mut self.queued[session]) * self.service_ns;
                assert!(self.pending[session].replace((done_ns, None)).is_none(), "one pipeline at a time");
            }
        }
        Ok(())
    }

    fn drop_queue(&mut self, session: usize) {
        self.queued[session] = 0;
    }

    fn receive(&mut self, session: usize) -> Result<Option<Reply>, Lost> {
        if self.now_ns >= self.lost_at_ns {
            return Err(Lost::in_doubt("gone"));
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

    fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<u32>) -> Result<bool, Lost> {
        let until = timeout.map_or(u64::MAX, |timeout| self.now_ns + timeout.as_nanos() as u64);
        let next = self.pending.iter().flatten().map(|(done_ns, _)| *done_ns).min().unwrap_or(u64::MAX);
        let look_ns = self.look_every_ns.map_or(u64::MAX, |every| (self.now_ns / every + 1) * every);
        let until = until.min(next).min(look_ns).min(self.lost_at_ns.max(self.now_ns));
        assert_ne!(until, u64::MAX, "waiting for nothing");
        self.now_ns = self.now_ns.max(until);
        let is_lost = self.now_ns >= self.lost_at_ns;
        for (session, pending) in self.pending.iter().enumerate() {
            if pending.is_some_and(|(done_ns, _)| is_lost || done_ns <= self.now_ns) {
                ready.push(session as u32);
            }
        }
        Ok(self.now_ns == look_ns)
    }

    fn interrupt(&mut self, session: usize) -> Result<(), Lost> {
        self.killed.push((session, self.now_ns));
        let (done_ns, _) = self.pending[session].expect("a statement is under way");
        let killed_ns = self.now_ns + self.kill_ns;
        if killed_ns < done_ns {
            self.pending[session] = Some((killed_ns, Some(INTERRUPTED)));
        }
        Ok(())
    }

    fn absorb_kill(&mut self, session: usize) -> Result<(), Lost> {
        assert!(self.pending[session].is_none(), "nothing is under way");
        self.absorbed.push((session, self.now_ns));
        Ok(())
    }

    fn burn(&mut self, ns: u64) -> u64 {
        self.now_ns += ns;
        ns
    }

    fn forget(&mut self, session: usize) {
        self.pending[session] = None;
    }

    fn error_message(&self, _: usize) -> &str {
        "as scripted"
    }
}

struct Bench {
    program: &'static Script,
    lane: Lane<Player<'static>>,
    port: Simulated,
    own_ns: u64,
    counted_ns: u64,
    /// Of visits that were not lost.
    slices: Slices,
    seconds: Receiver<Row>,
}

impl Bench {
    fn new(test: &str, sessions: u32, service_ns: u64, arrival: Arrival) -> Bench {
        let data = DataShape { tables: 1, rows: 1000 };
        let script = Script::compile(Suite::sysbench().test(test).unwrap(), data, Protocol::Postgres).unwrap();
        let program: &Script = Box::leak(Box::new(script));
        let players = (0..sessions).map(|client| (client, Player::new(program, client)));
        let (rows, seconds) = sync_channel(ROOM);
        let pace = Pace::new(arrival, 1, sessions, 1, 0);
        let lane = Lane::new(players, 1, program.kind_names().len(), 1, pace, Some(rows));
        let port = Simulated::new(program, sessions as usize, service_ns);
        Bench { program, lane, port, own_ns: 0, counted_ns: 0, slices: Slices::default(), seconds }
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
        let Left { at_ns: drained, counted, .. } = self.lane.visit(&mut self.port, &visit, &around)?;
        self.slices.operations.push(counted.operations);
        self.slices.busy_ns.push(counted.busy_ns);
        self.slices.burned_ns.push(counted.burned_ns);
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
