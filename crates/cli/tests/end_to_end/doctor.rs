//! `rqps doctor` on this machine: all that is looked at is told, nothing is changed or left, and the exit code says
//! whether there is a problem.

use crate::scene::Scene;
use std::fs;

#[test]
fn the_doctor_tells_what_it_looked_at_and_leaves_nothing() {
    let scene = Scene::new();
    let data = scene.data().display().to_string();
    let ended = scene.end(scene.rqps(&["doctor", "--seconds", "1", "--data", &data, "--json"]));
    let told = ended.json();
    let findings = told["findings"].as_array().expect("a list").clone();
    let levels: Vec<&str> = findings.iter().filter_map(|finding| finding["level"].as_str()).collect();
    assert_eq!(ended.code, Some(i32::from(levels.contains(&"problem"))), "{findings:?}");
    let abouts: Vec<&str> = findings.iter().filter_map(|finding| finding["about"].as_str()).collect();
    for about in ["machine", "CPUs", "even speed", "messages", "other work", "clock", "flushes", "profiles"] {
        assert!(abouts.contains(&about), "{about} in {abouts:?}");
    }
    assert!(told["checkup"]["trials"]["cpus"].as_array().is_some_and(|cpus| !cpus.is_empty()), "{told}");

    let text = scene.end(scene.rqps(&["doctor", "--seconds", "1", "--data", &data]));
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{}", text.stdout);
    assert!(text.stderr.contains("watching for 1 s what else runs"), "{}", text.stderr);
    assert_eq!(fs::read_dir(scene.data()).into_iter().flatten().count(), 0);
    scene.assert_nothing_left();
}
