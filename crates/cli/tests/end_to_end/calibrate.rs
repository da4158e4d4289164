//! The noise of a host: measured, kept, listed, and what a plan foretells from it.

use crate::scene::{BUILD, READ, READS, SMALL, Scene, results};
use std::fs;

#[test]
fn what_a_calibration_keeps_a_plan_foretells_from() {
    let scene = Scene::new();
    let tests = ["--tests", READS];
    let [a, b] = ["a", "b"].map(|name| format!("{name}={BUILD}"));
    let twins = ["plan", "--build", a.as_str(), "--build", b.as_str()];
    let plan = [&twins[..], &SMALL, &tests].concat();
    let planned = || scene.end(scene.rqps(&plan)).with_code(0).stdout;
    assert!(!planned().contains("on this host"), "{}", planned());
    let empty = scene.end(scene.rqps(&["calibrate", "--list"])).with_code(0);
    assert!(empty.stdout.contains("nothing is known"), "{}", empty.stdout);

    let build = format!("mine={BUILD}");
    let words = [&["calibrate", "--build", build.as_str(), "--tests", READ, "--json"][..], &SMALL].concat();
    let ended = scene.end(scene.rqps(&words)).with_code(0);
    let kept = ended.json();
    assert_eq!((kept["build"].as_str(), kept["floors"].as_array().map(Vec::len)), (Some("mine"), Some(1)), "{kept:#}");
    let floor = &kept["floors"][0];
    assert!(floor["sd"].as_f64().is_some_and(|sd| sd > 0.0) && floor["rounds"] == 2, "{kept:#}");
    assert!(ended.stderr.contains("kept for rqps plan"), "{}", ended.stderr);
    let files = fs::read_dir(scene.path("state/floors")).expect("a folder").count();
    assert_eq!(files, 1);

    let listed = scene.end(scene.rqps(&["calibrate", "--list"])).with_code(0);
    assert!(listed.stdout.contains("mine") && listed.stdout.contains("this host"), "{}", listed.stdout);
    let as_json = scene.end(scene.rqps(&["calibrate", "--list", "--json"])).with_code(0).json();
    assert_eq!(as_json[0], kept);
    let told = planned();
    assert!(told.contains("by an A/A of mine on ") && told.contains("of 1 more nothing is known"), "{told}");

    // A campaign takes it along, since verdicts may count it.
    scene.end(scene.run_twins("known", &tests)).with_code(0);
    let campaign = results(&scene.campaign("known"));
    let along: Vec<_> = campaign.plan().kept_floors.iter().map(|floor| (floor.test.as_str(), floor.sd)).collect();
    assert_eq!(along, [(READ, floor["sd"].as_f64().expect("a number"))]);

    scene.end(scene.rqps(&["calibrate"])).refused(&["no build is named"]);
    scene.assert_nothing_left();
}
