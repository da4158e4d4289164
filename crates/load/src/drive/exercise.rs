//! Runs one workload on all arms side by side, or on one arm from its first statement to its last.
//!
//! Side by side: connects, warms up, then cycles of slices until every arm has its counted seconds.
//!
//! In: an [`Exercise`], a workload and the caller's hook, which is called between slices only: there the caller reads
//! host counters, freezes and thaws servers. Out: one [`ArmRun`] for each arm. An arm whose server is lost ends with a
//! failure, the others go on.
//!
//! All arms of a cycle draw the same keys, whatever protocol each speaks, and their order is drawn anew for each cycle.

use super::batch::comes_in_parts;
use super::crew::{ArmParts, Crew, Report, Shared};
use super::outcome::{ArmRun, ArmState, join};
use super::port::monotonic_ns;
use super::schedule::{Schedule, Tuned, Visit};
use super::watchdog::Watchdog;
use crate::error::LoadError;
use crate::program::Workload;
use crate::random::{Purpose, shuffle, stream};
use rqps_model::plan::Arrival;
use rqps_wire::Endpoint;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::atomic::{AtomicBool, Ordering};

/// New sessions run uncounted events for at most this long, whatever their statements take.
const SETTLE_NS: u64 = 250_000_000;

/// Open files besides sessions that the process may need.
const OTHER_FILES: u64 = 64;

/// How a workload is run.
#[derive(Debug, Clone, Copy)]
pub struct Exercise<'a> {
    /// The servers.
    pub arms: &'a [Endpoint],
    /// Clients of each arm.
    pub clients: u32,
    /// Threads that drive them.
    pub threads: u32,
    /// CPUs of those threads; empty leaves them where they are.
    pub client_cpus: &'a [usize],
    /// How long everything lasts.
    pub schedule: Schedule,
    /// When events are due.
    pub arrival: Arrival,
    /// Seed of this round and test.
    pub seed: u64,
}

/// What an arm is visited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// New sessions, with a few uncounted events.
    Connect,
    /// Uncounted slices.
    WarmUp,
    /// Counted slices.
    Counted,
}

/// What happens next, or has just happened, while no server works for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Switch {
    /// The arm will be visited now: thaw its server, read counters.
    Enter {
        /// Index of the arm.
        arm: usize,
        /// What for.
        phase: Phase,
    },
    /// The visit is over, no statement is under way: read counters, freeze its server.
    Leave {
        /// Index of the arm.
        arm: usize,
        /// What for.
        phase: Phase,
    },
}

/// The caller's hook.
type Hook<'h> = dyn FnMut(Switch) -> Result<(), LoadError> + 'h;

/// What an arm did, and its programs with what they noted.
pub type Ended<'w, W> = (ArmRun, Vec<<W as Workload>::Program<'w>>);

/// Runs a workload on all arms side by side. `progress` is given the fraction that is done, between cycles.
pub fn run<W: Workload>(
    exercise: &Exercise<'_>,
    workload: &W,
    hook: &mut dyn FnMut(Switch) -> Result<(), LoadError>,
    stop: &AtomicBool,
    progress: &dyn Fn(f64),
) -> Result<Vec<ArmRun>, LoadError> {
    exercise.schedule.check()?;
    let is_open = exercise.arrival != Arrival::Closed;
    let ended = with_crew(exercise, workload, is_open, stop, |leader| {
        leader.crew.pin()?;
        leader.connect_all(hook)?;
        leader.choose_batch_scheduling();
        leader.warm_up(hook)?;
        leader.count(hook, progress)
    })?;
    Ok(ended.into_iter().map(|(run, _)| run).collect())
}

/// Runs exactly `events` events in each session of each arm, counted, one arm after the other, without warm-up.
pub fn run_events<W: Workload>(
    exercise: &Exercise<'_>,
    workload: &W,
    events: u32,
    stop: &AtomicBool,
) -> Result<Vec<ArmRun>, LoadError> {
    let ended = with_crew(exercise, workload, false, stop, |leader| {
        leader.crew.pin()?;
        for arm in 0..exercise.arms.len() {
            leader.connect(arm);
            leader.phase_started();
            let visit = Visit { events, end_ns: u64::MAX, is_paced: false, ..leader.visit_now(arm, Purpose::Keys, 0) };
            leader.visit(arm, Visit { count_from_ns: Some(visit.start_ns), ..visit }, &|_| ())?;
        }
        Ok(())
    })?;
    Ok(ended.into_iter().map(|(run, _)| run).collect())
}

/// Runs a workload whose programs know their own end, on the only arm, all of it counted. The hook is called when all
/// is connected, before any thread is moved to its CPU, and when the last answer has come, while the sessions still
/// stand; `tick` about once a second with the seconds since the start. Returns also the programs with what they noted.
pub fn run_to_end<'w, W: Workload>(
    exercise: &Exercise<'_>,
    workload: &'w W,
    has_plan: bool,
    hook: &mut dyn FnMut(Switch) -> Result<(), LoadError>,
    stop: &AtomicBool,
    tick: &dyn Fn(f64),
) -> Result<Ended<'w, W>, LoadError> {
    let ended = with_crew(exercise, workload, has_plan, stop, |leader| {
        leader.connect(0);
        if let Some(failure) = leader.states[0].failure.take() {
            return Err(LoadError::Lost(failure));
        }
        hook(Switch::Enter { arm: 0, phase: Phase::Counted })?;
        leader.crew.pin()?;
        let now = leader.visit_now(0, Purpose::Keys, 0);
        let visit = Visit { count_from_ns: Some(now.start_ns), end_ns: u64::MAX, ..now };
        leader.visit_to_end(visit, &|at_ns| tick((at_ns - now.start_ns) as f64 / 1e9));
        hook(Switch::Leave { arm: 0, phase: Phase::Counted })
    })?;
    ended.into_iter().next().ok_or_else(|| LoadError::Shape("an exercise needs at least one server".to_owned()))
}

fn with_crew<'w, W: Workload>(
    exercise: &Exercise<'_>,
    workload: &'w W,
    has_plan: bool,
    stop: &AtomicBool,
    work: impl FnOnce(&mut Leader<'_, '_, '_, 'w, W>) -> Result<(), LoadError>,
) -> Result<Vec<Ended<'w, W>>, LoadError> {
    check(exercise, workload.sessions())?;
    let watchdog = Watchdog::default();
    let (kinds, events) = (workload.kinds(), workload.events());
    let shared = Shared {
        workload,
        kinds: &kinds,
        events: &events,
        arms: exercise.arms,
        clients: exercise.clients,
        threads: exercise.threads.clamp(1, exercise.clients) as usize,
        cpus: exercise.client_cpus,
        arrival: exercise.arrival,
        has_plan,
        seed: exercise.seed,
        stop,
        watchdog: &watchdog,
    };
    std::thread::scope(|scope| {
        scope.spawn(|| watchdog.run(stop));
        let _end = EndOfWatch(&watchdog);
        let mut leader = Leader {
            exercise,
            workload,
            threads: shared.threads as u64,
            crew: Crew::start(scope, &shared)?,
            states: exercise.arms.iter().map(|_| ArmState::default()).collect(),
            origin_ns: monotonic_ns(),
            tuned: exercise.schedule.tune(0, 1, exercise.arrival),
            seen: vec![Seen::default(); exercise.arms.len()],
            stop,
        };
        work(&mut leader)?;
        leader.stopped()?;
        let wall_ns = monotonic_ns() - leader.origin_ns;
        let parts = leader.crew.end();
        let joined = parts.into_iter().zip(leader.states).map(|((tallies, programs), state): (ArmParts<_>, _)| {
            (join(tallies, state, &kinds, &events, wall_ns), programs)
        });
        Ok(joined.collect())
    })
}

/// Whatever happens, the watchdog's thread must end for the scope to end.
struct EndOfWatch<'a>(&'a Watchdog);

impl Drop for EndOfWatch<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn check(exercise: &Exercise<'_>, sessions: usize) -> Result<(), LoadError> {
    if exercise.clients == 0 || exercise.arms.is_empty() {
        return Err(LoadError::Shape("an exercise needs at least one client and one server".to_owned()));
    }
    if let Arrival::Poisson { rate_per_s } | Arrival::Even { rate_per_s } = exercise.arrival
        && !(rate_per_s.is_finite() && rate_per_s > 0.0)
    {
        return Err(LoadError::Shape(format!("a rate of {rate_per_s} events a second cannot be planned")));
    }
    // Each session has its socket, the watchdog's copy of it and, where it is alone on its thread, what waits for it.
    let needed = 3 * sessions as u64 * u64::from(exercise.clients) * exercise.arms.len() as u64 + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        if limit.maximum.is_some_and(|maximum| maximum < needed) {
            return Err(LoadError::Shape(format!(
                "{needed} open files are needed and {} allowed; raise `ulimit -n` or use fewer clients",
                limit.maximum.unwrap_or(0)
            )));
        }
        setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
            .map_err(|error| LoadError::System { doing: "allowing more open files", error: error.into() })?;
    }
    Ok(())
}

/// What was seen of an arm's events so far in this phase.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    events: u64,
    events_ns: u64,
    operations: u64,
    bytes: u64,
}

/// The thread that decides what comes next.
struct Leader<'c, 'scope, 'a, 'w, W: Workload + 'w> {
    exercise: &'c Exercise<'c>,
    workload: &'w W,
    threads: u64,
    crew: Crew<'scope, 'a, 'w, W>,
    states: Vec<ArmState>,
    origin_ns: u64,
    tuned: Tuned,
    seen: Vec<Seen>,
    stop: &'a AtomicBool,
}

impl<W: Workload> Leader<'_, '_, '_, '_, W> {
    fn stopped(&self) -> Result<(), LoadError> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(LoadError::Interrupted),
            false => Ok(()),
        }
    }

    fn live_arms(&self) -> Vec<usize> {
        (0..self.states.len()).filter(|arm| self.states[*arm].failure.is_none()).collect()
    }

    /// Notes what a visit showed.
    fn note(&mut self, arm: usize, report: &Report) {
        let seen = &mut self.seen[arm];
        seen.events += report.events;
        seen.events_ns += report.events_ns;
        seen.operations += report.operations;
        seen.bytes += report.bytes;
        if let Some(lost) = &report.lost {
            self.states[arm].failure.get_or_insert_with(|| lost.0.clone());
        }
    }

    fn connect(&mut self, arm: usize) {
        let report = self.crew.connect(arm);
        self.note(arm, &report);
        self.states[arm].sessions += 1;
    }

    /// New sessions to every arm. Each runs a few uncounted events first, since a new server process has to fill its
    /// own caches and settle on its plans.
    fn connect_all(&mut self, hook: &mut Hook<'_>) -> Result<(), LoadError> {
        for arm in self.live_arms() {
            hook(Switch::Enter { arm, phase: Phase::Connect })?;
            self.connect(arm);
            if self.states[arm].failure.is_none() {
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
    fn choose_batch_scheduling(&mut self) {
        let Exercise { arms, clients, arrival, .. } = *self.exercise;
        let is_alone = u64::from(clients) == self.threads && arrival == Arrival::Closed;
        let mut answers = arms.iter().zip(&self.seen);
        if is_alone && answers.any(|(arm, seen)| comes_in_parts(arm.protocol(), seen.bytes, seen.operations)) {
            let batch_scheduling = self.crew.schedule_in_batches();
            self.states.iter_mut().for_each(|state| state.batch_scheduling = batch_scheduling);
        }
    }

    fn visit_now(&self, arm: usize, purpose: Purpose, moment: u64) -> Visit {
        let start_ns = monotonic_ns();
        Visit {
            start_ns,
            count_from_ns: None,
            end_ns: start_ns + self.tuned.slice_ns,
            events: u32::MAX,
            is_paced: true,
            purpose,
            moment,
            own_base_ns: self.states[arm].own_ns,
            counted_base_ns: self.states[arm].counted_ns,
            origin_ns: self.origin_ns,
        }
    }

    /// One visit, entered into the arm's times.
    fn visit(&mut self, arm: usize, visit: Visit, tick: &dyn Fn(u64)) -> Result<(), LoadError> {
        let report = self.crew.visit(arm, visit, tick);
        self.note(arm, &report);
        let state = &mut self.states[arm];
        if report.lost.is_none() {
            let wall_ns = report.drained_ns.saturating_sub(visit.start_ns);
            if visit.is_paced {
                state.planned_end_ns = visit.own_ns(visit.end_ns);
                state.own_ns += wall_ns;
            }
            if let Some(from) = visit.count_from_ns {
                state.counted_ns += report.drained_ns.saturating_sub(from);
                state.cpu_ns += report.cpu_ns;
                state.wall_ns += wall_ns * self.threads;
            }
        }
        self.stopped()
    }

    /// The only visit to the first arm; what was done until a server was lost counts too.
    fn visit_to_end(&mut self, visit: Visit, tick: &dyn Fn(u64)) {
        let report = self.crew.visit(0, visit, tick);
        self.note(0, &report);
        let state = &mut self.states[0];
        state.counted_ns = report.drained_ns.saturating_sub(visit.start_ns);
        state.cpu_ns = report.cpu_ns;
        state.wall_ns = state.counted_ns * self.threads;
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

    fn phase_started(&mut self) {
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

    fn warm_up(&mut self, hook: &mut Hook<'_>) -> Result<(), LoadError> {
        let wanted_ns = self.warmup_ns();
        self.tune();
        if wanted_ns == 0 {
            return Ok(());
        }
        self.phase_started();
        let before: Vec<u64> = self.states.iter().map(|state| state.own_ns).collect();
        // Warm-up cycles are numbered from the far end, so that no counted cycle has their keys.
        let mut number = u64::MAX;
        while self.live_arms().into_iter().any(|arm| self.states[arm].own_ns - before[arm] < wanted_ns) {
            self.cycle(number, Phase::WarmUp, hook)?;
            number -= 1;
        }
        self.tune();
        Ok(())
    }

    fn count(&mut self, hook: &mut Hook<'_>, progress: &dyn Fn(f64)) -> Result<(), LoadError> {
        self.crew.reset();
        for state in &mut self.states {
            (state.own_ns, state.planned_end_ns, state.counted_ns) = (0, 0, 0);
            (state.slice_ns, state.lead_in_ns) = (self.tuned.slice_ns, self.tuned.lead_in_ns);
            state.always_busy = (self.exercise.arrival != Arrival::Closed).then_some(self.exercise.clients);
        }
        let wanted_ns = self.exercise.schedule.seconds * 1e9;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::sysbench::Statements;
    use rqps_model::Engine;
    use rqps_model::plan::DataShape;
    use rqps_suites::Suite;
    use rqps_wire::Transport;
    use std::time::Duration;

    #[test]
    fn exercises_that_make_no_sense_are_refused_before_anything_is_connected() {
        let nowhere = Endpoint {
            engine: Engine::Postgres,
            transport: Transport::Unix { path: "/nonexistent".into() },
            user: "u".into(),
            password: None,
            database: "d".into(),
            options: Vec::new(),
        };
        let suite = Suite::sysbench();
        let arms = [nowhere];
        let schedule = Schedule {
            seconds: 1.0,
            warmup_seconds: 0.0,
            slice: Duration::from_millis(10),
            lead_in: Duration::from_millis(1),
            session_life: Duration::from_secs(1),
        };
        let data = DataShape { tables: 1, rows: 10 };
        let test = suite.test("scan").unwrap();
        let workload = Statements::compile(test, data, &arms).unwrap();
        let sound = Exercise {
            arms: &arms,
            clients: 1,
            threads: 1,
            client_cpus: &[],
            schedule,
            arrival: Arrival::Closed,
            seed: 1,
        };
        let outcome =
            |exercise: Exercise<'_>| run(&exercise, &workload, &mut |_| Ok(()), &AtomicBool::new(false), &|_| ());
        // A server that cannot be reached is that arm's failure.
        let failure = outcome(sound).unwrap().remove(0).failure.unwrap();
        assert!(failure.contains("cannot connect to /nonexistent"), "{failure}");
        let faults = [
            Exercise { clients: 0, ..sound },
            Exercise { arms: &[], ..sound },
            Exercise { clients: u32::MAX, ..sound },
            Exercise { arrival: Arrival::Even { rate_per_s: 0.0 }, ..sound },
            Exercise { arrival: Arrival::Poisson { rate_per_s: f64::INFINITY }, ..sound },
            Exercise { schedule: Schedule { seconds: -1.0, ..schedule }, ..sound },
            Exercise { client_cpus: &[1 << 20], ..sound },
        ];
        for fault in faults {
            assert!(matches!(outcome(fault), Err(LoadError::Shape(_))), "{fault:?}");
        }
        assert!(Statements::compile(test, DataShape { tables: 0, rows: 10 }, &arms).is_err());
    }
}
