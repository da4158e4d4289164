//! Campaigns that are killed or interrupted at every stage: nothing is left, nothing is lost, nothing is measured
//! twice.

use crate::builds::installed;
use crate::scene::{
    BUILD, Ended, PATIENCE, READ, READS, Running, SMALL, Scene, has_happened, processes_in, published, results, starts,
    wait_for,
};
use rqps_machine::proctree::ProcessId;
use rqps_model::event::{EventKind, TestPlace};
use rqps_model::part;
use rqps_model::sample::CounterReading;
use rustix::fs::OFlags;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// Asserts that what was published before is still there as it was, and that all is there now.
pub(crate) fn assert_kept(before: &BTreeMap<PathBuf, (Vec<u8>, SystemTime)>, folder: &Path, expected: usize) {
    let after = published(folder);
    assert_eq!(after.len(), expected, "{:?}", after.keys());
    for (path, sample) in before {
        assert!(after.get(path) == Some(sample), "{} was measured again", path.display());
    }
    results(folder).check().expect("all is whole");
}

#[test]
fn killed_twice_and_resumed() {
    let scene = Scene::new();
    let folder = scene.campaign("killed");
    let words = ["--tests", READS, "--rounds", "2", "--interleave", "turns"];
    let mut command = scene.run_twins("killed", &words);
    let mut before = BTreeMap::new();
    // Killed in the middle of a test after some were published, with one server frozen; then again further on.
    for enough in [2, 4] {
        let mut running = scene.start(command);
        running.wait_for("samples and a test under way", |_| {
            published(&folder).len() >= enough
                && scene.servers().iter().filter(|server| !server.backends().is_empty()).count() == 2
        });
        running.kill_with_guard();
        // Whether the servers go by themselves or not, the next start of rqps ends and clears all that is left.
        let next = scene.end(scene.rqps(&["builds", "list"])).with_code(0);
        assert_ne!(next.stderr, "", "it says what it has cleared");
        scene.assert_nothing_left();
        assert_kept(&before, &folder, published(&folder).len());
        before = published(&folder);
        command = scene.rqps(&["resume", "results/killed"]);
    }
    scene.end(command).with_code(0);
    assert_eq!(starts(&folder), 3);
    assert_kept(&before, &folder, 8);
    scene.assert_nothing_left();

    // A campaign that is complete has nothing to measure.
    let complete = published(&folder);
    scene.end(scene.rqps(&["resume", "results/killed"])).with_code(0);
    assert_eq!(starts(&folder), 3);
    assert_kept(&complete, &folder, 8);
}

/// To show a folder without pg_config, programs in it make a data folder.
#[test]
fn what_is_made_to_show_a_folder_does_not_outlive_a_killed_rqps() {
    let scene = Scene::new();
    let folder = rqps_testkit::build("postgres:17.11").folder;
    let mut running = scene.start(scene.rqps(&["builds", "show", &format!("postgres:{}", folder.display())]));
    running.wait_for("a guard, a lease and a folder", |running| running.guard().is_some() && scene.left().len() >= 2);
    running.signal(Signal::KILL);
    running.end();
    scene.wait_until_cleared();
}

/// However rqps ends at once, its servers and folders go with it, without anyone calling it again.
#[test]
fn servers_do_not_outlive_a_killed_rqps() {
    let scene = Scene::new();
    // A closed terminal, and a user who cannot wait for the end in order.
    for (name, signals) in [("killed", &[Signal::KILL][..]), ("closed", &[Signal::HUP]), ("twice", &[Signal::INT; 2])] {
        let mut command = scene.run_twins(name, &["--tests", READ, "--interleave", "slices"]);
        // Relative to where rqps was called, and its guard does not stand there.
        command.env("RQPS_CACHE", "cache");
        let mut running = scene.start(command);
        running.wait_for("both servers", |_| scene.servers().len() == 2);
        let servers = scene.servers();
        for signal in signals {
            running.signal(*signal);
        }
        running.end();
        wait_for("the servers to go", || servers.iter().all(|server| !server.process.is_alive()));
        scene.wait_until_cleared();
    }
}

/// As after `rqps run … 2>&1 | less`, where nobody turns the page.
#[test]
fn a_run_whose_words_nobody_reads_ends_all_the_same() {
    let scene = Scene::new();
    let (_reader, writer) = std::io::pipe().expect("a pipe");
    let again = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of open(2)");
    let mut full = fs::File::options().write(true).custom_flags(nonblocking).open(again).expect("the same pipe");
    let mut command = scene.run_twins("unread", &["--tests", READ, "--interleave", "slices"]);
    let mut child = command.stderr(writer).spawn().expect("it runs");
    wait_for("both servers", || scene.servers().len() == 2);
    for size in [4096, 1] {
        while full.write(&vec![b' '; size]).is_ok() {}
    }
    let process = ProcessId::of(child.id()).expect("it runs");
    assert!(process.signal(Signal::TERM));
    let has_ended = process.ends_within(PATIENCE);
    process.signal(Signal::KILL);
    let status = child.wait().expect("waited for");
    assert!(has_ended && status.code() == Some(130), "{status:?}");
    scene.wait_until_cleared();
}

/// A build that is being fetched goes too, with what fetches it.
#[test]
fn an_install_that_is_killed_leaves_nothing() {
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let scene = Scene::new();
        // A Maven that does not come to an end.
        fs::create_dir(scene.path("bin")).expect("made");
        fs::write(scene.path("bin/mvn"), "#!/bin/sh\nexec sleep 600\n").expect("written");
        fs::set_permissions(scene.path("bin/mvn"), fs::Permissions::from_mode(0o755)).expect("made a program");
        let mut command = scene.rqps(&["builds", "install", "postgres:12.22"]);
        let places = std::env::var("PATH").expect("a search path");
        command.env("PATH", format!("{}:{places}", scene.path("bin").display()));
        let mut running = scene.start(command);
        let builds = scene.path("cache/builds");
        running.wait_for("what fetches", |_| !processes_in(&builds).is_empty());
        let all = processes_in(&builds);
        assert_eq!(installed(&scene).len(), 1, "a build that is half made");
        running.signal(signal);
        assert_eq!(running.end().code, None);
        wait_for("what fetches to end", || all.iter().all(|process| !process.is_alive()));
        wait_for("the half-made build to go", || installed(&scene).is_empty());
        scene.wait_until_cleared();
    }
}

/// What the user's shell or `nohup` has ignored stays ignored; `kill` ends such a run in order all the same.
#[test]
fn a_run_in_the_background_goes_on_when_the_terminal_is_interrupted_or_closed() {
    let scene = Scene::new();
    let run = |name: &str, seconds: &str| {
        let builds = [format!("a={BUILD}"), format!("b={BUILD}")];
        let words = ["run", "--name", name, "--build", &builds[0], "--build", &builds[1], "--tests", READ];
        let mut command = scene.rqps_in_background(&words);
        command.args(SMALL).args(["--read-seconds", seconds]);
        let mut running = scene.start(command);
        running.wait_for("both servers", |_| scene.servers().len() == 2);
        running
    };
    let running = run("untouched", "0.3");
    for signal in [Signal::INT, Signal::HUP, Signal::INT] {
        running.signal(signal);
    }
    running.end().with_code(0);
    let running = run("ended", "60");
    running.signal(Signal::TERM);
    let ended = running.end().with_code(130);
    assert!(ended.stderr.contains("rqps resume results/ended"), "{}", ended.stderr);
    scene.assert_nothing_left();
}

/// Interrupts a run and asserts that it ends in order. That it does so within seconds it sees to by itself: on a
/// machine that is too busy for that it leaves the rest, and says so, to the next start.
pub(crate) fn interrupt(scene: &Scene, running: Running) -> Ended {
    let asked = Instant::now();
    running.signal(Signal::INT);
    let ended = running.end().with_code(130);
    assert!(asked.elapsed() < PATIENCE, "took {:?}", asked.elapsed());
    assert!(ended.stderr.contains("rqps resume "), "{}", ended.stderr);
    let left = scene.left();
    if !left.is_empty() {
        assert!(is_busy(), "{left:?}\n{}", ended.stderr);
        assert!(left.iter().any(|path| ended.stderr.contains(&*path.to_string_lossy())), "{}", ended.stderr);
        scene.end(scene.rqps(&["builds", "list"])).with_code(0);
    }
    scene.assert_nothing_left();
    ended
}

/// Whether more wants to run on this machine than its CPUs take, averaged over a minute.
fn is_busy() -> bool {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let text = fs::read_to_string("/proc/loadavg").expect("readable");
    text.split(' ').next().and_then(|load| load.parse().ok()).is_some_and(|load: f64| load > cpus)
}

#[test]
fn interrupted_at_every_stage_and_resumed() {
    let scene = Scene::new();
    let folder = scene.campaign("stopped");
    let tests = format!("{READ},update-index");
    let words = ["--tests", &tests, "--rounds", "2", "--rows", "100k", "--read-seconds", "0.5"];
    let mut running = scene.start(scene.run_twins("stopped", &words));
    running.wait_for("loading", |_| {
        has_happened(&folder, |kind| matches!(kind, EventKind::Loading { tables: 1, rows: 100_000, .. }))
    });
    running.wait_for("a server that loads", |_| scene.servers().iter().any(|server| !server.backends().is_empty()));
    interrupt(&scene, running);
    assert_eq!(published(&folder).len(), 0);

    let resume = || scene.rqps(&["resume", "results/stopped"]);
    let mut running = scene.start(resume());
    running.wait_for("round 1", |_| {
        has_happened(&folder, |kind| matches!(kind, EventKind::ServersStart { round: 1, rounds: Some(2), .. }))
    });
    interrupt(&scene, running);

    let mut running = scene.start(resume());
    running.wait_for("a test under way", |_| {
        scene.servers().iter().filter(|server| !server.backends().is_empty()).count() == 2
    });
    interrupt(&scene, running);

    let mut running = scene.start(resume());
    running.wait_for("samples", |_| !published(&folder).is_empty());
    interrupt(&scene, running);
    let before = published(&folder);
    assert!(!before.is_empty() && before.len() < 8, "{before:?}");

    scene.end(resume()).with_code(0);
    assert_kept(&before, &folder, 8);
    scene.assert_nothing_left();
}

/// Thousands of files that are on disk already must go within the promised time.
#[test]
fn interrupted_with_data_on_a_disk() {
    let scene = Scene::on_disk();
    let mut running = scene.start(scene.run_twins("disk", &["--tests", "point-query", "--read-seconds", "60"]));
    running.wait_for("a test under way", |_| {
        scene.servers().iter().filter(|server| !server.backends().is_empty()).count() == 2
    });
    interrupt(&scene, running);
}

/// Making, starting and stopping a server's first data folder may each take minutes, on MySQL more than elsewhere.
#[test]
fn interrupted_while_a_master_of_mysql_is_made() {
    let scene = Scene::new();
    // The build is there, so that only the data folder has to be made.
    rqps_testkit::build("mysql:5.7.22");
    scene.share_of_cache("builds");
    fs::remove_file(scene.path("cache/initialised")).expect("a link");
    let there = |name: &str| {
        let workspaces = fs::read_dir(scene.data()).expect("listed").flatten();
        workspaces.map(|workspace| workspace.path().join(name)).find(|path| path.exists())
    };
    let has_begun = |stage: &str| match stage {
        "initialised" => there("master-my5722-innodb/ibdata1").is_some(),
        "started" => there("master-my5722-innodb/rqps.cnf").is_some(),
        "stopped" => there("a.z11a_c2r1.first.log")
            .is_some_and(|log| fs::read_to_string(log).is_ok_and(|log| log.contains("die gracefully"))),
        _ => has_happened(&scene.campaign(stage), |kind| matches!(kind, EventKind::Loading { .. })),
    };
    for stage in ["initialised", "started", "stopped", "loaded"] {
        let builds = ["--build", "a=mysql:5.7.22", "--build", "b=mysql:5.7.22", "--profile", "z11a"];
        let command = scene.run(stage, &[&builds[..], &["--tests", "point-query", "--rows", "300k"]].concat());
        let mut running = scene.start(command);
        running.wait_for(stage, |_| has_begun(stage));
        interrupt(&scene, running);
        assert!(published(&scene.campaign(stage)).is_empty());
    }
}

/// What one test writes the next finds, also in a round that was broken off between them; tests on aged data find the
/// same in each round and need no repeats of what the data were aged by.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_resumed_round_has_the_data_of_an_unbroken_one() {
    const TESTS: &str = "point-query.pre,update-nonindex,point-query,delete,insert";
    let scene = Scene::new();
    let folder = scene.campaign("written");
    let words = ["--tests", TESTS, "--rounds", "2", "--write-seconds", "1"];
    let mut running = scene.start(scene.run_twins("written", &words));
    running.wait_for("the first test after the aging that writes to be measured", |_| published(&folder).len() >= 8);
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, None);
    let before = published(&folder);
    assert_eq!(before.len(), 8, "{:?}", before.keys());

    scene.end(scene.rqps(&["resume", "results/written"])).with_code(0);
    let unrecorded = || -> Vec<TestPlace> {
        let events = results(&folder).events().expect("whole").into_iter();
        let unrecorded = events.filter_map(|event| match event.kind {
            EventKind::TestBegins { place, is_recorded: false } => Some(place),
            _ => None,
        });
        unrecorded.collect()
    };
    let [again] = &unrecorded()[..] else { panic!("{:#?}", unrecorded()) };
    assert_eq!((again.round, again.test.as_str(), again.clients), (1, "delete", 1));
    assert_kept(&before, &folder, 20);
    let written = |round: u32, test: &str, counter: &str| -> [f64; 2] {
        let campaign = results(&folder);
        let counted = campaign.plan().treatments.iter().map(|treatment| {
            let sample = campaign.sample(round, &treatment.name, test, 1).expect("whole").expect("measured");
            let readings: Vec<CounterReading> = sample.lines(part::COUNTERS).expect("whole");
            readings[0].values[&format!("pg_stat_user_tables.{counter}")]
        });
        counted.collect::<Vec<_>>().try_into().expect("two treatments")
    };
    let updated = |round, test| written(round, test, "n_tup_upd");
    let [one, other] = updated(1, "point-query");
    assert!(one > 0.0 && one == other, "{one} and {other}: both begin with data that were aged once");
    for round in [1, 2] {
        assert_eq!(updated(round, "point-query.pre"), [0.0; 2], "round {round}");
        assert_eq!(updated(round, "point-query"), [one; 2], "round {round}");
        let [first, then] = ["point-query", "insert"].map(|test| written(round, test, "n_tup_del"));
        assert!(first.iter().zip(then).all(|(first, then)| then > *first), "round {round}: {first:?}, then {then:?}");
    }
    scene.assert_nothing_left();

    // Nothing after it is missing: then nothing needs its data.
    for (path, _) in before.iter().filter(|(path, _)| path.to_string_lossy().contains("point-query.pre.c1")) {
        fs::remove_dir_all(path.parent().expect("its folder")).expect("removed");
    }
    scene.end(scene.rqps(&["resume", "results/written"])).with_code(0);
    assert_eq!(unrecorded().len(), 1, "none more");
    assert_eq!(published(&folder).len(), 20);
}

/// A planner that decides otherwise in a later round changes what is measured.
#[test]
fn a_plan_that_changes_between_rounds_is_told() {
    let scene = Scene::new();
    scene.end(scene.run_twins("plans", &["--tests", READ, "--rounds", "2"])).with_code(0);
    let folder = scene.campaign("plans");
    let beside: Vec<_> = published(&folder).into_keys().map(|path| path.with_file_name("plans.json")).collect();
    assert!(beside.len() == 4 && beside.iter().all(|path| !path.exists()), "{beside:?}");
    assert!(!fs::read_to_string(folder.join("findings.json")).expect("made").contains("plan-changes"));

    // As if the first round had found no index: only then are the plans of the second one others.
    let treatment = results(&folder).plan().treatments[1].name.clone();
    let kept = folder.join(format!("treatments/{treatment}/plans/{READ}.json"));
    let text = fs::read_to_string(&kept).expect("kept");
    assert!(text.contains("Index Scan using sbtest1_pkey"), "{text}");
    fs::write(&kept, text.replace("Index Scan using sbtest1_pkey", "Seq Scan")).expect("written");
    for path in beside.iter().filter(|path| path.starts_with(folder.join("rounds/2"))) {
        fs::remove_dir_all(path.parent().expect("its folder")).expect("removed");
    }
    scene.end(scene.rqps(&["resume", "results/plans"])).with_code(0);
    let is_there = |path: &&PathBuf| path.exists();
    let there: Vec<_> = beside.iter().filter(is_there).collect();
    assert_eq!(there, [&folder.join(format!("rounds/2/{treatment}/sysbench/{READ}.c1/plans.json"))]);
    let findings = fs::read_to_string(folder.join("findings.json")).expect("made");
    for told in ["plan-changes", "round 2", "Index Scan using sbtest#_pkey on sbtest#", "Seq Scan on sbtest#"] {
        assert!(findings.contains(told), "{told} in {findings}");
    }
    scene.assert_nothing_left();
}

/// Builds are only compared side by side: where one of two samples is gone, both are measured again.
#[test]
fn half_a_pair_is_measured_again_as_a_pair() {
    let scene = Scene::new();
    let words = ["--tests", READS, "--rounds", "1"];
    scene.end(scene.run_twins("pair", &words)).with_code(0);
    let folder = scene.campaign("pair");
    let before = published(&folder);
    let gone = before.keys().find(|path| path.to_string_lossy().contains("/a.")).expect("a sample of a");
    let test = gone.parent().expect("its folder").file_name().expect("a name").to_owned();
    fs::remove_dir_all(gone.parent().expect("its folder")).expect("removed");
    scene.end(scene.rqps(&["resume", "results/pair"])).with_code(0);
    let after = published(&folder);
    assert_eq!(after.len(), 4);
    for (path, sample) in &before {
        let again = path.parent().and_then(Path::file_name) == Some(&test);
        assert_eq!(after[path] != *sample, again, "{}", path.display());
    }
    scene.assert_nothing_left();
}

#[test]
fn one_rqps_at_a_time_writes_a_campaign() {
    let scene = Scene::new();
    let words = ["--tests", READ, "--read-seconds", "60", "--rounds", "1"];
    let mut running = scene.start(scene.run_twins("busy", &words));
    running.wait_for("both servers", |_| scene.servers().len() == 2);
    let in_use = ["busy", &running.id().to_string()];
    scene.end(scene.rqps(&["resume", "results/busy"])).refused(&in_use);
    scene.end(scene.run_twins("busy", &words)).refused(&in_use);
    // Others may start beside it and clear nothing of it.
    let beside = scene.end(scene.rqps(&["builds", "list"])).with_code(0);
    assert_eq!(beside.stderr, "");
    assert!(!scene.servers().is_empty());
    // Whoever is curious may look at what there is so far.
    scene.end(scene.rqps(&["compare", "results/busy"])).with_code(0);
    let peek = scene.end(scene.rqps(&["compare", "results/busy", "--json"])).with_code(0).json();
    assert_eq!(peek["rounds"], 0, "{peek:#}");
    interrupt(&scene, running);
    scene.end(scene.run_twins("busy", &words)).refused(&["busy", "resume"]);
}
