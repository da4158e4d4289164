//! TPROC-C on real servers: loaded once, run at each number of virtual users, checked, compared and shown.

use crate::failing::wait_for_a_test;
use crate::scene::{BUILD, Scene, published, results};
use crate::stopping::assert_kept;
use rqps_model::facts::LoadFacts;
use rqps_model::tproc_c::{Check, Held, NEW_ORDER, RunRecord};
use rqps_model::{EventKind, Sample};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;

/// Of a deck, with each type at least once.
const CARDS: u64 = 23;

/// `rqps run` of two names of one build on one warehouse, with more words.
fn run_twins(scene: &Scene, name: &str, words: &str) -> Command {
    let mut command =
        scene.rqps(&["run", "--suite", "tproc-c", "--name", name, "--warehouses", "1", "--machine", "c2r1"]);
    command.args(["--build", &format!("a={BUILD}"), "--build", &format!("b={BUILD}")]).args(words.split(' '));
    command
}

/// Samples of a campaign in the order in which they were measured.
fn samples(folder: &Path) -> Vec<Sample> {
    let mut samples: Vec<Sample> =
        results(folder).samples().expect("whole").into_iter().map(|each| each.sample).collect();
    samples.sort_by_key(|sample| (sample.round, sample.clients));
    samples
}

/// A campaign of one warehouse and short runs.
fn run(scene: &Scene, name: &str, builds: &[&str], words: &[&str]) -> std::path::PathBuf {
    let words_of_builds: Vec<&str> = builds.iter().flat_map(|build| ["--build", build]).collect();
    let fixed = ["run", "--suite", "tproc-c", "--name", name, "--warehouses", "1", "--machine", "c2r1"];
    let short = ["--seconds", "1", "--warmup", "0.2"];
    let mut command = scene.rqps(&[&fixed[..], &short, &words_of_builds, words].concat());
    scene.with_users_cache(&mut command, builds);
    let ended = scene.end(command).with_code(0);
    let told = &ended.stdout;
    assert!(told.contains(", w=1") && told.contains("base NOPM"), "{told}");
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
        // A virtual user who executes so many in a row has been through a whole deck.
        let executed = run.transactions.iter().map(|one| one.accounting.succeeded);
        let of_types = executed.clone().filter(|count| *count > 0).count();
        let decks = executed.sum::<u64>() / u64::from(sample.clients) / (2 * CARDS - 1);
        assert!(of_types >= 5 || decks == 0, "{what}: {run:?}");
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
    let words = ["--clients", "1,3", "--rounds", "1", "--check", "full"];
    let folder = run(&scene, "pg", &["postgres:16.15", "postgres:17.11"], &words);
    check(&folder, 2 * 2);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn engines_stand_in_one_report() {
    let scene = Scene::new();
    let words = ["--clients", "1", "--rounds", "1", "--check", "full", "--interleave", "turns"];
    let folder = run(&scene, "engines", &["postgres:17.11", "mysql:5.6.14"], &words);
    check(&folder, 2);
    assert_one_server_at_a_time(&folder, 2);
}

/// In turns: so many starts, each of one server.
fn assert_one_server_at_a_time(folder: &Path, expected: usize) {
    let events = results(folder).events().expect("read");
    let started = |event: &rqps_model::Event| match &event.kind {
        EventKind::ServersStart { treatments, .. } => Some(treatments.len()),
        _ => None,
    };
    assert_eq!(events.iter().filter_map(started).collect::<Vec<_>>(), vec![1; expected]);
    assert!(samples(folder).iter().all(|sample| sample.interleave.is_none()));
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn mariadb_runs_prepared_calls() {
    let scene = Scene::new();
    let words = ["--clients", "2", "--rounds", "1", "--check", "full", "--form", "prepared-call"];
    let folder = run(&scene, "mariadb", &["mariadb:11.4.5"], &[&words[..], &["--profile", "z12a,z12a_sync"]].concat());
    let samples = samples(&folder);
    assert_eq!(samples.len(), 2);
    for sample in samples {
        let run = sample.transactions().expect("a record");
        assert_eq!((&sample.failure, run.checked, &run.broken[..]), (&None, Some(Check::Full), &[][..]));
        assert!(sample.score.count > 0 && run.new_orders_of_districts == Some(run.new_orders), "{sample:?}");
    }
}

/// What is published is for large machines; here it runs with small numbers, and with all of its rules.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn the_published_preset_has_one_server_up_at_a_time() {
    let scene = Scene::new();
    let words = "--preset published --clients 2 --rounds 1 --warmup 0.2 --seconds 1";
    scene.end(run_twins(&scene, "published", words)).with_code(0);
    let folder = scene.campaign("published");
    assert_one_server_at_a_time(&folder, 2);
    let table = std::fs::read_to_string(folder.join("tables/nopm.abs.tsv")).expect("made");
    assert!(table.starts_with("NOPM, rules of hammerdb, function\n"), "{table}");
    for sample in samples(&folder) {
        let run = sample.transactions().expect("a record");
        assert_eq!((&sample.failure, run.checked), (&None, Some(Check::Quick)));
        assert!(sample.score.count > 0 && run.new_orders_of_districts == Some(run.new_orders), "{run:?}");
    }
    scene.assert_nothing_left();
}

/// Users who key and think do a few transactions in the seconds in which others do thousands.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn users_key_and_think() {
    const USERS: u64 = 60;
    let scene = Scene::new();
    let words = format!("--keying-and-thinking --clients {USERS} --rounds 1 --warmup 0 --seconds 4");
    scene.end(run_twins(&scene, "thinking", &words)).with_code(0);
    let folder = scene.campaign("thinking");
    assert_one_server_at_a_time(&folder, 2);
    for sample in samples(&folder) {
        let run = sample.transactions().expect("a record");
        assert_eq!((&sample.failure, &run.broken[..]), (&None, &[][..]));
        let done: u64 = run.transactions.iter().map(|one| one.accounting.succeeded).sum();
        // Their first ones are spread over 21 seconds; the shortest of keying takes 2.
        assert!((5..USERS / 2).contains(&done) && sample.score.count > 0, "{run:?}");
    }
    scene.assert_nothing_left();
}

/// Killed with its guard in the middle of a test, then resumed: what was published stays as it was, the rest is
/// measured, and nothing is left.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_killed_run_is_resumed() {
    let scene = Scene::new();
    let folder = scene.campaign("resumed");
    let words = "--clients 1,2 --rounds 1 --warmup 0.2 --seconds 1 --check full";
    let mut running = scene.start(run_twins(&scene, "resumed", words));
    running.wait_for("two samples, and a test under way", |_| {
        let servers = scene.servers();
        published(&folder).len() == 2 && servers.len() == 2 && servers.iter().all(|server| server.measured() > 0)
    });
    running.kill_with_guard();
    scene.end(scene.rqps(&["builds", "list"])).with_code(0);
    scene.assert_nothing_left();
    let before = published(&folder);
    assert_eq!(before.len(), 2);
    scene.end(scene.rqps(&["resume", "results/resumed"])).with_code(0);
    assert_kept(&before, &folder, 4);
    check(&folder, 4);
    scene.assert_nothing_left();
}

/// On a disk that has no room for copies, which is mounted where data are made and goes with rqps.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn data_go_on_where_copies_do_not_fit() {
    const DISK: &str = "size=1600m,mode=0711";
    let scene = Scene::new();
    let run = run_twins(&scene, "small", "--clients 2 --rounds 2 --warmup 0.2 --seconds 1 --check full");
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    let script = format!("mount -t tmpfs -o {DISK} tmpfs \"$0\" && exec \"$@\"");
    command.args(["--mount", "sh", "-c", &script]).arg(scene.data()).arg(run.get_program()).args(run.get_args());
    scene.furnish(&mut command);
    scene.end(command).with_code(0);
    let folder = scene.campaign("small");
    let findings = std::fs::read_to_string(folder.join("findings.json")).expect("made");
    assert!(
        findings.contains("builds went on with their data from test to test: with a copy for each test they would")
    );
    check(&folder, 2 * 2);
    for name in ["a", "b"] {
        let samples = samples(&folder).into_iter().filter(|sample| sample.treatment.starts_with(name));
        let runs: Vec<RunRecord> = samples.map(|sample| sample.transactions().expect("a record").clone()).collect();
        assert_eq!(runs[0].held, Some(Held::default()), "the first begins with what was loaded");
        for (before, after) in runs.iter().zip(&runs[1..]) {
            let (held, left) = (after.held.expect("counted"), before.held.expect("counted"));
            assert_eq!(held.new_orders, left.new_orders + before.new_orders, "{name}");
            assert_eq!(held.payments, left.payments + before.payments, "{name}");
        }
    }
    let growth = std::fs::read_to_string(folder.join("tables/growth.tsv")).expect("made");
    assert_eq!(growth.lines().count(), 1 + 4, "{growth}");
    scene.assert_nothing_left();
}

/// A server that is killed in a run: its trial has failed, and after a restart what it acknowledged is there, since it
/// flushes at commit.
#[test]
fn what_a_killed_server_acknowledged_is_there_after_a_restart() {
    let scene = Scene::new();
    let words = "--profile x10a_sync --clients 2 --rounds 1 --warmup 0 --seconds 4";
    let mut running = scene.start(run_twins(&scene, "killed", words));
    let servers = wait_for_a_test(&scene, &mut running);
    servers[1].family().into_iter().for_each(|process| _ = process.signal(Signal::KILL));
    running.end().with_code(3);
    scene.assert_nothing_left();
    let samples = results(&scene.campaign("killed")).samples().expect("whole");
    let failed: Vec<_> = samples.iter().filter_map(|folder| folder.sample.failure.as_deref()).collect();
    let [failure] = failed[..] else { panic!("one trial failed, not {failed:?}") };
    assert!(failure.contains("after a restart all ") && failure.contains("payments are there"), "{failure}");
}
