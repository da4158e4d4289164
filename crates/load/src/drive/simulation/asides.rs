//! Sessions that sleep within their events, and send several statements at once.

use super::pauses::whole_visit;
use super::*;
use crate::program::{Aside, Cue, StatementForm, Step};
use rand_pcg::Pcg64;

/// Sends, sleeps, sends again, then three at once.
struct Napping {
    forms: Vec<StatementForm>,
    nap_ns: u64,
    step: usize,
}

impl Napping {
    fn of(nap_ns: u64) -> Napping {
        Napping { forms: Vec::new(), nap_ns, step: 0 }
    }

    fn next_step(&mut self) -> Step {
        self.step += 1;
        match self.step {
            1 | 3 => Step::Send { statement: 0, kind: 0 },
            2 => Step::Aside(Aside::Sleep(self.nap_ns)),
            4 | 6 | 7 => Step::Aside(Aside::Queue(0)),
            5 => Step::Aside(Aside::Sync),
            8 => Step::SendQueue { kind: 1 },
            _ => Step::End,
        }
    }
}

impl Program for Napping {
    const HAS_ASIDES: bool = true;

    fn statements(&self) -> &[StatementForm] {
        &self.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, _: &mut [S]) -> Step {
        if matches!(cue, Cue::Begin | Cue::Again) {
            self.step = 0;
        }
        self.next_step()
    }

    fn go_on<S: Parameters>(&mut self, _: &mut [S]) -> Step {
        self.next_step()
    }
}

#[test]
fn sleep_is_left_out_and_what_is_sent_together_is_answered_together() {
    const SESSIONS: u64 = 3;
    let programs = (0..SESSIONS as u32).map(|client| (client, Napping::of(5 * MS)));
    let mut lane = Lane::new(programs, 1, 2, 1, Pace::Closed, None);
    let script = Bench::new("point-query", 1, 0, Arrival::Closed).program;
    let mut port = Simulated::new(script, SESSIONS as usize, 2 * MS);
    let kinds = ["one", "pipeline"].map(str::to_owned);
    let around = Around { seed: 1, kinds: &kinds, stop: &AtomicBool::new(false), tick: &|_| () };
    // An event takes 2 + 5 + 2 + 3 * 2 ms; four begin.
    let left = lane.visit(&mut port, &whole_visit(SECOND + 46 * MS), &around).unwrap();
    assert_eq!((left.at_ns, left.is_idle), (SECOND + 60 * MS, true));
    let (tally, _) = lane.into_parts();
    let events = 4 * SESSIONS;
    let counts = tally.accounting();
    assert_eq!((counts.scheduled, counts.succeeded), (events, events));
    assert_eq!(left.counted.operations, 5 * events);
    // The server worked for 10 ms of each.
    assert_eq!(left.counted.busy_ns, events * 10 * MS);
    for (fine, took_ns) in
        [(&tally.events[0].response, 10 * MS), (&tally.statements[0], 2 * MS), (&tally.statements[1], 6 * MS)]
    {
        let [least, most] = fine.quantiles([0.01, 0.99]);
        assert!(least.abs_diff(took_ns) < took_ns / 50 && most.abs_diff(took_ns) < took_ns / 50, "{least} {most}");
    }
}

#[test]
fn a_wish_to_stop_wakes_who_sleeps() {
    let mut lane = Lane::new([(0, Napping::of(3600 * SECOND))].into_iter(), 1, 2, 1, Pace::Closed, None);
    let script = Bench::new("point-query", 1, 0, Arrival::Closed).program;
    let mut port = Simulated::new(script, 1, 2 * MS);
    let stop = AtomicBool::new(false);
    let kinds = ["one", "pipeline"].map(str::to_owned);
    // Progress is told once a second.
    let tick = |_: u64| stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let around = Around { seed: 1, kinds: &kinds, stop: &stop, tick: &tick };
    let left = lane.visit(&mut port, &whole_visit(u64::MAX), &around).unwrap();
    assert!(left.is_idle && left.at_ns < 3 * SECOND, "{left:?}");
}
