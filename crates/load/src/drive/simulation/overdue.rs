//! Statements that take too long on a server that does not end them.

use super::pauses::whole_visit;
use super::*;
use crate::program::{Cue, StatementForm, Step};
use rand_pcg::Pcg64;
use rqps_model::sample::FailureClass;

/// Sends one statement an event, whose time-out the client keeps.
struct Limited {
    forms: Vec<StatementForm>,
    timeout: Option<Duration>,
}

impl Program for Limited {
    const KEEPS_TIMEOUTS: bool = true;
    const TIMEOUTS_IN_A_ROW_MAX: u32 = 3;

    fn statements(&self) -> &[StatementForm] {
        &self.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, _: &mut [S]) -> Step {
        match cue {
            Cue::Answer(_) => Step::End,
            Cue::Begin | Cue::Again => Step::Send { statement: 0, kind: 0 },
        }
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

/// Runs sessions for 400 ms with a time-out of 50 ms, looked after every 10.
fn run(sessions: u32, timeout: Option<Duration>, set: impl Fn(&mut Simulated)) -> (Tally, Simulated, Option<Lost>) {
    let programs = (0..sessions).map(|client| (client, Limited { forms: Vec::new(), timeout }));
    let mut lane = Lane::new(programs, 1, 1, 1, Pace::Closed, None);
    let script = Bench::new("point-query", 1, 0, Arrival::Closed).program;
    let mut port = Simulated::new(script, sessions as usize, 2 * MS);
    port.look_every_ns = timeout.map(|timeout| timeout.as_nanos() as u64 / 5);
    set(&mut port);
    let kinds = ["one".to_owned()];
    let around = Around { seed: 1, kinds: &kinds, stop: &AtomicBool::new(false), tick: &|_| () };
    let lost = lane.visit(&mut port, &whole_visit(SECOND + 400 * MS), &around).err();
    (lane.into_parts().0, port, lost)
}

const TIMEOUT: Option<Duration> = Some(Duration::from_millis(50));

#[test]
fn what_is_overdue_is_killed_once_and_three_in_a_row_are_enough() {
    let (tally, port, lost) = run(2, TIMEOUT, |port| (port.service_ns, port.kill_ns) = (SECOND, MS));
    let why = lost.unwrap().why;
    assert!(why.starts_with("3 events took longer than they may in a row, the last in `one` with 1317"), "{why}");
    assert_eq!((tally.failures.timeout, tally.accounting().failed), (6, 6));
    assert_eq!(tally.accounting().succeeded, 0);
    for session in 0..2 {
        let times = |of: &[(usize, u64)]| -> Vec<u64> {
            of.iter().filter(|(one, _)| *one == session).map(|(_, at_ns)| (at_ns - SECOND) / MS).collect()
        };
        // The first at the sixth look, since the fifth is at its time-out; each is taken in when it is answered.
        let (killed, absorbed) = (times(&port.killed), times(&port.absorbed));
        assert_eq!((killed.len(), absorbed.len()), (3, 3), "{killed:?}");
        for (begun, (killed, absorbed)) in [0].iter().chain(&absorbed).zip(killed.iter().zip(&absorbed)) {
            assert!((50..=60).contains(&(killed - begun)) && *absorbed == killed + 1, "{begun} {killed} {absorbed}");
        }
    }
}

#[test]
fn what_ends_by_itself_is_no_timeout() {
    // Answered some milliseconds after the KILL, which would have taken longer.
    let (tally, port, lost) = run(1, TIMEOUT, |port| (port.service_ns, port.kill_ns) = (62 * MS, 20 * MS));
    assert_eq!((lost, tally.failures.timeout, tally.accounting().failed), (None, 0, 0));
    assert!(tally.accounting().succeeded > 3 && port.absorbed.len() == port.killed.len(), "{:?}", port.killed);
}

#[test]
fn what_does_not_heed_a_kill_is_killed_again() {
    let (tally, port, _) = run(1, TIMEOUT, |port| (port.service_ns, port.kill_ns) = (SECOND, 170 * MS));
    assert_eq!(port.absorbed.len() as u64, tally.failures.timeout);
    assert!(port.killed.len() > 2 * port.absorbed.len(), "{:?}", port.killed);
}

#[test]
fn what_others_kill_is_an_error_like_others() {
    let (tally, port, lost) = run(1, TIMEOUT, |port| port.errors = (3..9).map(|at| (at, INTERRUPTED)).collect());
    assert_eq!((lost, tally.failures.timeout, tally.failures.other), (None, 0, 6));
    assert_eq!((port.killed.len(), port.absorbed.len()), (0, 0));
    assert_eq!(INTERRUPTED.class(), FailureClass::Other);
}

#[test]
fn nothing_is_killed_where_the_server_keeps_the_timeout() {
    let (tally, port, _) = run(1, None, |port| port.service_ns = SECOND);
    assert_eq!((tally.accounting().succeeded, port.killed.len()), (1, 0));
}
