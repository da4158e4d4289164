//! Runs a workload on all arms for so many seconds of their own, each on a clock that stands still while others work.
//!
//! In: an exercise and its workload, whose programs have turns. Out: what each arm did. Slices pause a server with
//! statements under way, so that nothing is drained and no time but its own is counted. It knows no suite.

use crate::drive::{ArmRun, Exercise, Schedule, Slices, Span, Switch, run_to_end};
use crate::error::LoadError;
use crate::program::Workload;
use crate::test_run::Moment;
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Runs a workload; `in_turns` says that each arm has all of its time in one piece.
pub(crate) fn run<W: Workload>(
    exercise: &Exercise<'_>,
    workload: &W,
    in_turns: bool,
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<Vec<ArmRun>, LoadError> {
    let Schedule { seconds, warmup_seconds, slice, .. } = exercise.schedule;
    let whole = warmup_seconds + seconds;
    let [from, until] = [warmup_seconds, whole].map(Duration::from_secs_f64);
    let slices = match in_turns || exercise.arms.len() == 1 {
        true => Slices::Whole,
        false => Slices::OwnTime(slice),
    };
    let hook = RefCell::new(hook);
    let mut on_switch = |switch: Switch| {
        (hook.borrow_mut())(switch.into());
        Ok(())
    };
    let done = RefCell::new(vec![0.0; exercise.arms.len()]);
    let tick = |arm: usize, seconds: f64| {
        let mut done = done.borrow_mut();
        done[arm] = (seconds / whole).min(1.0);
        (hook.borrow_mut())(Moment::Advance(done.iter().sum::<f64>() / done.len() as f64));
    };
    let span = Span { from, until: Some(until) };
    // What pauses a slice is a timer, which must be exact.
    let ended = run_to_end(exercise, workload, true, (span, slices), &mut on_switch, stop, &tick)?;
    Ok(ended.into_iter().map(|(run, _)| run).collect())
}
