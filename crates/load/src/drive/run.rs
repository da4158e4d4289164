//! Runs one workload on all arms side by side: for so many seconds, or from its first statement to its last.
//!
//! In: an [`Exercise`], a workload and the caller's hook, which is called between slices only: there the caller reads
//! host counters, freezes and thaws servers. Out: one [`ArmRun`] for each arm. An arm whose server is lost ends with a
//! failure, the others go on. `leader` decides what comes next.

use super::crew::{Crew, Shared};
use super::exercise::{Exercise, Switch, check};
use super::leader::{Ended, Leader};
use super::outcome::ArmRun;
use super::schedule::Visit;
use super::seconds::Seconds;
use super::to_end::{Slices, Span};
use super::watchdog::Watchdog;
use crate::error::LoadError;
use crate::program::Workload;
use crate::random::Purpose;
use rqps_model::plan::Arrival;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

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
    let ended = with_crew(exercise, workload, (is_open, is_open), stop, |leader| {
        hook(Switch::Begin)?;
        leader.crew.pin()?;
        leader.connect_all(hook)?;
        leader.choose_batch_scheduling();
        leader.warm_up(hook)?;
        leader.plant();
        leader.count(hook, progress)?;
        hook(Switch::End)
    })?;
    Ok(ended.into_iter().map(|(run, _)| run).collect())
}

/// Runs exactly `events` events in each session of each arm, counted, side by side in slices of equal work.
pub fn run_equal<W: Workload>(
    exercise: &Exercise<'_>,
    workload: &W,
    events: u32,
    hook: &mut dyn FnMut(Switch) -> Result<(), LoadError>,
    stop: &AtomicBool,
    progress: &dyn Fn(f64),
) -> Result<Vec<ArmRun>, LoadError> {
    exercise.schedule.check()?;
    let ended = with_crew(exercise, workload, (false, false), stop, |leader| {
        hook(Switch::Begin)?;
        leader.crew.pin()?;
        leader.count_events(events, hook, progress)?;
        hook(Switch::End)
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
    let ended = with_crew(exercise, workload, (false, false), stop, |leader| {
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

/// Runs a workload on arms with a clock each, as far as `span` says or the programs go; the exercise's schedule says
/// nothing here, but `slices` when an arm makes room for the next. Programs must have turns where a slice can pause
/// them. The hook is called for each slice once all are connected; `tick` about once a second with an arm's seconds so
/// far. Returns also the programs with what they noted.
pub fn run_to_end<'w, W: Workload>(
    exercise: &Exercise<'_>,
    workload: &'w W,
    has_plan: bool,
    (span, slices): (Span, Slices<'_>),
    hook: &mut dyn FnMut(Switch) -> Result<(), LoadError>,
    stop: &AtomicBool,
    tick: &dyn Fn(usize, f64),
) -> Result<Vec<Ended<'w, W>>, LoadError> {
    with_crew(exercise, workload, (has_plan, span.until.is_some()), stop, |leader| {
        for arm in 0..exercise.arms.len() {
            leader.connect(arm);
        }
        leader.run_to_end(span, slices, hook, tick)
    })
}

/// `always_busy` says that sessions count as busy all the time.
fn with_crew<'w, W: Workload>(
    exercise: &Exercise<'_>,
    workload: &'w W,
    (has_plan, always_busy): (bool, bool),
    stop: &AtomicBool,
    work: impl FnOnce(&mut Leader<'_, '_, '_, 'w, W>) -> Result<(), LoadError>,
) -> Result<Vec<Ended<'w, W>>, LoadError> {
    check(exercise, workload.sessions())?;
    let watchdog = Watchdog::default();
    let (kinds, events) = (workload.kinds(), workload.events());
    let threads = exercise.threads_used() as usize;
    let always_busy = always_busy.then_some(exercise.clients);
    let (rows, seconds) = Seconds::new(exercise.arms.len(), threads, always_busy, exercise.rows);
    let shared = Shared {
        workload,
        kinds: &kinds,
        events: &events,
        arms: exercise.arms,
        clients: exercise.clients,
        threads,
        cpus: exercise.cpus,
        arrival: exercise.arrival,
        has_plan,
        seed: exercise.seed,
        stop,
        watchdog: &watchdog,
        rows,
    };
    std::thread::scope(|scope| {
        scope.spawn(|| watchdog.run(stop));
        let _end = watchdog.end_of_watch();
        let (_until_end, over) = channel();
        if let Some(seconds) = seconds {
            scope.spawn(move || seconds.run(&over));
        }
        let mut leader = Leader::new(exercise, workload, Crew::start(scope, &shared)?, stop);
        work(&mut leader)?;
        leader.stopped()?;
        Ok(leader.end(&kinds, &events))
    })
}

#[cfg(test)]
mod tests {
    use super::super::placing::ClientCpus;
    use super::super::schedule::Schedule;
    use super::*;
    use crate::program::sysbench::Statements;
    use rqps_model::Engine;
    use rqps_model::plan::DataShape;
    use rqps_suites::Suite;
    use rqps_wire::{Endpoint, Transport};
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
        let sound = Exercise::new(&arms, 1, schedule, 1);
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
            Exercise { cpus: ClientCpus { set: &[1 << 20], ..ClientCpus::default() }, ..sound },
            Exercise { planted: &[1.0], ..sound },
            Exercise { planted: &[0.01, 0.01], ..sound },
            Exercise { planted: &[f64::NAN], ..sound },
            Exercise { planted: &[0.01], arrival: Arrival::Even { rate_per_s: 10.0 }, ..sound },
        ];
        for fault in faults {
            assert!(matches!(outcome(fault), Err(LoadError::Shape(_))), "{fault:?}");
        }
        assert!(Statements::compile(test, DataShape { tables: 0, rows: 10 }, &arms).is_err());
    }
}
