//! One campaign from its file to its report: everything that comes out, and that all of it can be made again.

use crate::scene::{BUILD, READ, Scene, results, starts};
use rqps_machine::proctree;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Three treatments of one build: the base, which is measured twice, and one whose server has to read the whole table
/// for every row.
fn campaign_file() -> String {
    format!(
        "aa = true\nbuild = [\n  \"base={BUILD}\",\n  \
         {{ name = \"slow\", from = \"{BUILD}\", set = {{ enable_indexscan = false, enable_bitmapscan = false }} }},\n]\n\
         tests = [\"{READ}\", \"range-covered-pk.pre\"]\ntables = 1\nrows = 2000\nread-seconds = 0.3\n\
         warmup = 0.1\nrounds = 3\nmachine = \"c2r1\"\n"
    )
}

/// The rows of a treatment in `compare --json`.
fn rows<'a>(comparison: &'a Value, treatment: &str) -> Vec<&'a Value> {
    let rows = comparison["rows"].as_array().expect("rows");
    let named = |row: &&Value| row["treatment"].as_str().is_some_and(|name| name.starts_with(treatment));
    rows.iter().filter(named).collect()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"))
}

fn change(row: &Value) -> bool {
    ["regressed", "improved"].iter().any(|verdict| row["verdict"] == *verdict)
}

#[test]
fn an_injected_slowdown_is_found_and_its_twin_is_not() {
    let scene = Scene::new();
    fs::write(scene.path("campaign.toml"), campaign_file()).expect("written");
    let ended = scene.end(scene.rqps(&["run", "campaign.toml", "--name", "injected"])).with_code(0);
    assert!(ended.stdout.contains("base.") && ended.stdout.contains("regressed"), "{}", ended.stdout);
    scene.assert_nothing_left();

    let first = scene.campaign("injected");
    for file in ["campaign.toml", "plan.json", "hosts", "status.json", "findings.json", "report.html"] {
        assert!(first.join(file).exists(), "{file}");
    }
    // Everything that is derived can be made again from the folder alone, wherever it is.
    let moved = scene.path("elsewhere");
    fs::rename(&first, &moved).expect("moved");
    let made = |name: &str| fs::read(moved.join(name)).expect("there");
    let files = ["report.html", "findings.json", "tables/qps.rel.c1.tsv"];
    let before = files.map(made);
    files.iter().for_each(|file| fs::remove_file(moved.join(file)).expect("removed"));
    scene.end(scene.rqps(&["report", "elsewhere"])).with_code(0);
    for (file, before) in files.iter().zip(&before) {
        assert!(made(file) == *before, "{file} is the same when made again");
    }

    let comparison = scene.end(scene.rqps(&["compare", "elsewhere", "--json"])).with_code(0).json();
    assert_eq!(comparison["rows"].as_array().map(Vec::len), Some(4), "{comparison:#}");
    for row in rows(&comparison, "") {
        let (low, rqps, high) = (number(row, "low"), number(row, "rqps"), number(row, "high"));
        assert!(low < rqps && rqps < high, "{row:#}");
        assert!(number(row, "mde") > 0.0 && (0.0..=1.0).contains(&number(row, "q")) && row["n"] == 3, "{row:#}");
        assert!(number(row, "throughput") > 0.0 && number(row, "base_throughput") > 0.0, "{row:#}");
        assert!(row["base"].as_str().is_some_and(|base| base.starts_with("base.")), "{row:#}");
    }
    // A few thousand rows instead of one: many times slower on any machine, and not a thousand times.
    let slow = rows(&comparison, "slow");
    let point = slow.iter().find(|row| row["test"] == READ).expect("tested");
    assert_eq!(point["verdict"], "regressed", "{point:#}");
    assert!((0.001..0.6).contains(&number(point, "rqps")), "{point:#}");
    let p50 = point["measures"].as_array().and_then(|all| all.iter().find(|one| one["measure"] == "p50"));
    assert!(p50.is_some_and(|p50| p50["verdict"] == "regressed" && number(p50, "ratio") > 1.6), "{point:#}");
    // What stands behind it: another plan, and the CPU that it takes.
    let explained = scene.end(scene.rqps(&["explain", "elsewhere", "--json"])).with_code(0).json();
    let is_point = |row: &&Value| row["test"] == READ && row["treatment"] == point["treatment"];
    let why = explained.as_array().and_then(|rows| rows.iter().find(is_point)).expect("it changed");
    assert_eq!(why["causes"][0]["kind"], "plan", "{why:#}");
    let cpu = why["causes"].as_array().and_then(|all| all.iter().find(|one| one["kind"] == "server-cpu"));
    // How large its share is depends on the machine: on a busy one a slower statement also waits longer for its CPU.
    let costs_more = |cpu: &Value| number(&cpu["moved"], "low") > 1.5 && number(cpu, "share") > 0.1;
    assert!(cpu.is_some_and(costs_more), "{why:#}");
    let words = scene.end(scene.rqps(&["explain", "elsewhere", "--tests", READ])).with_code(0);
    assert!(words.stdout.contains("another plan of "), "{}", words.stdout);
    scene.end(scene.rqps(&["explain", "elsewhere", "--tests", "none"])).refused(&["no test `none`", READ]);

    // At the 5 % level one of the twin's two tests may show a small change once in twenty runs, but not both.
    let twin = rows(&comparison, "aa");
    assert!(twin.iter().filter(|row| change(row)).count() <= 1, "{twin:#?}");
    assert!(twin.iter().all(|row| number(row, "low") < 1.3 && number(row, "high") > 0.7), "{twin:#?}");

    // Another base turns ratios round.
    let name = point["treatment"].as_str().expect("a name");
    let turned = scene.end(scene.rqps(&["compare", "elsewhere", "--json", "--base", name])).with_code(0).json();
    for back in rows(&turned, "base") {
        let forth = slow.iter().find(|row| row["test"] == back["test"]).expect("tested");
        assert!((number(back, "rqps") * number(forth, "rqps") - 1.0).abs() < 1e-9, "{back:#} {forth:#}");
        assert!((number(back, "low") * number(forth, "high") - 1.0).abs() < 1e-9, "{back:#} {forth:#}");
    }

    let gate = |words: &[&str]| scene.end(scene.rqps(&[&["compare", "elsewhere"], words].concat())).code;
    assert_eq!(gate(&["--fail-on", "regressed"]), Some(1));
    assert_eq!(gate(&["--fail-on", "improved,regressed"]), Some(1));
    let improved = rows(&comparison, "").iter().any(|row| row["verdict"] == "improved");
    assert_eq!(gate(&["--fail-on", "improved"]), Some(i32::from(improved)));
    assert_eq!(gate(&["--fail-on", "regressed", "--base", name]), Some(0), "nothing is slower than the slow one");
    assert_eq!(gate(&["--fail-on", "improved", "--base", name]), Some(1));

    let markdown = scene.end(scene.rqps(&["compare", "elsewhere", "--markdown"])).with_code(0);
    assert!(markdown.stdout.contains(&format!("| {READ}")), "{}", markdown.stdout);
    scene.end(scene.rqps(&["compare", "elsewhere", "--base", "nobody"])).refused(&["nobody", "aa"]);
}

/// The plan is the same as the run that follows it, and touches no server.
#[test]
fn a_plan_is_what_runs() {
    let scene = Scene::new();
    fs::write(scene.path("campaign.toml"), campaign_file()).expect("written");
    let plan = |scene: &Scene| scene.end(scene.rqps(&["plan", "campaign.toml", "--json", "--name", "x"])).with_code(0);
    let (one, two) = (plan(&scene), plan(&scene));
    assert_eq!(one.stdout, two.stdout);
    assert_eq!(one.json()["treatments"].as_array().map(Vec::len), Some(3));
    let told = scene.end(scene.rqps(&["plan", "campaign.toml"])).with_code(0);
    assert!(told.stdout.contains(READ), "{}", told.stdout);
    let longer = scene.end(scene.rqps(&["plan", "campaign.toml", "--json", "--rounds", "9"])).with_code(0).json();
    assert_eq!(longer["rounds"], 9, "{longer:#}");
    assert!(!scene.path("results").exists());
    scene.assert_nothing_left();
}

/// The demo may be repeated: each has a folder of its own.
#[test]
fn a_demo_can_be_repeated() {
    let scene = Scene::new();
    let demo = || {
        let mut command = scene.rqps(&["demo", "--quick", "--tests", READ, "--rounds", "1", "--machine", "c2r1"]);
        command.args(["--rows", "1000", "--read-seconds", "0.1"]);
        command.args(["--build", &format!("a={BUILD}"), "--build", &format!("b={BUILD}")]);
        scene.end(command).with_code(0)
    };
    assert!(demo().stdout.contains("results/demo/report.html"));
    assert!(demo().stdout.contains("results/demo.2/report.html"));
    scene.assert_nothing_left();
}

/// What a stranger types first, on the builds that it names.
#[test]
fn fetched_builds_differ_as_published() {
    let scene = Scene::new();
    let words = ["--build", "postgres:16.15", "--build", "postgres:17.11", "--tests", "hot-points", "--json"];
    let mut command: Command = scene.run("published", &[&words[..], &["--rounds", "3", "--rows", "20k"]].concat());
    scene.with_users_cache(&mut command, &["postgres:16.15", "postgres:17.11"]);
    let comparison = scene.end(command).with_code(0).json();
    let row = &comparison["rows"][0];
    // Published: 1.94 of the throughput. Beside other tests an unoptimised client is a larger part of each query, and
    // that can fall to 1.5; the server's CPU time for one does not depend on what else runs. Three short rounds tell an
    // interval, and it must reach 1.6.
    let measure = |name: &str| {
        let measures = row["measures"].as_array().expect("a list");
        measures.iter().find(|one| one["measure"] == name).unwrap_or_else(|| panic!("no {name}: {row:#}"))
    };
    let cpu = measure("server_cpu_us");
    assert!(number(cpu, "high") > 1.0 / 2.4 && number(cpu, "low") < 1.0 / 1.6, "{cpu:#}");
    assert!(number(row, "low") < 2.4 && number(row, "high") > 1.4, "{row:#}");
    // What 17 made of it, exactly: one scan of the index for all hundred values.
    assert!((number(measure("index_scans"), "ratio") - 0.01).abs() < 1e-9, "{row:#}");
    // Where the machine is too noisy to tell, that is what it says.
    let is_noisy = row["warnings"].as_array().expect("a list").iter().any(|warning| warning["kind"] == "noisy");
    assert_eq!(row["verdict"], if is_noisy { "undecided" } else { "improved" }, "{row:#}");
    scene.assert_nothing_left();
}

#[test]
fn a_relative_data_folder_is_where_the_user_stands() {
    let scene = Scene::new();
    let words = ["--tests", "point-query", "--rounds", "1", "--data", "own/data"];
    let mut command = scene.run_twins("relative", &words);
    // Whatever the environment says, the flag wins.
    command.env("RQPS_DATA", "/dev/null/nowhere");
    let mut running = scene.start(command);
    let own = scene.path("own/data");
    let of_servers = || proctree::all().into_iter().filter_map(|process| process.folder_and_program());
    running.wait_for("both servers in that folder", |_| {
        let folders: BTreeSet<_> = of_servers().map(|(folder, _)| folder).filter(|at| at.starts_with(&own)).collect();
        folders.len() == 2
    });
    running.end().with_code(0);
    assert_eq!(results(&scene.campaign("relative")).samples().expect("whole").len(), 2);
    assert_eq!(fs::read_dir(&own).expect("the user's folder stays").count(), 0, "and is as empty as before");
    assert_eq!(of_servers().filter(|(at, _)| at.starts_with(&own)).count(), 0);

    // `plan` tells the same place, and resuming takes the same words.
    let plan = ["plan", "--build", BUILD, "--build", BUILD, "--data", "own/data"];
    let plan = scene.end(scene.rqps(&plan)).with_code(0);
    assert!(plan.stdout.contains(&format!("data under {}", own.display())), "{}", plan.stdout);
    scene.end(scene.rqps(&["resume", "results/relative", "--data", "own/data"])).with_code(0);
    assert_eq!(starts(&scene.campaign("relative")), 1, "it is complete");
    scene.assert_nothing_left();
}
