//! The thread that decides what comes next: it connects, warms up, then walks cycles of slices until every arm has its
//! counted seconds, and calls the caller's hook in between.
//!
//! In: an exercise and the crew of threads. Out: commands to the crew, and the times of each arm. All arms of a cycle
//! draw the same keys, whatever protocol each speaks, and their order is drawn anew for each cycle.

use super::batch::comes_in_parts;
use super::crew::{Crew, Report};
use super::exercise::{Exercise, Hook, Phase, Switch};
use super::outcome::{ArmRun, ArmState, join};
use super::port::monotonic_ns;
use super::schedule::{Tuned, Visit};
use crate::error::LoadError;
use crate::program::Workload;
use crate::random::{Purpose, shuffle, stream};
use rqps_model::plan::Arrival;
use rqps_model::sample::{Planted, SessionPlacement};
use std::sync::atomic::{AtomicBool, Ordering};

/// New sessions run uncounted events for at most this long, whatever their statements take.
const SETTLE_NS: u64 = 250_000_000;

/// No arm warms up for longer than this many times what is wanted, however slow its statements are.
const WARMUP_TIMES_MAX: u64 = 10;

/// What an arm did, and its programs with what they noted.
pub type Ended<'w, W> = (ArmRun, Vec<<W as Workload>::Program<'w>>);

/// What was seen of an arm's events so far in this phase.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    events: u64,
    events_ns: u64,
    operations: u64,
    bytes: u64,
}

/// The thread that decides what comes next.
pub(super) struct Leader<'c, 'scope, 'a, 'w, W: Workload + 'w> {
    pub(super) exercise: &'c Exercise<'c>,
    workload: &'w W,
    threads: u64,
    pub(super) crew: Crew<'scope, 'a, 'w, W>,
    pub(super) states: Vec<ArmState>,
    origin_ns: u64,
    tuned: Tuned,
    seen: Vec<Seen>,
    /// What had been seen when half of the warm-up was over.
    seen_before: Vec<Seen>,
    stop: &'a AtomicBool,
}

impl<'c, 'scope, 'a, 'w, W: Workload> Leader<'c, 'scope, 'a, 'w, W> {
    /// The leader of threads that were just started.
    pub(super) fn new(
        exercise: &'c Exercise<'c>,
        workload: &'w W,
        crew: Crew<'scope, 'a, 'w, W>,
        stop: &'a AtomicBool,
    ) -> Leader<'c, 'scope, 'a, 'w, W> {
        Leader {
            exercise,
            workload,
            threads: exercise.threads_used().into(),
            crew,
            states: exercise.arms.iter().map(|_| ArmState::default()).collect(),
            origin_ns: monotonic_ns(),
            tuned: exercise.schedule.tune(0, 1, exercise.arrival),
            seen: vec![Seen::default(); exercise.arms.len()],
            seen_before: vec![Seen::default(); exercise.arms.len()],
            stop,
        }
    }

    /// Ends all sessions; what each arm did.
    pub(super) fn end(self, kinds: &[String], events: &[String]) -> Vec<Ended<'w, W>> {
        let wall_ns = monotonic_ns() - self.origin_ns;
        let arms = self.crew.end().into_iter().zip(self.states);
        arms.map(|((tallies, programs), state)| (join(tallies, state, kinds, events, wall_ns), programs)).collect()
    }

    pub(super) fn stopped(&self) -> Result<(), LoadError> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(LoadError::Interrupted),
            false => Ok(()),
        }
    }

    pub(super) fn live_arms(&self) -> Vec<usize> {
        (0..self.states.len()).filter(|arm| self.states[*arm].lost.is_none()).collect()
    }

    /// Notes what a visit showed.
    pub(super) fn note(&mut self, arm: usize, report: &Report) {
        let seen = &mut self.seen[arm];
        seen.events += report.events;
        seen.events_ns += report.events_ns;
        seen.operations += report.operations;
        seen.bytes += report.bytes;
        if let Some(lost) = &report.lost {
            let before = self.states[arm].lost.take();
            self.states[arm].lost = Some(before.map_or_else(|| lost.clone(), |before| before.and(lost)));
        }
    }

    pub(super) fn connect(&mut self, arm: usize) {
        let report = self.crew.connect(arm);
        self.note(arm, &report);
        let state = &mut self.states[arm];
        state.sessions += 1;
        // The time counts for all sessions, the CPUs only for those that are connected now.
        let before_s = state.placement.take().map_or(0.0, |before| before.seconds);
        state.placement = report.placement.map(|now| SessionPlacement { seconds: before_s + now.seconds, ..now });
    }

    /// New sessions to every arm. Each runs a few uncounted events first, since a new server process has to fill its
    /// own caches and settle on its plans.
    pub(super) fn connect_all(&mut self, hook: &mut Hook<'_>) -> Result<(), LoadError> {
        for arm in self.live_arms() {
            hook(Switch::Enter { arm, phase: Phase::Connect })?;
            self.connect(arm);
            if self.states[arm].lost.is_none() {
                let moment = u64::from(self.states[arm].sessions);
                let now = self.visit_now(arm, Purpose::Settle, moment);
                let events = self.workload.events_to_settle(arm);
                self.visit(arm, Visit { events, end_ns: now.start_ns + SETTLE_NS, is_paced: false, ..now }, &|_| ())?;
            }
            hook(Switch::Leave { arm, phase: Phase::Connect })?;
        }
        Ok(())
    }

    /// Where answers come in parts, the client waits for the whole of them: in a closed loop, where a thread has one
    /// session and so nothing else to do. It treats all arms alike, so one arm with long answers is enough.
    pub(super) fn choose_batch_scheduling(&mut self) {
        let Exercise { arms, clients, arrival, .. } = *self.exercise;
        let is_alone = u64::from(clients) == self.threads && arrival == Arrival::Closed;
        let mut answers = arms.iter().zip(&self.seen);
        if is_alone && answers.any(|(arm, seen)| comes_in_parts(arm.protocol(), seen.bytes, seen.operations)) {
            let batch_scheduling = self.crew.schedule_in_batches();
            self.states.iter_mut().for_each(|state| state.batch_scheduling = batch_scheduling);
        }
    }

    pub(super) fn visit_now(&self, arm: usize, purpose: Purpose, moment: u64) -> Visit {
        let start_ns = monotonic_ns();
        Visit {
            start_ns,
            count_from_ns: None,
            count_until_ns: u64::MAX,
            end_ns: start_ns + self.tuned.slice_ns,
            events: u32::MAX,
            is_paced: true,
            purpose,
            moment,
            own_base_ns: self.states[arm].own_ns,
            counted_base_ns: self.states[arm].counted_ns,
            origin_ns: self.origin_ns,
            continues: false,
            pause_ns: u64::MAX,
            behind_ns: 0,
        }
    }

    /// One visit, entered into the arm's times.
    pub(super) fn visit(&mut self, arm: usize, visit: Visit, tick: &dyn Fn(u64)) -> Result<(), LoadError> {
        let report = self.crew.visit(arm, visit, tick);
        self.note(arm, &report);
        let state = &mut self.states[arm];
        if report.lost.is_none() {
            let wall_ns = report.left_ns.saturating_sub(visit.start_ns);
            if visit.is_paced {
                state.planned_end_ns = visit.own_ns(visit.end_ns);
                state.own_ns += wall_ns;
            }
            if let Some(from) = visit.count_from_ns {
                state.counted_ns += report.left_ns.saturating_sub(from);
                state.cpu_ns += report.cpu_ns;
                state.add_slice(report.counted);
                if self.exercise.keeps_spans {
                    state.spans.push(from..report.left_ns.max(from));
                }
            }
        }
        self.stopped()
    }

    /// Every live arm once, in the order of this cycle.
    fn cycle(&mut self, number: u64, phase: Phase, hook: &mut Hook<'_>) -> Result<(), LoadError> {
        let mut order = self.live_arms();
        shuffle(&mut stream(self.exercise.seed, Purpose::Order, 0, number), &mut order);
        for arm in order {
            hook(Switch::Enter { arm, phase })?;
            let mut visit = self.visit_now(arm, Purpose::Keys, number);
            if phase == Phase::Counted {
                visit.count_from_ns = Some(visit.start_ns + self.tuned.lead_in_ns);
            } else {
                // A turn may be longer than the whole warm-up.
                visit.end_ns = visit.end_ns.min(visit.start_ns + self.warmup_ns());
            }
            self.visit(arm, visit, &|_| ())?;
            hook(Switch::Leave { arm, phase })?;
        }
        Ok(())
    }

    pub(super) fn phase_started(&mut self) {
        self.seen.fill(Seen::default());
    }

    /// The mean event of the slowest arm in this phase.
    fn slowest_event_ns(&self) -> u64 {
        self.seen.iter().filter_map(|seen| seen.events_ns.checked_div(seen.events)).max().unwrap_or(0)
    }

    fn tune(&mut self) {
        let Exercise { schedule, clients, arrival, .. } = *self.exercise;
        self.tuned = schedule.tune(self.slowest_event_ns(), clients, arrival);
    }

    fn warmup_ns(&self) -> u64 {
        (self.exercise.schedule.warmup_seconds * 1e9) as u64
    }

    pub(super) fn warm_up(&mut self, hook: &mut Hook<'_>) -> Result<(), LoadError> {
        let wanted_ns = self.warmup_ns();
        self.tune();
        if wanted_ns == 0 {
            return Ok(());
        }
        self.phase_started();
        let before: Vec<u64> = self.states.iter().map(|state| state.own_ns).collect();
        let mut is_first_half = true;
        // Warm-up cycles are numbered from the far end, so that no counted cycle has their keys.
        let mut number = u64::MAX;
        loop {
            let warmed: Vec<u64> =
                self.live_arms().into_iter().map(|arm| self.states[arm].own_ns - before[arm]).collect();
            if is_warm(&warmed, wanted_ns) {
                break;
            }
            self.cycle(number, Phase::WarmUp, hook)?;
            number -= 1;
            let is_past_half = |arm: usize| 2 * (self.states[arm].own_ns - before[arm]) >= wanted_ns;
            if is_first_half && self.live_arms().into_iter().all(is_past_half) {
                is_first_half = false;
                self.seen_before.clone_from(&self.seen);
            }
        }
        self.tune();
        Ok(())
    }

    /// Plants the changes that are asked for, by what a statement of the arm took in the second half of the warm-up, or
    /// in all that was seen where there was no such time. Sessions lose the share of their time from now on, in
    /// some slices less of it and in others more.
    pub(super) fn plant(&mut self) {
        let parts =
            if self.slices_wanted() < Planted::FEWEST_SLICES as f64 { [1.0; 2] } else { Planted::SHORT_AND_LONG };
        for (arm, &share) in self.exercise.planted.iter().enumerate() {
            let (all, before) = (self.seen[arm], self.seen_before[arm]);
            let late = (all.events_ns - before.events_ns, all.operations - before.operations);
            let (events_ns, operations) = if late.1 > 0 { late } else { (all.events_ns, all.operations) };
            if share > 0.0 && operations > 0 {
                let held_ns = events_ns as f64 / operations as f64 * share / (1.0 - share);
                self.crew.plant(arm, parts.map(|part| part * held_ns));
            }
        }
    }

    /// From here on everything counts, in about so many slices.
    pub(super) fn begin_count(&mut self, slices: usize) {
        self.crew.reset();
        for state in &mut self.states {
            (state.own_ns, state.planned_end_ns, state.counted_ns) = (0, 0, 0);
            (state.slice_ns, state.lead_in_ns) = (self.tuned.slice_ns, self.tuned.lead_in_ns);
            state.make_room(2 * slices + 1, self.exercise.keeps_spans);
        }
    }

    /// About how many slices of an arm the seconds are.
    fn slices_wanted(&self) -> f64 {
        self.exercise.schedule.seconds * 1e9 / (self.tuned.slice_ns - self.tuned.lead_in_ns) as f64
    }

    pub(super) fn count(&mut self, hook: &mut Hook<'_>, progress: &dyn Fn(f64)) -> Result<(), LoadError> {
        let wanted_ns = self.exercise.schedule.seconds * 1e9;
        self.begin_count(self.slices_wanted() as usize);
        let mut number = 0;
        loop {
            self.cycle(number, Phase::Counted, hook)?;
            number += 1;
            let live = self.live_arms();
            if live.is_empty() {
                break;
            }
            let counted_ns: u64 = live.iter().map(|arm| self.states[*arm].counted_ns).sum();
            let done = counted_ns as f64 / (wanted_ns * live.len() as f64);
            progress(done.min(1.0));
            if done >= 1.0 {
                break;
            }
            if number % self.tuned.cycles_per_session == 0 {
                self.connect_all(hook)?;
            }
        }
        for arm in self.live_arms() {
            let planned_end_ns = self.states[arm].planned_end_ns;
            self.crew.skip(arm, planned_end_ns);
        }
        Ok(())
    }
}

/// Whether arms that have warmed up for so long are done: each has what is wanted, or one has many times that, since
/// arms that are much faster would have a slow one warm up for hours.
fn is_warm(arms_ns: &[u64], wanted_ns: u64) -> bool {
    let too_much_ns = WARMUP_TIMES_MAX.saturating_mul(wanted_ns);
    arms_ns.iter().all(|&ns| ns >= wanted_ns) || arms_ns.iter().any(|&ns| ns >= too_much_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_arm_does_not_warm_up_for_hours() {
        for (arms_ns, expected) in [
            (&[][..], true),
            (&[99, 100], false),
            (&[100, 100], true),
            (&[3, 999], false),
            // One statement that took ten times the warm-up, while the other arm had a slice.
            (&[3, 1000], true),
        ] {
            assert_eq!(is_warm(arms_ns, 100), expected, "{arms_ns:?}");
        }
    }
}
