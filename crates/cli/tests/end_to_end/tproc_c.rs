//! TPROC-C on real servers: loaded once, run at each number of virtual users, checked, compared and shown.

use crate::failing::wait_for_a_test;
use crate::scene::{BUILD, Scene, results};
use rqps_model::facts::LoadFacts;
use rqps_model::tproc_c::{Check, NEW_ORDER};
use rustix::process::Signal;

/// A campaign of one warehouse and short runs.
fn run(scene: &Scene, name: &str, builds: &[&str], words: &[&str]) -> std::path::PathBuf {
    let words_of_builds: Vec<&str> = builds.iter().flat_map(|build| ["--build", build]).collect();
    let fixed = ["run", "--suite", "tproc-c", "--name", name, "--warehouses", "1", "--machine", "c2r1"];
    let short = ["--seconds", "1", "--warmup", "0.2"];
    let mut command = scene.rqps(&[&fixed[..], &short, &words_of_builds, words].concat());
    scene.with_users_cache(&mut command, builds);
    let ended = scene.end(command).with_code(0);
    let told = &ended.stdout;
    assert!(told.contains("vu=1, w=1") && told.contains("base NOPM"), "{told}");
    assert!(told.contains("not comparable with published TPC-C results") && !told.contains("tpmC"), "{told}");
    assert!(told.contains("all conditions hold") && told.contains("TEST RESULT : System achieved "), "{told}");
    scene.assert_nothing_left();
    scene.campaign(name)
}

/// Every sample has a number, counts what the districts count, and broke no condition.
fn check(folder: &std::path::Path, expected: usize) {
    let campaign = results(folder);
    campaign.check().expect("all is whole");
    let samples: Vec<_> = campaign.samples().expect("whole").into_iter().map(|each| each.sample).collect();
    assert_eq!(samples.len(), expected);
    for sample in samples {
        let what = format!("{} of {} with {} users", sample.test, sample.treatment, sample.clients);
        assert_eq!(sample.failure, None, "{what}");
        let run = sample.transactions().expect("a record");
        assert_eq!((run.checked, &run.broken[..]), (Some(Check::Full), &[][..]), "{what}");
        assert_eq!(run.new_orders_of_districts, Some(run.new_orders), "{what}");
        let counted = run.transactions.iter().find(|one| one.name == NEW_ORDER).expect("the type");
        assert_eq!(counted.accounting.succeeded, sample.score.count, "{what}");
        assert!(sample.score.count > 0 && sample.score.count <= run.new_orders, "{what}");
        // New orders over own minutes, all virtual users together.
        let nopm = sample.score.count as f64 * 60.0 / sample.seconds;
        assert!((sample.throughput().expect("a number") / nopm - 1.0).abs() < 1e-6, "{what}");
        assert!((sample.seconds - 1.0).abs() < 1e-6, "{what}: {} s of its own time", sample.seconds);
        assert!(run.transactions.iter().filter(|one| one.accounting.succeeded > 0).count() >= 5, "{what}: {run:?}");
    }
    let loaded: Vec<LoadFacts> =
        campaign.plan().treatments.iter().filter_map(|one| campaign.load(&one.name).expect("whole")).collect();
    assert!(!loaded.is_empty() && loaded.iter().all(|facts| facts.sets[0].data == "1 warehouse"), "{loaded:?}");
    let files = ["nopm.abs.tsv", "nopm.rel.tsv", "transactions.tsv", "hammerdb.txt"];
    for file in files {
        let text = std::fs::read_to_string(folder.join("tables").join(file)).expect("made");
        assert!(text.contains("w=1"), "{file}: {text}");
    }
    let table = std::fs::read_to_string(folder.join("tables/nopm.abs.tsv")).expect("made");
    assert!(table.starts_with("NOPM, rules of tpcc, client-sql\n"), "{table}");
}

#[test]
fn two_versions_of_postgres_are_compared_at_two_numbers_of_users() {
    let scene = Scene::new();
    let words = ["--clients", "1,3", "--rounds", "2", "--check", "full"];
    let folder = run(&scene, "pg", &["postgres:16.15", "postgres:17.11"], &words);
    check(&folder, 2 * 2 * 2);
}

#[test]
fn engines_stand_in_one_report() {
    let scene = Scene::new();
    let words = ["--clients", "1", "--rounds", "1", "--check", "full", "--interleave", "turns"];
    let folder = run(&scene, "engines", &["postgres:17.11", "mysql:5.6.14"], &words);
    check(&folder, 2);
}

/// A server that is killed in a run: its trial has failed, and after a restart what it acknowledged is there, since it
/// flushes at commit.
#[test]
fn what_a_killed_server_acknowledged_is_there_after_a_restart() {
    let scene = Scene::new();
    let builds = ["a", "b"].map(|name| format!("{name}={BUILD}"));
    let mut command = scene.rqps(&["run", "--suite", "tproc-c", "--name", "killed", "--warehouses", "1"]);
    command.args(["--machine", "c2r1", "--profile", "x10a_sync", "--clients", "2", "--rounds", "1", "--warmup", "0"]);
    command.args(["--seconds", "4", "--build", &builds[0], "--build", &builds[1]]);
    let mut running = scene.start(command);
    let servers = wait_for_a_test(&scene, &mut running);
    servers[1].family().into_iter().for_each(|process| _ = process.signal(Signal::KILL));
    running.end().with_code(3);
    scene.assert_nothing_left();
    let samples = results(&scene.campaign("killed")).samples().expect("whole");
    let failed: Vec<_> = samples.iter().filter_map(|folder| folder.sample.failure.as_deref()).collect();
    let [failure] = failed[..] else { panic!("one trial failed, not {failed:?}") };
    assert!(failure.contains("after a restart all ") && failure.contains("payments are there"), "{failure}");
}
