//! The Insert Benchmark in passes, one after the other and side by side: broken off, interrupted, with a server that
//! dies, and gone on with.

use crate::scene::{BUILD, Scene, published, results};
use crate::stopping::interrupt;
use rqps_model::Sample;
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;

/// The steps of one pass here.
const STEPS: [&str; 6] = ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"];

/// A short pass of each of two names of one build; with `TURNS`, one after the other.
fn run(scene: &Scene, name: &str, words: &[&str]) -> Command {
    let builds = ["a", "b"].map(|name| format!("{name}={BUILD}"));
    let mut command = scene.rqps(&["run", "--suite", "insert", "--name", name, "--rounds", "1", "--machine", "c2r1"]);
    command.args(["--build", &builds[0], "--build", &builds[1], "--rows", "2000", "--write-rates", "100"]);
    command.args(["--read-seconds", "1"]).args(words);
    command
}

/// The samples of a treatment, in the order of the steps.
fn samples(folder: &std::path::Path, treatment: &str) -> Vec<Sample> {
    let samples = results(folder).samples().expect("whole").into_iter().map(|folder| folder.sample);
    samples.filter(|sample| sample.treatment == treatment).collect()
}

/// The treatments in the order of their passes.
fn order(folder: &std::path::Path) -> Vec<String> {
    let campaign = results(folder);
    let plan = campaign.plan();
    plan.round(1).order.iter().map(|index| plan.treatments[*index].name.clone()).collect()
}

const TURNS: [&str; 2] = ["--interleave", "turns"];

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_pass_that_was_killed_or_interrupted_is_done_again_alone() {
    let scene = Scene::new();
    let folder = scene.campaign("passes");
    let mut running = scene.start(run(&scene, "passes", &[&TURNS[..], &["--rows-written", "1000"]].concat()));
    // All of the first pass, and something of the second.
    running.wait_for("samples", |_| published(&folder).len() > STEPS.len() && !scene.servers().is_empty());
    running.kill_with_guard();
    let next = scene.end(scene.rqps(&["builds", "list"])).with_code(0);
    assert_ne!(next.stderr, "", "it says what it has cleared");
    scene.assert_nothing_left();
    let first = &order(&folder)[0];
    let of_first = |found: &std::collections::BTreeMap<PathBuf, _>| {
        let mut found: Vec<PathBuf> = found.keys().cloned().collect();
        found.retain(|path| path.to_string_lossy().contains(first.as_str()));
        found
    };
    let before = published(&folder);
    assert_eq!(of_first(&before).len(), STEPS.len());

    // What the second pass had is withdrawn before it begins anew.
    let mut running = scene.start(scene.rqps(&["resume", "results/passes"]));
    let second_l_i0 =
        before.keys().find(|path| !path.to_string_lossy().contains(first.as_str())).expect("of the second");
    running.wait_for("a step of the pass", |_| {
        published(&folder).get(second_l_i0).is_some_and(|sample| *sample != before[second_l_i0])
    });
    interrupt(&scene, running);

    scene.end(scene.rqps(&["resume", "results/passes"])).with_code(0);
    scene.assert_nothing_left();
    let after = published(&folder);
    assert_eq!(after.len(), 2 * STEPS.len());
    for path in before.keys() {
        let is_kept = of_first(&before).contains(path);
        assert_eq!(after[path] == before[path], is_kept, "{}", path.display());
    }
    results(&folder).check().expect("all is whole");
    scene.end(scene.rqps(&["resume", "results/passes"])).with_code(0);
    assert_eq!(published(&folder), after);
}

#[test]
fn a_server_that_dies_in_a_step_fails_the_rest_of_its_pass_and_no_other() {
    let scene = Scene::new();
    let folder = scene.campaign("dies");
    let mut running = scene.start(run(&scene, "dies", &[&TURNS[..], &["--rows-written", "60k"]].concat()));
    let mut server = None;
    running.wait_for("l.i2 of the first pass", |_| {
        let churned = published(&folder).keys().any(|path| path.to_string_lossy().contains("l.i1"));
        // Inserter and deleter: whoever reads the counters before is alone.
        server = scene.servers().into_iter().find(|server| churned && server.measured() > 1);
        server.is_some()
    });
    assert!(server.expect("found").process.signal(Signal::KILL));
    running.end().with_code(3);
    scene.assert_nothing_left();

    let [first, second] = &order(&folder)[..] else { panic!("two treatments") };
    let broken = samples(&folder, first);
    let done: Vec<bool> = broken.iter().map(|sample| sample.throughput().is_some()).collect();
    assert_eq!(done, [true, true, true, false, false, false], "{broken:#?}");
    let record = broken[3].step().expect("what had happened until then");
    assert!(
        record.failure.is_some() && record.inserts.rows > 0 && record.inserts.accounting.skipped > 0,
        "{record:#?}"
    );
    for skipped in &broken[4..] {
        let failure = skipped.failure.as_ref().expect("failed");
        assert!(failure.starts_with("l.i2 "), "{failure}");
        assert_eq!((skipped.score.count, skipped.step()), (0, None));
    }
    let whole = samples(&folder, second);
    let tests: Vec<&str> = whole.iter().map(|sample| sample.test.as_str()).collect();
    assert_eq!(tests, STEPS);
    assert!(whole.iter().all(|sample| sample.throughput().is_some() && sample.warnings.is_empty()), "{whole:#?}");
    let log = std::fs::read_to_string(results(&folder).server_log(first).expect("a path")).expect("kept");
    assert!(log.contains("server start round 1, clients 1"), "{log}");

    // The pass is tried again, and no other.
    scene.end(scene.rqps(&["resume", "results/dies"])).with_code(0);
    scene.assert_nothing_left();
    assert_eq!(samples(&folder, second), whole);
    let again = samples(&folder, first);
    assert!(again.iter().all(|sample| sample.failure.is_none() && sample.warnings.is_empty()), "{again:#?}");
    assert!(again.iter().all(|sample| sample.server_start == "1.1+1"));
}

/// One of the two servers stands still at any moment, so that it cannot notice that it is alone.
#[test]
fn passes_side_by_side_that_were_killed_are_done_again_together() {
    let scene = Scene::new();
    let folder = scene.campaign("both");
    let mut command = run(&scene, "both", &["--rows-written", "20k"]);
    for step in ["l.x", "l.i1"] {
        let mut running = scene.start(command);
        running.wait_for(step, |_| {
            let is_there = published(&folder).keys().any(|path| path.to_string_lossy().contains(step));
            is_there && scene.servers().len() == 2
        });
        running.signal(Signal::KILL);
        running.end();
        scene.wait_until_cleared();
        std::fs::remove_dir_all(folder.join("rounds"))
            .expect("what was published goes, so that the next wait is for its own");
        command = scene.rqps(&["resume", "results/both"]);
    }
    scene.end(command).with_code(0);
    scene.assert_nothing_left();
    for treatment in order(&folder) {
        let of_one = samples(&folder, &treatment);
        let tests: Vec<&str> = of_one.iter().map(|sample| sample.test.as_str()).collect();
        assert_eq!(tests, STEPS);
        let are_sound = of_one.iter().all(|sample| sample.throughput().is_some() && sample.server_start == "1.1+2");
        assert!(are_sound, "{of_one:#?}");
    }
    results(&folder).check().expect("all is whole");
}
