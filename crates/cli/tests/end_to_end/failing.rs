//! Servers that die while they are measured: the trial has failed, the campaign goes on and says so everywhere.

use crate::scene::{Postmaster, READS, Running, Scene, results, wait_for};
use rqps_machine::proctree::ProcessId;
use rqps_model::Sample;
use rustix::process::Signal;

/// Waits until a test runs on all servers: only then each has a session that works. Those of the work before are short,
/// but one may linger while the next server has its own.
pub(crate) fn wait_for_a_test(scene: &Scene, running: &mut Running) -> Vec<Postmaster> {
    let mut servers = Vec::new();
    running.wait_for("a test on both servers", |_| {
        servers = scene.servers();
        servers.len() == 2 && servers.iter().all(|server| server.measured() > 0)
    });
    servers
}

/// Kills what `victim` chooses of the second server during the first test, and checks all that comes of it.
fn check(name: &str, victim: fn(&Postmaster) -> ProcessId, interleave: &str) {
    let scene = Scene::new();
    let words = ["--tests", READS, "--read-seconds", "1", "--interleave", interleave];
    let mut running = scene.start(scene.run_twins(name, &words));
    let servers = wait_for_a_test(&scene, &mut running);
    // A session may end just before it is killed; then there is another.
    running.wait_for("its end", |_| victim(&servers[1]).signal(Signal::KILL));
    running.end().with_code(3);
    scene.assert_nothing_left();

    let folder = scene.campaign(name);
    let samples: Vec<Sample> =
        results(&folder).samples().expect("whole").into_iter().map(|folder| folder.sample).collect();
    assert_eq!(samples.len(), 2 * 2 * 2);
    let failed: Vec<&Sample> = samples.iter().filter(|sample| sample.failure.is_some()).collect();
    let [failed] = failed[..] else { panic!("one trial failed, not {failed:#?}") };
    let next = samples.iter().find(|sample| {
        (sample.round, &sample.treatment) == (failed.round, &failed.treatment) && sample.test != failed.test
    });
    let next = next.expect("the next test of that round");
    assert!(next.throughput().is_some(), "{next:#?}");
    assert!(!next.warnings.is_empty(), "{next:#?}");
    assert_ne!(next.server_start, failed.server_start);
    // Its log tells what happened, and is kept.
    let log = results(&folder).server_log(&failed.treatment).expect("a path");
    let log = std::fs::read_to_string(log).expect("kept");
    assert!(log.contains("server start round 1") && log.contains("server start round 2"), "{log}");

    // Everything made of it later says so, too.
    let html = std::fs::read_to_string(folder.join("report.html")).expect("made");
    assert!(html.contains("failed"));
    let campaign = format!("results/{name}");
    let table = scene.end(scene.rqps(&["compare", &campaign])).with_code(3);
    assert!(table.stdout.contains("failed"), "{}", table.stdout);
    scene.end(scene.rqps(&["report", &campaign])).with_code(3);
    // What failed is measured again, and with it all that stood beside it; the rest is not.
    scene.end(scene.rqps(&["resume", &campaign])).with_code(0);
    let after: Vec<Sample> =
        results(&folder).samples().expect("whole").into_iter().map(|folder| folder.sample).collect();
    assert_eq!(after.len(), samples.len());
    for (before, after) in samples.iter().zip(&after) {
        assert_eq!(after.failure, None, "{after:#?}");
        let beside = (before.round, &before.test) == (failed.round, &failed.test);
        assert_eq!(before == after, !beside, "{before:#?}\n{after:#?}");
    }
}

/// A session of the server; between two of them, as when sessions are renewed, the next one is waited for.
fn a_backend(server: &Postmaster) -> ProcessId {
    let mut backend = None;
    wait_for("a session", || {
        backend = server.backends().first().copied();
        backend.is_some()
    });
    backend.expect("waited for")
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_killed_backend_fails_its_test_and_no_other() {
    check("backend", a_backend, "slices");
}

#[test]
fn a_killed_server_fails_its_test_and_no_other() {
    check("postmaster", |server| server.process, "slices");
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_killed_server_in_turns_fails_its_test_and_no_other() {
    check("frozen", |server| server.process, "turns");
}
