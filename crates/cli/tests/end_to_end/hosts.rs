//! The host of a campaign: what the doctor found on it is kept; that it has changed when a campaign goes on is
//! reported, or the campaign is refused.

use crate::scene::{READ, Scene};
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn a_host_that_became_another_is_told_or_refused() {
    let scene = Scene::new();
    let data = scene.data().display().to_string();
    let looked = scene.end(scene.rqps(&["doctor", "--seconds", "1", "--data", &data, "--json"])).json();
    scene.end(scene.run_twins("moved", &["--tests", READ])).with_code(0);
    let folder = scene.campaign("moved");
    let status = || -> Value { read(&folder.join("status.json")) };
    let kept = status()["starts"][0]["checkup"]["findings"].clone();
    let named = |findings: &Value| -> Vec<(Value, Value)> {
        let findings = findings.as_array().expect("a list").iter();
        findings.map(|finding| (finding["about"].clone(), finding["found"].clone())).collect()
    };
    assert_eq!(named(&kept), named(&looked["findings"]));
    let page = fs::read_to_string(folder.join("report.html")).expect("a report");
    assert!(page.contains("<dt>Doctor</dt>"), "the host has a row for it");
    // One sample is missing, and the kernel was another one.
    let round = folder.join("rounds/2");
    fs::remove_dir_all(round.join("b.x10a_c2r1")).expect("removed");
    let hosts = fs::read_dir(folder.join("hosts")).expect("a folder").map(|entry| entry.expect("read").path());
    let host = hosts.last().expect("a host");
    let mut facts = read(&host);
    let kernel = facts["kernel"].as_str().expect("known").to_owned();
    facts["kernel"] = "1.0-other".into();
    fs::write(&host, facts.to_string()).expect("written");

    let change = format!("kernel {kernel}, before 1.0-other");
    scene.end(scene.rqps(&["resume", "results/moved", "--strict"])).refused(&[&change, "--strict"]);
    let resumed = scene.end(scene.rqps(&["resume", "results/moved"])).with_code(0);
    assert!(resumed.stderr.contains(&change), "{}", resumed.stderr);
    assert_eq!(status()["starts"][1]["host_changes"][0]["what"], "kernel", "{:#}", status());
    let found = scene.end(scene.rqps(&["compare", "results/moved", "--json"])).with_code(0).json();
    let told = |warning: &Value| warning["cause"].as_str().is_some_and(|cause| cause.contains(&change));
    assert!(found["warnings"].as_array().is_some_and(|all| all.iter().any(told)), "{:#}", found["warnings"]);
    scene.assert_nothing_left();
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("read")).expect("JSON")
}
