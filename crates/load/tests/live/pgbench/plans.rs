//! Plans of scripts: each statement with the values that it has when its script comes to it.

use super::{own, server};
use rqps_load::suite::Inputs;
use rqps_load::{own_plans, own_statement_work};
use rqps_model::own::{Own, Protocol};
use rqps_testkit::{LiveServer, PATIENCE};
use std::time::Instant;

/// What the built-in scripts change.
const STATE: &str = "SELECT sum(abalance), (SELECT sum(bbalance) FROM pgbench_branches), \
                     (SELECT count(*) FROM pgbench_history) FROM pgbench_accounts";

/// Kinds and plans of a test's statements.
fn plans(server: &LiveServer, own: &Own) -> Vec<(String, String)> {
    let found = own_plans(&server.target(), own, &own.tests[0], &Inputs::default()).unwrap();
    found.into_iter().map(|plan| (plan.statement, plan.plan)).collect()
}

fn kinds(plans: &[(String, String)]) -> Vec<&str> {
    plans.iter().map(|(kind, _)| kind.as_str()).collect()
}

/// What is expected of each plan: words that it has.
#[track_caller]
fn assert_plans(found: &[(String, String)], expected: &[(&str, &str)]) {
    assert_eq!(kinds(found), expected.iter().map(|(kind, _)| *kind).collect::<Vec<_>>());
    for ((kind, plan), (_, words)) in found.iter().zip(expected) {
        assert!(plan.contains(words), "{kind}: {words}: {plan}");
    }
}

#[test]
fn the_builtins_have_their_plans_in_every_mode_and_nothing_is_changed() {
    let server = server();
    let text = rqps_pgbench::Builtin::find("tpcb-like").unwrap().text;
    let before = server.ask(STATE);
    for protocol in Protocol::ALL {
        // Only a plan that is kept for all values shows a parameter in place of its value.
        // As pgbench draws it from the seed 1.
        let condition =
            if protocol == Protocol::Prepared { "Index Cond: (aid = $2)" } else { "Index Cond: (aid = 83876)" };
        let expected = [
            ("update-pgbench_accounts", condition),
            ("select-abalance", "using pgbench_accounts_pkey on pgbench_accounts"),
            ("update-pgbench_tellers", "Update on pgbench_tellers"),
            ("update-pgbench_branches", "Update on pgbench_branches"),
            ("insert-into", "Insert on pgbench_history"),
        ];
        let found = plans(&server, &own(&[("tpcb-like", 1, text)], protocol));
        assert_plans(&found, &expected);
        assert_eq!(found, plans(&server, &own(&[("tpcb-like", 1, text)], protocol)), "the values are always the same");
    }
    assert_eq!(server.ask(STATE), before);
}

#[test]
fn the_work_of_each_statement_is_counted_and_nothing_is_changed() {
    let server = server();
    let text = rqps_pgbench::Builtin::find("tpcb-like").unwrap().text;
    let before = server.ask(STATE);
    let counted = |text: &str, protocol| {
        let own = own(&[("script", 1, text)], protocol);
        own_statement_work(&server.target(), &own, &own.tests[0], &Inputs::default()).unwrap()
    };
    for protocol in [Protocol::Simple, Protocol::Prepared] {
        let found = counted(text, protocol);
        let executed: Vec<(&str, u32)> = found.iter().map(|one| (one.statement.as_str(), one.executions)).collect();
        let names = [
            "update-pgbench_accounts",
            "select-abalance",
            "update-pgbench_tellers",
            "update-pgbench_branches",
            "insert-into",
        ];
        assert_eq!(executed, names.map(|name| (name, 20)), "{protocol}");
        assert_eq!(found[1].counts["Rows Scanned"], 20.0, "{protocol}: {found:?}");
        assert!(found[4].counts["WAL Records"] >= 20.0 && found[1].counts["WAL Records"] == 0.0, "{found:?}");
    }
    assert_eq!(counted(text, Protocol::Extended), []);
    // What has no plan is executed all the same.
    let chained = "CREATE TEMP TABLE few AS SELECT generate_series(1, 50) AS n;\n\
                   SELECT count(*) AS rows FROM pgbench_branches \\gset\n\
                   SELECT abalance FROM pgbench_accounts WHERE aid = :rows;\n";
    let found = counted(chained, Protocol::Prepared);
    assert_eq!(found.iter().map(|one| one.executions).collect::<Vec<_>>(), [20, 20], "{found:?}");
    assert_eq!(server.ask(STATE), before);
}

#[test]
fn why_a_script_cannot_be_counted_is_told_in_the_place_of_its_work() {
    let server = server();
    let good = "SELECT abalance FROM pgbench_accounts WHERE aid = 1;\n";
    for (bad, words) in [
        ("INSERT INTO pgbench_branches (bid) VALUES (1);\n", "executing `bad.insert-into`: ERROR 23505: duplicate key"),
        ("SELECT bid FROM pgbench_branches WHERE bid = -1 \\gset\n", "\\gset expected one row, got 0"),
        (
            "\\setshell n echo 1\nSELECT :n::int;\n",
            "`bad.select` needs a number of the command of line 2, which is not run for this",
        ),
    ] {
        for protocol in [Protocol::Simple, Protocol::Prepared] {
            let bad = format!("{good}{bad}");
            let own = own(&[("good", 1, good), ("bad", 1, &bad), ("never", 0, "SELECT never;")], protocol);
            let found = own_statement_work(&server.target(), &own, &own.tests[0], &Inputs::default()).unwrap();
            let executed: Vec<(&str, u32)> = found.iter().map(|one| (one.statement.as_str(), one.executions)).collect();
            assert_eq!(executed, [("good.select-abalance", 20), ("bad", 0)], "{protocol}: {words}");
            let why = found[1].untold.as_deref().unwrap_or_default();
            assert!(why.contains(words), "{protocol}: {why}");
        }
    }
}

/// A script in which statements need what comes before them.
const CHAINED: &str = r"BEGIN;
CREATE TEMP TABLE few ON COMMIT DROP AS SELECT generate_series(1, 50) AS n;
ANALYZE few;
SELECT count(*) AS rows FROM few \gset
\if :rows = 50
SELECT aid AS found FROM pgbench_accounts WHERE aid = :rows \gset my_
UPDATE pgbench_accounts SET filler = 'it''s' WHERE aid = :my_found;
\else
DELETE FROM few WHERE n = :rows;
\endif
COMMIT;
VACUUM pgbench_branches;
SELECT no_such_column FROM few;
INSERT INTO few VALUES (:my_found);
\setshell answer exit 1
UPDATE few SET n = :answer;
";

#[test]
fn statements_have_the_values_and_tables_of_those_before_them() {
    let server = server();
    for protocol in Protocol::ALL {
        let condition = if protocol == Protocol::Simple { "Index Cond: (aid = 50)" } else { "Index Cond: (aid = " };
        let expected = [
            ("create-temp", if protocol == Protocol::Simple { "ProjectSet" } else { "not told: such a statement has" }),
            ("analyze", "not told: such a statement has no plan"),
            ("select-as", "Seq Scan on few"),
            ("select-aid", condition),
            ("update-pgbench_accounts", condition),
            ("delete-from", "not told: the script does not come to it with the values that were drawn"),
            ("vacuum", "not told: it failed: ERROR 25001: VACUUM cannot run inside a transaction block"),
            ("select-no_such_column", "not told: it failed: ERROR 42703: column \"no_such_column\" does not exist"),
            ("insert-into", "Insert on few"),
            ("update-few", "not told: it needs a number of the command of line 15, which is not run for plans"),
        ];
        assert_plans(&plans(&server, &own(&[("chained", 1, CHAINED)], protocol)), &expected);
    }
    assert_eq!(server.number("SELECT count(*) FROM pgbench_accounts WHERE filler = 'it''s'"), 0);
}

#[test]
fn pipelines_groups_and_several_scripts_are_told_statement_by_statement() {
    let server = server();
    let pipeline = "\\startpipeline\nSELECT 1;\n\\syncpipeline\nSELECT abalance FROM pgbench_accounts WHERE aid = 7;\n\
                    \\endpipeline\nSELECT bid FROM pgbench_tellers WHERE tid = -1 \\gset\nSELECT :bid::int;\n";
    let never = "SELECT never;";
    let found = plans(&server, &own(&[("piped", 1, pipeline), ("never", 0, never)], Protocol::Extended));
    let expected = [
        ("piped.select", "Result"),
        ("piped.select-abalance", "Index Cond: (aid = 7)"),
        ("piped.select-bid", "pgbench_tellers"),
        ("piped.select.7", "not told: the script ends before it: \\gset expected one row, got 0"),
    ];
    assert_plans(&found, &expected);
    let group = "BEGIN\\; CREATE TEMP TABLE one AS SELECT 41 AS n\\; UPDATE one SET n = n + 1\\; \
                 SELECT n FROM one\\; COMMIT \\aset\nSELECT :n;\n";
    let found = plans(&server, &own(&[("grouped", 1, group)], Protocol::Simple));
    assert_plans(&found, &[("create-temp", "\n->  Update on one"), ("select", "Result")]);
    assert!(found[0].1.contains("\n->  Seq Scan on one"), "{found:#?}");
    // Where it has no plan as it is sent, it is not sent in another way.
    let found = plans(&server, &own(&[("grouped", 1, "SELECT 1\\; SELECT 2;")], Protocol::Prepared));
    assert_plans(&found, &[("select-select", "not told: it failed: ERROR 42601: cannot insert multiple commands")]);
}

#[test]
fn asking_takes_no_longer_than_a_statement_may() {
    let server = server();
    let script = "SELECT pg_sleep(600);\nSELECT abalance FROM pgbench_accounts WHERE aid = 1;\n";
    let mut own = own(&[("slow", 1, script)], Protocol::Prepared);
    own.tests[0].timeout_seconds = 1.0;
    let begun = Instant::now();
    assert_plans(&plans(&server, &own), &[("select", "Result"), ("select-abalance", "Index Scan")]);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}
