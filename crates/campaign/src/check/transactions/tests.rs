//! Every fault that TPROC-C's words can have, as it is shown.

use crate::check::tests::check;
use crate::testing::plan;
use expect_test::expect;
use rqps_model::Engine;
use rqps_model::plan::{Alternate, DataSet, SuitePlan};

const TWO: &str = "build = [\"postgres:16.15\", \"mysql:8.0.33\"]\nsuite = \"tproc-c\"\n";

#[test]
fn words_of_other_suites_and_their_words_for_this_one() {
    check(
        &format!("{TWO}rows = 5\nread-seconds = 5\nrate = 100\nscale = \"small\"\npreset = \"publisht\"\n"),
        expect![[r#"
            campaign.toml:3:8: error: `rows` belongs to suite sysbench and insert, and this is suite tproc-c
            3 | rows = 5
              |        ^
              = help: use `warehouses`
            campaign.toml:4:16: error: `read-seconds` belongs to suite sysbench and insert and own, and this is suite tproc-c
            4 | read-seconds = 5
              |                ^
              = help: use `seconds`
            campaign.toml:5:8: error: `rate` belongs to suite sysbench and own, and this is suite tproc-c
            5 | rate = 100
              |        ^^^
              = help: use `keying-and-thinking`
            campaign.toml:6:9: error: `scale` belongs to suite insert, and this is suite tproc-c
            6 | scale = "small"
              |         ^^^^^^^
              = help: use `warehouses`
            campaign.toml:7:10: error: `preset` cannot be `publisht`
            7 | preset = "publisht"
              |          ^^^^^^^^^^ expected published
              = help: did you mean `published`?"#]],
    );
}

#[test]
fn a_form_for_each_engine_and_quirks_for_hammerdb_alone() {
    check(
        &format!("{TWO}form = [\"function\", \"procedure\"]\n"),
        expect![[r#"
        campaign.toml:3:8: error: no form of transactions for mysql
        3 | form = ["function", "procedure"]
          |        ^^^^^^^^^^^^^^^^^^^^^^^^^ expected one of client-sql, call, prepared-call for mysql
          = help: give one for each engine: form = ["function", "call"]
        campaign.toml:3:21: error: two forms of transactions for postgres
        3 | form = ["function", "procedure"]
          |                     ^^^^^^^^^^^ expected one of client-sql, function, procedure for postgres"#]],
    );
    check(
        "build = [\"postgres:16.15\", \"postgres:17.11\"]\nsuite = \"tproc-c\"\nform = [\"call\"]\n",
        expect![[r#"
        campaign.toml:3:8: error: no form of transactions for postgres
        3 | form = ["call"]
          |        ^^^^^^^^ expected one of client-sql, function, procedure for postgres
          = help: give one for each engine: form = ["function", "call"]
        campaign.toml:3:9: error: no build has transactions of the form `call`
        3 | form = ["call"]
          |         ^^^^^^
          = help: leave it out"#]],
    );
    check(
        &format!("{TWO}quirks = [\"even-id\"]\n"),
        expect![[r#"
        campaign.toml:3:11: error: unknown quirk `even-id`
        3 | quirks = ["even-id"]
          |           ^^^^^^^^^ expected all, none, or names of quirks (docs/tproc-c.md)
          = help: did you mean `even-ids`?"#]],
    );
    check(
        &format!("{TWO}quirks = [\"even-ids\"]\n"),
        expect![[r#"
        campaign.toml:3:10: error: profile tpcc has no quirks
        3 | quirks = ["even-ids"]
          |          ^^^^^^^^^^^^ expected none
          = help: they are HammerDB's: tproc-c-profile = "hammerdb""#]],
    );
    check(
        &format!("{TWO}keying-and-thinking = true\ninterleave = \"slices\"\n"),
        expect![[r#"
        campaign.toml:3:23: error: keying and thinking need turns, not slices
        3 | keying-and-thinking = true
          |                       ^^^^ expected interleave = "turns", or no keying and thinking
          = help: a virtual user that thinks is idle for seconds, and a slice is over in milliseconds"#]],
    );
}

#[test]
fn each_number_of_warehouses_is_a_stage_with_data_of_its_own() {
    let two = [("suite", "tproc-c"), ("build", "postgres:16.15"), ("build", "my8033")];
    let planned = |words: &[(&str, &str)]| plan(&[&two, words].concat(), false);
    let small = planned(&[("warehouses", "2,4"), ("clients", "1,4"), ("tproc-c-profile", "hammerdb")]);
    let names: Vec<&str> = small.tests().into_iter().map(|test| test.name.as_str()).collect();
    assert_eq!((names, small.clients()), (vec!["w=2", "w=4"], vec![1, 4]));
    let warehouses: Vec<String> = small.stages.iter().map(|stage| stage.data.to_string()).collect();
    assert_eq!(warehouses, ["2 warehouses", "4 warehouses"]);
    assert!(small.stages.iter().all(|stage| stage.freezes(&stage.tests[0])));
    let SuitePlan::TprocC(shape) = &small.suite else { panic!("{:?}", small.suite) };
    assert_eq!(shape.rules(), "hammerdb, function (postgres), call (mysql)");
    assert!(shape.forms.keys().eq(&[Engine::Postgres, Engine::Mysql]) && shape.quirks_in_words() == "all");

    let published = planned(&[("preset", "published"), ("clients", "10")]);
    let DataSet::Warehouses(data) = &published.stages[0].data else { panic!("{:?}", published.stages[0]) };
    assert_eq!((data.warehouses, data.partitions, published.clients()), (1000, 10, vec![10]));
    let thinking = planned(&[("keying-and-thinking", "true")]);
    for in_turns in [&published, &thinking] {
        let stage = &in_turns.stages[0];
        assert_eq!((stage.alternate, stage.tests[0].interleave), (Alternate::OneByOne, None));
        assert!(!stage.freezes(&stage.tests[0]) && in_turns.why_one_by_one.is_some());
    }
    assert!(shape.quirks.iter().any(|quirk| quirk.is_of_data()));
    let chosen = planned(&[("tproc-c-profile", "hammerdb"), ("quirks", "even-ids,no-retry")]);
    let SuitePlan::TprocC(shape) = &chosen.suite else { panic!("{:?}", chosen.suite) };
    assert_eq!(shape.quirks_in_words(), "even-ids, no-retry");
}
