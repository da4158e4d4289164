//! The user's own workload, compiled for each build: steps that keep what their answers hold, and values that the base
//! alone is asked for.

use crate::own::{TWO_ROUNDS, campaign, found, named, row, write};
use crate::scene::{BUILD, Scene, results};

#[test]
fn a_column_that_one_build_lacks_fails_its_tests_there_and_the_campaign_goes_on() {
    let scene = Scene::new();
    let workload = r#"
format = 1
[data]
schema = "tables.sql"
[data.only.b]
schema = "less.sql"
[values]
customer = { uniform = [1, 100] }
[check]
answers = "off"
[[test]]
name = "buy"
transaction = true
[[test.step]]
name = "find"
sql = "SELECT credit FROM customers WHERE id = :customer"
keep = ["credit"]
[[test.step]]
name = "put"
sql = "INSERT INTO orders (customer, total) VALUES (:customer, :find.credit) RETURNING id"
keep = ["id"]
[[test.step]]
name = "last"
sql = "SELECT lastval() AS id"
keep = ["id"]
[[test.step]]
name = "pay"
sql = "UPDATE orders SET paid = 1 / (SELECT count(*) FROM orders WHERE id = :put.id) WHERE id = :last.id"
[[test]]
name = "gone"
[[test.step]]
name = "look"
sql = "SELECT * FROM customers WHERE id = :customer"
keep = ["region"]
[[test.step]]
name = "count"
sql = "SELECT count(*) FROM orders WHERE total = :look.region"
[[test]]
name = "good"
sql = "SELECT credit FROM customers WHERE id = :customer"
[[test]]
name = "both"
mix = { good = 1, gone = 1 }
"#;
    let tables = "CREATE TABLE customers AS SELECT id, 7 AS credit, 1 AS region FROM generate_series(1, 100) AS id;\n\
                  CREATE TABLE orders (id serial PRIMARY KEY, customer int NOT NULL, total int NOT NULL, paid bigint);\n";
    let less = "ALTER TABLE customers DROP COLUMN region;\n";
    write(&scene, &[("w.toml", workload), ("tables.sql", tables), ("less.sql", less)]);
    let more = [&["--from", "w.toml"], &TWO_ROUNDS[..]].concat();
    scene.end(campaign(&scene, "lacking", &named(&["a", "b"]), &more)).with_code(3);
    let samples = results(&scene.campaign("lacking")).samples().expect("whole");
    let failures = |treatment: &str, test: &str| {
        let is_meant = |it: &&rqps_model::Sample| it.treatment.starts_with(treatment) && it.test == test;
        let of = samples.iter().map(|folder| &folder.sample).filter(is_meant);
        of.map(|it| (it.failure.clone().unwrap_or_default(), it.server_start.clone())).collect::<Vec<_>>()
    };
    for (test, is_lacking) in [("buy", false), ("gone", true), ("good", false), ("both", true)] {
        for treatment in ["a.", "b."] {
            let failures = failures(treatment, test);
            let lacks = |why: &str| why.contains("`look` keeps `region`, and its answer has only id, credit");
            let is_meant =
                |(why, _): &(String, _)| if is_lacking && treatment == "b." { lacks(why) } else { why.is_empty() };
            assert!(failures.len() == 2 && failures.iter().all(is_meant), "{test} on {treatment}: {failures:?}");
        }
    }
    // Its server is in no doubt, and goes on with the next test.
    let starts = |test| failures("b.", test).into_iter().map(|(_, start)| start).collect::<Vec<_>>();
    assert_eq!(starts("gone"), starts("good"));
    let compared = found(&scene, "lacking", 3);
    for test in ["buy", "good"] {
        assert!(row(&compared, test, "b")["rqps"].is_number(), "{compared:#}");
    }
    scene.assert_nothing_left();
}

#[test]
fn values_are_asked_of_the_base_and_need_no_query_for_other_engines() {
    let scene = Scene::new();
    rqps_testkit::build("mysql:5.7.22");
    scene.share_of_cache("builds");
    let workload = r#"
format = 1
[data]
schema = "t.sql"
[values]
id = { query = { postgres = "SELECT id FROM t ORDER BY id" } }
[[test]]
name = "look"
sql = "SELECT n FROM t WHERE id = :id"
rows = 1
"#;
    let table = "CREATE TABLE t (id int PRIMARY KEY, n int);\nINSERT INTO t VALUES (1, 10), (2, 20), (3, 30);\n";
    write(&scene, &[("w.toml", workload), ("t.sql", table)]);
    let builds = [format!("base={BUILD}"), "other=mysql:5.7.22".to_owned()];
    let more = ["--from", "w.toml", "--rounds", "1"];
    let ended = scene.end(campaign(&scene, "asked", &builds, &more)).with_code(0);
    assert!(!ended.stderr.contains("is excluded"), "{}", ended.stderr);
    let compared = found(&scene, "asked", 0);
    let other = row(&compared, "look", "other");
    assert!(other["throughput"].as_f64().is_some_and(|throughput| throughput > 0.0), "{other:#}");
    scene.assert_nothing_left();
}
