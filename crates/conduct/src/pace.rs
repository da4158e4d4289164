//! How far a campaign is and how long it will still take, from what its tests, steps and server starts have taken so far.
//!
//! In: planned seconds of each chore, and the times that chores took. Out: a share and a time left. Reads no clock: time
//! is an argument.

use crate::cells::Bout;
use rqps_model::Plan;
use rqps_model::plan::{Alternate, SuitePlan};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The work after l.i2, beside the tests of the plan.
pub(crate) const REST: &str = "rest";

/// Work that comes back in every round and takes about as long.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Chore {
    /// The treatment of a pass; empty for a test on all.
    who: String,
    test: String,
    clients: u32,
}

impl Chore {
    /// A test of a bout.
    pub(crate) fn of(bout: &Bout<'_>, test: &str) -> Chore {
        let who = match bout.treatments {
            [one] if bout.tests.len() > 1 => one.name.clone(),
            _ => String::new(),
        };
        Chore { who, test: test.to_owned(), clients: bout.clients }
    }

    fn is_like(&self, other: &Chore) -> bool {
        (&self.test, self.clients) == (&other.test, other.clients)
    }
}

/// What is known about a chore.
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
pub(crate) struct Pace {
    chores: BTreeMap<Chore, Known>,
    /// Planned measuring seconds of everything, resumed cells left out.
    planned_s: f64,
    done_s: f64,
    /// Copies and server starts still to come, and what was spent on them so far.
    beginnings_left: u32,
    begun: u32,
    overhead: Duration,
}

impl Pace {
    /// A campaign with these bouts ahead: servers are started for each round of tests, and for each pass.
    pub(crate) fn new(plan: &Plan, bouts: &[Bout<'_>]) -> Pace {
        let rounds: BTreeSet<u32> = bouts.iter().map(|bout| bout.round).collect();
        let is_one_by_one = |bout: &Bout<'_>| bout.stage.alternate == Alternate::OneByOne;
        let beginnings = if bouts.iter().any(is_one_by_one) { bouts.len() } else { rounds.len() };
        let mut pace = Pace { beginnings_left: beginnings as u32, ..Pace::default() };
        for bout in bouts {
            for test in bout.tests {
                let planned_s = (test.seconds + plan.warmup_seconds) * bout.treatments.len() as f64;
                pace.add(Chore::of(bout, &test.name), planned_s, test.timed);
            }
            if let SuitePlan::Insert(shape) = &plan.suite {
                pace.add(Chore::of(bout, REST), shape.rest_seconds, true);
            }
        }
        pace
    }

    fn add(&mut self, chore: Chore, planned_s: f64, is_timed: bool) {
        let known = self.chores.entry(chore).or_default();
        (known.planned_s, known.is_timed) = (planned_s, is_timed);
        known.left += 1;
        self.planned_s += planned_s;
    }

    /// Copies were made and servers started; that took this long.
    pub(crate) fn began(&mut self, took: Duration) {
        self.beginnings_left = self.beginnings_left.saturating_sub(1);
        self.begun += 1;
        self.overhead += took;
    }

    /// What belongs to a server's start, such as its end, took this long.
    pub(crate) fn add_overhead(&mut self, took: Duration) {
        self.overhead += took;
    }

    /// A chore took this long.
    pub(crate) fn ended(&mut self, chore: &Chore, took: Duration) {
        let Some(known) = self.chores.get_mut(chore) else { return };
        self.done_s += known.planned_s;
        known.left = known.left.saturating_sub(1);
        known.done += 1;
        known.took += took;
    }

    /// A chore is not done, because one before it failed.
    pub(crate) fn skipped(&mut self, chore: &Chore) {
        let Some(known) = self.chores.get_mut(chore) else { return };
        self.planned_s -= known.planned_s;
        known.left = known.left.saturating_sub(1);
    }

    /// Share done, 0 to 1, with this part of a chore behind us.
    pub(crate) fn share(&self, under_way: Option<(&Chore, f64)>) -> f64 {
        let planned_s = |(chore, part): (&Chore, f64)| Some(self.chores.get(chore)?.planned_s * part);
        let under_way_s = under_way.and_then(planned_s).unwrap_or(0.0);
        if self.planned_s > 0.0 { ((self.done_s + under_way_s) / self.planned_s).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Expected time to the end; `None` until servers were started and a chore has ended.
    pub(crate) fn left(&self, under_way: Option<(&Chore, f64)>) -> Option<Duration> {
        if self.begun == 0 || self.chores.values().all(|known| known.done == 0) {
            return None;
        }
        let all_s: f64 = self.chores.iter().map(|(chore, known)| self.expected_s(chore) * f64::from(known.left)).sum();
        let under_way_s = under_way.map_or(0.0, |(chore, part)| self.expected_s(chore) * part);
        let begin_s = self.overhead.as_secs_f64() / f64::from(self.begun) * f64::from(self.beginnings_left);
        Some(Duration::from_secs_f64((all_s - under_way_s).max(0.0) + begin_s))
    }

    /// What a chore takes: as before, else as for other treatments, else as planned, at the pace of all others.
    fn expected_s(&self, chore: &Chore) -> f64 {
        let Some(known) = self.chores.get(chore) else { return 0.0 };
        let seen = |wanted: &dyn Fn(&Chore, &Known) -> bool| {
            let seen = self.chores.iter().filter(|(chore, known)| known.done > 0 && wanted(chore, known));
            seen.fold((0.0, 0.0, 0.0), |(took_s, planned_s, done), (_, known)| {
                let count = f64::from(known.done);
                (took_s + known.took.as_secs_f64(), planned_s + known.planned_s * count, done + count)
            })
        };
        for wanted in [&|other: &Chore, _: &Known| other == chore, &|other: &Chore, _: &Known| other.is_like(chore)]
            as [&dyn Fn(&Chore, &Known) -> bool; 2]
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

    #[test]
    fn extrapolates_from_what_was_seen() {
        // Twenty seconds of each treatment, and half a second of warm-up, in two rounds.
        let mut plan = plan(&["a", "b"], 0);
        plan.stages[0].tests[0].seconds = 19.5;
        plan.rounds = 2;
        let bouts: Vec<Bout<'_>> = (1..=plan.rounds).flat_map(|number| Bout::all(&plan, &plan.round(number))).collect();
        let mut pace = Pace::new(&plan, &bouts);
        let chore = Chore::of(&bouts[0], "scan");
        assert_eq!(pace.left(None), None);
        pace.began(Duration::from_secs(5));
        pace.ended(&chore, Duration::from_secs(48));
        assert_eq!(pace.share(None), 0.5);
        // 40 planned seconds at 1.2 each, and one more round to begin.
        assert_eq!(pace.left(None), Some(Duration::from_secs(48 + 5)));
        assert_eq!(pace.left(Some((&chore, 0.25))), Some(Duration::from_secs(36 + 5)));
    }

    #[test]
    fn a_pass_takes_as_long_as_the_ones_before() {
        let plan = insert_plan(&["a", "b"], &["17.11", "17.11"]);
        let bouts: Vec<Bout<'_>> = (1..=plan.rounds).flat_map(|number| Bout::all(&plan, &plan.round(number))).collect();
        let mut pace = Pace::new(&plan, &bouts);
        let chore = |bout: usize, test: &str| Chore::of(&bouts[bout], test);
        pace.began(Duration::from_secs(2));
        pace.ended(&chore(0, "l.i0"), Duration::from_secs(30));
        // l.x, l.i1 and l.i2 were planned with a second each, as was l.i0: they are as slow, and so is the other treatment's
        // l.i0. The clock of qr100 and qp100 is trusted. And there is one more server to start.
        let expected = 3.0 * 30.0 + 2.0 + 4.0 * 30.0 + 2.0 + 2.0;
        assert_eq!(pace.left(None), Some(Duration::from_secs_f64(expected)));
        pace.ended(&chore(0, "l.x"), Duration::from_secs(10));
        for skipped in ["l.i1", "l.i2", REST, "qr100", "qp100"] {
            pace.skipped(&chore(0, skipped));
        }
        pace.add_overhead(Duration::from_secs(1));
        // l.i1 and l.i2 at the pace of both steps seen: 20 s.
        assert_eq!(pace.left(None), Some(Duration::from_secs_f64(30.0 + 10.0 + 2.0 * 20.0 + 2.0 + 3.0)));
        assert!((pace.share(None) - 2.0 / 8.0).abs() < 1e-9, "{}", pace.share(None));
    }
}
