//! What servers begin with: when it is renewed, and the files that one build has of its own.

use super::{BUILDS, faults, own};
use crate::testing::{TextFiles, vocabulary};
use crate::{Command, Flag, Resolved, read};
use rqps_model::Engine;
use rqps_model::plan::Renew;
use std::path::Path;

#[test]
fn renewal_and_equal_work_are_keys_of_the_file() {
    let text = "format = 1\n[data]\nrenew = \"round\"\nsql-mode = \"ANSI\"\n[defaults]\nevents = 500\n[[test]]\nname = \"a\"\n\
                sql = \"DELETE FROM t\"\n[[test]]\nname = \"b\"\nevents = 20\nsql = \"SELECT 1\"\n";
    let workload = own(&[("w.toml", text)], &[("from", "w.toml")]);
    assert!(workload.data.renew_per_round);
    assert_eq!(workload.tests.iter().map(|test| test.events).collect::<Vec<_>>(), [Some(500), Some(20)]);
    let flags = BUILDS.iter().chain(&[("from", "w.toml")]).map(|(name, value)| Flag::new(*name, *value));
    let reading =
        read(None, &flags.collect::<Vec<_>>(), Command::Run, &vocabulary(), &TextFiles::of(&[("w.toml", text)]));
    let campaign = reading.campaign.expect("no fault");
    let plan = campaign.expand(&crate::testing::resolved(&campaign)).expect("a plan");
    let renewed: Vec<_> = plan.stages.iter().map(|stage| stage.renew).collect();
    assert_eq!(renewed, [Renew::PerStage; 2]);
    assert!(plan.stages.iter().flat_map(|stage| &stage.tests).all(|test| !test.timed));
    let told = crate::describe(&plan);
    assert!(
        told.lines().any(|line| line.starts_with("  b ") && line.ends_with(" ms, 1 statement, prepared")),
        "{told}"
    );

    let wrong = text.replace("\"round\"", "\"never\"").replace("events = 20", "events = 0");
    let told = faults(&[("w.toml", &wrong)], &[("from", "w.toml")]);
    assert!(told.contains("`renew` cannot be `never`") && told.contains("test or round"), "{told}");
    assert!(told.contains("`events` cannot be 0"), "{told}");
    let told = faults(&[("w.toml", text)], &[("from", "w.toml"), ("control", "1%"), ("rate", "100")]);
    assert_eq!(told.matches("a test with `events` runs as fast as it can").count(), 2, "{told}");
}

#[test]
fn tests_that_write_can_be_left_out_unless_builds_go_on_with_their_data() {
    let text = "format = 1\n[data]\nschema = \"t.sql\"\n[[test]]\nname = \"a\"\nsql = \"SELECT 1\"\n\
                [[test]]\nname = \"b\"\nsql = \"DELETE FROM t\"\n";
    let files = TextFiles::of(&[("w.toml", text), ("t.sql", "CREATE TABLE t (a int);")]);
    let words = [("from", "w.toml"), ("time", "1h"), ("until-decided", "true")];
    let flags: Vec<Flag> = BUILDS.iter().chain(&words).map(|(name, value)| Flag::new(*name, *value)).collect();
    let campaign = read(None, &flags, Command::Run, &vocabulary(), &files).campaign.expect("no fault");
    let resolved = crate::testing::resolved(&campaign);
    let plan = campaign.expand(&resolved).expect("a plan");
    assert_eq!(plan.stages.iter().map(|stage| stage.renew).collect::<Vec<_>>(), [Renew::PerStage, Renew::PerTest]);
    assert!(plan.division().is_some_and(|division| division.until_decided));
    let full = Resolved { disk_free_bytes: Some(1), ..resolved };
    let told = campaign.expand(&full).expect_err("nothing ends with the last decision").remove(0).to_string();
    for part in ["--until-decided true: error: here every round measures every test", "a copy for each test", "leave"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn files_for_a_build_that_is_not_there_are_noted_with_those_that_are() {
    let text = "format = 1\n[data.only.mien]\nschema = \"a.sql\"\n[data.only.mine]\nschema = \"a.sql\"\n\
                [[test]]\nname = \"a\"\nsql = \"SELECT 1\"\n";
    let files = [("w.toml", text), ("a.sql", "DROP INDEX i;")];
    let named = [("build", "mine=postgres:17.11"), ("from", "w.toml")];
    let told = faults(&files, &named);
    assert_eq!(told.matches("is for no build of this campaign").count(), 1, "{told}");
    assert!(told.contains("w.toml:2:12: note: `data.only.mien`") && told.contains("its builds are "), "{told}");
    // The name of a folder's build is not known before it is looked at.
    assert_eq!(faults(&files, &[("build", "postgres:/opt/pg"), ("from", "w.toml")]), "");
}

#[test]
fn files_for_one_build_are_those_of_its_engine() {
    let text = "format = 1\n[data.only.pg]\nschema = { mysql = \"my.sql\", postgres = \"pg.sql\" }\n[data.only.my]\n\
                schema = { postgres = \"pg.sql\", mysql = \"my.sql\" }\n[[test]]\nname = \"a\"\nsql = \"SELECT 1\"\n";
    let named = [("from", "w.toml"), ("build", "pg=postgres:17.11"), ("build", "my=mysql:8.0.33")];
    let files = |text| [("w.toml", text), ("pg.sql", "DROP INDEX i;"), ("my.sql", "DROP INDEX i ON t;")];
    let only = own(&files(text), &named).data.only;
    for (name, engine, file) in [("pg", Engine::Postgres, "pg.sql"), ("my", Engine::Mysql, "my.sql")] {
        let found: Vec<_> = only[name].iter().map(|(engine, files)| (*engine, files[0].path.as_path())).collect();
        assert_eq!(found, [(engine, Path::new(file))], "{name}");
    }
    let told = faults(&files(&text.replace(", mysql = \"my.sql\"", "")), &named);
    assert!(told.contains("w.toml:4:1: error: `data.only.my` has no file for MySQL"), "{told}");
    assert!(told.contains("add it: schema = { mysql = \"...\" }"), "{told}");
}
