//! The user's own workload: the example, what is left out for one build, pgbench's scripts, and statements that a
//! server refuses.

use crate::scene::{BUILD, Scene, command_line, processes_in, published, starts};
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

/// A short run of a workload on some builds by name.
fn run<'a>(from: &'a [&'a str], builds: &'a [String], name: &'a str) -> Vec<&'a str> {
    // Five rounds, since three say little where the machine has other work as well.
    let mut words = vec!["run", "--suite", "own", "--name", name, "--rounds", "5", "--machine", "c2r1"];
    words.extend(["--read-seconds", "0.3", "--write-seconds", "0.3", "--warmup", "0.1"]);
    from.iter().for_each(|file| words.extend(["--from", file]));
    builds.iter().for_each(|build| words.extend(["--build", build.as_str()]));
    words
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{name}={BUILD}")).collect()
}

/// The row of a test on a treatment.
fn row<'a>(comparison: &'a Value, test: &str, treatment: &str) -> &'a Value {
    let rows = comparison["rows"].as_array().expect("rows");
    let is_meant =
        |row: &&Value| row["test"] == test && row["treatment"].as_str().is_some_and(|name| name.starts_with(treatment));
    rows.iter().find(is_meant).unwrap_or_else(|| panic!("{test} on {treatment}: {comparison:#}"))
}

#[test]
fn a_missing_index_is_found_with_its_plan_and_a_changed_row_is_named() {
    let scene = Scene::new();
    let (example, builds) = (example(), named(&["base", "without-index", "other-row"]));
    let mut words = run(&[], &builds, "shop");
    words.extend(["--from", &example, "--tests", "order-by-id,orders-of-customer,best-customers,pay"]);
    let ended = scene.end(scene.rqps(&words)).with_code(0);
    assert!(ended.stdout.contains("largest change first"), "{}", ended.stdout);
    scene.assert_nothing_left();
    let compared = scene.end(scene.rqps(&["compare", "results/shop", "--json"])).with_code(0).json();
    let slow = row(&compared, "orders-of-customer", "without-index");
    assert_eq!(slow["verdict"], "regressed", "{slow:#}");
    assert!(slow["rqps"].as_f64().is_some_and(|rqps| rqps < 0.5), "{slow:#}");
    let other = row(&compared, "orders-of-customer", "other-row");
    assert_eq!(other["verdict"], "undecided", "{other:#}");
    for told in ["row 2 differs in total", "Seq Scan on orders"] {
        assert!(
            ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(told),
            "{told}: {}",
            ended.stdout
        );
    }
    // Values of statements are nobody else's business, until they are asked for.
    let read = |name: &str| fs::read_to_string(scene.campaign("shop").join(name)).expect("written");
    for name in ["report.html", "findings.json"] {
        assert!(!read(name).contains("'eu'") && read(name).contains("region = ?"), "{name}");
    }
    scene.end(scene.rqps(&["report", "results/shop", "--show-literals"])).with_code(0);
    assert!(read("findings.json").contains("'eu'"));
    // The verdict that was held back can be had.
    let mut words = run(&[], &builds[..2], "again");
    let other = named(&["other-row"]);
    words.extend([
        "--from",
        &example,
        "--tests",
        "orders-of-customer",
        "--answers",
        "may-differ",
        "--build",
        &other[0],
    ]);
    scene.end(scene.rqps(&words)).with_code(0);
    let compared = scene.end(scene.rqps(&["compare", "results/again", "--json"])).with_code(0).json();
    let allowed = row(&compared, "orders-of-customer", "other-row");
    assert!(allowed["low"].is_number(), "{allowed:#}");
}

#[test]
fn the_example_runs_on_mysql_too_from_the_same_file() {
    let scene = Scene::new();
    let (example, builds) = (example(), ["a", "b"].map(|name| format!("{name}=mysql:5.7.22")));
    let mut words = vec!["run", "--suite", "own", "--name", "shop", "--rounds", "1", "--machine", "c2r1"];
    words.extend(["--read-seconds", "0.1", "--write-seconds", "0.1", "--warmup", "0.05", "--from", &example]);
    builds.iter().for_each(|build| words.extend(["--build", build.as_str()]));
    scene.end(scene.rqps(&words)).with_code(0);
    let compared = scene.end(scene.rqps(&["compare", "results/shop", "--json"])).with_code(0).json();
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
    fs::write(scene.path("mine.sql"), script).expect("written");
    let builds = named(&["a", "b"]);
    let mut words = run(&["select-only", "tpcb-like@2", "mine.sql"], &builds, "scripts");
    words.extend(["--clients", "2", "--protocol", "extended", "--max-tries", "5"]);
    // Its author must be trusted first.
    scene.end(scene.rqps(&words)).refused(&["mine.sql:9:", "`allow-shell`"]);
    words.push("--allow-shell");
    let ended = scene.end(scene.rqps(&words)).with_code(0);
    assert!(ended.stderr.contains("so builds take turns"), "{}", ended.stderr);
    let compared = scene.end(scene.rqps(&["compare", "results/scripts", "--json"])).with_code(0).json();
    for test in ["select-only", "tpcb-like", "mine", "mix"] {
        let row = row(&compared, test, "b");
        assert!(row["throughput"].as_f64().is_some_and(|throughput| throughput > 10.0), "{row:#}");
    }
    scene.assert_nothing_left();
    fs::write(scene.path("wrong.sql"), "SELECT 1;\n\\set x 1 +\n\\shell rm x\n").expect("written");
    let refused = scene.end(scene.rqps(&run(&["wrong.sql"], &builds, "wrong")));
    refused.refused(&["wrong.sql:2:"]);
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
    fs::write(scene.path("w.toml"), workload).expect("written");
    let function = |body: &str| format!("CREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql AS '{body}';\n");
    fs::write(scene.path("fast.sql"), function("SELECT 1")).expect("written");
    fs::write(scene.path("slow.sql"), function("SELECT 1 FROM pg_sleep(600)")).expect("written");
    let ended = scene.end(scene.rqps(&run(&["w.toml"], &named(&["a", "b"]), "late"))).with_code(3);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in ["3 events took longer than they may in a row", "late is not answered within 0.5 s"] {
        assert!(words(&ended.stdout).contains(told), "{told}: {}", ended.stdout);
    }
    let report = fs::read_to_string(scene.campaign("late").join("report.html")).expect("written");
    assert!(report.contains("late was slower than 0.5 s, and cancelled, "), "the report tells it too");
    let compared = scene.end(scene.rqps(&["compare", "results/late", "--json"])).with_code(3).json();
    assert!(row(&compared, "other", "b")["rqps"].is_number(), "{compared:#}");
    scene.assert_nothing_left();
}

/// MySQL 5.6 ends no statement by itself, later ones no write.
#[test]
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
    fs::write(scene.path("w.toml"), workload).expect("written");
    let function = |value: &str| format!("CREATE FUNCTION answer() RETURNS int NO SQL RETURN {value};\n");
    let table = "CREATE TABLE t (id int PRIMARY KEY, n int);\nINSERT INTO t VALUES (1, 0), (2, 0);\n";
    fs::write(scene.path("fast.sql"), format!("{table}{}", function("1"))).expect("written");
    fs::write(scene.path("slow.sql"), format!("DROP FUNCTION answer;\n{}", function("SLEEP(600)"))).expect("written");
    let builds = ["a", "b"].map(|name| format!("{name}=mysql:5.6.14"));
    let mut words = run(&["w.toml"], &builds, "late");
    words.extend(["--rounds", "2"]);
    let ended = scene.end(scene.rqps(&words)).with_code(3);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in
        ["3 events took longer than they may in a row", "with 1317 (57014)", "late-read is not answered within 0.5 s"]
    {
        assert!(words(&ended.stdout).contains(told), "{told}: {}", ended.stdout);
    }
    let report = fs::read_to_string(scene.campaign("late").join("report.html")).expect("written");
    assert!(report.contains("late-write was slower than 0.5 s, and cancelled, "), "the report tells it too");
    let compared = scene.end(scene.rqps(&["compare", "results/late", "--json"])).with_code(3).json();
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
name = "good"
sql = "SELECT name FROM t WHERE id = :id"
[[test]]
name = "gone"
sql = "SELECT * FROM only_sometimes WHERE id = :id"
"#;
    fs::write(scene.path("w.toml"), workload).expect("written");
    let tables = "CREATE TABLE t (id int PRIMARY KEY, name text);\nCREATE TABLE only_sometimes (id int);\n";
    fs::write(scene.path("tables.sql"), tables).expect("written");
    fs::write(scene.path("less.sql"), "DROP TABLE only_sometimes;\n").expect("written");
    let builds = named(&["a", "b"]);
    let ended = scene.end(scene.rqps(&run(&["w.toml"], &builds, "refused"))).with_code(3);
    assert!(ended.stdout.contains("only_sometimes"), "{}", ended.stdout);
    let compared = scene.end(scene.rqps(&["compare", "results/refused", "--json"])).with_code(3).json();
    assert!(row(&compared, "good", "b")["rqps"].is_number(), "{compared:#}");
    scene.assert_nothing_left();

    // What a server refuses while it loads is told with its line, and nothing is left.
    fs::write(scene.path("tables.sql"), "CREATE TABLE t (id int);\n\nCREATE TABL u (id int);\n").expect("written");
    let ended = scene.end(scene.rqps(&run(&["w.toml"], &builds, "broken")));
    assert!(ended.stderr.contains("tables.sql:3: "), "{}", ended.stderr);
    scene.assert_nothing_left();
}

/// The pg_restore of this scene that makes SQL of an archive, once it is at work.
fn pg_restore(scene: &Scene) -> Option<ProcessId> {
    let of_it = |process: &ProcessId| command_line(*process).contains("/pg_restore --file - ");
    processes_in(scene.data()).into_iter().find(|process| of_it(process) && !command_line(*process).contains("setpriv"))
}

#[test]
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
    fs::write(scene.path("w.toml"), workload).expect("written");
    let builds = named(&["a", "b"]);
    let mut words = run(&["w.toml"], &builds, "killed");
    words.extend(["--rounds", "1"]);
    let mut command = scene.rqps(&words);
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
