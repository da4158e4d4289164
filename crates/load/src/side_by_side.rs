//! Runs a workload on all arms at once as a plan wants it: in slices, or in turns, which are long slices.
//!
//! In: an exercise and its workload. Out: for each arm the numbers of its sample. It knows no suite.

use crate::drive::{self, ArmRun, Exercise, Phase, Schedule, Switch};
use crate::error::LoadError;
use crate::program::Workload;
use crate::test_run::{Moment, Ran};
use rqps_model::plan::{Plan, TestPlan};
use rqps_model::sample::{Planted, Resources, Score};
use rqps_model::{Interleave, Part, Sample, part};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Left out of the count at the beginning of each slice: throughput is 12 % lower in the first millisecond after a
/// switch and level from the second on (docs/measurement.md).
const LEAD_IN: Duration = Duration::from_millis(1);

/// A connection has a speed of its own, some tenths of a percent off; many of them average that out.
const SESSION_LIFE: Duration = Duration::from_millis(500);

/// Turns that a test is cut into, as far as they stay between these lengths.
const TURNS: f64 = 4.0;
const TURN_SECONDS_MIN: f64 = 1.0;
const TURN_SECONDS_MAX: f64 = 60.0;

/// Slices as planned, or turns: long slices with new sessions each.
pub(crate) fn schedule(plan: &Plan, test: &TestPlan) -> Schedule {
    let slice = match test.interleave {
        Some(Interleave::Slices) => Duration::from_secs_f64(plan.slice_ms / 1e3),
        _ => turn(test.seconds, plan.turn_seconds),
    };
    Schedule {
        seconds: test.seconds,
        warmup_seconds: plan.warmup_seconds,
        slice,
        lead_in: LEAD_IN.min(slice / 4),
        // Who is sampled keeps its sessions: what opening them takes is no part of an operation.
        session_life: if plan.profiled { Duration::MAX } else { SESSION_LIFE.max(slice) },
    }
}

/// For events that are counted, not timed.
pub(crate) fn without_time() -> Schedule {
    Schedule {
        seconds: 0.0,
        warmup_seconds: 0.0,
        slice: SESSION_LIFE,
        lead_in: Duration::ZERO,
        session_life: SESSION_LIFE,
    }
}

/// As long as is wanted, if something is. The turns' counted parts make up the test's seconds; were they short of it,
/// one more turn would follow.
fn turn(seconds: f64, wanted: Option<f64>) -> Duration {
    let turn = wanted.unwrap_or((seconds / TURNS).clamp(TURN_SECONDS_MIN, TURN_SECONDS_MAX));
    Duration::from_secs_f64(seconds / (seconds / turn).ceil()) + LEAD_IN
}

/// How often an arm is visited until it has its counted seconds.
fn visits(seconds: f64, slice: Duration, lead_in: Duration) -> f64 {
    (seconds / (slice - lead_in).as_secs_f64()).round().max(1.0)
}

/// Runs a workload, so many events of each client or for the time of the schedule; `in_turns` says that a slice is a
/// turn.
pub(crate) fn run<W: Workload>(
    exercise: &Exercise<'_>,
    workload: &W,
    in_turns: bool,
    events: Option<u32>,
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<Vec<Ran>, LoadError> {
    let Schedule { seconds, slice, lead_in, .. } = exercise.schedule;
    let turns = visits(seconds, slice, lead_in) * exercise.arms.len() as f64;
    let mut turns_done = 0.0;
    let hook = RefCell::new(hook);
    let mut visited = vec![Visited::default(); exercise.arms.len()];
    let mut entered = Instant::now();
    let mut on_switch = |switch: Switch| {
        match switch {
            Switch::Enter { .. } => entered = Instant::now(),
            Switch::Leave { arm, phase } => visited[arm].add(phase, entered.elapsed()),
            Switch::Begin | Switch::End => {}
        }
        let mut hook = hook.borrow_mut();
        hook(switch.into());
        // A cycle of turns may take many minutes, and `advances` is called at its end only.
        if in_turns && matches!(switch, Switch::Leave { phase: Phase::Counted, .. }) {
            turns_done += 1.0;
            hook(Moment::Advance(f64::min(turns_done / turns, 1.0)));
        }
        Ok(())
    };
    let advances = |fraction: f64| (hook.borrow_mut())(Moment::Advance(fraction));
    let runs = match events {
        Some(events) => drive::run_equal(exercise, workload, events, &mut on_switch, stop, &advances)?,
        None => drive::run(exercise, workload, &mut on_switch, stop, &advances)?,
    };
    let planted = exercise.planted.iter().map(|share| Some(*share).filter(|share| *share > 0.0));
    let planted = planted.chain(std::iter::repeat(None));
    Ok(runs.into_iter().zip(visited).zip(planted).map(|((run, visited), share)| ran(run, visited, share)).collect())
}

/// How long an arm was visited without counting.
#[derive(Debug, Clone, Copy, Default)]
struct Visited {
    connecting: Duration,
    warming_up: Duration,
}

impl Visited {
    fn add(&mut self, phase: Phase, took: Duration) {
        match phase {
            Phase::Connect => self.connecting += took,
            Phase::WarmUp => self.warming_up += took,
            Phase::Counted => {}
        }
    }
}

/// `planted` is the share of a statement's time that was to be burned.
fn ran(run: ArmRun, visited: Visited, planted: Option<f64>) -> Ran {
    let burned_ns = run.slices.burned_ns.iter().sum();
    let sample = Sample {
        score: Score { count: run.operations, ..Score::default() },
        rows: run.rows,
        busy_ns: run.busy_ns,
        seconds: run.seconds,
        sessions: run.sessions,
        batch_scheduling: run.batch_scheduling,
        placement: run.placement,
        planted: planted.map(|share| Planted::new(share, burned_ns, run.busy_ns)),
        accounting: run.accounting,
        errors: run.errors,
        failures: run.failures,
        resources: Resources { operations: run.operations_total, ..Resources::default() },
        failure: run.failure,
        ..Sample::default()
    };
    let parts = vec![Part::json(part::SLICES, &run.slices)];
    Ran {
        sample,
        is_refusal: run.is_refusal,
        latency: run.latency,
        parts,
        connect_seconds: visited.connecting.as_secs_f64(),
        warmup_seconds: visited.warming_up.as_secs_f64(),
        counted: run.counted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_make_up_the_tests_seconds() {
        let usual = [(0.3, 1.0), (1.0, 1.0), (1.5, 2.0), (10.0, 4.0), (200.0, 4.0), (600.0, 10.0)];
        let usual = usual.map(|(seconds, turns)| (seconds, None, turns));
        let wanted = [(60.0, Some(60.0), 1.0), (60.0, Some(3600.0), 1.0), (60.0, Some(25.0), 3.0)];
        for (seconds, wanted, turns) in usual.into_iter().chain(wanted) {
            let slice = turn(seconds, wanted);
            let counted = (slice - LEAD_IN).as_secs_f64() * turns;
            assert!((counted - seconds).abs() < 1e-6 && counted + 1e-6 >= seconds, "{seconds} s: {counted}");
            assert_eq!(visits(seconds, slice, LEAD_IN), turns);
        }
    }
}
