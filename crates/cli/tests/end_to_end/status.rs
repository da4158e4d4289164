//! `rqps status` from another terminal: of a campaign that runs, one that was killed and one that is complete, and of
//! none.

use crate::scene::{READS, Scene, published};
use rustix::process::Signal;
use std::fs;
use std::path::Path;

/// Every file of a folder with its content; a status must not change any.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => found.push((path.display().to_string(), fs::read(&path).unwrap_or_default())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_campaign_is_told_while_it_runs_and_after() {
    let scene = Scene::new();
    let folder = scene.campaign("watched");
    let status = || scene.end(scene.rqps(&["status", "results/watched", "--json"])).with_code(0).json();
    let words = ["--tests", READS, "--rounds", "2"];
    let mut running = scene.start(scene.run_twins("watched", &words));
    running.wait_for("the first samples", |_| published(&folder).len() >= 2);
    let told = status();
    assert_eq!(told["state"], "running", "{told}");
    assert!(told["process"].as_u64() > Some(1) && told["samples"]["done"].as_u64() >= Some(2), "{told}");
    assert!(told["seconds_left"].as_f64().is_some_and(f64::is_finite), "{told}");

    running.signal(Signal::KILL);
    running.end();
    let before = content(&folder);
    let told = status();
    assert_eq!(told["state"], "interrupted", "{told}");
    assert!(told["process"].is_null() && told["samples"]["left"].as_u64() > Some(0), "{told}");
    let shown = scene.end(scene.rqps(&["status", "results/watched"])).with_code(0).stdout;
    assert!(shown.contains("rqps resume results/watched"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80) && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(content(&folder), before, "a status writes nothing");

    scene.end(scene.rqps(&["resume", "results/watched"])).with_code(0);
    let told = status();
    assert_eq!((&told["state"], &told["resumed"]), (&"complete".into(), &1.into()), "{told}");
    assert_eq!((&told["samples"]["done"], &told["samples"]["left"]), (&8.into(), &0.into()), "{told}");
    assert!(told["seconds_left"].is_null(), "{told}");
    assert!(told["round_seconds"]["counted"].as_f64() > Some(0.5), "{told}");
    let shown = scene.end(scene.rqps(&["status", "results/watched"])).with_code(0).stdout;
    assert!(shown.contains(" a round ") && shown.contains(" are counted; "), "{shown}");
    scene.assert_nothing_left();
}

#[test]
fn a_folder_that_is_no_campaign_is_refused() {
    let scene = Scene::new();
    fs::create_dir(scene.path("empty")).expect("a folder");
    for folder in ["empty", "absent"] {
        scene.end(scene.rqps(&["status", folder])).refused(&[folder]);
    }
    assert_eq!(scene.made_in_cache(), [""; 0], "a status opens no cache");
}
