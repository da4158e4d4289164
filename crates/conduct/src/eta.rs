//! How far a campaign is and how long it will still take, from what its tests and server starts have taken so far.
//!
//! In: planned seconds of each task, the times that tasks took, and the time that the campaign was given. Out: a share
//! and a time left. Reads no clock: time is an argument.

use crate::walk::Setup;
use rqps_load::suite::rest_before;
use rqps_model::Plan;
use rqps_model::plan::Alternate;
use std::collections::BTreeMap;
use std::time::Duration;

/// The rest before a test, which is a task of its own.
pub(crate) const REST: &str = "rest";

/// Work that comes back in every round and takes about as long.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Task {
    /// The treatment, where one follows the other; empty for a test on all.
    treatment: String,
    test: String,
    clients: u32,
}

impl Task {
    /// A test of a setup.
    pub(crate) fn of(plan: &Plan, setup: &Setup<'_>, test: &str, clients: u32) -> Task {
        let treatment = match (setup.stage.alternate, setup.order.as_slice()) {
            (Alternate::OneByOne, [one]) => plan.treatments[*one].name.clone(),
            _ => String::new(),
        };
        Task { treatment, test: test.to_owned(), clients }
    }

    fn is_like(&self, other: &Task) -> bool {
        (&self.test, self.clients) == (&other.test, other.clients)
    }
}

/// What is known about a task.
#[derive(Debug, Clone, Default)]
struct Known {
    planned_s: f64,
    /// It ends by the clock and not with its work, so the plan is to be trusted.
    is_timed: bool,
    left: u32,
    done: u32,
    took: Duration,
}

/// Progress over a campaign's planned work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Eta {
    /// Rounds in all, where they do not depend on results.
    rounds: Option<u32>,
    tasks: BTreeMap<Task, Known>,
    /// Planned measuring seconds of everything, resumed cells left out.
    planned_s: f64,
    done_s: f64,
    /// Copies and server starts still to come, and what was spent on them so far.
    beginnings_left: u32,
    begun: u32,
    overhead: Duration,
    /// Where the time that a campaign was given says what is left of it.
    time: Option<TimeSpent>,
}

/// How much a campaign has spent of the time that it was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeSpent {
    pub(crate) spent_s: f64,
    pub(crate) limit_s: f64,
}

impl TimeSpent {
    /// The share that is spent, with so many more seconds behind us.
    fn share(self, more_s: f64) -> f64 {
        ((self.spent_s + more_s) / self.limit_s).clamp(0.0, 1.0)
    }

    /// Seconds that are left, with so many more behind us.
    pub(crate) fn left_s(self, more_s: f64) -> f64 {
        (self.limit_s - self.spent_s - more_s).max(0.0)
    }
}

impl Eta {
    /// From here on so many rounds are expected in all, with these setups ahead: servers are started for each. Where
    /// there is a time, it counts and not they.
    pub(crate) fn expect(&mut self, plan: &Plan, rounds: Option<u32>, setups: &[Setup<'_>], time: Option<TimeSpent>) {
        self.time = time;
        (self.rounds, self.beginnings_left, self.planned_s) = (rounds, setups.len() as u32, self.done_s);
        self.tasks.values_mut().for_each(|known| known.left = 0);
        for setup in setups {
            for visit in &setup.visits {
                let test = visit.test;
                for (clients, _) in &visit.levels {
                    let planned_s = (test.seconds + plan.warmup_seconds) * setup.order.len() as f64;
                    self.add(Task::of(plan, setup, &test.name, *clients), planned_s, test.timed);
                    if let Some(seconds) = rest_before(plan, test) {
                        let seconds = seconds * setup.order.len() as f64;
                        self.add(Task::of(plan, setup, REST, *clients), seconds, true);
                    }
                }
            }
        }
    }

    /// Rounds that are expected in all, where they do not depend on results.
    pub(crate) fn rounds(&self) -> Option<u32> {
        self.rounds
    }

    fn add(&mut self, task: Task, planned_s: f64, is_timed: bool) {
        let known = self.tasks.entry(task).or_default();
        (known.planned_s, known.is_timed) = (planned_s, is_timed);
        known.left += 1;
        self.planned_s += planned_s;
    }

    /// Copies were made and servers started; that took this long.
    pub(crate) fn began(&mut self, took: Duration) {
        self.beginnings_left = self.beginnings_left.saturating_sub(1);
        self.begun += 1;
        self.add_overhead(took);
    }

    /// What belongs to a server's start, such as its end, took this long.
    pub(crate) fn add_overhead(&mut self, took: Duration) {
        self.overhead += took;
        self.spend(took);
    }

    fn spend(&mut self, took: Duration) {
        self.time.iter_mut().for_each(|time| time.spent_s += took.as_secs_f64());
    }

    /// A task took this long.
    pub(crate) fn ended(&mut self, task: &Task, took: Duration) {
        self.spend(took);
        let Some(known) = self.tasks.get_mut(task) else { return };
        self.done_s += known.planned_s;
        known.left = known.left.saturating_sub(1);
        known.done += 1;
        known.took += took;
    }

    /// A task is not done, because one before it failed.
    pub(crate) fn skipped(&mut self, task: &Task) {
        let Some(known) = self.tasks.get_mut(task) else { return };
        self.planned_s -= known.planned_s;
        known.left = known.left.saturating_sub(1);
    }

    /// Share done, 0 to 1, with this part of a task behind us.
    pub(crate) fn share(&self, under_way: Option<(&Task, f64)>) -> f64 {
        if let Some(time) = self.time {
            return time.share(self.part_s(under_way));
        }
        let planned_s = |(task, part): (&Task, f64)| Some(self.tasks.get(task)?.planned_s * part);
        let under_way_s = under_way.and_then(planned_s).unwrap_or(0.0);
        if self.planned_s > 0.0 { ((self.done_s + under_way_s) / self.planned_s).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Expected time to the end; without a time limit `None` until servers were started and a task has ended.
    pub(crate) fn left(&self, under_way: Option<(&Task, f64)>) -> Option<Duration> {
        let under_way_s = self.part_s(under_way);
        if let Some(time) = self.time {
            return Some(Duration::from_secs_f64(time.left_s(under_way_s)));
        }
        if self.begun == 0 || self.tasks.values().all(|known| known.done == 0) {
            return None;
        }
        let all_s: f64 = self.tasks.iter().map(|(task, known)| self.expected_s(task) * f64::from(known.left)).sum();
        let begin_s = self.overhead.as_secs_f64() / f64::from(self.begun) * f64::from(self.beginnings_left);
        Some(Duration::from_secs_f64((all_s - under_way_s).max(0.0) + begin_s))
    }

    /// Seconds of a task under way that are behind us.
    fn part_s(&self, under_way: Option<(&Task, f64)>) -> f64 {
        under_way.map_or(0.0, |(task, part)| self.expected_s(task) * part)
    }

    /// What a task takes: as before, else as for other treatments, else as planned, at the pace of all others.
    fn expected_s(&self, task: &Task) -> f64 {
        let Some(known) = self.tasks.get(task) else { return 0.0 };
        let seen = |wanted: &dyn Fn(&Task, &Known) -> bool| {
            let seen = self.tasks.iter().filter(|(task, known)| known.done > 0 && wanted(task, known));
            seen.fold((0.0, 0.0, 0.0), |(took_s, planned_s, done), (_, known)| {
                let count = f64::from(known.done);
                (took_s + known.took.as_secs_f64(), planned_s + known.planned_s * count, done + count)
            })
        };
        for wanted in [&|other: &Task, _: &Known| other == task, &|other: &Task, _: &Known| other.is_like(task)]
            as [&dyn Fn(&Task, &Known) -> bool; 2]
        {
            let (took_s, _, done) = seen(wanted);
            if done > 0.0 {
                return took_s / done;
            }
        }
        let (took_s, planned_s, _) = seen(&|_, other| other.is_timed == known.is_timed);
        let pace = if planned_s > 0.0 { took_s / planned_s } else { 1.0 };
        known.planned_s * pace
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{insert_plan, plan};
    use crate::walk::setups;

    fn expecting(plan: &Plan, setups: &[Setup<'_>]) -> Eta {
        let mut eta = Eta::default();
        eta.expect(plan, Some(plan.rounds), setups, None);
        eta
    }

    fn all(plan: &Plan) -> Vec<Setup<'_>> {
        (1..=plan.rounds).flat_map(|number| setups(plan, &plan.round(number), &|_| false)).collect()
    }

    #[test]
    fn only_the_test_after_the_small_churn_has_a_rest_before_it() {
        let resting = |plan: &Plan| -> Vec<String> {
            let tests = plan.tests();
            tests.into_iter().filter(|test| rest_before(plan, test).is_some()).map(|test| test.name.clone()).collect()
        };
        assert_eq!(resting(&insert_plan(&["a"], &["17.11"])), ["qr100"]);
        assert!(resting(&plan(&["a"], 0)).is_empty());
    }

    #[test]
    fn extrapolates_from_what_was_seen() {
        // Twenty seconds of each treatment, and half a second of warm-up, in two rounds.
        let mut plan = plan(&["a", "b"], 0);
        plan.stages[0].tests[0].seconds = 19.5;
        plan.rounds = 2;
        let setups = all(&plan);
        let mut eta = expecting(&plan, &setups);
        let task = Task::of(&plan, &setups[0], "scan", 1);
        assert_eq!(eta.left(None), None);
        eta.began(Duration::from_secs(5));
        eta.ended(&task, Duration::from_secs(48));
        assert_eq!(eta.share(None), 0.5);
        // 40 planned seconds at 1.2 each, and one more round to begin.
        assert_eq!(eta.left(None), Some(Duration::from_secs(48 + 5)));
        assert_eq!(eta.left(Some((&task, 0.25))), Some(Duration::from_secs(36 + 5)));
    }

    #[test]
    fn rounds_that_are_added_count_as_those_before() {
        let plan = plan(&["a", "b"], 0);
        let setups = all(&plan);
        let mut eta = expecting(&plan, &setups);
        let task = Task::of(&plan, &setups[0], "scan", 1);
        eta.began(Duration::from_secs(1));
        eta.ended(&task, Duration::from_secs(4));
        assert_eq!((eta.rounds(), eta.share(None), eta.left(None)), (Some(1), 1.0, Some(Duration::ZERO)));
        eta.expect(&plan, Some(4), &[&setups[..], &setups[..], &setups[..]].concat(), None);
        assert_eq!((eta.rounds(), eta.share(None), eta.left(None)), (Some(4), 0.25, Some(Duration::from_secs(3 * 5))));
    }

    #[test]
    fn the_time_that_was_given_says_what_is_left_until_rounds_say_it() {
        let plan = plan(&["a", "b"], 0);
        let setups = all(&plan);
        let task = Task::of(&plan, &setups[0], "scan", 1);
        let mut eta = Eta::default();
        eta.expect(&plan, None, &setups, Some(TimeSpent { spent_s: 10.0, limit_s: 100.0 }));
        assert_eq!((eta.share(None), eta.left(None)), (0.1, Some(Duration::from_secs(90))));
        eta.began(Duration::from_secs(5));
        eta.ended(&task, Duration::from_secs(20));
        eta.add_overhead(Duration::from_secs(5));
        assert_eq!((eta.share(None), eta.left(None)), (0.4, Some(Duration::from_secs(60))));
        assert_eq!(eta.left(Some((&task, 0.5))), Some(Duration::from_secs(50)), "half of a task that takes 20 s");
        eta.expect(&plan, Some(4), &[&setups[..], &setups[..], &setups[..]].concat(), None);
        assert_eq!(eta.left(None), Some(Duration::from_secs(3 * (20 + 10))), "by rounds from then on");
    }

    #[test]
    fn a_pass_takes_as_long_as_the_ones_before() {
        let plan = insert_plan(&["a", "b"], &["17.11", "17.11"]);
        let setups = all(&plan);
        let mut eta = expecting(&plan, &setups);
        let task = |setup: usize, test: &str| Task::of(&plan, &setups[setup], test, 1);
        eta.began(Duration::from_secs(2));
        eta.ended(&task(0, "l.i0"), Duration::from_secs(30));
        // l.x, l.i1 and l.i2 were planned with a second each, as was l.i0: they are as slow, and so is the other
        // treatment's l.i0. The clock of qr100 and qp100 is trusted. And there is one more server to start.
        let expected = 3.0 * 30.0 + 2.0 + 4.0 * 30.0 + 2.0 + 2.0;
        assert_eq!(eta.left(None), Some(Duration::from_secs_f64(expected)));
        eta.ended(&task(0, "l.x"), Duration::from_secs(10));
        for skipped in ["l.i1", "l.i2", REST, "qr100", "qp100"] {
            eta.skipped(&task(0, skipped));
        }
        eta.add_overhead(Duration::from_secs(1));
        // l.i1 and l.i2 at the eta of both steps seen: 20 s.
        assert_eq!(eta.left(None), Some(Duration::from_secs_f64(30.0 + 10.0 + 2.0 * 20.0 + 2.0 + 3.0)));
        assert!((eta.share(None) - 2.0 / 8.0).abs() < 1e-9, "{}", eta.share(None));
    }
}
