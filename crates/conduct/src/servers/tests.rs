//! Rounds on real servers: short tests side by side, and short passes: every sample is there and adds up, and a pass
//! that was broken off is redone alone.

use crate::testing::{Scene, alternating, insert_plan, plan, start, test};
use crate::{ConductError, is_measured};
use rqps_model::facts::StatementPlan;
use rqps_model::plan::{DataShape, Renew, Stage, SuitePlan, TestPlan};
use rqps_model::sample::{MonitorRow, Resources, SecondRow};
use rqps_model::{Engine, EventKind, Interleave, Plan, Sample, StorageEngine, part};
use rqps_server::login;
use rqps_store::{Campaign, Writer};
use rqps_suites::{Aging, Suite};
use rqps_wire::{Session, Transport};
use rustix::process::{Pid, Signal};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Every sample of a campaign without failures.
fn check_samples(campaign: &Campaign) {
    let plan = campaign.plan();
    let samples = campaign.samples().expect("whole");
    assert_eq!(samples.len(), plan.treatments.len() * plan.tests().len());
    let mut rows = 0;
    for folder in &samples {
        let sample = &folder.sample;
        let what = format!("{} of {}", sample.test, sample.treatment);
        assert_eq!((&sample.failure, &sample.warnings, &sample.errors), (&None, &vec![], &vec![]), "{what}");
        let record = sample.step().expect("a record");
        let operations = match sample.test.as_str() {
            "l.i0" => 2000,
            "l.x" => 2100,
            "l.i1" => 800,
            "l.i2" => 200,
            _ => record.queries.accounting.succeeded,
        };
        assert_eq!((sample.score.count, sample.resources.operations), (operations, operations), "{what}");
        let throughput = sample.throughput().expect("a number");
        assert!((throughput * sample.seconds / operations as f64 - 1.0).abs() < 1e-6, "{what}: {throughput}");
        let sum = [record.inserts, record.deletes, record.queries].map(|it| it.accounting.succeeded).iter().sum();
        assert_eq!((sample.accounting.succeeded, sample.accounting.scheduled), (sum, sum), "{what}");
        rows += record.inserts.rows - record.deletes.rows;
        let growth = sample.growth.expect("sizes");
        assert!(growth.after.database_bytes > 0 && growth.after.folder_bytes > growth.after.database_bytes, "{what}");
        assert!(!sample.counters.is_empty(), "{what}");
        let used = sample.resources;
        assert!(used.server.memory_bytes > 0 && used.host.seconds >= sample.seconds * 0.99, "{what}: {used:?}");
        assert!(!folder.lines::<SecondRow>(part::SECONDS).expect("whole").is_empty(), "{what}");
        let watched = folder.lines::<MonitorRow>(part::MONITOR).expect("whole");
        // A server that is late with its answer, or has had its last slice, is in no row; these steps have two or more.
        let is_told = watched.iter().any(|row| row.server.contains_key("log_bytes") && row.host.cpus > 0);
        assert!(is_told || !sample.test.starts_with('q'), "{what}: {watched:?}");
        let latencies = folder.latencies().expect("whole");
        assert_eq!(latencies["insert"].len(), record.inserts.accounting.succeeded, "{what}");
        assert_eq!(latencies.contains_key("query"), record.queries.accounting.succeeded > 0, "{what}");
        assert!(sample.server_start.starts_with("1.1") && sample.data_copy.contains('#'), "{what}");
    }
    assert_eq!(rows, 2100 * plan.treatments.len() as u64);
    for treatment in &plan.treatments {
        let settings = campaign.settings(&treatment.name).expect("whole").expect("kept");
        assert_eq!(settings.storage_engine, treatment.storage.map_or("", StorageEngine::name));
        assert_eq!(settings.transport, "unix");
        let plans = |test| campaign.plans(&treatment.name, test).expect("whole");
        let kinds = |test| plans(test).expect("kept").into_iter().map(|plan| plan.statement).collect::<Vec<_>>();
        let queries = ["query-marketsegment", "query-registersegment", "query-pdc", "min", "delete"];
        assert_eq!(kinds("qr100"), queries);
        assert_eq!(kinds("qp100"), ["query-point", "min", "delete"]);
        assert!(plans("qr100").expect("kept")[0].plan.contains("pi1_marketsegment"), "{:?}", plans("qr100"));
        assert_eq!(plans("l.i1"), None);
        let log = campaign.server_log(&treatment.name).expect("a path");
        assert!(fs::read_to_string(log).expect("kept").contains("server start round 1, clients 1"));
    }
    assert!(is_measured(campaign, campaign.rounds()));
}

/// Two builds with a head start in their passes.
fn with_head_start(builds: &[&str; 2]) -> Plan {
    let mut plan = insert_plan(&["a", "b"], builds);
    plan.stages[0].head_start_seconds = 2.0;
    plan
}

/// Of the servers of a group, in the first round.
fn longest_head_start(plan: &Plan, group: &str) -> f64 {
    let treatments =
        (0..).zip(&plan.treatments).filter(|(_, treatment)| group.split(' ').any(|it| it == treatment.name));
    let shares = treatments.map(|(index, _)| plan.round(1).head_start(index, 0));
    shares.fold(0.0, f64::max) * plan.stages[0].head_start_seconds
}

/// Runs a plan whose servers are up in these groups.
fn check_two(plan: Plan, groups: &[&str]) {
    let scene = Scene::new(plan);
    let mut store = scene.create();
    let mut seen = Vec::new();
    let mut advanced = 0.0_f64;
    let mut head_starts = groups.iter().map(|group| longest_head_start(&scene.plan, group));
    let ran = scene.run(&mut store, &AtomicBool::new(false), &mut |event| match &event.kind {
        EventKind::ServersStart { treatments, .. } => seen.push(treatments.join(" ")),
        EventKind::TestBegins { place, .. } => seen.push(place.test.clone()),
        EventKind::TestEnded { place, results, .. } => {
            assert_eq!(results.len() * groups.len(), 2, "{results:?}");
            for result in results {
                assert!(result.throughput.is_some_and(|rate| rate > 0.0), "{place:?}");
                assert_eq!(result.sla.is_some(), place.test.starts_with('q'), "{place:?}");
            }
        }
        EventKind::TestAdvances { campaign, .. } => {
            assert!(*campaign >= advanced, "{campaign} after {advanced}");
            advanced = *campaign;
        }
        EventKind::ServersEnd { seconds, .. } => {
            assert!(seconds.counted > 0.5 && seconds.all() < 120.0, "{seconds:?}");
            assert!(seconds.starts > head_starts.next().expect("a group"), "{seconds:?}");
            assert!(seconds.copies > 0.0 && seconds.repeats == 0.0, "{seconds:?}");
        }
        other => panic!("{other:?}"),
    });
    ran.expect("measured");
    let steps = ["l.i0", "l.x", "l.i1", "l.i2", "rest", "qr100", "qp100"].map(str::to_owned);
    let pass = |servers: &&str| [&[(*servers).to_owned()], &steps[..]].concat();
    assert_eq!(seen, groups.iter().flat_map(pass).collect::<Vec<_>>());
    // Everything but progress is kept, and so is how the round went.
    let kept = store.events().expect("read");
    assert_eq!(kept.iter().filter(|event| matches!(event.kind, EventKind::TestEnded { .. })).count(), 6 * groups.len());
    assert_eq!(store.round(1).expect("read"), Some(scene.plan.round(1)));
    check_samples(&store);
}

#[test]
fn two_versions_of_postgresql_pass_one_after_the_other() {
    check_two(with_head_start(&["16.15", "17.11"]), &["a", "b"]);
}

#[test]
fn two_versions_of_postgresql_pass_side_by_side() {
    check_two(alternating(with_head_start(&["16.15", "17.11"])), &["a b"]);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn two_versions_of_mysql_pass_one_after_the_other_and_side_by_side() {
    let mut plan = with_head_start(&["mysql:5.7.22", "mysql:8.0.15"]);
    for treatment in &mut plan.treatments {
        (treatment.profile, treatment.storage) = ("z11a".to_owned(), Some(StorageEngine::Innodb));
    }
    check_two(plan.clone(), &["a", "b"]);
    check_two(alternating(plan), &["a b"]);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn passes_side_by_side_that_were_broken_off_are_done_again_together() {
    let scene = Scene::new(alternating(insert_plan(&["a", "b"], &["17.11", "17.11"])));
    let mut store = scene.create();
    for step in ["l.x", "rest", "qp100"] {
        let stop = AtomicBool::new(false);
        let broken = scene.run(&mut store, &stop, &mut |event| {
            if let EventKind::TestBegins { place, .. } = &event.kind
                && place.test == step
            {
                stop.store(true, Ordering::Relaxed);
            }
        });
        assert!(matches!(broken, Err(ConductError::Interrupted)), "{broken:?}");
        assert!(!is_measured(&store, store.rounds()));
        drop(store);
        store = Campaign::open_to_resume(&scene.results.path().join("x"), start()).expect("opened");
    }
    scene.run(&mut store, &AtomicBool::new(false), &mut |_| ()).expect("measured");
    check_samples(&store);
    let starts = store.samples().expect("whole").into_iter().map(|folder| folder.sample.server_start);
    assert_eq!(starts.collect::<BTreeSet<_>>().len(), 1, "all steps are of one pass");
}

#[test]
fn a_step_that_fails_on_one_build_ends_its_pass_and_no_other() {
    let scene = Scene::new(alternating(insert_plan(&["a", "b"], &["16.15", "17.11"])));
    let mut store = scene.create();
    let data = scene.data.path().to_owned();
    scene
        .run(&mut store, &AtomicBool::new(false), &mut |event| {
            if let EventKind::TestBegins { place, .. } = &event.kind
                && place.test == "l.x"
            {
                kill_server_of(&data, "pg17");
            }
        })
        .expect("measured");
    let samples: Vec<Sample> = store.samples().expect("whole").into_iter().map(|folder| folder.sample).collect();
    let failed = |name: &str| -> Vec<&str> {
        let of = samples.iter().filter(|sample| sample.treatment == name && sample.failure.is_some());
        of.map(|sample| sample.test.as_str()).collect()
    };
    assert_eq!(samples.len(), 12);
    assert_eq!(failed("a"), Vec::<&str>::new());
    assert_eq!(failed("b"), ["l.x", "l.i1", "l.i2", "qr100", "qp100"]);
    let of_qr = samples.iter().find(|sample| sample.treatment == "b" && sample.test == "qr100").expect("there");
    assert!(of_qr.failure.as_ref().is_some_and(|why| why.starts_with("l.x failed before it")), "{of_qr:?}");
}

/// Kills the server whose copy of the data has that in its name.
fn kill_server_of(data: &Path, name: &str) {
    let folders = fs::read_dir(data).expect("listed").flatten().map(|workspace| workspace.path());
    let copies = folders.flat_map(|workspace| fs::read_dir(workspace).expect("listed").flatten());
    let copy = copies.map(|copy| copy.path()).find(|copy| {
        copy.file_name()
            .is_some_and(|file| file.to_string_lossy().starts_with("copy-") && file.to_string_lossy().contains(name))
    });
    let pid = fs::read_to_string(copy.expect("there").join("postmaster.pid")).expect("a server runs");
    let pid = pid.lines().next().and_then(|line| line.parse().ok()).and_then(Pid::from_raw).expect("its number");
    rustix::process::kill_process(pid, Signal::KILL).expect("it was there");
}

#[test]
fn a_pass_that_was_broken_off_is_done_again_alone() {
    let scene = Scene::new(insert_plan(&["a", "b"], &["17.11", "17.11"]));
    let mut store = scene.create();
    let stop = AtomicBool::new(false);
    let stop_in = |wanted: &'static str, stop: &AtomicBool, event: &EventKind| match event {
        EventKind::TestBegins { place, .. } if place.treatments == ["b"] && place.test == wanted => {
            stop.store(true, Ordering::Relaxed);
        }
        _ => {}
    };
    for step in ["rest", "qp100", "l.i0"] {
        stop.store(false, Ordering::Relaxed);
        let mut left = Vec::new();
        let broken = scene.run(&mut store, &stop, &mut |event| {
            stop_in(step, &stop, &event.kind);
            if let EventKind::Interrupted { folder } = &event.kind {
                assert!(folder.join("plan.json").exists());
                let workspaces = fs::read_dir(scene.data.path()).expect("listed").flatten();
                left.extend(workspaces.map(|workspace| workspace.path().join("master-pg17/base").exists()));
            }
        });
        assert!(matches!(broken, Err(ConductError::Interrupted)), "{broken:?}");
        assert_eq!(left, [true], "it is told once, and before the data are removed");
        let published = store.samples().expect("whole");
        let of_b = published.iter().filter(|folder| folder.sample.treatment == "b").count();
        assert_eq!(
            (published.len() - of_b, of_b),
            (6, ["l.i0", "", "", "", "rest", "qp100"].iter().position(|at| *at == step).expect("named"))
        );
        assert!(!is_measured(&store, store.rounds()));
        drop(store);
        store = Campaign::open_to_resume(&scene.results.path().join("x"), start()).expect("opened");
    }
    let of_a = |store: &Writer| {
        let samples = store.samples().expect("whole").into_iter().map(|folder| folder.sample);
        samples.filter(|sample| sample.treatment == "a").collect::<Vec<_>>()
    };
    let before = of_a(&store);
    // Had the planner decided otherwise the first time, the new plans would stand beside the sample.
    let kept = store.plans("b", "qr100").expect("whole").expect("kept");
    let mut other = kept.clone();
    other[0].plan = "Seq Scan on pi1".to_owned();
    store.write_plans("b", "qr100", &other).expect("written");
    scene.run(&mut store, &AtomicBool::new(false), &mut |_| ()).expect("measured");
    assert_eq!(of_a(&store), before);
    let beside = |treatment: &str, test: &str| {
        let folder = store.sample(1, treatment, test, 1).expect("whole").expect("measured");
        let plans: Option<Vec<StatementPlan>> = folder.json(part::PLANS).expect("whole");
        plans.map(|plans| plans.into_iter().map(|plan| plan.statement).collect::<Vec<_>>())
    };
    assert_eq!(beside("b", "qr100"), Some(kept.iter().map(|plan| plan.statement.clone()).collect()));
    assert_eq!((beside("a", "qr100"), beside("b", "l.i1")), (None, None));
    store.write_plans("b", "qr100", &kept).expect("written");
    check_samples(&store);
}

#[test]
fn what_a_server_used_in_slices_is_read_while_its_sessions_are_there() {
    check_use(Interleave::Slices);
}

#[test]
fn what_a_server_used_in_turns_is_read_while_its_sessions_are_there() {
    check_use(Interleave::Turns);
}

/// The use of servers is read with few clients and with many, and is within what can be.
fn check_use(interleave: Interleave) {
    const CLIENTS: [u32; 2] = [1, 9];
    let mut plan = plan(&["a", "b"], 0);
    // Several times as long as a session lives.
    let data = DataShape { tables: 1, rows: 1000 };
    let tests = vec![test("point-query", interleave, 2.0)];
    plan.suite = SuitePlan::Sysbench(data);
    plan.stages = vec![Stage::side_by_side(data, CLIENTS.to_vec(), tests)];
    plan.warmup_seconds = 0.0;
    let scene = Scene::new(plan);
    let mut store = scene.create();
    scene.run(&mut store, &AtomicBool::new(false), &mut |_| ()).expect("measured");
    let samples = store.samples().expect("whole");
    let of = |name: &str, clients: u32| {
        let is_it = |s: &&Sample| s.treatment == name && s.clients == clients;
        samples.iter().map(|folder| &folder.sample).find(is_it).expect("measured")
    };
    for name in ["a", "b"] {
        let [few, many] = CLIENTS.map(|clients| of(name, clients));
        let of_server = |sample: &Sample| sample.resources.server;
        // Eight sessions more, and up to three workers of autovacuum in either.
        let [few_processes, many_processes] = [few, many].map(|sample| of_server(sample).processes);
        assert!(many_processes + 3 >= few_processes + 8, "{interleave:?} {name}: {many:?} {few:?}");
        for sample in [few, many] {
            let Resources { host, server, operations, .. } = sample.resources;
            let what = format!("{interleave:?} {name}, {} clients: {:?}", sample.clients, sample.resources);
            // Each session waits for its next statement, or leaves the CPU to the client that sends it.
            let used = sample.resources.sessions.expect("all were followed");
            assert_eq!(used.sessions, sample.clients * sample.sessions, "{what}");
            let switches = used.voluntary_switches + used.involuntary_switches;
            assert!(sample.sessions > 1 || interleave == Interleave::Turns, "{what}");
            assert!(switches as f64 > 0.6 * operations as f64, "{what}");
            assert!(used.voluntary_switches < 10 * operations && used.run_delay_s > 0.0, "{what}");
            assert_eq!(sample.failure, None, "{what}");
            assert!(host.page_faults > 0, "{what}");
            // Ten microseconds a statement is what the fastest of servers needs.
            let server_s = server.cpu_user_s + server.cpu_system_s;
            assert!(
                server_s > operations as f64 * 5e-6 && server_s < 2.0 * host.seconds * f64::from(host.cpus),
                "{what}"
            );
        }
    }
}

/// Data that go on are copied once for each treatment, but for the last of those that share a master: it takes that.
#[test]
fn data_go_on_from_test_to_test_and_from_round_to_round() {
    let mut plan = plan(&["a", "b"], 0);
    let data = DataShape { tables: 1, rows: 1000 };
    let insert = TestPlan { writes: true, ..test("insert", Interleave::Slices, 0.3) };
    plan.suite = SuitePlan::Sysbench(data);
    plan.stages = vec![Stage { renew: Renew::Once, ..Stage::side_by_side(data, vec![1, 2], vec![insert]) }];
    (plan.rounds, plan.warmup_seconds) = (2, 0.0);
    let scene = Scene::new(plan);
    let mut store = scene.create();
    let mut folders = BTreeSet::new();
    let ran = scene.run(&mut store, &AtomicBool::new(false), &mut |event| match &event.kind {
        EventKind::TestBegins { .. } => _ = folders.insert(data_folders(scene.data.path())),
        EventKind::Warning { message } => assert!(!message.contains("did not stop in order"), "{message}"),
        _ => {}
    });
    ran.expect("measured");
    assert_eq!(Vec::from_iter(folders), [["master-pg17-a", "master-pg17-b"]], "no master beside them, and no copy");
    for name in ["a", "b"] {
        let sample = |(round, clients)| store.sample(round, name, "insert", clients).expect("whole").expect("measured");
        let samples = [(1, 1), (1, 2), (2, 1), (2, 2)].map(|at| sample(at).sample);
        let starts = samples.each_ref().map(|sample| sample.server_start.as_str());
        assert_eq!(starts, ["1.1", "1.2", "2.1", "2.2"], "each test has a server of its own");
        for (before, after) in samples.iter().zip(&samples[1..]) {
            assert_eq!((&after.failure, after.data_copy.as_str()), (&None, "pg17-own"));
            let [left, found] = [before, after].map(|sample| sample.growth.expect("sizes"));
            assert!(found.before.database_bytes >= left.after.database_bytes, "{name}: {left:?}, then {found:?}");
            assert!(found.after.database_bytes > left.before.database_bytes, "{name}: {left:?}, then {found:?}");
        }
    }
}

/// The data folders of the only workspace, in order.
fn data_folders(data: &Path) -> Vec<String> {
    let workspaces = fs::read_dir(data).expect("listed").flatten();
    let entries = workspaces.flat_map(|workspace| fs::read_dir(workspace.path()).expect("listed").flatten());
    let folders = entries.filter(|entry| entry.path().join("base").exists());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What tests that read find does not depend on which tests that write were chosen, nor on the build.
#[test]
fn tests_that_read_begin_with_data_that_are_aged_alike() {
    let data = DataShape { tables: 1, rows: 2000 };
    let aging = Aging::of(&Suite::sysbench(), data).expect("tests that write come before others");
    let mut found = BTreeSet::new();
    for (tests, folders, start) in [
        (&["update-index", "point-query"][..], &["master-pg17", "master-pg17-aged-1"][..], "1.2"),
        (&["point-query"], &["master-pg17-aged-1"], "1.1"),
    ] {
        let mut plan = plan(&["a", "b"], 0);
        let tests = tests
            .iter()
            .map(|name| TestPlan { writes: *name == "update-index", ..test(name, Interleave::Slices, 0.1) });
        plan.suite = SuitePlan::Sysbench(data);
        plan.stages = aging.split(Stage::side_by_side(data, vec![1], tests.collect()));
        plan.warmup_seconds = 0.0;
        let scene = Scene::new(plan);
        let mut store = scene.create();
        let mut aged = Vec::new();
        let ran = scene.run(&mut store, &AtomicBool::new(false), &mut |event| match &event.kind {
            EventKind::Aging { .. } | EventKind::Aged { .. } => aged.push(event.kind.clone()),
            EventKind::TestBegins { place, .. } if place.test == "point-query" => {
                let all = data_folders(scene.data.path());
                let masters: Vec<&String> = all.iter().filter(|name| name.starts_with("master")).collect();
                assert_eq!(masters, folders, "what nothing begins with is gone");
                let copies = contents_of_copies(scene.data.path());
                assert_eq!(copies.len(), 2);
                found.extend(copies);
            }
            EventKind::Warning { message } => panic!("{message}"),
            _ => {}
        });
        ran.expect("measured");
        assert_eq!(aged.len(), 2, "once for both: {aged:?}");
        for name in ["a", "b"] {
            let sample = store.sample(1, name, "point-query", 1).expect("whole").expect("measured").sample;
            assert_eq!((sample.failure, sample.server_start.as_str()), (None, start));
            assert!(sample.data_copy.starts_with("pg17-aged#"), "{}", sample.data_copy);
        }
    }
    assert_eq!(found.len(), 1, "all alike: {found:?}");
    assert!(found.iter().all(|rows| rows.starts_with("2000 ")), "{found:?}");
}

/// What the table holds on each running server of the only workspace: its rows and a digest of them.
fn contents_of_copies(data: &Path) -> Vec<String> {
    let workspaces = fs::read_dir(data).expect("listed").flatten();
    let entries = workspaces.flat_map(|workspace| fs::read_dir(workspace.path()).expect("listed").flatten());
    let running = entries.filter_map(|entry| fs::read_to_string(entry.path().join("postmaster.pid")).ok());
    let contents = running.map(|pid_file| {
        let lines: Vec<&str> = pid_file.lines().collect();
        let path = Path::new(lines[4]).join(format!(".s.PGSQL.{}", lines[3]));
        let endpoint = login::endpoint(Engine::Postgres, Transport::Unix { path });
        let mut session = Session::connect(&endpoint, Duration::from_secs(10)).expect("connected");
        let sql = "SELECT count(*) || ' ' || md5(string_agg(t::text, ' ' ORDER BY id)) FROM sbtest1 t";
        session.query(sql).expect("answered").single().expect("a row").to_owned()
    });
    contents.collect()
}
