//! Rounds that fit in a time, on made-up events; what a folder has of them on a real one.

use super::*;
use crate::testing::{plan, start};
use rqps_model::Sample;
use rqps_model::facts::HostFacts;
use rqps_model::plan::Division;
use rqps_observe::clock::rfc3339;
use rqps_store::{SampleParts, Start, Writer};
use std::time::{Duration, UNIX_EPOCH};

fn at(seconds: f64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs_f64(seconds)
}

fn round_begins(seconds: f64, round: u32) -> Event {
    let kind = EventKind::ServersStart { round, rounds: None, tests: None, clients: vec![1], treatments: Vec::new() };
    Event { at: rfc3339(at(seconds)), kind }
}

fn loaded(seconds: f64) -> Event {
    let kind = EventKind::Loaded { treatment: "a".to_owned(), rows: 1, seconds: 1.0 };
    Event { at: rfc3339(at(seconds)), kind }
}

/// Loading for 20 s, then rounds of 100 s.
fn events() -> Vec<Event> {
    vec![loaded(1020.0), round_begins(1020.0, 1), round_begins(1120.0, 2)]
}

fn limit(seconds: f64) -> TimeLimit {
    TimeLimit { seconds, rounds_max: 1000, division: None }
}

#[test]
fn time_is_spent_on_loading_and_on_rounds() {
    let measured = Measured::of(&[at(1000.0)], &events(), Some(at(1220.0)));
    assert_eq!(measured, Measured { all: 220.0, loading: 20.0, by_round: BTreeMap::from([(1, 100.0), (2, 100.0)]) });
    // Nobody measures now: what was spent after the last event is not known, and little.
    assert_eq!(Measured::of(&[at(1000.0)], &events(), None).all, 120.0);
}

#[test]
fn time_between_two_starts_does_not_count() {
    let mut events = events();
    // Broken off in the second round, which is begun again a day later; the copy is made anew in 7 s.
    events.extend([round_begins(90_007.0, 2)]);
    let measured = Measured::of(&[at(1000.0), at(90_000.0)], &events, Some(at(90_107.0)));
    assert_eq!(
        measured,
        Measured { all: 120.0 + 107.0, loading: 20.0, by_round: BTreeMap::from([(1, 100.0), (2, 100.0)]) }
    );
}

#[test]
fn another_round_begins_if_it_ends_in_time_or_a_little_late() {
    let more = |seconds: f64, under_way: Option<u32>| {
        Measured::of(&[at(1000.0)], &events(), Some(at(1220.0))).rounds_more(limit(seconds), under_way)
    };
    assert_eq!([312.0, 313.0, 409.0, 410.0].map(|time| more(time, None)), [0, 1, 1, 2].map(Some));
    // Too late already.
    assert_eq!(more(100.0, None), Some(0));
    // The one under way takes as long as the one before it, although 100 s of it have passed; none was whole before.
    assert_eq!(more(410.0, Some(2)), Some(2));
    assert_eq!(Measured::of(&[at(1000.0)], &events()[..2], Some(at(1100.0))).rounds_more(limit(410.0), Some(1)), None);
}

#[test]
fn where_tests_are_left_out_the_last_round_is_the_measure() {
    let mut events = events();
    // A third round of 40 s.
    events.extend([round_begins(1220.0, 3)]);
    let more = |division: Option<Division>| {
        let limit = TimeLimit { division, ..limit(400.0) };
        Measured::of(&[at(1000.0)], &events, Some(at(1260.0))).rounds_more(limit, None)
    };
    let division = Division { read_seconds: true, write_seconds: true, until_decided: false };
    // 150 s are left: rounds take 80 s on average, and the last one took 40 s.
    assert_eq!((more(None), more(Some(division))), (Some(1), Some(3)));
}

#[test]
fn no_more_rounds_than_wanted() {
    let more = Measured::of(&[at(1000.0)], &events(), Some(at(1220.0)))
        .rounds_more(TimeLimit { rounds_max: 5, ..limit(4000.0) }, None);
    assert_eq!(more, Some(5));
}

/// A campaign of four expected rounds in a time, of which some began; of the last one, a sample is missing.
fn campaign(root: &std::path::Path, time: Option<TimeLimit>, events: &[Event]) -> Writer {
    let start = Start { at: rfc3339(at(1000.0)), ..start() };
    let plan = rqps_model::Plan { rounds: 4, time, ..plan(&["a", "b"], 0) };
    let store = Campaign::create(root, "x", &plan, &HostFacts::default(), "", start).expect("created");
    for event in events {
        store.append_event(event).expect("written");
        if let Some(round) = round_of_event(&event.kind) {
            store.write_round(&plan.round(round)).expect("written");
            for treatment in if round == 1 { &["a", "b"][..] } else { &["a"] } {
                store.publish(&sample(round, treatment)).expect("published");
            }
        }
    }
    store
}

fn sample(round: u32, treatment: &str) -> SampleParts {
    let [treatment, test, suite] = [treatment, "scan", "sysbench"].map(str::to_owned);
    let failure = Some("it failed".to_owned());
    SampleParts::of(Sample { round, treatment, test, suite, clients: 1, failure, ..Sample::default() })
}

#[test]
fn a_campaign_has_the_rounds_of_its_plan_or_those_that_fit() {
    let root = tempfile::tempdir().expect("a folder");
    let rounds = |name: &str, time: Option<TimeLimit>, events: &[Event], now: f64| {
        rounds(&campaign(&root.path().join(name), time, events), Some(at(now)))
    };
    assert_eq!(rounds("no-time", None, &events(), 9000.0), 4);
    // None was whole so far: as many as expected.
    assert_eq!(rounds("before", Some(limit(90.0)), &events()[..1], 1020.0), 4);
    // Two began; the second is to end at 220 s, as the first took 100 s.
    assert_eq!(rounds("begun", Some(limit(510.0)), &events(), 1150.0), 5);
    assert_eq!(rounds("late", Some(limit(120.0)), &events(), 1150.0), 2);
    assert_eq!(rounds("enough", Some(TimeLimit { rounds_max: 3, ..limit(500.0) }), &events(), 1150.0), 3);
}

#[test]
fn a_round_more_takes_its_data_loaded_anew_and_itself() {
    let root = tempfile::tempdir().expect("a folder");
    let mut events = events();
    events.push(round_begins(1260.0, 3));
    let shortest = |name: &str, time| {
        shortest_extension(&campaign(&root.path().join(name), time, &events)).expect("events can be read") * 1.025
    };
    // Loading took 20 s, rounds 100 and 140 s.
    assert!((shortest("alike", Some(limit(300.0))) - (20.0 + 120.0)).abs() < 1e-9);
    let division = Some(Division { read_seconds: true, write_seconds: true, until_decided: false });
    let divided = shortest("divided", Some(TimeLimit { division, ..limit(300.0) }));
    assert!((divided - (20.0 + 140.0)).abs() < 1e-9, "{divided}: the last one counts");
}

#[test]
fn the_time_says_what_is_left_until_a_round_is_whole_and_where_rounds_differ() {
    let root = tempfile::tempdir().expect("a folder");
    let left = |name: &str, time: Option<TimeLimit>, events: &[Event], now: f64| {
        time_left(&campaign(&root.path().join(name), time, events), Some(at(now)))
    };
    assert_eq!(left("no-time", None, &events()[..1], 1020.0), None);
    assert_eq!(left("loaded", Some(limit(90.0)), &events()[..1], 1030.0), Some(60.0));
    assert_eq!(left("whole", Some(limit(510.0)), &events(), 1150.0), None);
    let division = Some(Division { read_seconds: true, write_seconds: true, until_decided: false });
    let divided = |seconds: f64| Some(TimeLimit { division, ..limit(seconds) });
    assert_eq!(left("divided", divided(510.0), &events(), 1150.0), Some(360.0));
    assert_eq!(left("late", divided(120.0), &events(), 1150.0), Some(0.0));
    // No more than five rounds: 70 s of the second, and three more.
    let five = |seconds: f64| divided(seconds).map(|time| TimeLimit { rounds_max: 5, ..time });
    assert_eq!(left("five", five(3600.0), &events(), 1150.0), Some(370.0));
    assert_eq!(left("five-late", five(200.0), &events(), 1150.0), Some(50.0));
    // Where no more are wanted than are expected to fit, the time says nothing before a round tells what they take.
    let four = divided(3600.0).map(|time| TimeLimit { rounds_max: 4, ..time });
    assert_eq!(left("four-loaded", four, &events()[..1], 1030.0), None);
}
