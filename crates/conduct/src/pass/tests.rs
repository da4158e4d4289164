//! Short passes on real servers: every sample is there and adds up, and a pass that was broken off is redone alone.

use super::*;
use crate::is_measured;
use crate::testing::{Scene, insert_plan, start};
use rqps_model::facts::StatementPlan;
use rqps_model::insert::{Operations, SecondRow};
use rqps_model::sample::MonitorRow;
use rqps_model::{Plan, StorageEngine, part};
use rqps_store::{Campaign, Writer};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

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
        let is_told = watched.last().is_some_and(|row| row.server.contains_key("log_bytes") && row.host.cpus > 0);
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
    assert!(is_measured(campaign));
}

fn check_two(plan: Plan) {
    let scene = Scene::new(plan);
    let mut store = scene.create();
    let mut told = Vec::new();
    let mut advanced = 0.0_f64;
    let ran = scene.run(&mut store, &AtomicBool::new(false), &mut |event| match event {
        Event::PassBegins { treatment, steps, .. } => told.push(format!("{treatment} {steps}")),
        Event::StepBegins { step, .. } => told.push((*step).to_owned()),
        Event::StepEnded { step, result, sla, .. } => {
            assert!(result.is_some_and(|rate| rate > 0.0), "{step}");
            assert_eq!(sla.is_some(), step.starts_with('q'), "{step}");
        }
        Event::TestAdvances { campaign, .. } => {
            assert!(*campaign >= advanced, "{campaign} after {advanced}");
            advanced = *campaign;
        }
        other => panic!("{other:?}"),
    });
    ran.expect("measured");
    let steps = ["l.i0", "l.x", "l.i1", "l.i2", "rest", "qr100", "qp100"];
    let pass = |name: &str| [&[format!("{name} 6")], &steps.map(str::to_owned)[..]].concat();
    assert_eq!(told, [pass("a"), pass("b")].concat());
    check_samples(&store);
}

#[test]
fn two_versions_of_postgresql_pass_one_after_the_other() {
    check_two(insert_plan(&["a", "b"], &["16.15", "17.11"]));
}

#[test]
fn two_versions_of_mysql_pass_one_after_the_other() {
    let mut plan = insert_plan(&["a", "b"], &["mysql:5.7.22", "mysql:8.0.15"]);
    for treatment in &mut plan.treatments {
        (treatment.profile, treatment.storage) = ("z11a".to_owned(), Some(StorageEngine::Innodb));
    }
    check_two(plan);
}

#[test]
fn a_pass_that_was_broken_off_is_done_again_alone() {
    let scene = Scene::new(insert_plan(&["a", "b"], &["17.11", "17.11"]));
    let mut store = scene.create();
    let stop = AtomicBool::new(false);
    let stop_in = |wanted: &'static str, stop: &AtomicBool, event: &Event<'_>| match event {
        Event::StepBegins { treatment: "b", step, .. } if *step == wanted => stop.store(true, Ordering::Relaxed),
        _ => {}
    };
    for step in ["rest", "qp100", "l.i0"] {
        stop.store(false, Ordering::Relaxed);
        let mut left = Vec::new();
        let broken = scene.run(&mut store, &stop, &mut |event| {
            stop_in(step, &stop, event);
            if let Event::Interrupted { folder } = event {
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
        assert!(!is_measured(&store));
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

/// What a step says of its inserts and deletes: rows acknowledged and rows of unknown fate.
fn record(inserted: u64, insert_unknown: u64, deleted: u64, delete_unknown: u64) -> StepRecord {
    let operations = |rows, rows_unknown| Operations { rows, rows_unknown, ..Operations::default() };
    StepRecord {
        step: "l.i2".to_owned(),
        clients: 1,
        threads: 1,
        seconds: 1.0,
        planned_seconds: None,
        inserts: operations(inserted, insert_unknown),
        deletes: operations(deleted, delete_unknown),
        ..StepRecord::default()
    }
}

#[test]
fn rows_of_unknown_fate_leave_it_open_how_many_there_are() {
    let rows = rows_after(&(1000..=1010), &record(50, 5, 20, 10));
    assert_eq!(rows, 1020..=1045);
    assert!(miscount(&rows, 7).contains("hold 7 rows, but 1020 to 1045 by"));
    assert!(miscount(&(3..=3), 7).contains("but 3 by"));
}
