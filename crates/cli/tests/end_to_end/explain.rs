//! Rounds that explain a campaign on real servers: which functions and waits a slowdown is in.

use crate::scene::{BUILD, Scene};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row:#}"))
}

/// Functions that differ by more than chance.
fn moved<'a>(profile: &'a Value, list: &str) -> Vec<&'a Value> {
    let functions = profile[list].as_array().unwrap_or_else(|| panic!("{list} in {profile:#}"));
    functions.iter().filter(|function| function["amount"]["is_sure"] == true).collect()
}

/// Of what explains a test of a treatment, a part.
fn part<'a>(explained: &'a Value, test: &str, treatment: &str, name: &str) -> &'a Value {
    let rows = explained.as_array().expect("rows");
    let is_of = |row: &Value| row["treatment"].as_str().is_some_and(|name| name.split('.').next() == Some(treatment));
    let is_it = |row: &&Value| row["test"] == test && is_of(row);
    &rows.iter().find(is_it).unwrap_or_else(|| panic!("no {test} of {treatment} in {explained:#}"))[name]
}

/// In how many rounds that explain a campaign switches were recorded on all treatments; other programs may switch so
/// often that in some they were not.
fn rounds_with_switches(campaign: &Path, test: &str, clients: u32) -> usize {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        entries.map(|entry| entry.expect("read").path()).filter(|path| path.is_dir()).collect()
    };
    let sample = format!("sysbench/{test}.c{clients}/blocked.json");
    let is_recorded = |round: &PathBuf| folders(round).iter().all(|treatment| treatment.join(&sample).exists());
    folders(&campaign.join("profiles/1/rounds")).iter().filter(|round| is_recorded(round)).count()
}

/// What the kernel refused is still told when all is over.
fn assert_not_sampled(scene: &Scene, name: &str, words: &str) {
    let told = scene.end(scene.rqps(&["explain", name])).with_code(0).stdout;
    let unwrapped = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains(&format!("Note: {words}")), "{words} in {told}");
    let page = fs::read_to_string(scene.path(&format!("{name}/report.html"))).expect("there");
    assert!(page.contains(" were not sampled: "), "the page tells it");
}

/// A treatment of a build that has to read the whole table for every row.
const SLOW: &str = "{ name = \"slow\", set = { enable_indexscan = false, enable_bitmapscan = false }, ";

#[test]
fn a_run_explains_at_its_end_what_changed() {
    let scene = Scene::new();
    let file = format!(
        "build = [\"base={BUILD}\", {SLOW}from = \"{BUILD}\" }}]\ntests = [\"read-only-sum\"]\ntables = 1\nrows = 2000\n\
         read-seconds = 0.3\nwarmup = 0.1\nrounds = 3\nmachine = \"c2r1\"\n"
    );
    fs::write(scene.path("campaign.toml"), file).expect("written");
    let run = |time: &str| scene.rqps(&["run", "campaign.toml", "--name", "slow", "--results", ".", "--explain", time]);
    scene.end(run("1s")).refused(&["--explain: 1 s is too short"]);
    assert!(!scene.path("slow").exists(), "it did not begin");
    let told = scene.end(run("30s")).with_code(0).stdout;
    scene.assert_nothing_left();
    let explained = if rqps_profile::check().is_ok() { "functions, from " } else { "were not sampled" };
    let [table, end] = ["report: ", explained].map(|words| told.find(words));
    assert!(table.zip(end).is_some_and(|(table, end)| table < end), "the table comes first, then {explained}: {told}");
    assert!(scene.path("slow/profiles/1/rounds/2").is_dir());

    // A transaction has several kinds of statements, and each is told by itself, exactly.
    let explained = scene.end(scene.rqps(&["explain", "slow", "--json"])).with_code(0).json();
    let work = part(&explained, "read-only-sum", "slow", "statement_work");
    let counts = work["counts"].as_array().unwrap_or_else(|| panic!("no counts in {work:#}"));
    let rows_read = |statement: &str| {
        let is_it = |one: &&Value| one["statement"] == statement && one["count"] == "table_rows_read";
        let found = counts.iter().find(is_it).unwrap_or_else(|| panic!("rows of {statement} in {work:#}"));
        (number(&found["amount"], "base"), number(&found["amount"], "own"), found["amount"]["is_sure"] == true)
    };
    assert_eq!(rows_read("point-select"), (1.0, 2000.0, true), "{work:#}");
    let (base, own, is_sure) = rows_read("sum-range");
    assert!(base <= 1000.0 && own == 2000.0 && is_sure, "{work:#}");
    assert!(told.contains("point-select: rows read from tables, 1.000 → 2000"), "{told}");
    let page = fs::read_to_string(scene.path("slow/report.html")).expect("there");
    assert!(page.contains("<h4>Counts by kind of statement") && page.contains("point-select: rows read from tables"));
}

/// One of two treatments has to read the whole table for every row.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_slowdown_is_found_in_the_functions_that_it_is_in() {
    let scene = Scene::new();
    let file = format!(
        "build = [\"base={BUILD}\", {SLOW}from = \"{BUILD}\" }}]\ntests = [\"point-query\", \"scan\"]\n\
         tables = 1\nrows = 20000\nread-seconds = 0.3\nwarmup = 0.1\nrounds = 3\nmachine = \"c2r1\"\n"
    );
    fs::write(scene.path("campaign.toml"), file).expect("written");
    let command = ["run", "campaign.toml", "--name", "slow", "--results", "."];
    scene.end(scene.rqps(&command)).with_code(0);
    let compared = || scene.end(scene.rqps(&["compare", "slow", "--json"])).with_code(0).stdout;
    let before = compared();
    assert!(before.contains("\"verdict\": \"regressed\""), "{before}");
    let too_short = scene.end(scene.rqps(&["explain", "slow", "--time", "1s"]));
    let ended = scene.end(scene.rqps(&["explain", "slow", "--tests", "point-*,scan", "--time", "60s", "--json"]));
    too_short.refused(&["1 s is too short", "--tests"]);
    let ended = ended.with_code(0);
    if rqps_profile::check().is_err() {
        assert!(ended.stderr.contains("only waits are sampled") && ended.stderr.contains("perf_event_paranoid"));
        assert_not_sampled(&scene, "slow", "functions, blocked sessions and system calls were not sampled: ");
        return;
    }
    let explained = ended.json();
    scene.assert_nothing_left();
    assert_eq!(explained.as_array().map(Vec::len), Some(2), "{explained:#}");
    let profile = part(&explained, "point-query", "slow", "profile");
    assert!(number(profile, "rounds") >= 3.0 && number(profile, "samples") > 100.0, "{profile:#}");
    assert!(number(&profile["total"], "low_us") > 0.0, "{profile:#}");
    assert!(moved(profile, "functions").iter().any(|function| number(&function["amount"], "low_us") > 0.0));
    // The plan without an index reads the table in the executor's scan of it. How sure that is depends on the rounds
    // that fit into the time, how much of the change is there does not.
    let is_scan = |function: &&Value| function["name"] == "heap_getnextslot";
    let with_called = profile["inclusive"].as_array().expect("functions with all that they call");
    let scan = with_called.iter().find(is_scan).unwrap_or_else(|| panic!("no scan in {profile:#}"));
    let of_total = |end: &str| number(&scan["amount"], end) / number(&profile["total"], "difference_us");
    assert!(of_total("difference_us") > 0.2 && of_total("low_us") > 0.1, "{profile:#}");
    // Debian's server is stripped, which must be said.
    let warnings = profile["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|warning| warning.to_string().contains("no symbol table in postgres")), "{warnings:?}");

    let page = fs::read_to_string(scene.path("slow/report.html")).expect("there");
    let words = scene.end(scene.rqps(&["explain", "slow", "--tests", "scan"])).with_code(0).stdout;
    // A scan takes so long that its switches are few.
    let blocked = part(&explained, "scan", "slow", "blocked");
    let recorded = rounds_with_switches(&scene.path("slow"), "scan", 1);
    assert_eq!(blocked["rounds"].as_u64().unwrap_or(0), recorded as u64, "{blocked:#}");
    assert_eq!(words.contains("blocked sessions, from "), recorded > 0, "{words}");
    if recorded > 0 {
        assert!(number(&blocked["client"], "us") > 0.0, "it waits for the next one: {blocked:#}");
        assert!(page.contains("<h4>Blocked sessions"), "the page tells it");
    }
    let calls = part(&explained, "point-query", "slow", "syscalls");
    match rqps_profile::check_syscalls() {
        Ok(()) => {
            let sends =
                calls["calls"].as_array().is_some_and(|calls| calls.iter().any(|call| call["name"] == "sendto"));
            assert!(sends && number(&calls["total"], "base") > 1.0, "a query is received and answered: {calls:#}");
            assert!(page.contains("<h4>System calls"), "the page tells it");
        }
        Err(refused) => {
            assert!(calls.is_null(), "{calls:#}");
            assert!(ended.stderr.contains("system calls are not sampled"), "{refused}: {}", ended.stderr);
            assert_not_sampled(
                &scene,
                "slow",
                &format!("system calls were not sampled: {refused}. Once that is lifted"),
            );
        }
    }
    assert!(page.contains("class=\"flame\"") && page.contains("class=\"fr more\""), "a flame graph");
    assert!(scene.path("slow/profiles/1/rounds/3").is_dir() && compared() == before, "they change no verdict");
    let words = scene.end(scene.rqps(&["explain", "slow"])).with_code(0).stdout;
    assert!(words.contains("functions, from ") && words.contains("ExecStoreBufferHeapTuple, "), "{words}");
}

/// Steps build on each other, so that passes are run again; sessions with a purpose of their own are told apart.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn inserters_and_deleters_are_explained_apart() {
    let scene = Scene::new();
    let builds = ["a", "b"].map(|name| format!("{name}={BUILD}"));
    let mut command = scene.rqps(&["run", "--suite", "insert", "--name", "passes", "--results", ".", "--rounds", "1"]);
    command.args(["--build", &builds[0], "--build", &builds[1], "--machine", "c2r1", "--write-rates", "100"]);
    command.args(["--rows", "2000", "--rows-written", "20k", "--read-seconds", "1"]);
    scene.end(command).with_code(0);
    let explain = |words: &[&str]| scene.rqps(&[&["explain", "passes", "--tests", "l.i1"], words].concat());
    scene.end(explain(&["--time", "1s"])).refused(&["1 s is too short", "3 rounds of whole passes"]);
    let ended = scene.end(explain(&["--time", "120s", "--json"])).with_code(0);
    let work = part(&ended.json(), "l.i1", "b", "statement_work").clone();
    assert_eq!(["insert", "delete"].map(|kind| rows_written(&work, kind)), [50.0, 50.0], "a batch: {work:#}");
    if rqps_profile::check().is_err() {
        assert_not_sampled(&scene, "passes", "functions, blocked sessions and system calls were not sampled: ");
        return;
    }
    scene.assert_nothing_left();
    let explained = ended.json();
    let profile = part(&explained, "l.i1", "b", "profile");
    // The time is kept: a machine with other work measures fewer rounds in it.
    assert!(number(profile, "rounds") >= 2.0, "{profile:#}");
    for sessions in ["inserters", "deleters"] {
        let roles = profile["roles"].as_array().expect("several kinds of processes");
        let found = roles.iter().find(|role| role["name"] == sessions);
        let found = found.unwrap_or_else(|| panic!("no {sessions} in {profile:#}"));
        assert!(number(&found["amount"], "us") > 0.0, "{found:#}");
    }
    let page = fs::read_to_string(scene.path("passes/report.html")).expect("there");
    assert!(page.contains("[inserter]") && page.contains("[deleter]"), "the flame graph has a part for each");
}

/// What both builds write in each execution of a kind.
fn rows_written(work: &Value, kind: &str) -> f64 {
    let counts = work["counts"].as_array().unwrap_or_else(|| panic!("no counts in {work:#}"));
    let is_it = |one: &&Value| one["statement"] == kind && one["count"] == "table_rows_written";
    let found = counts.iter().find(is_it).unwrap_or_else(|| panic!("rows of {kind} in {work:#}"));
    assert_eq!(number(&found["amount"], "difference"), 0.0, "{found:#}");
    number(&found["amount"], "own")
}

/// Each type of transaction is told by itself, also where a routine executes it.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn transactions_are_counted_by_type() {
    let scene = Scene::new();
    for form in ["client-sql", "procedure"] {
        let builds = ["a", "b"].map(|name| format!("{name}={BUILD}"));
        let mut command = scene.rqps(&["run", "--suite", "tproc-c", "--name", form, "--results", ".", "--rounds", "1"]);
        command.args(["--build", &builds[0], "--build", &builds[1], "--machine", "c2r1", "--warehouses", "1"]);
        command.args(["--clients", "1", "--seconds", "1", "--warmup", "0.2", "--form", form]);
        scene.end(command).with_code(0);
        let explain = |words: &[&str]| scene.rqps(&[&["explain", form, "--tests", "w=1"], words].concat());
        let explained = scene.end(explain(&["--time", "90s", "--json"])).with_code(0).json();
        scene.assert_nothing_left();
        let work = part(&explained, "w=1", "b", "statement_work");
        assert_eq!(rows_written(work, "payment"), 4.0, "warehouse, district, customer, history of {form}");
        assert!(rows_written(work, "new-order") > 13.0, "five lines or more of {form}: {work:#}");
        let lines = work["counts"].as_array().expect("counts").iter().filter(|one| one["statement"] == "insert-line");
        assert_eq!(lines.count() > 0, form == "client-sql", "what a routine executes is not told apart: {work:#}");
        let words = scene.end(explain(&[])).with_code(0).stdout;
        assert!(words.contains("counts by kind of statement, from "), "{words}");
        let page = fs::read_to_string(scene.path(&format!("{form}/report.html"))).expect("there");
        assert!(page.contains("<h4>Counts by kind of statement") && page.contains("payment: rows written to tables"));
    }
}

/// On one of three treatments of a build, a commit waits 2 ms before it writes the log, and others wait for it.
#[test]
#[ignore = "three minutes; scripts/nightly runs it"]
fn sessions_that_wait_longer_are_found_in_the_wait_that_they_are_in() {
    let scene = Scene::new();
    let slow = "{ name = \"slow\", set = { synchronous_commit = \"on\", commit_delay = 2000, commit_siblings = 0 }, ";
    let file = format!(
        "build = [\"base={BUILD}\", \"again={BUILD}\", {slow}from = \"{BUILD}\" }}]\n\
         tests = [\"update-one\", \"update-nonindex\"]\ntables = 1\nrows = 2000\nclients = [4]\nwrite-seconds = 0.3\n\
         warmup = 0.1\nrounds = 3\nmachine = \"c2r1\"\n"
    );
    fs::write(scene.path("campaign.toml"), file).expect("written");
    scene.end(scene.rqps(&["run", "campaign.toml", "--name", "waits", "--results", "."])).with_code(0);
    let tests = "update-one,update-nonindex";
    let ended = scene.end(scene.rqps(&["explain", "waits", "--tests", tests, "--time", "150s", "--json"]));
    let explained = ended.with_code(0).json();
    scene.assert_nothing_left();
    // Who updates the row waits for the log, all others for that session.
    let expected =
        [("update-one", &["Lock/tuple", "Lock/transactionid"][..]), ("update-nonindex", &["LWLock/WALWrite"])];
    for (test, names) in expected {
        let slow = part(&explained, test, "slow", "waits");
        let first = &slow["events"][0];
        let name = first["name"].as_str().expect("a name");
        assert!(names.contains(&name) && first["is_wait"] == true, "{test}: {slow:#}");
        assert!(first["amount"]["is_sure"] == true && number(&first["amount"], "low_us") > 0.0, "{slow:#}");
        let difference = |waits: &Value, at: usize| number(&waits["events"][at]["amount"], "difference_us").abs();
        assert!(difference(slow, 0) > 0.2 * number(&slow["total"], "difference_us"), "{test}: {slow:#}");
        assert_eq!(slow["warnings"], serde_json::json!([]), "{test}: {slow:#}");
        let again = part(&explained, test, "again", "waits");
        let most = (0..again["events"].as_array().expect("events").len()).map(|at| difference(again, at));
        assert!(most.fold(0.0, f64::max) < 0.2 * difference(slow, 0), "{test}: {again:#} {slow:#}");
    }
    let words = scene.end(scene.rqps(&["explain", "waits"])).with_code(0).stdout;
    let unwrapped = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains("of the change is waiting") && unwrapped.contains("; Lock/"), "{words}");
    assert!(unwrapped.contains("waits, from ") && unwrapped.contains("waiting for the client, which is no cause"));
    let page = fs::read_to_string(scene.path("waits/report.html")).expect("there");
    if rqps_profile::check().is_ok() && rounds_with_switches(&scene.path("waits"), "update-nonindex", 4) > 2 {
        // They wait for the one that writes the log, and sleeps before it does.
        let blocked = part(&explained, "update-nonindex", "slow", "blocked");
        let first = &blocked["stacks"][0];
        assert!(first["name"].as_str().is_some_and(|name| name.contains("XLogFlush")), "{blocked:#}");
        assert!(first["amount"]["is_sure"] == true && number(&first["amount"], "low_us") > 0.0, "{blocked:#}");
        assert!(page.contains("<h4>Blocked sessions") && words.contains("blocked sessions, from "), "{words}");
    }
    assert!(page.contains("<h4>Waits") && page.contains("WALWrite"), "the page tells waits");
}
