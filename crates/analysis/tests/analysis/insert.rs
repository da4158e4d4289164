//! Made-up campaigns of the Insert Benchmark, from folder to findings: steps in their order, one round undecided, rates
//! that were missed, stalls, steps that failed, and nothing where nothing happened.

use rqps_analysis::analyse;
use rqps_analysis::digits::ratio;
use rqps_analysis::findings::{CellFindings, Findings};
use rqps_madeup::insert::{InsertRecipe, StallAt};
use rqps_madeup::{Effect, Place, scratch_folder};
use rqps_model::plan::SuitePlan;
use rqps_model::{Group, Unit, Verdict, WarningKind};
use rqps_store::Campaign;

const STEPS: [&str; 10] = ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];

fn findings(recipe: &InsertRecipe) -> Findings {
    let root = scratch_folder().unwrap();
    analyse(&Campaign::open(&recipe.write(root.path()).unwrap()).unwrap(), None).unwrap()
}

fn cell<'a>(found: &'a Findings, test: &str, treatment: usize) -> &'a CellFindings {
    &found.tests.iter().find(|findings| findings.name == test).unwrap().cells[treatment]
}

fn kinds(cell: &CellFindings) -> Vec<WarningKind> {
    cell.warnings.iter().map(|warning| warning.kind).collect()
}

fn message(found: &Findings, kind: WarningKind) -> Option<&str> {
    found.warnings.iter().find(|warning| warning.kind == kind).map(|warning| warning.cause.as_str())
}

fn place(round: u32, treatment: usize, test: usize) -> Place {
    Place { round, treatment, test }
}

#[test]
fn nothing_happened_and_nothing_is_found() {
    let mut recipe = InsertRecipe::new(2, 4, 1);
    recipe.common.versions = vec!["17.11".to_owned(), "17.11".to_owned()];
    let found = findings(&recipe);
    assert_eq!(found.tests.iter().map(|test| test.name.as_str()).collect::<Vec<_>>(), STEPS);
    let [regressed, improved, ..] = found.treatments[1].counts;
    assert_eq!((regressed, improved), (0, 0), "{}", found.treatments[1].sentence);
    for test in &found.tests {
        assert_eq!((test.interleave, test.clients), (None, 2));
        for cell in &test.cells {
            assert!(kinds(cell).iter().all(|kind| *kind == WarningKind::Noisy), "{}: {:?}", test.name, cell.warnings);
            assert_eq!(cell.inside, None, "four rounds need none");
        }
    }
    let SuitePlan::Insert(shape) = &found.campaign.suite else { panic!("{:?}", found.campaign.suite) };
    assert_eq!((found.campaign.rounds_complete, shape.clients), (4, 2));
    assert!(found.warnings.iter().all(|warning| warning.kind == WarningKind::Noisy), "{:?}", found.warnings);
}

#[test]
fn changes_are_found_with_their_size_in_their_unit() {
    let mut recipe = InsertRecipe::new(2, 5, 2);
    recipe.common.effects =
        vec![Effect { treatment: 1, test: 0, ratio: 0.6 }, Effect { treatment: 1, test: 5, ratio: 1.2 }];
    let found = findings(&recipe);
    let (load, points) = (cell(&found, "l.i0", 1), cell(&found, "qp100", 1));
    for (cell, verdict, truth) in [(load, Verdict::Regressed, 0.6), (points, Verdict::Improved, 1.2)] {
        let comparison = cell.comparison.as_ref().unwrap();
        assert_eq!((comparison.verdict, comparison.n), (verdict, 5));
        assert!((comparison.rqps / truth - 1.0).abs() < 0.02, "{}", comparison.rqps);
    }
    let sentence = &found.treatments[1].sentence;
    let digits = |cell: &CellFindings| ratio(cell.comparison.as_ref().unwrap().rqps);
    let faster = format!("1 step faster (q/s of qp100 {}x)", digits(points));
    let slower = format!("1 slower (rows/s of l.i0 {})", digits(load));
    assert!(sentence.contains(&faster) && sentence.contains(&slower), "{sentence}");
    let groups: Vec<(Group, u32)> = found.groups.iter().map(|group| (group.group, group.tests)).collect();
    assert_eq!(groups, [(Group::Point, 3), (Group::Range, 3), (Group::Write, 4)]);
    assert_eq!((found.tests[0].unit, found.tests[4].unit), (Unit::RowsPerSecond, Unit::QueriesPerSecond));
    // A row costs what the machine spent in the step, by the rows inserted.
    let cost = load.cost.as_ref().unwrap();
    assert!((cost.host_cpu_us * cost.ops_per_s / 1.8e6 - 1.0).abs() < 0.01, "{}", cost.host_cpu_us);
}

#[test]
fn a_step_tells_all_that_a_report_shows() {
    let found = findings(&InsertRecipe::new(2, 2, 3));
    let queries = cell(&found, "qr500", 0);
    let columns = queries.columns.as_ref().unwrap();
    let sla = queries.sla.unwrap();
    assert_eq!((sla.target_per_s, sla.rounds_held, sla.rounds, sla.is_held()), (1000.0, 2, 2, true));
    assert_eq!(columns.qps, queries.throughput.unwrap());
    assert!((columns.ips - sla.reached_per_s).abs() < 1e-9 && (columns.ips - 1000.0).abs() < 1.0);
    assert!((columns.cspq - columns.csps / columns.qps).abs() < 1e-12);
    assert!((columns.wpi - columns.wps / columns.ips).abs() < 1e-12);
    assert!(columns.p99.unwrap() < columns.p50.unwrap(), "the rate held almost always is the lower one");
    assert!(columns.maxop > 0.0 && columns.dbgb2 > columns.dbgb1 && columns.rss > 0.8);
    let [inserts, _, answers] = &queries.responses[..] else { panic!("{:?}", queries.responses) };
    assert_eq!((inserts.rows, inserts.response.total()), (120_000, 2400));
    assert!(inserts.from_plan.is_some() && inserts.from_plan_quantiles_ms.unwrap()[0] > inserts.quantiles_ms[0]);
    assert!(answers.from_plan.is_none() && answers.quantiles_ms[0] < answers.quantiles_ms[3]);
    let round = &queries.timelines[1];
    assert_eq!((round.round, round.inserted, round.deleted, round.sla_held), (2, 60_000, 60_000, Some(true)));
    assert_eq!((round.series.len(), round.series[59].second), (60, 60.0));
    assert!(round.series.iter().all(|point| point.inserted == 1000.0 && point.longest_query_ms > 0.0));
    let marks: Vec<(f64, &str)> = round.marks.iter().map(|mark| (mark.second, mark.what.as_str())).collect();
    let [checkpoint, vacuum] = ["checkpoint", "vacuum"];
    assert_eq!(marks, [(20.0, vacuum), (25.0, checkpoint), (40.0, vacuum), (50.0, checkpoint), (60.0, vacuum)]);
    assert_eq!(round.server["log_bytes"][0].1, 0.0, "counters begin with the step");
    assert_eq!(round.server["database_bytes"].len(), 6);
    assert!(round.growth.unwrap().after.database_bytes > round.growth.unwrap().before.database_bytes);
    let index = cell(&found, "l.x", 0);
    let columns = index.columns.as_ref().unwrap();
    assert_eq!((index.timelines[0].index_builds.len(), columns.p50), (3, None));
    assert_eq!(columns.ips, cell(&found, "l.x", 0).throughput.unwrap());
}

#[test]
fn one_round_is_undecided_and_shows_its_inside() {
    let mut recipe = InsertRecipe::new(2, 1, 4);
    recipe.common.effects = vec![Effect { treatment: 1, test: 0, ratio: 0.5 }];
    let found = findings(&recipe);
    for test in &found.tests {
        let comparison = test.cells[1].comparison.as_ref().unwrap();
        assert_eq!((comparison.verdict, comparison.remark.as_deref()), (Verdict::Undecided, Some("one round only")));
        let inside = test.cells[1].inside;
        assert_eq!(inside.is_some(), test.name != "l.x", "{}", test.name);
        if let Some(inside) = inside {
            assert!(inside.low < comparison.rqps && comparison.rqps < inside.high, "{inside:?}");
            assert!(inside.pieces >= 10 && inside.high / inside.low < 1.2, "{inside:?}");
        }
        assert_eq!(test.cells[0].inside, None);
    }
    assert!(
        found.treatments[1].sentence.contains("10 steps undecided (one round only)"),
        "{}",
        found.treatments[1].sentence
    );
    assert!(message(&found, WarningKind::FewRounds).unwrap().starts_with("one round only"));
}

#[test]
fn a_rate_missed_by_either_side_holds_the_verdict_back() {
    let mut recipe = InsertRecipe::new(3, 4, 5);
    // qr1000 is missed by treatment 1 in one round; qp1000 by the base in all.
    recipe.behind = vec![place(2, 1, 8)];
    recipe.behind.extend((1..=4).map(|round| place(round, 0, 9)));
    recipe.common.effects = [8, 9].map(|test| Effect { treatment: 1, test, ratio: 1.5 }).into_iter().collect();
    let found = findings(&recipe);
    let remark = |test: &str, treatment: usize| {
        let comparison = cell(&found, test, treatment).comparison.as_ref().unwrap();
        assert_eq!((comparison.verdict, comparison.q), (Verdict::Undecided, None), "{test}");
        comparison.remark.clone().unwrap()
    };
    let name = &found.treatments[1].build.name;
    let own = format!("{name} wrote 823 of 2000 rows/s in round 2: its queries ran alongside fewer writes");
    assert_eq!(remark("qr1000", 1), own);
    let base =
        format!("{} wrote 823 of 2000 rows/s: its queries ran alongside fewer writes", found.treatments[0].build.name);
    assert_eq!((remark("qp1000", 1), remark("qp1000", 2)), (base.clone(), base));
    assert!(cell(&found, "qr1000", 2).comparison.as_ref().unwrap().q.is_some(), "the others are compared");
    assert_eq!(kinds(cell(&found, "qr1000", 1)), [WarningKind::SlaMissed, WarningKind::Deferred]);
    assert!(cell(&found, "qp1000", 0).warnings[0].cause.contains("in rounds 1, 2, 3, 4"));
    let sentence = &found.treatments[1].sentence;
    assert!(sentence.contains("(qr1000, qp1000 alongside too few writes)"), "{sentence}");
    let point = found.groups.iter().find(|group| (group.group, group.treatment) == (Group::Point, 1)).unwrap();
    assert_eq!((point.tests, point.comparison.as_ref().unwrap().n), (2, 4));
    assert!(point.max < 1.1, "{point:?}");
    assert_eq!(message(&found, WarningKind::SlaMissed).map(|text| text.contains("in 2 cells")), Some(true));
}

#[test]
fn stalls_are_told_and_seen() {
    let mut recipe = InsertRecipe::new(2, 2, 6);
    recipe.stalls = vec![StallAt { place: place(2, 1, 2), from_second: 12, seconds: 3 }];
    let found = findings(&recipe);
    let stalled = cell(&found, "l.i1", 1);
    assert_eq!(kinds(stalled).iter().filter(|kind| **kind == WarningKind::WriteStalls).count(), 1);
    assert!(stalled.warnings.iter().any(|w| w.cause.contains("for 3 s, from second 12 of round 2")));
    let longest = stalled.timelines[1].series.iter().map(|point| point.longest_insert_ms).fold(0.0, f64::max);
    assert!(
        (3000.0..3100.0).contains(&longest) && (3.0..3.1).contains(&stalled.columns.as_ref().unwrap().maxop),
        "{longest}"
    );
    assert!(stalled.timelines[1].series[12..15].iter().all(|point| point.inserted == 0.0));
    assert!(message(&found, WarningKind::WriteStalls).is_some());
}

#[test]
fn a_failed_step_is_told_and_so_are_those_after_it() {
    let mut recipe = InsertRecipe::new(2, 3, 7);
    recipe.common.failed = vec![place(1, 1, 3)];
    recipe.common.absent = (0..10).map(|test| place(3, 1, test)).collect();
    let found = findings(&recipe);
    let failed = cell(&found, "l.i2", 1);
    let told: Vec<&str> = failed.warnings.iter().map(|warning| warning.cause.as_str()).collect();
    assert!(told.contains(&"failed in round 1 of 2: the server ended: signal 9"), "{told:?}");
    assert!(told.contains(&"no sample in round 3"), "{told:?}");
    let rounds = &failed.timelines;
    assert_eq!((rounds.len(), rounds[0].failure.as_deref()), (2, Some("the server ended: signal 9")));
    assert!(rounds[0].inserted > 0 && !rounds[0].series.is_empty() && !rounds[0].server.is_empty());
    assert_eq!(failed.throughput_by_round.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
    let after = cell(&found, "qr100", 1);
    assert!(after.warnings[1].cause.contains("l.i2 failed before it in this pass"), "{:?}", after.warnings);
    assert_eq!(after.timelines.len(), 1, "it never ran in round 1");
    assert_eq!(cell(&found, "l.i1", 1).rounds, 2);
    assert_eq!((found.campaign.rounds_complete, after.comparison.as_ref().unwrap().n), (2, 1));
    assert!(after.inside.is_some(), "one round is left to compare");
}

#[test]
fn engines_and_client_counts_stand_side_by_side() {
    let mut recipe = InsertRecipe::eventful(4, 2, 8);
    recipe.common.clients = vec![1, 4];
    recipe.common.versions =
        ["17.11", "mysql:8.0.33", "mariadb:11.4.5", "mariadb:11.4.5+rocksdb"].map(str::to_owned).into();
    let found = findings(&recipe);
    assert_eq!((found.tests.len(), found.tests[0].clients, found.tests[1].clients), (20, 1, 4));
    assert_eq!(found.tests[3].cells[0].sla, None);
    let names = |at: usize| -> Vec<String> { found.tests[5].cells[at].timelines[0].server.keys().cloned().collect() };
    assert!(names(0).contains(&"dead_rows".to_owned()) && names(1).contains(&"history_list_length".to_owned()));
    assert!(names(3).contains(&"l0_files".to_owned()));
    assert!(message(&found, WarningKind::Resumed).is_none(), "each number of clients has a start of its own");
    let sentence = &found.treatments[1].sentence;
    assert!(sentence.contains("qr1000 at 1 client, qr1000 at 4 clients alongside too few writes"), "{sentence}");
}

#[test]
fn the_same_folder_gives_the_same_findings() {
    let recipe = InsertRecipe::eventful(3, 2, 9);
    let text = serde_json::to_string(&findings(&recipe)).unwrap();
    assert_eq!(text, serde_json::to_string(&findings(&recipe)).unwrap());
    let back: Findings = serde_json::from_str(&text).unwrap();
    assert_eq!(text, serde_json::to_string(&back).unwrap(), "JSON holds all of it");
}
