//! The user's own workload: the example, what is left out for one build, pgbench's scripts, and statements that a
//! server refuses.

use crate::scene::{BUILD, Ended, Scene, command_line, processes_in, published, results, starts};
use rqps_machine::proctree::ProcessId;
use rqps_testkit::{LiveServer, Wanted};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

fn example() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop/shop.toml");
    folder.display().to_string()
}

/// A short campaign on the user's own workload.
pub(crate) fn campaign(scene: &Scene, name: &str, builds: &[String], more: &[&str]) -> Command {
    // Five rounds, since three say little where the machine has other work as well.
    let mut command = scene.rqps(&["run", "--suite", "own", "--name", name, "--rounds", "5", "--machine", "c2r1"]);
    command.args(["--read-seconds", "0.3", "--write-seconds", "0.3", "--warmup", "0.1"]).args(more);
    builds.iter().for_each(|build| _ = command.args(["--build", build]));
    command
}

/// For a campaign in which nothing is judged.
pub(crate) const TWO_ROUNDS: [&str; 2] = ["--rounds", "2"];

/// What a campaign found; the exit code is 3 where something failed.
pub(crate) fn found(scene: &Scene, name: &str, code: i32) -> Value {
    scene.end(scene.rqps(&["compare", &format!("results/{name}"), "--json"])).with_code(code).json()
}

/// Asserts that the table tells all of this, wherever it breaks its lines.
#[track_caller]
pub(crate) fn assert_told(ended: &Ended, told: &[&str]) {
    let all = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    told.iter().for_each(|told| assert!(all.contains(told), "{told}: {}", ended.stdout));
}

/// Writes the user's files.
pub(crate) fn write(scene: &Scene, files: &[(&str, &str)]) {
    files.iter().for_each(|(name, text)| fs::write(scene.path(name), text).expect("written"));
}

pub(crate) fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{name}={BUILD}")).collect()
}

/// The row of a test on a treatment.
pub(crate) fn row<'a>(comparison: &'a Value, test: &str, treatment: &str) -> &'a Value {
    let rows = comparison["rows"].as_array().expect("rows");
    let is_meant =
        |row: &&Value| row["test"] == test && row["treatment"].as_str().is_some_and(|name| name.starts_with(treatment));
    rows.iter().find(is_meant).unwrap_or_else(|| panic!("{test} on {treatment}: {comparison:#}"))
}

#[test]
fn a_missing_index_is_found_with_its_plan_and_a_changed_row_is_named() {
    let scene = Scene::new();
    let (example, builds) = (example(), named(&["base", "without-index", "other-row"]));
    let tests = "orders-of-customer,best-customers,mix";
    let ended = scene.end(campaign(&scene, "shop", &builds, &["--from", &example, "--tests", tests])).with_code(0);
    assert!(ended.stdout.contains("largest change first"), "{}", ended.stdout);
    scene.assert_nothing_left();
    let compared = found(&scene, "shop", 0);
    let slow = row(&compared, "orders-of-customer", "without-index");
    assert_eq!(slow["verdict"], "regressed", "{slow:#}");
    assert!(slow["rqps"].as_f64().is_some_and(|rqps| rqps < 0.5), "{slow:#}");
    let other = row(&compared, "orders-of-customer", "other-row");
    assert_eq!(other["verdict"], "undecided", "{other:#}");
    // Nor has a mix one whose part answers otherwise.
    let mixed = row(&compared, "mix", "other-row");
    assert!(mixed["throughput"].is_number() && mixed["low"].is_null(), "{mixed:#}");
    assert!(row(&compared, "mix", "without-index")["low"].is_number(), "{compared:#}");
    assert_told(&ended, &["row 2 differs in total", "Seq Scan on orders"]);
    // What was left out of the dump is told there, too.
    let report = fs::read_to_string(scene.campaign("shop").join("report.html")).expect("written");
    assert!(report.contains("ALTER ... OWNER TO"), "{}", ended.stdout);
    // Values of statements are nobody else's business, until they are asked for.
    let read = |name: &str| fs::read_to_string(scene.campaign("shop").join(name)).expect("written");
    for name in ["report.html", "findings.json"] {
        assert!(!read(name).contains("'eu'") && read(name).contains("region = ?"), "{name}");
    }
    for command in ["compare", "explain"] {
        let text = scene.end(scene.rqps(&[command, "results/shop", "--markdown"])).with_code(0).stdout;
        let is_told = |line: &str| line.starts_with("- **orders-of-customer**") && line.contains("another plan of ");
        assert!(text.lines().any(is_told) && !text.contains("'eu'"), "{text}");
    }
    scene.end(scene.rqps(&["report", "results/shop", "--show-literals"])).with_code(0);
    assert!(read("findings.json").contains("'eu'"));
    // The verdict that was held back can be had.
    let builds = named(&["base", "other-row"]);
    let more = ["--from", &example, "--tests", "orders-of-customer", "--answers", "may-differ", "--rounds", "2"];
    scene.end(campaign(&scene, "again", &builds, &more)).with_code(0);
    let compared = found(&scene, "again", 0);
    let allowed = row(&compared, "orders-of-customer", "other-row");
    assert!(allowed["low"].is_number(), "{allowed:#}");
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn the_example_runs_on_mysql_too_from_the_same_file() {
    let scene = Scene::new();
    let (example, builds) = (example(), ["a", "b"].map(|name| format!("{name}=mysql:5.7.22")));
    let short = ["--rounds", "1", "--read-seconds", "0.1", "--write-seconds", "0.1", "--warmup", "0.05"];
    let more = [&short[..], &["--from", &example]].concat();
    scene.end(campaign(&scene, "shop", &builds, &more)).with_code(0);
    let compared = found(&scene, "shop", 0);
    let rows = compared["rows"].as_array().expect("rows");
    let measured = rows.iter().filter(|row| row["throughput"].as_f64().is_some_and(|throughput| throughput > 0.0));
    assert_eq!(measured.count(), 14, "{compared:#}");
    scene.assert_nothing_left();
}

#[test]
fn scripts_of_pgbench_run_as_they_are() {
    let scene = Scene::new();
    let script = "\\set aid random_zipfian(1, 100000 * :scale, 1.2)\n\
                  SELECT abalance, bid FROM pgbench_accounts WHERE aid = :aid \\gset my_\n\
                  \\if :my_abalance >= 0\n\
                  UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = :my_bid;\n\
                  \\else\nSELECT 'never';\n\\endif\n\\sleep 1 ms\n\\setshell n echo 3\n\
                  \\startpipeline\nSELECT :n::int;\nSELECT :aid::int;\n\\endpipeline\n";
    write(&scene, &[("mine.sql", script)]);
    let builds = named(&["a", "b"]);
    let from = ["--from", "select-only", "--from", "tpcb-like@2", "--from", "mine.sql"];
    let more = [&from[..], &["--clients", "2", "--protocol", "extended", "--max-tries", "5", "--rounds", "1"]].concat();
    // Its author must be trusted first.
    scene.end(campaign(&scene, "scripts", &builds, &more)).refused(&["mine.sql:9:", "`allow-shell`"]);
    let more = [&more[..], &["--allow-shell"]].concat();
    let ended = scene.end(campaign(&scene, "scripts", &builds, &more)).with_code(0);
    assert!(ended.stderr.contains("so builds take turns"), "{}", ended.stderr);
    let compared = found(&scene, "scripts", 0);
    for test in ["select-only", "tpcb-like", "mine", "mix"] {
        let row = row(&compared, test, "b");
        assert!(row["throughput"].as_f64().is_some_and(|throughput| throughput > 10.0), "{row:#}");
    }
    scene.assert_nothing_left();
    write(&scene, &[("wrong.sql", "SELECT 1;\n\\set x 1 +\n\\shell rm x\n")]);
    scene.end(campaign(&scene, "wrong", &builds, &["--from", "wrong.sql"])).refused(&["wrong.sql:2:"]);
}

#[test]
fn plans_of_scripts_are_compared_like_those_of_queries() {
    let scene = Scene::new();
    let workload = r#"
format = 1
[data]
schema = "places.sql"
[data.only.b]
schema = "drop.sql"
[[test]]
name = "places"
pgbench = ["look.sql", "count.sql"]
"#;
    let schema = "CREATE TABLE places AS SELECT n AS id, md5(n::text) AS name FROM generate_series(1, 20000) AS n;\n\
                  CREATE INDEX places_name ON places (name);\n";
    let look = "\\set id random(1, 20000)\nBEGIN;\nSELECT md5(:id::text) AS found \\gset\n\
                SELECT id FROM places WHERE name = :found AND name <> 'secret';\nEND;\n";
    let drop = "DROP INDEX places_name;\n";
    let count = "SELECT count(*) FROM places;\n";
    write(&scene, &[("w.toml", workload), ("places.sql", schema), ("drop.sql", drop), ("look.sql", look)]);
    write(&scene, &[("count.sql", count)]);
    let ended =
        scene.end(campaign(&scene, "places", &named(&["a", "b"]), &["--from", "w.toml", "--rounds", "1"])).with_code(0);
    assert_told(&ended, &["another plan for look.sql.select-id: Seq Scan on places instead of Index Scan"]);
    let report = fs::read_to_string(scene.campaign("places").join("report.html")).expect("written");
    assert!(report.contains("look.sql.select-id") && report.contains("Filter: ") && !report.contains("secret"));
    let plans = results(&scene.campaign("places")).plans("a.x10a_c2r1", "places").expect("whole").expect("kept");
    let kinds: Vec<&str> = plans.iter().map(|plan| plan.statement.as_str()).collect();
    assert_eq!(kinds, ["look.sql.select-as", "look.sql.select-id", "count.sql.select-from"], "{plans:#?}");
    scene.assert_nothing_left();
}

#[test]
fn a_build_that_answers_too_late_is_told_of_and_holds_nobody_up() {
    let scene = Scene::new();
    let workload = r#"
format = 1
[data]
schema = "fast.sql"
[data.only.b]
schema = "slow.sql"
[defaults]
timeout = "500 ms"
[[test]]
name = "late"
sql = "SELECT answer()"
[[test]]
name = "other"
sql = "SELECT 1"
"#;
    let function = |body: &str| format!("CREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql AS '{body}';\n");
    // Immutable, so that it is called to plan a statement, too.
    let slow = "CREATE FUNCTION late() RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM pg_sleep(600); RETURN 1; \
                END';\nCREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT late()';\n";
    let fast = function("SELECT 1");
    write(&scene, &[("w.toml", workload), ("fast.sql", &fast), ("slow.sql", slow)]);
    let more = [&["--from", "w.toml"], &TWO_ROUNDS[..]].concat();
    let ended = scene.end(campaign(&scene, "late", &named(&["a", "b"]), &more)).with_code(3);
    assert_told(&ended, &["3 events took longer than they may in a row", "late is not answered within 0.5 s"]);
    let report = fs::read_to_string(scene.campaign("late").join("report.html")).expect("written");
    assert!(report.contains("late was slower than 0.5 s, and cancelled, "), "the report tells it too");
    let plans = results(&scene.campaign("late")).plans("b.x10a_c2r1", "late").expect("whole").expect("kept");
    assert!(plans[0].plan.starts_with("not told: "), "{plans:#?}");
    let compared = found(&scene, "late", 3);
    assert!(row(&compared, "other", "b")["rqps"].is_number(), "{compared:#}");
    scene.assert_nothing_left();
}

/// MySQL 5.6 ends no statement by itself, later ones no write.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn what_hangs_on_mysql_is_killed_and_the_campaign_goes_on() {
    let scene = Scene::new();
    let workload = r#"
format = 1
[data]
schema = "fast.sql"
[data.only.b]
schema = "slow.sql"
[defaults]
timeout = "500 ms"
[[test]]
name = "late-read"
sql = "SELECT answer()"
[[test]]
name = "late-write"
sql = "UPDATE t SET n = answer() WHERE id = 1"
[[test]]
name = "other"
sql = "SELECT n FROM t WHERE id = 2"
"#;
    let function = |value: &str| format!("CREATE FUNCTION answer() RETURNS int NO SQL RETURN {value};\n");
    let table = "CREATE TABLE t (id int PRIMARY KEY, n int);\nINSERT INTO t VALUES (1, 0), (2, 0);\n";
    let fast = format!("{table}{}", function("1"));
    let slow = format!("DROP FUNCTION answer;\n{}", function("SLEEP(600)"));
    write(&scene, &[("w.toml", workload), ("fast.sql", &fast), ("slow.sql", &slow)]);
    let builds = ["a", "b"].map(|name| format!("{name}=mysql:5.6.14"));
    let ended = scene.end(campaign(&scene, "late", &builds, &["--from", "w.toml", "--rounds", "2"])).with_code(3);
    let told = ["3 events took longer than they may in a row", "with 1317 (57014)"];
    assert_told(&ended, &[&told[..], &["late-read is not answered within 0.5 s"]].concat());
    let report = fs::read_to_string(scene.campaign("late").join("report.html")).expect("written");
    assert!(report.contains("late-write was slower than 0.5 s, and cancelled, "), "the report tells it too");
    let compared = found(&scene, "late", 3);
    assert!(row(&compared, "other", "b")["rqps"].is_number(), "{compared:#}");
    scene.assert_nothing_left();
}

#[test]
fn a_statement_that_a_server_refuses_fails_its_test_there_and_no_other() {
    let scene = Scene::new();
    let workload = r#"
format = 1
[data]
schema = "tables.sql"
[data.only.b]
schema = "less.sql"
[[table]]
name = "t"
rows = 1000
columns = { id = { sequence = 1 }, name = { text = [1, 9] } }
[values]
id = { uniform = [1, 1000] }
[[test]]
name = "gone"
sql = "SELECT * FROM only_sometimes WHERE id = :id"
[[test]]
name = "good"
sql = "SELECT name FROM t WHERE id = :id"
[[test]]
name = "bump"
sql = "SELECT bump()"
"#;
    let tables = "CREATE TABLE t (id int PRIMARY KEY, name text);\nCREATE TABLE only_sometimes (id int);\n\
                  CREATE TABLE bumps (n serial);\nCREATE FUNCTION bump() RETURNS int LANGUAGE sql AS \
                  'INSERT INTO bumps DEFAULT VALUES RETURNING n';\n";
    let less = "DROP TABLE only_sometimes;\n";
    write(&scene, &[("w.toml", workload), ("tables.sql", tables), ("less.sql", less)]);
    let builds = named(&["a", "b"]);
    let more = [&["--from", "w.toml"], &TWO_ROUNDS[..]].concat();
    let ended = scene.end(campaign(&scene, "refused", &builds, &more)).with_code(3);
    assert!(ended.stdout.contains("only_sometimes"), "{}", ended.stdout);
    // Asking for answers changes nothing, whatever a function does: each would be the next number.
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words.contains("bump answers differently"), "{}", ended.stdout);
    // Its server is in no doubt, and goes on with the next test.
    let samples = results(&scene.campaign("refused")).samples().expect("whole");
    let starts = |test: &str| {
        let of =
            samples.iter().map(|folder| &folder.sample).filter(|it| it.treatment.starts_with("b.") && it.test == test);
        of.map(|it| (it.failure.is_some(), it.server_start.clone())).collect::<Vec<_>>()
    };
    let (gone, good) = (starts("gone"), starts("good"));
    assert!(gone.len() == 2 && gone.iter().all(|(failed, _)| *failed), "{gone:?}");
    assert_eq!(good, gone.into_iter().map(|(_, start)| (false, start)).collect::<Vec<_>>());
    let compared = found(&scene, "refused", 3);
    assert!(row(&compared, "good", "b")["rqps"].is_number(), "{compared:#}");
    scene.assert_nothing_left();

    // What a server refuses while it loads is told with its line, and nothing is left.
    write(&scene, &[("tables.sql", "CREATE TABLE t (id int);\n\nCREATE TABL u (id int);\n")]);
    let ended = scene.end(campaign(&scene, "broken", &builds, &["--from", "w.toml"]));
    assert!(ended.stderr.contains("tables.sql:3: "), "{}", ended.stderr);
    scene.assert_nothing_left();
}

/// The pg_restore of this scene that makes SQL of an archive, once it is at work.
fn pg_restore(scene: &Scene) -> Option<ProcessId> {
    let of_it = |process: &ProcessId| command_line(*process).contains("/pg_restore --file - ");
    processes_in(scene.data()).into_iter().find(|process| of_it(process) && !command_line(*process).contains("setpriv"))
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn killed_while_an_archive_is_loaded_and_resumed() {
    let scene = Scene::new();
    let server = LiveServer::start(&Wanted::postgres());
    let rows = "CREATE TABLE t AS SELECT id, md5(id::text) AS name FROM generate_series(1, 200000) AS id";
    server.session().execute(rows).expect("filled");
    let dumped = Command::new("/usr/lib/postgresql/15/bin/pg_dump")
        .args(["--format", "custom", "--compress", "1", "--username", &server.endpoint().user, "--host"])
        .arg(server.folder())
        .args(["--file", "t.dump", &server.endpoint().database])
        .current_dir(scene.path(""))
        .output();
    let dumped = dumped.expect("it runs");
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    drop(server);
    let workload =
        "format = 1\n[data]\ndump = \"t.dump\"\n[[test]]\nname = \"count\"\nsql = \"SELECT count(*) FROM t\"\n";
    write(&scene, &[("w.toml", workload)]);
    let mut command = campaign(&scene, "killed", &named(&["a", "b"]), &["--from", "w.toml", "--rounds", "1"]);
    for has_guard in [true, false] {
        let mut running = scene.start(command);
        let mut restoring = None;
        // Stopped, it cannot come to its end before rqps does.
        running.wait_for("a server that loads an archive", |_| {
            restoring = pg_restore(&scene).filter(|process| process.signal(Signal::STOP));
            restoring.is_some()
        });
        assert!(!scene.servers().is_empty());
        if has_guard {
            running.signal(Signal::KILL);
            assert_eq!(running.end().code, None);
            scene.wait_until_cleared();
        } else {
            running.kill_with_guard();
            let next = scene.end(scene.rqps(&["builds", "list"])).with_code(0);
            assert_ne!(next.stderr, "", "it says what it has cleared");
        }
        assert!(restoring.is_some_and(|process| !process.is_alive()));
        scene.assert_nothing_left();
        assert_eq!(published(&scene.campaign("killed")).len(), 0);
        command = scene.rqps(&["resume", "results/killed"]);
    }
    scene.end(command).with_code(0);
    assert_eq!((starts(&scene.campaign("killed")), published(&scene.campaign("killed")).len()), (3, 2));
    scene.assert_nothing_left();
}
