//! Rounds that explain a campaign on real servers: which functions a slowdown is in.

use crate::scene::{BUILD, Scene};
use serde_json::Value;
use std::fs;

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row:#}"))
}

/// Functions that differ by more than chance.
fn moved<'a>(profile: &'a Value, list: &str) -> Vec<&'a Value> {
    let functions = profile[list].as_array().unwrap_or_else(|| panic!("{list} in {profile:#}"));
    functions.iter().filter(|function| function["amount"]["is_sure"] == true).collect()
}

/// One of two treatments of a build has to read the whole table for every row.
#[test]
fn a_slowdown_is_found_in_the_functions_that_it_is_in() {
    let scene = Scene::new();
    let slow = "{ name = \"slow\", set = { enable_indexscan = false, enable_bitmapscan = false }, ";
    let file = format!(
        "build = [\"base={BUILD}\", {slow}from = \"{BUILD}\" }}]\ntests = [\"point-query\", \"range-covered-pk\"]\n\
         tables = 1\nrows = 2000\nread-seconds = 0.3\nwarmup = 0.1\nrounds = 3\nmachine = \"c2r1\"\n"
    );
    fs::write(scene.path("campaign.toml"), file).expect("written");
    let command = ["run", "campaign.toml", "--name", "slow", "--results", "."];
    scene.end(scene.rqps(&command)).with_code(0);
    let compared = || scene.end(scene.rqps(&["compare", "slow", "--json"])).with_code(0).stdout;
    let before = compared();
    let too_short = scene.end(scene.rqps(&["explain", "slow", "--time", "1s"]));
    let ended = scene.end(scene.rqps(&["explain", "slow", "--tests", "point-query", "--time", "40s", "--json"]));
    if rqps_profile::check().is_err() {
        too_short.refused(&["perf_event_paranoid"]);
        ended.refused(&["perf_event_paranoid"]);
        return;
    }
    too_short.refused(&["1 s is too short", "--tests"]);
    let explained = ended.with_code(0).json();
    scene.assert_nothing_left();
    let rows = explained.as_array().expect("rows");
    assert_eq!(rows.len(), 1, "{explained:#}");
    let profile = &rows[0]["profile"];
    assert!(number(profile, "rounds") >= 3.0 && number(profile, "samples") > 100.0, "{profile:#}");
    assert!(number(&profile["total"], "low_us") > 0.0, "{profile:#}");
    assert!(moved(profile, "functions").iter().any(|function| number(&function["amount"], "low_us") > 0.0));
    // The plan without an index reads the table in the executor's scan of it.
    let is_scan = |function: &&&Value| function["name"] == "heap_getnextslot";
    let with_called = moved(profile, "inclusive");
    let scan = with_called.iter().find(is_scan).unwrap_or_else(|| panic!("no scan in {profile:#}"));
    assert!(number(&scan["amount"], "low_us") > 0.1 * number(&profile["total"], "difference_us"), "{profile:#}");
    // Debian's server is stripped, which must be said.
    let warnings = profile["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|warning| warning.to_string().contains("no symbol table in postgres")), "{warnings:?}");

    let page = fs::read_to_string(scene.path("slow/report.html")).expect("there");
    assert!(page.contains("class=\"flame\"") && page.contains("class=\"fr more\""), "a flame graph");
    assert!(scene.path("slow/profiles/1/rounds/3").is_dir() && compared() == before, "they change no verdict");
    let words = scene.end(scene.rqps(&["explain", "slow"])).with_code(0).stdout;
    assert!(words.contains("functions, from ") && words.contains("ExecStoreBufferHeapTuple, "), "{words}");
}
