//! A campaign that goes on after the host has changed: that is reported, or refused.

use crate::scene::Scene;
use serde_json::Value;
use std::fs;

#[test]
fn a_host_that_became_another_is_told_or_refused() {
    let scene = Scene::new();
    scene.end(scene.run_twins("moved", &["--tests", "point-query"])).with_code(0);
    let folder = scene.campaign("moved");
    // One sample is missing, and the kernel was another one.
    let round = folder.join("rounds/2");
    fs::remove_dir_all(round.join("b.x10a_c2r1")).expect("removed");
    let hosts = fs::read_dir(folder.join("hosts")).expect("a folder").map(|entry| entry.expect("read").path());
    let host = hosts.last().expect("a host");
    let mut facts: Value = serde_json::from_slice(&fs::read(&host).expect("read")).expect("JSON");
    let kernel = facts["kernel"].as_str().expect("known").to_owned();
    facts["kernel"] = "1.0-other".into();
    fs::write(&host, facts.to_string()).expect("written");

    let change = format!("kernel {kernel}, before 1.0-other");
    scene.end(scene.rqps(&["resume", "results/moved", "--strict"])).refused(&[&change, "--strict"]);
    let resumed = scene.end(scene.rqps(&["resume", "results/moved"])).with_code(0);
    assert!(resumed.stderr.contains(&change), "{}", resumed.stderr);
    let status: Value = serde_json::from_slice(&fs::read(folder.join("status.json")).expect("read")).expect("JSON");
    assert_eq!(status["starts"][1]["host_changes"][0]["what"], "kernel", "{status:#}");
    let found = scene.end(scene.rqps(&["compare", "results/moved", "--json"])).with_code(0).json();
    let told = |warning: &Value| warning["cause"].as_str().is_some_and(|cause| cause.contains(&change));
    assert!(found["warnings"].as_array().is_some_and(|all| all.iter().any(told)), "{:#}", found["warnings"]);
    scene.assert_nothing_left();
}
