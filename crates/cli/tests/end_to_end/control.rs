//! A planted change, from the flag to the report: it is counted, found and told, and is nobody's regression.

use crate::scene::{BUILD, Scene};
use serde_json::Value;
use std::fs;

/// Half of the time of each statement, and rounds enough that two small tests find it on a machine where other tests
/// take two thirds of the CPUs.
const SHARE: f64 = 0.5;
const ROUNDS: usize = 5;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_planted_change_is_found_and_its_size_is_known() {
    let scene = Scene::new();
    let file = format!(
        "aa = true\ncontrol = \"50%\"\nbuild = [\"base={BUILD}\"]\ntests = [\"point-query\", \"update-index\"]\n\
         tables = 1\nrows = 2000\nread-seconds = 0.4\nwrite-seconds = 0.4\nwarmup = 0.2\nrounds = {ROUNDS}\n\
         machine = \"c2r1\"\n"
    );
    fs::write(scene.path("campaign.toml"), file).expect("written");
    let told = scene.end(scene.rqps(&["plan", "campaign.toml"])).with_code(0);
    assert!(told.stdout.contains("the client wastes 50 % of a statement's time"), "{}", told.stdout);
    let ended = scene.end(scene.rqps(&["run", "campaign.toml", "--name", "planted"])).with_code(0);
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(control): found in 2 of 2 intervals, "), "{words}");
    assert!(words.contains("; of the base measured again "), "{words}");

    let folder = scene.campaign("planted");
    let comparison = scene.end(scene.rqps(&["compare", "results/planted", "--json"])).with_code(0).json();
    let planted = &comparison["planted"][0];
    assert_eq!((number(&planted["share"]), planted["intervals"].as_u64()), (SHARE, Some(2)), "{planted:#}");
    assert_eq!((planted["found"].as_u64(), planted["unplanted_intervals"].as_u64()), (Some(2), Some(2)), "{planted:#}");
    // Calibrated in two tenths of a second, on a machine with other work.
    assert!((0.25..0.75).contains(&number(&planted["ratio"])), "{planted:#}");
    let rows = comparison["rows"].as_array().expect("rows");
    let name = planted["treatment"].as_str().expect("a name");
    assert!(name.starts_with("control."), "{name}");
    for row in rows {
        let is_control = row["treatment"] == name;
        assert_eq!(row["planted"].is_object(), is_control, "{row:#}");
        if is_control {
            // While others compete for the CPUs more is lost than was burned; less never is.
            let truth = number(&row["planted"]["ratio"]);
            assert!(truth < 0.75 && number(&row["rqps"]) < 1.15 * truth, "{row:#}");
            assert_eq!(row["planted"]["by_round"].as_array().map(Vec::len), Some(ROUNDS), "{row:#}");
        }
    }
    assert!(fs::read_to_string(folder.join("report.html")).expect("a page").contains("(control): found in 2 of 2"));

    // Its samples hold what was burned, and no others do.
    let sample = |treatment: &str, file: &str| -> Value {
        let part = folder.join("rounds/1").join(treatment).join("sysbench/point-query.c1").join(file);
        serde_json::from_slice(&fs::read(&part).unwrap_or_else(|error| panic!("{}: {error}", part.display())))
            .expect("JSON")
    };
    let of_control = sample(name, "sample.json");
    let (busy, burned) = (number(&of_control["busy_ns"]), number(&of_control["planted"]["burned_ns"]));
    assert!((number(&of_control["planted"]["ratio"]) - (1.0 - burned / busy)).abs() < 1e-9, "{of_control:#}");
    let burns = sample(name, "slices.json")["burned_ns"].as_array().expect("a list").iter().map(number).sum::<f64>();
    assert_eq!(burns, burned);
    let base = comparison["base"].as_str().expect("a name");
    assert!(sample(base, "sample.json")["planted"].is_null() && sample(base, "slices.json")["burned_ns"].is_null());

    // What is planted fails no gate.
    assert_eq!(scene.end(scene.rqps(&["compare", "results/planted", "--fail-on", "improved"])).code, Some(0));
    let twin = |row: &&Value| row["treatment"] != name && row["verdict"] == "regressed";
    let fails = rows.iter().any(|row| twin(&row));
    let code = scene.end(scene.rqps(&["compare", "results/planted", "--fail-on", "regressed"])).code;
    assert_eq!(code, Some(i32::from(fails)));
    scene.assert_nothing_left();
}
