//! Campaigns that end with a time instead of a number of rounds.

use crate::scene::{Scene, published, results, starts};
use jiff::Timestamp;
use rqps_model::{Event, EventKind};
use rqps_store::Campaign;
use rustix::process::Signal;

/// Tests and treatments of each round.
const SAMPLES: usize = 2;

/// Seconds from a campaign's start to the beginning of each round and to the end.
fn seconds(campaign: &Campaign) -> Vec<f64> {
    let at = |text: &str| text.parse::<Timestamp>().expect("a time").as_millisecond() as f64 / 1000.0;
    let events = campaign.events().expect("they can be read");
    let begins = |event: &&Event| matches!(event.kind, EventKind::ServersStart { .. });
    let moments = events.iter().filter(begins).chain(events.last());
    moments.map(|event| at(&event.at) - at(&campaign.status().starts[0].at)).collect()
}

#[test]
fn rounds_are_measured_until_the_time_is_used() {
    const SECONDS: f64 = 25.0;
    let scene = Scene::new();
    let folder = scene.campaign("timed");
    let words = ["--tests", "point-query", "--time", "25s", "--rounds", "1000"];
    let ended = scene.end(scene.run_twins("timed", &words)).with_code(0);
    assert!(ended.stderr.contains(" rounds in 25 s; results in results/timed"), "{}", ended.stderr);
    let campaign = results(&folder);
    let rounds = campaign.rounds() as usize;
    assert_eq!(published(&folder).len(), rounds * SAMPLES);
    let seconds = seconds(&campaign);
    assert_eq!(seconds.len(), rounds + 1, "{seconds:?}");
    // The last round was begun since it would end in time if it took as long as those before it.
    if let [first, .., last, _] = seconds[..]
        && rounds > 1
    {
        let mean = (last - first) / (rounds - 1) as f64;
        // It is told a moment after that was decided.
        assert!(last + mean <= 1.025 * SECONDS + 1.0, "{seconds:?}");
    }
    let report = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    assert!(report.contains("as many as fitted in 25 s"));
    // It is complete: there is no time left.
    scene.end(scene.rqps(&["resume", "results/timed"])).with_code(0);
    assert_eq!((starts(&folder), published(&folder).len()), (1, rounds * SAMPLES));
    scene.assert_nothing_left();
}

#[test]
fn an_interrupted_campaign_goes_on_until_as_many_rounds_as_wanted() {
    let scene = Scene::new();
    let folder = scene.campaign("capped");
    let words = ["--tests", "point-query", "--time", "1h", "--rounds", "3"];
    let mut running = scene.start(scene.run_twins("capped", &words));
    running.wait_for("a sample", |_| published(&folder).len() >= SAMPLES);
    running.signal(Signal::KILL);
    running.end();
    let told = scene.end(scene.rqps(&["status", "results/capped", "--json"])).with_code(0).json();
    assert_eq!((&told["state"], &told["rounds"]), (&"interrupted".into(), &3.into()), "{told}");
    scene.end(scene.rqps(&["resume", "results/capped"])).with_code(0);
    assert_eq!((starts(&folder), published(&folder).len()), (2, 3 * SAMPLES));
    scene.assert_nothing_left();
}

/// Hot points are three quarters faster in 17, which shows at once; a point query is as fast.
#[test]
fn what_is_decided_makes_room_and_more_time_goes_on() {
    let scene = Scene::new();
    let folder = scene.campaign("divided");
    let measure = |words: &[&str]| {
        let mut command = scene.rqps(words);
        scene.with_users_cache(&mut command, &["postgres:16.15", "postgres:17.11"]);
        scene.end(command).with_code(0);
    };
    let builds = ["run", "--build", "postgres:16.15", "--build", "postgres:17.11", "--name", "divided"];
    // With so small a margin a point query stays undecided, and in so long a time it is not given up.
    let words = ["--rows", "10k", "--tests", "hot-points,point-query", "--read-seconds", "0.5", "--margin", "0.5%"];
    measure(&[&builds[..], &words, &["--time", "5m", "--rounds", "6"]].concat());
    let measured = |campaign: &Campaign, number: u32| {
        let round = campaign.round(number).expect("it can be read").expect("it began");
        ["hot-points", "point-query"].map(|test| round.measures(test))
    };
    let campaign = results(&folder);
    let rounds = campaign.rounds();
    assert_eq!([1, 2].map(|number| measured(&campaign, number)), [[true; 2]; 2]);
    assert_eq!(measured(&campaign, rounds), [false, true], "of {rounds} rounds");
    let told = scene.end(scene.rqps(&["compare", "results/divided", "--json"])).with_code(0).json();
    let row = |test: &str| {
        let rows = told["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["test"] == test).expect("a row").clone()
    };
    let n = |test: &str| row(test)["n"].as_u64().expect("a number");
    assert_eq!((row("hot-points")["verdict"].as_str(), n("point-query")), (Some("improved"), u64::from(rounds)));
    assert!((2..u64::from(rounds)).contains(&n("hot-points")), "{told}");
    let state = scene.end(scene.rqps(&["status", "results/divided", "--json"])).with_code(0).json();
    assert_eq!(state["state"], "complete", "{state}");
    // More time adds rounds to those that are there.
    measure(&["more", "results/divided", "--time", "30s"]);
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
