//! The kinds of campaign: several clients, turns, a rate, placements, tables, writes, profiles.

use crate::scene::{Postmaster, READ, Scene, results};
use rqps_model::{Interleave, Sample};
use rqps_store::EVENT;
use serde_json::Value;
use std::path::Path;

/// All samples of a campaign, each checked for what holds in every kind.
fn samples(folder: &Path, expected: usize) -> Vec<Sample> {
    let samples: Vec<Sample> =
        results(folder).samples().expect("whole").into_iter().map(|folder| folder.sample).collect();
    assert_eq!(samples.len(), expected);
    for sample in &samples {
        let what = format!("{} c{} of {} in round {}", sample.test, sample.clients, sample.treatment, sample.round);
        assert_eq!(sample.failure, None, "{what}");
        assert_eq!(sample.errors, [], "{what}");
        assert!(sample.score.count > 0 && sample.accounting.succeeded > 0, "{what}: {:?}", sample.accounting);
        assert!(sample.throughput().is_some_and(|throughput| throughput > 0.0), "{what}");
    }
    // The kernel tells the time of ended server processes in hundredths of a second: one short test may show none.
    let server_cpu_s =
        samples.iter().map(|sample| sample.resources.server.cpu_user_s + sample.resources.server.cpu_system_s);
    assert!(server_cpu_s.sum::<f64>() > 0.0, "{}", folder.display());
    samples
}

#[test]
fn reads_and_writes_with_several_clients_on_several_tables() {
    let scene = Scene::new();
    let tests = "scan,update-index,insert,read-write_range=10";
    let words = ["--tests", tests, "--clients", "1,4", "--tables", "3", "--profile", "x10a_sync", "--rounds", "1"];
    let words = [&words[..], &["--placement", "split", "--json"]].concat();
    let comparison = scene.end(scene.run_twins("mixed", &words)).with_code(0).json();
    let rows = comparison["rows"].as_array().expect("rows");
    assert!(rows.iter().any(|row| row["test"] == "scan" && row["clients"] == 4), "{comparison:#}");

    let folder = scene.campaign("mixed");
    let samples = samples(&folder, 2 * 4 * 2);
    let scan = samples.iter().find(|sample| sample.test == "scan").expect("tested");
    assert_eq!(scan.score.factor, 2.0, "scan is told in thousands of rows a second, and a table has two thousand");
    let inserts = |sample: &&Sample| sample.test == "insert" && sample.clients == 4;
    assert!(samples.iter().filter(inserts).all(|sample| sample.counters.keys().any(|key| key.contains("wal"))));

    let campaign = results(&folder);
    for treatment in &campaign.plan().treatments {
        let settings = campaign.settings(&treatment.name).expect("whole").expect("kept");
        assert_eq!(settings.effective["synchronous_commit"], "on", "{}", treatment.name);
        let apart = settings.server_cpus.iter().all(|cpu| !settings.client_cpus.contains(cpu));
        assert!(apart || std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1), "{settings:?}");
        assert!(campaign.plans(&treatment.name, "update-index").expect("whole").is_some_and(|plans| !plans.is_empty()));
    }
    scene.assert_nothing_left();
}

#[test]
fn each_session_shares_a_cpu_with_what_serves_it() {
    let scene = Scene::new();
    let words = ["--tests", READ, "--clients", "1,2,3", "--rounds", "1"];
    scene.end(scene.run_twins("placed", &words)).with_code(0);
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    for sample in samples(&scene.campaign("placed"), 2 * 3) {
        match sample.placement {
            // On one CPU there is nothing to choose.
            None => assert!(sample.clients == 1 || cpus == 1),
            Some(placement) => {
                let sessions: Vec<u32> = placement.sessions_by_cpu.into_values().collect();
                let spread = sessions.iter().max().zip(sessions.iter().min()).map(|(most, least)| most - least);
                assert_eq!(sessions.len(), cpus.min(sample.clients as usize));
                assert_eq!(sessions.iter().sum::<u32>(), sample.clients);
                assert!(spread <= Some(1) && placement.seconds > 0.0 && placement.refused.is_none());
            }
        }
    }
    scene.assert_nothing_left();
}

/// Whether a server is frozen: all its processes are stopped. `None` where that changes just now.
fn is_frozen(server: &Postmaster) -> Option<bool> {
    let stopped: Vec<bool> = server.family().iter().map(|process| process.is_stopped()).collect();
    match (stopped.iter().all(|stopped| *stopped), stopped.iter().any(|stopped| *stopped)) {
        (true, true) => Some(true),
        (false, false) => Some(false),
        _ => None,
    }
}

#[test]
fn in_turns_the_idle_server_is_frozen() {
    let scene = Scene::new();
    let words = ["--tests", READ, "--interleave", "turns", "--read-seconds", "1.5", "--rounds", "1"];
    let mut running = scene.start(scene.run_twins("turns", &[&words[..], &["--placement", "free"]].concat()));
    // Each of the two must be seen working while the other one is frozen.
    let mut seen = [false; 2];
    running.wait_for("each server to be frozen while the other works", |_| {
        if let [a, b] = &scene.servers()[..] {
            match (is_frozen(a), is_frozen(b)) {
                (Some(false), Some(true)) => seen[0] = true,
                (Some(true), Some(false)) => seen[1] = true,
                _ => {}
            }
        }
        seen == [true, true]
    });
    running.end().with_code(0);
    assert!(samples(&scene.campaign("turns"), 2).iter().all(|sample| sample.interleave == Some(Interleave::Turns)));
    scene.assert_nothing_left();
}

#[test]
fn a_rate_is_kept_and_latency_counted_from_the_plan() {
    let scene = Scene::new();
    let words = ["--tests", READ, "--rate", "even:200", "--read-seconds", "1", "--rounds", "1", "--json"];
    let comparison = scene.end(scene.run_twins("rate", &words)).with_code(0).json();
    let throughput = comparison["rows"][0]["throughput"].as_f64().expect("a number");
    let samples = samples(&scene.campaign("rate"), 2);
    let sent = |sample: &Sample| sample.accounting.succeeded as f64 / sample.seconds;
    let least = samples.iter().map(sent).fold(f64::INFINITY, f64::min);
    assert!((0.5 * least..=210.0).contains(&throughput), "{throughput}, and {least} were sent");
    for folder in results(&scene.campaign("rate")).samples().expect("whole") {
        let planned = 200.0 * folder.sample.seconds;
        let scheduled = folder.sample.accounting.scheduled as f64;
        // The last event may end late, and none is due while it does.
        let longest_s = folder.latencies().expect("whole")[EVENT].max() as f64 / 1e9;
        assert!(scheduled - planned <= 0.05 * planned + 2.0, "{scheduled} of {planned}");
        assert!(planned - scheduled <= 0.05 * planned + 2.0 + 200.0 * longest_s, "{scheduled} of {planned}");
    }
    assert_eq!(comparison["rows"].as_array().map(Vec::len), Some(1), "{comparison:#}");
    assert!(matches!(comparison["warnings"], Value::Array(_)));
    scene.assert_nothing_left();
}
