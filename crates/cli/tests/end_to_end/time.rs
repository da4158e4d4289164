//! Campaigns that end with a time instead of a number of rounds.

use crate::scene::{READ, READS, Scene, published, results, starts};
use crate::stopping::interrupt;
use jiff::Timestamp;
use rqps_model::EventKind;
use rqps_store::{Campaign, State};
use rustix::process::Signal;

/// Tests and treatments of each round.
const SAMPLES: usize = 2;

/// Seconds from a campaign's start to the beginning and the end of each round.
fn rounds_told(campaign: &Campaign) -> Vec<[f64; 2]> {
    let at = |text: &str| text.parse::<Timestamp>().expect("a time").as_millisecond() as f64 / 1000.0;
    let start = at(&campaign.status().starts[0].at);
    let mut rounds = Vec::new();
    for event in campaign.events().expect("they can be read") {
        let seconds = at(&event.at) - start;
        match event.kind {
            EventKind::ServersStart { .. } => rounds.push([seconds, f64::NAN]),
            EventKind::ServersEnd { .. } => rounds.last_mut().expect("servers were started")[1] = seconds,
            _ => {}
        }
    }
    rounds
}

#[test]
fn rounds_are_measured_until_the_time_is_used() {
    const SECONDS: f64 = 15.0;
    let scene = Scene::new();
    let folder = scene.campaign("timed");
    let words = ["--tests", READ, "--time", "15s", "--rounds", "1000"];
    let ended = scene.end(scene.run_twins("timed", &words)).with_code(0);
    assert!(ended.stderr.contains(" rounds in 15 s; results in results/timed"), "{}", ended.stderr);
    let campaign = results(&folder);
    let rounds = campaign.rounds() as usize;
    assert_eq!(published(&folder).len(), rounds * SAMPLES);
    let told = rounds_told(&campaign);
    assert_eq!(told.len(), rounds, "{told:?}");
    // Another one was begun since it would end in time, or a little late: so all others had ended before.
    assert!(told[..rounds - 1].iter().all(|[_, ended]| *ended < 1.025 * SECONDS), "{told:?}");
    let report = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    assert!(report.contains("as many as fitted in 15 s"));
    // It is complete: there is no time left.
    scene.end(scene.rqps(&["resume", "results/timed"])).with_code(0);
    assert_eq!((starts(&folder), published(&folder).len()), (1, rounds * SAMPLES));
    scene.assert_nothing_left();
}

#[test]
fn an_interrupted_campaign_goes_on_until_as_many_rounds_as_wanted() {
    let scene = Scene::new();
    let folder = scene.campaign("capped");
    let words = ["--tests", READ, "--time", "1h", "--rounds", "3"];
    let mut running = scene.start(scene.run_twins("capped", &words));
    running.wait_for("a sample", |_| published(&folder).len() >= SAMPLES);
    running.signal(Signal::KILL);
    running.end();
    let told = scene.end(scene.rqps(&["status", "results/capped", "--json"])).with_code(0).json();
    assert_eq!((&told["state"], &told["rounds_max"]), (&"interrupted".into(), &3.into()), "{told}");
    assert!(told["rounds"].is_null(), "results decide how many: {told}");
    scene.end(scene.rqps(&["resume", "results/capped"])).with_code(0);
    assert_eq!((starts(&folder), published(&folder).len()), (2, 3 * SAMPLES));
    scene.assert_nothing_left();
}

/// Which tests are left out is a matter of noise; made-up campaigns show it (`analysis/tests/analysis/allot.rs`). Here
/// the way from a round's results to the next one's allotment is gone on real servers, and from a finished campaign to
/// more rounds.
#[test]
fn each_round_is_allotted_by_those_before_and_more_time_goes_on() {
    let scene = Scene::new();
    let folder = scene.campaign("divided");
    let words = ["--tests", READS, "--time", "1h", "--rounds", "3"];
    scene.end(scene.run_twins("divided", &words)).with_code(0);
    let campaign = results(&folder);
    let rounds = campaign.rounds();
    assert_eq!(rounds, 3);
    let allotted = |campaign: &Campaign, number: u32| {
        let round = campaign.round(number).expect("it can be read").expect("it began");
        let allotment = round.allotment.expect("the time is divided");
        (allotment.spent, allotment.seconds.into_keys().collect::<Vec<_>>())
    };
    let all: Vec<(f64, Vec<String>)> = (1..=rounds).map(|number| allotted(&campaign, number)).collect();
    assert!(all.windows(2).all(|two| two[0].0 < two[1].0), "{all:?}");
    assert!(all[..2].iter().all(|(_, tests)| tests.len() == 2) && all.iter().all(|(_, tests)| !tests.is_empty()));
    let samples = 2 * all.iter().map(|(_, tests)| tests.len()).sum::<usize>();
    assert_eq!(published(&folder).len(), samples);
    let state = scene.end(scene.rqps(&["status", "results/divided", "--json"])).with_code(0).json();
    assert_eq!((&state["state"], &state["rounds_done"]), (&"complete".into(), &rounds.into()), "{state}");
    // A time in which no round fits leaves everything as it is.
    scene.end(scene.rqps(&["more", "results/divided", "--time", "1s"])).refused(&[
        "too short",
        "take --time",
        "or more",
    ]);
    let still = results(&folder);
    assert_eq!((still.status().state, still.status().extended, starts(&folder)), (State::Complete, None, 1));
    // More time adds rounds to those that are there, also to one that is broken off.
    let mut running = scene.start(scene.rqps(&["more", "results/divided", "--time", "1h"]));
    running.wait_for("a round more", |_| published(&folder).len() > samples);
    interrupt(&scene, running);
    assert!(results(&folder).rounds() > rounds && starts(&folder) == 2);
    scene.end(scene.rqps(&["more", "results/divided", "--time", "soon"])).refused(&["--time", "such as 5m"]);
    scene.assert_nothing_left();
}

#[test]
fn a_time_that_is_too_short_is_refused_before_anything_is_made() {
    let scene = Scene::new();
    scene.end(scene.run_twins("short", &["--rows", "50m", "--time", "10s"])).refused(&[
        "--time 10s",
        "too short",
        "or more",
    ]);
    assert!(!scene.campaign("short").exists());
}
