//! What setups of servers and their tests took when they were last measured, as the campaign's events tell.
//!
//! In: events, and the rounds that began. Out: seconds. What was broken off counts only as far as it ended: of a setup
//! whose servers did not end in order, the tests that ended.

use super::seconds_of;
use rqps_model::plan::{Round, Stage, TestPlan};
use rqps_model::{Event, EventKind, Plan};
use rqps_store::Status;
use std::collections::{BTreeMap, BTreeSet};

/// The servers that a test runs on: the name of the first test of a stage whose tests share them, else the test and its
/// number of clients.
type SetupKey = (String, u32);

/// Seconds by what took them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Took {
    /// By setup, beside its tests: copies, starts, caches, work between tests, ends, and what came before it.
    pub(crate) setups: BTreeMap<SetupKey, f64>,
    /// By test and number of clients.
    pub(crate) tests: BTreeMap<(String, u32), TestTook>,
}

/// Of a test, on all treatments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TestTook {
    /// From its begin to its end.
    pub(crate) seconds: f64,
    /// Counted of each sample.
    pub(crate) counted: f64,
}

/// A setup under way.
struct UnderWay {
    /// Since when its time counts.
    since: f64,
    key: Option<SetupKey>,
    in_tests: f64,
    /// Since when a test runs.
    test: Option<f64>,
}

impl Took {
    pub(crate) fn of(plan: &Plan, status: &Status, events: &[Event], rounds: &[Round]) -> Took {
        let mut took = Took::default();
        let starts: Vec<f64> = status.starts.iter().filter_map(|start| seconds_of(&start.at)).collect();
        let (mut setup, mut ended): (Option<UnderWay>, Option<f64>) = (None, None);
        for event in events {
            let Some(at) = seconds_of(&event.at) else { continue };
            match (&event.kind, &mut setup) {
                (EventKind::ServersStart { .. }, _) => {
                    // Between two rounds of one run, the results so far are read.
                    let is_of_this_run = |ended: &f64| !starts.iter().any(|start| ended < start && *start <= at);
                    let since = ended.filter(is_of_this_run).unwrap_or(at);
                    setup = Some(UnderWay { since, key: None, in_tests: 0.0, test: None });
                }
                (EventKind::TestBegins { place, .. }, Some(setup)) => {
                    let key = || key(plan, &place.test, place.clients);
                    setup.key = setup.key.take().or_else(key);
                    setup.test = Some(at);
                }
                (EventKind::TestEnded { place, .. }, Some(setup)) => {
                    let Some(begun) = setup.test.take() else { continue };
                    setup.in_tests += at - begun;
                    if let Some(counted) = counted(plan, rounds, place.round, &place.test) {
                        let key = (place.test.clone(), place.clients);
                        took.tests.insert(key, TestTook { seconds: at - begun, counted });
                    }
                }
                (EventKind::ServersEnd { .. }, _) => {
                    ended = Some(at);
                    if let Some(UnderWay { since, key: Some(key), in_tests, .. }) = setup.take() {
                        took.setups.insert(key, at - since - in_tests);
                    }
                }
                _ => {}
            }
        }
        took
    }

    /// Of a test at all numbers of clients; `None` before it was measured.
    pub(crate) fn test(&self, name: &str) -> Option<TestTook> {
        let levels = self.tests.iter().filter(|((test, _), _)| test == name).map(|(_, took)| *took);
        levels.reduce(|all, one| TestTook { seconds: all.seconds + one.seconds, ..one })
    }

    /// The setups that these tests need, beside the tests.
    pub(crate) fn setups(&self, plan: &Plan, tests: &[&TestPlan]) -> f64 {
        let levels = |test: &&TestPlan| {
            let (name, clients) = (test.name.clone(), plan.clients());
            clients.into_iter().filter_map(move |clients| key(plan, &name, clients)).collect::<Vec<_>>()
        };
        let keys: BTreeSet<SetupKey> = tests.iter().flat_map(levels).collect();
        keys.iter().filter_map(|key| self.setups.get(key)).sum()
    }
}

fn key(plan: &Plan, test: &str, clients: u32) -> Option<SetupKey> {
    let has_it = |stage: &&Stage| stage.tests.iter().any(|one| one.name == test);
    let stage = plan.stages.iter().find(has_it)?;
    Some(match stage.has_servers_per_test() {
        true => (test.to_owned(), clients),
        false => (stage.tests[0].name.clone(), 0),
    })
}

/// Seconds that a round counted of each sample of a test.
fn counted(plan: &Plan, rounds: &[Round], number: u32, test: &str) -> Option<f64> {
    let planned = plan.tests().into_iter().find(|one| one.name == test)?.seconds;
    let allotment = rounds.iter().find(|round| round.number == number).and_then(|round| round.allotment.as_ref());
    Some(allotment.and_then(|allotment| allotment.seconds.get(test).copied()).unwrap_or(planned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warnings::campaign::tests::{plan, test};
    use rqps_model::RoundSeconds;
    use rqps_model::event::TestPlace;
    use rqps_model::plan::{Allotment, Renew};

    /// A test of a round that begins and ends at these seconds.
    type Ran = (u32, &'static str, u32, f64, f64);

    fn at(seconds: f64) -> String {
        format!("2026-11-22T05:{:02}:{:06.3}Z", (seconds / 60.0) as u32, seconds % 60.0)
    }

    /// Servers that start at `begun`, run tests, and end in order if that is given.
    fn setup(begun: f64, ran: &[Ran], ended: Option<f64>) -> Vec<Event> {
        let round = ran[0].0;
        let event = |seconds: f64, kind: EventKind| Event { at: at(seconds), kind };
        let (clients, treatments) = (Vec::new(), Vec::new());
        let mut events =
            vec![event(begun, EventKind::ServersStart { round, rounds: None, tests: None, clients, treatments })];
        for (round, test, clients, begins, ends) in ran.iter().copied() {
            let (test, treatments) = (test.to_owned(), Vec::new());
            let place = TestPlace { round, rounds: None, test, clients, treatments, interleave: None };
            events.push(event(begins, EventKind::TestBegins { place: place.clone(), is_recorded: true }));
            let (unit, results, left_seconds) = (rqps_model::Unit::QueriesPerSecond, Vec::new(), None);
            events.push(event(ends, EventKind::TestEnded { place, unit, results, left_seconds }));
        }
        let seconds = RoundSeconds::default();
        events.extend(ended.map(|ended| event(ended, EventKind::ServersEnd { round, seconds })));
        events
    }

    fn status(starts: &[f64]) -> Status {
        let starts: Vec<_> = starts
            .iter()
            .map(|seconds| serde_json::json!({ "at": at(*seconds), "rqps_version": "0", "command_line": [] }))
            .collect();
        let status = serde_json::json!({ "format": rqps_model::FORMAT, "host": "h", "state": "incomplete",
            "starts": starts, "finished_at": null, "load_seconds": {} });
        serde_json::from_value(status).expect("a status")
    }

    fn planned() -> Plan {
        let mut plan = plan(3);
        plan.stages[0].tests = vec![test("a", false), test("b", false)];
        plan
    }

    #[test]
    fn a_test_takes_what_it_took_in_the_last_round_that_measured_it() {
        let plan = planned();
        let allotment = |seconds: &[(&str, f64)]| Allotment {
            spent: 0.1,
            seconds: seconds.iter().map(|(test, it)| ((*test).to_owned(), *it)).collect(),
            given_up: Vec::new(),
        };
        let round = |number: u32, it| Round { allotment: Some(it), ..plan.round(number) };
        let rounds = [round(1, allotment(&[("a", 3.0), ("b", 1.0)])), round(2, allotment(&[("a", 2.0)]))];
        let first = setup(10.0, &[(1, "a", 1, 15.0, 25.0), (1, "b", 1, 26.0, 30.0)], Some(33.0));
        let second = setup(35.0, &[(2, "a", 1, 39.0, 46.0)], Some(50.0));
        let took = Took::of(&plan, &status(&[0.0]), &[first, second].concat(), &rounds);
        assert_eq!(took.test("a"), Some(TestTook { seconds: 7.0, counted: 2.0 }));
        assert_eq!(took.test("b"), Some(TestTook { seconds: 4.0, counted: 1.0 }));
        // From the end of the round before it to its own, without its test.
        assert_eq!(took.setups(&plan, &plan.tests()), (50.0 - 33.0) - 7.0);
        assert_eq!(took.setups(&plan, &[]), 0.0);
    }

    #[test]
    fn what_was_broken_off_is_no_setup_and_a_day_between_runs_is_no_time() {
        let plan = planned();
        let rounds = [plan.round(1)];
        let broken = setup(10.0, &[(1, "a", 1, 15.0, 25.0)], None);
        let again = setup(610.0, &[(1, "b", 1, 612.0, 616.0)], Some(617.0));
        let took = Took::of(&plan, &status(&[0.0, 600.0]), &[broken, again].concat(), &rounds);
        assert_eq!(took.test("a"), Some(TestTook { seconds: 10.0, counted: 10.0 }), "as planned, it ended");
        assert_eq!(took.setups(&plan, &plan.tests()), 7.0 - 4.0);
        let first = setup(10.0, &[(1, "a", 1, 15.0, 25.0)], Some(30.0));
        let resumed = setup(610.0, &[(2, "a", 1, 612.0, 616.0)], Some(617.0));
        let took = Took::of(&plan, &status(&[0.0, 600.0]), &[first, resumed].concat(), &rounds);
        assert_eq!(took.setups(&plan, &plan.tests()), 3.0);
    }

    #[test]
    fn servers_of_one_test_are_its_own() {
        let mut plan = planned();
        plan.stages[0].renew = Renew::PerTest;
        plan.stages[0].clients = vec![1, 4];
        let ran = |begun: f64, test, clients| {
            setup(begun, &[(1, test, clients, begun + 2.0, begun + 5.0)], Some(begun + 6.0))
        };
        let events = [ran(0.0, "a", 1), ran(6.0, "a", 4), ran(12.0, "b", 1), ran(20.0, "b", 4)].concat();
        let took = Took::of(&plan, &status(&[]), &events, &[plan.round(1)]);
        let tests = plan.tests();
        assert_eq!([&tests[..1], &tests[1..], &tests].map(|some| took.setups(&plan, some)), [6.0, 8.0, 14.0]);
        assert_eq!(took.test("a").map(|took| took.seconds), Some(6.0));
    }
}
