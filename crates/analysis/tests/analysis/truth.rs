//! Campaigns with known truth, from folder to findings: an A/A campaign is silent, an injected change is found with its
//! size, what is absent stays absent, and the same folder always gives the same findings.

use rqps_analysis::analyse;
use rqps_analysis::findings::{CellFindings, Comparison, Findings};
use rqps_madeup::{Effect, Place, Recipe, scratch_folder};
use rqps_model::facts::StatementPlan;
use rqps_model::plan::Arrival;
use rqps_model::{Group, Part, Verdict, WarningKind, part};
use rqps_store::{Campaign, SampleParts, Start};
use tempfile::TempDir;

/// Findings of a made-up campaign; the folder lives as long as the first value.
pub(crate) fn findings(recipe: &Recipe) -> (TempDir, Findings) {
    let root = scratch_folder().unwrap();
    let folder = recipe.write(root.path()).unwrap();
    let found = analyse(&Campaign::open(&folder).unwrap(), None).unwrap();
    (root, found)
}

pub(crate) fn cell<'a>(found: &'a Findings, test: &str, treatment: usize) -> &'a CellFindings {
    &found.tests.iter().find(|findings| findings.name == test).unwrap().cells[treatment]
}

pub(crate) fn comparison<'a>(found: &'a Findings, test: &str, treatment: usize) -> &'a Comparison {
    cell(found, test, treatment).comparison.as_ref().unwrap()
}

fn kinds(found: &Findings) -> Vec<WarningKind> {
    found.warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn an_a_a_campaign_is_silent() {
    let mut covered = 0;
    let mut intervals = 0;
    for seed in 1..=4 {
        let mut recipe = Recipe { seconds: 2, ..Recipe::new(27, 2, 6, seed) };
        recipe.versions = vec!["17.11".to_owned(), "17.11".to_owned()];
        let (_root, found) = findings(&recipe);
        let [regressed, improved, ..] = found.treatments[1].counts;
        assert_eq!((regressed, improved), (0, 0), "seed {seed}: {}", found.treatments[1].sentence);
        assert!(found.groups.iter().all(|group| {
            let verdict = group.comparison.as_ref().unwrap().verdict;
            matches!(verdict, Verdict::Equal | Verdict::Undecided)
        }));
        assert!(!kinds(&found).contains(&WarningKind::FloorViolated), "seed {seed}");
        let comparisons = found.tests.iter().filter_map(|test| test.cells[1].comparison.as_ref());
        for comparison in comparisons {
            intervals += 1;
            covered += usize::from(comparison.low.unwrap() <= 1.0 && comparison.high.unwrap() >= 1.0);
        }
    }
    // 95 % of 108, less two and a half standard errors.
    assert_eq!(intervals, 108);
    assert!(covered >= 97, "{covered} of {intervals} intervals hold 1");
}

#[test]
fn injected_changes_are_found_with_their_size() {
    let mut recipe = Recipe::new(12, 4, 6, 7);
    recipe.effects = vec![
        Effect { treatment: 1, test: 0, ratio: 1.88 },
        Effect { treatment: 2, test: 1, ratio: 0.95 },
        Effect { treatment: 3, test: 4, ratio: 1.04 },
    ];
    let (_root, found) = findings(&recipe);
    for (treatment, test, verdict) in [
        (1, "hot-points", Verdict::Improved),
        (2, "point-query", Verdict::Regressed),
        (3, "points-notcovered-pk", Verdict::Improved),
    ] {
        let at = recipe.test_names().iter().position(|name| *name == test).unwrap();
        let truth = recipe.truth(treatment, at);
        let comparison = comparison(&found, test, treatment);
        assert_eq!(comparison.verdict, verdict, "{test}: {comparison:?}");
        assert!((comparison.rqps / truth - 1.0).abs() < 0.01, "{test}: {} for {truth}", comparison.rqps);
        assert!(comparison.floor.is_some() && comparison.cycle_se.is_some() && comparison.q.unwrap() < 0.05);
        assert_eq!((comparison.n, comparison.by_round.len()), (6, 6));
    }
    assert!(comparison(&found, "hot-points", 1).beyond_margin);
    let changed: u32 = (1..4).map(|at| found.treatments[at].counts[0] + found.treatments[at].counts[1]).sum();
    assert_eq!(changed, 3, "nothing else changed");
    let point = found.groups.iter().find(|group| (group.group, group.treatment) == (Group::Point, 1)).unwrap();
    assert_eq!(point.comparison.as_ref().unwrap().remark.as_deref(), Some("carried by hot-points alone"));
    assert!((point.median - 1.0).abs() < 0.01 && (point.max - 1.88).abs() < 0.02);
    let plan = &cell(&found, "hot-points", 1).plans[0];
    assert!(plan.differs && plan.plan.starts_with("Index Only Scan"));
    assert!(cell(&found, "hot-points", 1).warnings.iter().any(|warning| warning.kind == WarningKind::PlanChanged));
    assert!(found.treatments[1].sentence.contains("1 test faster (hot-points 1.8"), "{}", found.treatments[1].sentence);
    let p50 = cell(&found, "hot-points", 1).measure("p50").unwrap();
    assert!(p50.verdict == Verdict::Improved && (p50.ratio * 1.88 - 1.0).abs() < 0.08, "{p50:?}");
    assert_eq!(found.treatments[0].sentence, "");
}

#[test]
fn the_order_of_tests_is_the_published_one() {
    let (_root, found) = findings(&Recipe::new(27, 2, 2, 3));
    let names: Vec<&str> = found.tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, Recipe::new(27, 2, 2, 3).test_names());
}

#[test]
fn a_cell_carries_all_that_a_report_shows() {
    let (_root, found) = findings(&Recipe::new(2, 2, 3, 5));
    let base = cell(&found, "hot-points", 0);
    assert!(base.comparison.is_none());
    assert_eq!(base.rounds, 3);
    let cost = base.cost.as_ref().unwrap();
    assert!((cost.cs_per_op - 2.0).abs() < 1e-9);
    // One busy session: half of two CPUs for 1/rate seconds an operation.
    assert!((cost.cpu_per_op * cost.ops_per_s / 50.0 - 1.0).abs() < 0.05, "{}", cost.cpu_per_op);
    assert_eq!(cost.relative["cs_per_op"], 1.0);
    assert_eq!((base.series.len(), base.series[0].len()), (3, 20));
    assert_eq!(base.latency.iter().map(|latency| latency.kind.as_str()).collect::<Vec<_>>(), ["event", "select"]);
    assert_eq!(base.latency[0].count, 48 * (2 + 3 + 4));
    assert!(base.counters.iter().any(|counter| counter.name == "pg_stat_database.blks_hit"));
    let test = &found.tests[0];
    assert_eq!(test.statements, [("select".to_owned(), "SELECT c FROM sbtest1 WHERE id=$1".to_owned())]);
    assert_eq!(test.group, Group::Point);
    assert_eq!((found.campaign.rounds_planned, found.campaign.rounds_complete), (3, 3));
    assert!(found.campaign.campaign_toml.contains("seed = 5"));
    assert_eq!(found.treatments[1].load_seconds, 13.5);
}

#[test]
fn what_is_absent_or_failed_stays_absent() {
    let mut recipe = Recipe::new(3, 2, 5, 13);
    recipe.absent = vec![Place { round: 2, treatment: 1, test: 0 }];
    recipe.failed = vec![Place { round: 4, treatment: 1, test: 0 }];
    recipe.failed.extend((1..=5).map(|round| Place { round, treatment: 1, test: 2 }));
    let (_root, found) = findings(&recipe);
    let hot = cell(&found, "hot-points", 1);
    assert_eq!(
        hot.throughput_by_round.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false, true, false, true]
    );
    let rounds: Vec<u32> = comparison(&found, "hot-points", 1).by_round.iter().map(|round| round.round).collect();
    assert_eq!((hot.rounds, rounds), (3, vec![1, 3, 5]));
    assert_eq!(hot.series.iter().map(Vec::is_empty).collect::<Vec<_>>(), [false, true, false, true, false]);
    let told: Vec<&str> = hot.warnings.iter().map(|warning| warning.cause.as_str()).collect();
    assert!(told.contains(&"no sample in round 2"), "{told:?}");
    assert!(told.contains(&"failed in round 4 of 4: the server ended: signal 9"), "{told:?}");
    let gone = cell(&found, "points-covered-pk", 1);
    assert_eq!((gone.rounds, gone.throughput, gone.comparison.is_none(), gone.cost.is_none()), (0, None, true, true));
    assert!(found.treatments[1].sentence.contains("1 without a number"), "{}", found.treatments[1].sentence);
    assert_eq!((found.campaign.rounds_complete, found.campaign.finished_at.is_none()), (4, true));
    for kind in [WarningKind::Incomplete, WarningKind::Absent, WarningKind::Failed] {
        assert!(kinds(&found).contains(&kind), "{kind}");
    }
}

#[test]
fn one_round_decides_nothing() {
    let mut recipe = Recipe::new(3, 2, 1, 17);
    recipe.effects = vec![Effect { treatment: 1, test: 0, ratio: 0.5 }];
    let (_root, found) = findings(&recipe);
    let comparison = comparison(&found, "hot-points", 1);
    assert_eq!((comparison.verdict, comparison.remark.as_deref()), (Verdict::Undecided, Some("one round only")));
    assert_eq!((comparison.low, comparison.q), (None, None));
    assert!(kinds(&found).contains(&WarningKind::FewRounds));
}

#[test]
fn groups_change_as_a_whole() {
    let mut recipe = Recipe::new(27, 2, 8, 19);
    recipe.effects = (17..27).map(|test| Effect { treatment: 1, test, ratio: 0.985 }).collect();
    let (_root, found) = findings(&recipe);
    let group = |group: Group| found.groups.iter().find(|findings| findings.group == group).unwrap();
    let (writes, points) = (group(Group::Write), group(Group::Point));
    assert_eq!((writes.tests, points.tests), (10, 9));
    assert!((writes.median - 0.985).abs() < 0.004 && writes.min <= writes.median && writes.median <= writes.max);
    let (write, point) = (writes.comparison.as_ref().unwrap(), points.comparison.as_ref().unwrap());
    assert!(write.high.unwrap() < 1.0 && (write.rqps - 0.985).abs() < 0.003, "{write:?}");
    // 1.5 % is real and yet below the margin of 2 %: ten tests together are sure of both.
    assert_eq!((write.verdict, write.remark.as_deref()), (Verdict::Equal, Some("real but below the margin")));
    assert_eq!(point.verdict, Verdict::Equal);
    assert!(
        (write.rqps.ln()
            - found
                .tests
                .iter()
                .filter(|test| test.group == Group::Write)
                .map(|test| test.cells[1].comparison.as_ref().unwrap().rqps.ln())
                .sum::<f64>()
                / 10.0)
            .abs()
            < 1e-12
    );
}

#[test]
fn turns_compare_whole_samples() {
    let mut recipe = Recipe::new(2, 2, 6, 23);
    recipe.cycles = 0;
    recipe.effects = vec![Effect { treatment: 1, test: 1, ratio: 0.9 }];
    let (_root, found) = findings(&recipe);
    let comparison = comparison(&found, "point-query", 1);
    assert_eq!((comparison.verdict, comparison.cycle_se), (Verdict::Regressed, None));
    let (own, base) = (cell(&found, "point-query", 1), cell(&found, "point-query", 0));
    assert!((comparison.rqps - own.throughput.unwrap() / base.throughput.unwrap()).abs() < 1e-12);
}

#[test]
fn arms_that_are_the_same_and_differ_are_told() {
    let mut recipe = Recipe::new(8, 2, 6, 29);
    recipe.versions = vec!["17.11".to_owned(), "18.1".to_owned(), "17.11".to_owned()];
    recipe.effects = vec![Effect { treatment: 2, test: 3, ratio: 0.9 }];
    let (_root, found) = findings(&recipe);
    let violated = found.warnings.iter().find(|warning| warning.kind == WarningKind::FloorViolated).unwrap();
    assert!(violated.cause.contains("1 test changed"), "{}", violated.cause);
    assert!(found.treatments[2].sentence.contains("(the same build)"), "{}", found.treatments[2].sentence);
    let weight = |treatment| comparison(&found, "hot-points", treatment).floor_weight.unwrap();
    assert_eq!(weight(2), rqps_stats::PRIOR_DEGREES_OF_FREEDOM, "a pair knows its noise from other tests only");
    assert!(weight(1) > weight(2), "the others know it from the pair too");
    assert_eq!(found.treatments[1].settings_diff["io_method"], (None, Some("worker".to_owned())));
    assert!(found.treatments[1].warnings.iter().any(|warning| warning.kind == WarningKind::Settings));
    assert!(found.treatments[2].settings_diff.is_empty());
}

/// Plans are kept of the first sample of all; those of another number of clients are others without having changed.
#[test]
fn each_number_of_clients_has_its_own_plans() {
    let recipe = Recipe { seconds: 2, clients: vec![1, 4, 8], ..Recipe::new(1, 2, 3, 41) };
    let root = scratch_folder().unwrap();
    let folder = recipe.write(root.path()).unwrap();
    let writer = Campaign::open_to_resume(&folder, start()).unwrap().without_sync();
    let names: Vec<String> = writer.plan().treatments.iter().map(|treatment| treatment.name.clone()).collect();
    let change = |round, treatment: &str, clients, act: &dyn Fn(&mut SampleParts)| {
        let mut parts = writer.sample(round, treatment, "hot-points", clients).unwrap().unwrap().parts().unwrap();
        act(&mut parts);
        writer.withdraw(round, treatment, "hot-points", clients).unwrap();
        writer.publish(&parts).unwrap();
    };
    let scan = |parts: &mut SampleParts| {
        let plan = "Seq Scan on sbtest1".to_owned();
        let plan = StatementPlan {
            statement: "select".to_owned(),
            sql: "SELECT".to_owned(),
            plan,
            ..StatementPlan::default()
        };
        parts.put(Part::json(part::PLANS, &[plan]));
    };
    for (round, name) in (1..=3).flat_map(|round| names.iter().map(move |name| (round, name))) {
        change(round, name, 4, &scan);
        change(round, name, 8, &|parts| parts.sample.failure = Some("the server ended".to_owned()));
    }
    // What changes within one number of clients is told there and nowhere else.
    change(3, &names[1], 1, &scan);
    let found = analyse(&Campaign::open(&folder).unwrap(), None).unwrap();
    let plans = |test: usize, at: usize| -> Vec<&str> {
        found.tests[test].cells[at].plans.iter().map(|plan| plan.plan.as_str()).collect()
    };
    let told = |test: usize, at: usize| {
        let warnings = found.tests[test].cells[at]
            .warnings
            .iter()
            .filter(|warning| matches!(warning.kind, WarningKind::PlanChanged | WarningKind::PlanChanges));
        warnings.map(|warning| warning.cause.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(found.tests.iter().map(|test| test.clients).collect::<Vec<_>>(), [1, 4, 8]);
    for at in [0, 1] {
        assert!(plans(0, at)[0].starts_with("Index Scan"), "{:?}", plans(0, at));
        assert_eq!((plans(1, at), told(1, at)), (vec!["Seq Scan on sbtest1"], vec![]));
        assert_eq!((plans(2, at), told(2, at)), (vec![], vec![]));
    }
    let change = "another plan for select in round 3 than at first: Seq Scan on sbtest# instead of Index Scan using \
                  sbtest#_pkey on sbtest#";
    assert_eq!((told(0, 0), told(0, 1)), (vec![], vec![change]));
    assert!(found.tests.iter().all(|test| test.statements.len() == 1), "what was sent is known at every number");
}

fn start() -> Start {
    let (at, rqps_version) = ("2026-11-22T01:00:00Z".to_owned(), "0.1.0".to_owned());
    let command_line = vec!["rqps".to_owned(), "resume".to_owned()];
    Start { at, rqps_version, command_line, ..Start::default() }
}

#[test]
fn the_same_folder_gives_the_same_findings() {
    let recipe = Recipe { clients: vec![1, 4], ..Recipe::new(5, 3, 3, 31) };
    let (root, first) = findings(&recipe);
    let again = analyse(&Campaign::open(&root.path().join("made-up")).unwrap(), None).unwrap();
    let text = serde_json::to_string(&first).unwrap();
    assert_eq!(text, serde_json::to_string(&again).unwrap());
    let (_other_root, other) = findings(&recipe);
    assert_eq!(text, serde_json::to_string(&other).unwrap(), "and so does the same recipe");
    assert_eq!(first, serde_json::from_str::<Findings>(&text).unwrap(), "JSON holds all of it");
    let (_root, seeded) = findings(&Recipe { seed: 32, ..recipe });
    assert_ne!(first.tests, seeded.tests);
}

fn several_engines() -> Recipe {
    let mut recipe = Recipe { seconds: 2, ..Recipe::new(12, 4, 5, 3) };
    let versions = ["17.11", "mysql:5.6.14", "mysql:8.0.33", "mariadb:11.4.5", "mariadb:11.4.5+rocksdb"];
    recipe.versions = versions.map(str::to_owned).into();
    recipe.effects = vec![Effect { treatment: 2, test: 0, ratio: 1.7 }, Effect { treatment: 1, test: 1, ratio: 0.6 }];
    recipe.forced = vec![rqps_model::plan::ForcedForm {
        what: "load".to_owned(),
        tests: Vec::new(),
        forms: [(rqps_model::Engine::Postgres, "COPY".to_owned()), (rqps_model::Engine::Mysql, "LOAD DATA".to_owned())]
            .into(),
        because: "each has its own".to_owned(),
    }];
    recipe
}

#[test]
fn engines_are_compared_by_speed_and_each_within_itself_by_settings_plans_and_counters() {
    let (_root, found) = findings(&several_engines());
    assert!(found.has_several_engines());
    assert_eq!((0..5).map(|at| found.peer(at)).collect::<Vec<_>>(), [0, 1, 1, 3, 3]);
    assert_eq!(comparison(&found, "point-query", 1).verdict, Verdict::Regressed);
    // The base has settings of the same name nowhere: only those of one engine are compared by name.
    assert!(found.treatments[1].settings_diff.is_empty());
    let of_8 = &found.treatments[2].settings_diff;
    assert_eq!(of_8["innodb_redo_log_capacity"].1.as_deref(), Some("17179869184"));
    assert_eq!(of_8["tx_isolation"], (Some("REPEATABLE-READ".to_owned()), None));
    assert!(!of_8.contains_key("datadir") && !of_8.contains_key("shared_buffers"));
    assert!(found.treatments[4].settings_diff.contains_key("rocksdb_block_cache_size"));
    // Plans of 5.6 and 8.0 are compared by what was chosen; PostgreSQL's with nothing.
    let differs = |test: &str, at: usize| cell(&found, test, at).plans[0].differs;
    assert_eq!([1, 2, 3].map(|at| differs("hot-points", at)), [false, true, false]);
    assert_eq!([1, 2, 3].map(|at| differs("point-query", at)), [false; 3]);
    let warned = &cell(&found, "hot-points", 2).warnings;
    assert!(
        warned.iter().any(|warning| warning.kind == WarningKind::PlanChanged && warning.cause.contains("covering"))
    );
}

#[test]
fn engines_are_told_side_by_side_with_what_they_force() {
    let (_root, found) = findings(&several_engines());
    assert_eq!(found.forced.len(), 1, "markers are no difference: {:?}", found.forced);
    let row = |what: &str| &found.side_by_side.iter().find(|row| row.what == what).unwrap().values;
    assert_eq!(row("memory for data"), &["1 GB"; 5]);
    assert_eq!(row("log before a checkpoint")[..4], ["16 GB"; 4]);
    assert_eq!(row("commit")[0], "flushed some time after the reply (fsync=on, synchronous_commit=off)");
    assert_eq!(
        row("commit")[4],
        "flushed some time after the reply (rocksdb_flush_log_at_trx_commit=2, sync_binlog=0)"
    );
    assert_eq!(row("isolation")[..3], ["read committed", "repeatable read", "repeatable read"]);
    let sentences: Vec<&str> =
        found.treatments.iter().map(|treatment| treatment.sentence.split(':').next().unwrap()).collect();
    assert_eq!(
        sentences,
        [
            "",
            "MySQL 5.6.14 against PostgreSQL 17.11",
            "MySQL 8.0.33 against PostgreSQL 17.11",
            "MariaDB 11.4.5 with InnoDB against PostgreSQL 17.11",
            "MariaDB 11.4.5 with RocksDB against PostgreSQL 17.11",
        ]
    );
    let kinds = |at: usize| found.treatments[at].warnings.iter().map(|w| w.kind).collect::<Vec<_>>();
    assert_eq!(kinds(1), [WarningKind::UnlikeBuilds, WarningKind::Checksums]);
    assert_eq!(kinds(4), [WarningKind::UnlikeBuilds, WarningKind::Checksums, WarningKind::StorageEngine]);
    let (_root, one) = findings(&Recipe { seconds: 2, ..Recipe::new(2, 2, 2, 1) });
    assert!(one.side_by_side.is_empty() && one.forced.is_empty() && !one.has_several_engines());
    assert!(one.treatments[1].sentence.starts_with("PostgreSQL 17.11 against 16.15: "));
}

#[test]
fn a_folder_that_lost_what_was_measured_is_damaged() {
    let recipe = Recipe::new(1, 2, 2, 3);
    let check = |lost: &[&str], expected: &[&str]| {
        let root = scratch_folder().unwrap();
        let folder = recipe.write(root.path()).unwrap();
        for path in lost.iter().map(|path| folder.join(path)) {
            if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
        }
        let error = analyse(&Campaign::open(&folder).unwrap(), None).unwrap_err().to_string();
        for words in expected.iter().chain(&["the file is missing", "restore it from a copy"]) {
            assert!(error.contains(words), "{words}: {error}");
        }
    };
    let names = recipe.treatment_names();
    let file = |at: usize, name: &str| format!("treatments/{}/{name}", names[at]);
    check(&["treatments"], &["4 damaged result files", &file(0, "build.json"), &file(1, "settings.json")]);
    check(&[&file(1, "build.json")], &["damaged result file /", &file(1, "build.json")]);
    check(&[&file(0, "settings.json")], &[&file(0, "settings.json")]);
}

#[test]
fn a_treatment_that_was_never_started_has_no_files_to_lose() {
    let mut recipe = Recipe::new(1, 2, 2, 3);
    recipe.absent = (1..=2).map(|round| Place { round, treatment: 1, test: 0 }).collect();
    let root = scratch_folder().unwrap();
    let folder = recipe.write(root.path()).unwrap();
    std::fs::remove_dir_all(folder.join("treatments").join(&recipe.treatment_names()[1])).unwrap();
    let found = analyse(&Campaign::open(&folder).unwrap(), None).unwrap();
    assert_eq!(found.treatments[1].warnings[0].cause, "this build was never started");
}

#[test]
fn samples_that_went_missing_after_the_end_are_counted() {
    let recipe = Recipe::new(2, 2, 2, 3);
    let root = scratch_folder().unwrap();
    let folder = recipe.write(root.path()).unwrap();
    let sample = format!("rounds/2/{}/sysbench/hot-points.c1", recipe.treatment_names()[1]);
    std::fs::remove_dir_all(folder.join(sample)).unwrap();
    let found = analyse(&Campaign::open(&folder).unwrap(), None).unwrap();
    let warning = found.warnings.iter().find(|warning| warning.kind == WarningKind::Incomplete).unwrap();
    let expected = "1 of 8 samples is missing, though the campaign had finished; 1 of 2 rounds complete";
    assert_eq!(warning.cause, expected);
    assert!(warning.advice.as_deref().unwrap().contains("rqps resume"));
}

#[test]
fn in_an_open_loop_throughput_decides_nothing_unless_a_side_fell_behind() {
    let mut recipe = Recipe { cycles: 0, slice_noise: 0.0, ..Recipe::new(3, 2, 4, 3) };
    recipe.versions = vec!["16.15".to_owned(), "17.11".to_owned()];
    recipe.arrival = Arrival::Even { rate_per_s: 1000.0 };
    // Of what it could do, 4500 a second, this leaves less than is due.
    recipe.effects = vec![Effect { treatment: 1, test: 0, ratio: 0.1 }];
    let (_root, found) = findings(&recipe);
    assert!(found.is_open_loop());
    for test in ["point-query", "points-covered-pk"] {
        let comparison = comparison(&found, test, 1);
        let remark = "open loop: throughput is the requested rate; compare latency";
        assert_eq!((comparison.verdict, comparison.remark.as_deref()), (Verdict::Undecided, Some(remark)), "{test}");
        assert_eq!((comparison.mde, comparison.q, comparison.low), (None, None, None), "{test}");
        assert!(cell(&found, test, 1).latency.iter().any(|latency| latency.kind == "event"));
        assert!(cell(&found, test, 1).warnings.is_empty(), "{test}");
    }
    let behind = comparison(&found, "hot-points", 1);
    assert_eq!((behind.verdict, behind.remark.as_deref()), (Verdict::Regressed, None));
    assert_eq!(behind.q, behind.p, "it alone has a part in the correction");
    assert!(cell(&found, "hot-points", 1).warnings.iter().any(|warning| warning.kind == WarningKind::Skipped));
    assert_eq!(found.groups[0].tests, 1, "the group is what is left of it");
    assert_eq!(found.treatments[1].counts, [1, 0, 0, 2]);
    let sentence = &found.treatments[1].sentence;
    let told = format!(
        "1 test slower (hot-points {}), 2 undecided (open loop: latency lower in 1, undecided in 1).",
        rqps_analysis::digits::ratio(behind.rqps)
    );
    assert!(sentence.ends_with(&told), "{sentence}");
}

#[test]
fn the_same_build_at_a_rate_is_no_pair_of_noise() {
    let mut recipe = Recipe { cycles: 0, slice_noise: 0.0, ..Recipe::new(12, 2, 4, 3) };
    recipe.versions = vec!["17.11".to_owned(), "17.11".to_owned()];
    recipe.arrival = Arrival::Poisson { rate_per_s: 200.0 };
    let (_root, found) = findings(&recipe);
    assert!(found.groups.is_empty());
    assert!(!kinds(&found).contains(&WarningKind::FloorViolated), "{:?}", found.warnings);
}

#[test]
fn what_chance_may_explain_is_not_called_invisible() {
    // One clear change among many tests, in so few rounds that the correction takes it back.
    let mut recipe = Recipe { start_noise: 0.02, ..Recipe::new(27, 2, 3, 1) };
    recipe.effects = vec![Effect { treatment: 1, test: 0, ratio: 1.09 }];
    let (_root, found) = findings(&recipe);
    let taken_back: Vec<&CellFindings> = found
        .tests
        .iter()
        .map(|test| &test.cells[1])
        .filter(|cell| cell.comparison.as_ref().unwrap().is_taken_back())
        .collect();
    assert!(!taken_back.is_empty(), "the recipe is meant to have one");
    for cell in taken_back {
        let kinds: Vec<WarningKind> = cell.warnings.iter().map(|warning| warning.kind).collect();
        assert!(kinds.contains(&WarningKind::Chance) && !kinds.contains(&WarningKind::Noisy), "{kinds:?}");
        let chance = cell.warnings.iter().find(|warning| warning.kind == WarningKind::Chance).unwrap();
        let q = cell.comparison.as_ref().unwrap().remark.as_deref().unwrap();
        assert!(q.starts_with("q = 0.") && chance.cause.ends_with(q), "{}", chance.cause);
    }
    assert!(kinds(&found).contains(&WarningKind::Chance));
}
