//! Names, bases and plans.

use crate::testing::NoFiles;
use crate::testing::{plan, refused, resolved, vocabulary};
use crate::{Command, Flag, read};
use proptest::prelude::*;
use rqps_model::plan::TestPlan;
use rqps_model::{Interleave, StorageEngine};

fn names(words: &[(&str, &str)]) -> Vec<String> {
    plan(words, false).treatments.into_iter().map(|treatment| treatment.name).collect()
}

#[test]
fn treatments_are_builds_times_profiles_with_published_names() {
    assert_eq!(
        names(&[("build", "postgres:16.15"), ("build", "new=postgres:/opt/pg"), ("profile", "x10a,x10a_sync")]),
        ["pg1615_zonky.x10a_c2r6", "pg1615_zonky.x10a_sync_c2r6", "new.x10a_c2r6", "new.x10a_sync_c2r6"]
    );
    assert_eq!(
        names(&[("build", "postgres:16.15"), ("build", "postgres:17.11"), ("machine", "c8r32")]),
        ["pg1615_zonky.x10a_c8r32", "pg1711_zonky.x10a_c8r32"]
    );
}

#[test]
fn names_that_collide_are_numbered() {
    let same = ("build", "postgres:17.11");
    assert_eq!(
        names(&[same, same, same, ("base", "pg1711_zonky.x10a_c2r8.3")]),
        ["pg1711_zonky.x10a_c2r8", "pg1711_zonky.x10a_c2r8.2", "pg1711_zonky.x10a_c2r8.3"]
    );
    let folders = names(&[("build", "postgres:/opt/a"), ("build", "postgres:/opt/b")]);
    assert_eq!(folders, ["pg1711_local.x10a_c2r12", "pg1711_local.x10a_c2r12.2"]);
}

#[test]
fn the_base_is_measured_twice_where_that_is_wanted() {
    let two = [("build", "postgres:16.15"), ("build", "postgres:17.11"), ("aa", "true")];
    let check = |words: &[(&str, &str)], base: usize, expected: &[&str]| {
        let plan = plan(words, false);
        let names: Vec<&str> = plan.treatments.iter().map(|treatment| treatment.name.as_str()).collect();
        assert_eq!((plan.base, &names[..]), (base, expected));
        let [of_base, again] = [base, names.len() - 1].map(|at| &plan.treatments[at]);
        assert_eq!((&of_base.build.source, &of_base.set), (&again.build.source, &again.set));
    };
    // Three servers share the memory.
    check(&two, 0, &["pg1615_zonky.x10a_c2r8", "pg1711_zonky.x10a_c2r8", "aa.x10a_c2r8"]);
    let newer = [&two[..], &[("base", "pg1711_zonky.x10a_c2r8")]].concat();
    check(&newer, 1, &["pg1615_zonky.x10a_c2r8", "pg1711_zonky.x10a_c2r8", "aa.x10a_c2r8"]);
    // One build alone shows the noise of a machine.
    check(&two[1..], 0, &["pg1711_zonky.x10a_c2r12", "aa.x10a_c2r12"]);
}

#[test]
fn a_change_is_planted_in_the_base_measured_again() {
    let words = [("build", "postgres:16.15"), ("build", "postgres:17.11"), ("base", "17.11"), ("control", "1%")];
    let names = |words: &[(&str, &str)]| -> Vec<(String, Option<f64>)> {
        plan(words, false).treatments.into_iter().map(|treatment| (treatment.name, treatment.planted)).collect()
    };
    let expected =
        [("pg1615_zonky.x10a_c2r8", None), ("pg1711_zonky.x10a_c2r8", None), ("control.x10a_c2r8", Some(0.01))];
    assert_eq!(names(&words), expected.map(|(name, planted)| (name.to_owned(), planted)));
    assert_eq!(plan(&words, false).treatments[2].build.source, plan(&words, false).treatments[1].build.source);
    // Beside the base alone, and beside the base measured again as it is.
    let alone = names(&words[1..]);
    assert_eq!((alone.len(), alone[1].1), (2, Some(0.01)));
    // With a CPU for each client what is planted is known.
    assert_eq!(names(&[&words[..], &[("clients", "1,2")]].concat()).len(), 3);
    let told = refused(&[&words[..], &[("clients", "1,3")]].concat());
    assert!(told.contains("with 3 clients on 2 CPUs the size of a planted change is not known"), "{told}");
    let both = names(&[&words[1..], &[("aa", "true")]].concat());
    let (twin, control) = (&both[1], &both[2]);
    assert_eq!((twin.0.split('.').next(), twin.1), (Some("aa"), None));
    assert_eq!((control.0.split('.').next(), control.1), (Some("control"), Some(0.01)));
}

#[test]
fn the_base_is_found_by_any_of_its_names() {
    for (base, index) in [
        ("16.15", 0),
        ("postgres:17.11", 1),
        ("pg1711_zonky", 1),
        ("pg1711_zonky.x10a_c2r5", 1),
        ("mine", 2),
        ("mine=postgres:/opt/pg", 2),
        ("/opt/pg", 2),
        ("mine.x10a", 2),
        ("18.6", 4),
        ("other", 3),
    ] {
        let builds = [
            ("build", "postgres:16.15"),
            ("build", "postgres:17.11"),
            ("build", "mine=postgres:/opt/pg"),
            ("build", "other=postgres:18.6"),
            ("build", "postgres:18.6"),
        ];
        assert_eq!(plan(&[&builds[..], &[("base", base)]].concat(), false).base, index, "{base}");
    }
    assert_eq!(plan(&[("build", "postgres:/a"), ("build", "postgres:17.11"), ("base", "pg1711_local")], false).base, 0);
}

#[test]
fn a_base_that_only_the_binaries_can_refute_is_told_at_expansion() {
    let words = [("build", "postgres:/opt/a"), ("build", "postgres:17.11"), ("base", "pg1710_local")];
    let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let campaign =
        read(None, &flags, Command::Run, &vocabulary(), &NoFiles).campaign.expect("nothing known to be wrong");
    let told = campaign.expand(&resolved(&campaign)).expect_err("no such base");
    expect_test::expect![[r#"
        --base pg1710_local: error: the base `pg1710_local` is none of the builds
            = expected one of pg1711_local.x10a_c2r12, pg1711_zonky.x10a_c2r12
            = help: did you mean `pg1711_local`?"#]]
    .assert_eq(&told[0].to_string());
}

#[test]
fn a_folder_without_the_plugin_is_told_at_expansion() {
    let words = [("build", "mariadb:/opt/a"), ("build", "mariadb:10.11.18"), ("storage-engine", "innodb,rocksdb")];
    let flags: Vec<Flag> = words.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let campaign =
        read(None, &flags, Command::Run, &vocabulary(), &NoFiles).campaign.expect("nothing known to be wrong");
    let mut resolved = resolved(&campaign);
    campaign.expand(&resolved).expect("as long as nobody knows");
    resolved.builds[0].storage = Some(vec![StorageEngine::Innodb, StorageEngine::Rocksdb]);
    campaign.expand(&resolved).expect("a plan");
    resolved.builds[0].storage = Some(vec![StorageEngine::Innodb]);
    let told = campaign.expand(&resolved).expect_err("refused");
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        --build mariadb:/opt/a: error: build pg1711_local has no rocksdb tables: it comes without their plugin
            = expected a build that has them, such as mariadb:10.11.18
            = help: or leave `rocksdb` out of `storage-engine`; `rqps builds show BUILD` tells what a build has"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn settings_of_a_build_come_on_top_of_the_campaigns() {
    let text = r#"
        build = ["postgres:16.15", { from = "postgres:17.11", profile = "x10b", set = { jit = true, a.b = 1 } }]
        [set]
        jit = "off"
        work_mem = "4MB"
    "#;
    let source = crate::Source::new("c", text.as_bytes());
    let campaign = read(Some(&source), &[], Command::Run, &vocabulary(), &NoFiles).campaign.expect("right");
    let plan = campaign.expand(&resolved(&campaign)).expect("a plan");
    let told: Vec<String> = plan.treatments.iter().map(|t| format!("{} {:?}", t.profile, t.set)).collect();
    assert_eq!(
        told,
        [r#"x10a {"jit": "off", "work_mem": "4MB"}"#, r#"x10b {"a.b": "1", "jit": "on", "work_mem": "4MB"}"#]
    );
}

#[test]
fn a_turn_is_as_long_as_said_and_no_longer_than_its_test() {
    let words = [("build", "postgres:16.15"), ("build", "postgres:17.11"), ("tests", "point-query,scan")];
    let words = [&words[..], &[("interleave", "turns"), ("turn", "60"), ("read-seconds", "60")]].concat();
    let turns = |words: &[(&str, &str)]| {
        let plan = plan(words, false);
        (plan.turn_seconds, crate::describe(&plan).matches("turns of 60 s").count())
    };
    assert_eq!(turns(&words), (Some(60.0), 2));
    assert_eq!(turns(&[&words[..], &[("turn", "3600")]].concat()), (Some(3600.0), 2));
    assert_eq!(turns(&words[..4]), (None, 0));
}

#[test]
fn interleaving_follows_word_then_test_then_profile_and_rate() {
    let how = |words: &[(&str, &str)]| -> String {
        let builds = [("build", "postgres:16.15"), ("build", "postgres:17.11"), ("tests", "update-one,scan")];
        let plan = plan(&[&builds, words].concat(), false);
        let how = |test: &TestPlan| test.interleave.map_or("", Interleave::name);
        plan.tests().into_iter().map(|test| format!("{} {} ", test.name, how(test))).collect()
    };
    assert_eq!(how(&[]), "update-one turns scan slices ");
    assert_eq!(how(&[("interleave", "slices")]), "update-one slices scan slices ");
    assert_eq!(how(&[("interleave", "turns")]), "update-one turns scan turns ");
    assert_eq!(how(&[("profile", "x10a_io")]), "update-one turns scan turns ");
    assert_eq!(how(&[("profile", "x10a_io"), ("interleave", "slices")]), "update-one slices scan slices ");
    assert_eq!(how(&[("rate", "100")]), "update-one turns scan turns ");
}

#[test]
fn a_name_is_made_from_suite_and_builds() {
    let name = |words: &[(&str, &str)]| plan(words, false).name;
    let two = [("build", "postgres:16.15"), ("build", "postgres:17.11")];
    assert_eq!(name(&two), "sysbench.pg1615_zonky-vs-pg1711_zonky");
    assert_eq!(name(&[&two[..], &[("base", "17.11")]].concat()), "sysbench.pg1711_zonky-vs-pg1615_zonky");
    assert_eq!(name(&[&two[..], &[("build", "postgres:18.6")]].concat()), "sysbench.pg1615_zonky-vs-2-others");
    // A build with two profiles is one build.
    let profiles = [&two[..], &[("build", "postgres:18.6"), ("profile", "x10a,x10b")]].concat();
    assert_eq!(name(&profiles), "sysbench.pg1615_zonky-vs-3-others");
    assert_eq!(name(&[&two[..], &[("name", "mine")]].concat()), "mine");
    assert_eq!(plan(&[], true).name, "demo");
    let long = "a".repeat(60);
    let long = name(&[("build", &format!("{long}=postgres:16.15")), ("build", "postgres:17.11")]);
    assert!(rqps_model::build::is_plain_name(&long), "{long}");
}

#[test]
fn the_demo_has_its_ten_tests_in_order_of_execution() {
    let plan = plan(&[], true);
    let tests = plan.tests();
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names.len(), 10, "{names:?}");
    assert_eq!(names[..3], ["update-index", "update-nonindex", "scan"]);
    // What tests that read begin with was made by all tests that write, not only by the two that were chosen.
    let [fresh, aged] = plan.stages.as_slice() else { panic!("{:?}", plan.stages) };
    assert_eq!((fresh.tests.len(), &fresh.aged, aged.tests.len()), (2, &None, 8));
    assert_eq!(aged.aged.as_ref().map(|aged| (aged.by.len(), aged.changes)), Some((8, 5000)));
    assert!(tests[2].before.is_empty(), "{:?}", tests[2].before);
    assert_eq!(plan.rounds, 5);
    assert!(tests.iter().all(|test| test.interleave == Some(Interleave::Slices)));
}

proptest! {
    #[test]
    fn the_same_words_give_the_same_plan(seed in 0u64..1000, rounds in 1u32..30, which in 0usize..4) {
        let (seed, rounds) = (seed.to_string(), rounds.to_string());
        let tests = ["32", "all", "*points*", "scan,insert"][which];
        let words = [
            ("build", "postgres:16.15"), ("build", "postgres:17.11"), ("build", "postgres:18.6"),
            ("tests", tests), ("seed", &seed), ("rounds", &rounds),
        ];
        let first = plan(&words, false);
        prop_assert_eq!(&first, &plan(&words, false));
        prop_assert_eq!(first.rounds.to_string(), rounds);
        let mut names: Vec<&String> = first.treatments.iter().map(|treatment| &treatment.name).collect();
        names.dedup();
        prop_assert_eq!(names.len(), 3);
    }
}

#[test]
fn engines_get_their_own_profiles_storage_engines_and_settings() {
    let told = |words: &[(&str, &str)]| -> Vec<String> {
        let treatment = |t: rqps_model::plan::TreatmentPlan| {
            let storage = t.storage.map_or("-", rqps_model::StorageEngine::name);
            let set: Vec<String> = t.set.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            format!("{} {} {storage}{}", t.name, t.profile, set.concat())
        };
        plan(words, false).treatments.into_iter().map(treatment).collect()
    };
    let three = [("build", "postgres:17.11"), ("build", "my8033"), ("build", "mariadb:11.4.5")];
    assert_eq!(
        told(&[&three[..], &[("set", "max-connections=50"), ("set", "sync_binlog=1"), ("set", "jit=on")]].concat()),
        [
            "pg1711_zonky.x10a_c2r8 x10a - jit=on max_connections=50",
            "my8033_rel.z12a_c2r8 z12a innodb max_connections=50 sync_binlog=1",
            "ma110405_rel.z12a_c2r8 z12a innodb max_connections=50 sync_binlog=1",
        ]
    );
    assert_eq!(
        told(&[("build", "ma110405"), ("storage-engine", "innodb,rocksdb"), ("profile", "z12a,z12b")]),
        [
            "ma110405_rel.z12a_c2r6 z12a innodb",
            "ma110405_rel.z12a_rocksdb_c2r6 z12a rocksdb",
            "ma110405_rel.z12b_c2r6 z12b innodb",
            "ma110405_rel.z12b_rocksdb_c2r6 z12b rocksdb",
        ]
    );
    assert_eq!(
        told(&[("build", "postgres:17.11"), ("build", "mysql:/tmp/mysql-9.4.0.tar.xz"), ("profile", "x10a,z13a")]),
        ["pg1711_zonky.x10a_c2r12 x10a -", "my9400_local.z13a_c2r12 z13a innodb"]
    );
}

#[test]
fn a_base_is_found_by_its_storage_engine() {
    let words = [("build", "mysql:8.0.33"), ("build", "ma110405"), ("profile", "z12a")];
    let text = "build = [\"mysql:8.0.33\", { from = \"ma110405\", storage-engine = [\"innodb\", \"rocksdb\"] }]\n";
    for (base, index) in [
        ("my8033", 0),
        ("8.0.33", 0),
        ("ma110405.z12a", 1),
        ("mariadb:11.4.5.z12a_rocksdb", 2),
        ("ma110405_rel.z12a_rocksdb_c2r8", 2),
    ] {
        let source = crate::Source::new("c", format!("{text}base = \"{base}\"\n").as_bytes());
        let reading = read(Some(&source), &[], Command::Run, &vocabulary(), &NoFiles);
        let campaign = reading.campaign.unwrap_or_else(|| panic!("{:?}", reading.diagnostics));
        assert_eq!(campaign.expand(&resolved(&campaign)).expect("a plan").base, index, "{base}");
    }
    assert_eq!(plan(&words, false).base, 0);
}

#[test]
fn what_engines_force_is_kept_where_they_differ() {
    let forced = |words: &[(&str, &str)]| -> String {
        let told = |form: rqps_model::plan::ForcedForm| {
            let engines: Vec<String> = form.forms.keys().map(ToString::to_string).collect();
            format!("{} in {:?} on {}\n", form.what, form.tests, engines.join(", "))
        };
        plan(words, false).forced.into_iter().map(told).collect()
    };
    let (pg, my, ma) = (("build", "postgres:17.11"), ("build", "my8033"), ("build", "ma110405"));
    let of_data = forced(&[pg, my, ("tests", "scan")]);
    expect_test::expect![[r#"
        column id in [] on postgres, mysql
        primary key in [] on postgres, mysql
        column c, ORDER BY in [] on postgres, mysql
        columns c and pad, as sent in [] on postgres, mysql
        load in [] on postgres, mysql
    "#]]
    .assert_eq(&of_data);
    let more = forced(&[pg, my, ("tests", "scan,read-only-sum,write-only,insert")]);
    expect_test::expect![[r#"
        statement begin in ["write-only", "read-only-sum"] on postgres, mysql
        statement insert in ["insert"] on postgres, mysql
    "#]]
    .assert_eq(more.strip_prefix(&of_data).expect("the same data"));
    assert!(forced(&[pg, my, ma, ("tests", "scan")]).contains("on postgres, mysql, mariadb"));
    assert_eq!(forced(&[my, ma, ("tests", "all")]), "");
    assert_eq!(forced(&[pg, pg, ("tests", "all")]), "");
}
