//! `compare --json`: the shape that scripts rely on.

use crate::world::{FIVE_OF_THREE_ENGINES, MYSQL, Size, findings, of_engines};
use rqps_report::compare_json;
use serde_json::Value;

const ROW: [&str; 27] = [
    "test",
    "group",
    "clients",
    "treatment",
    "base",
    "rqps",
    "low",
    "high",
    "verdict",
    "n",
    "mde",
    "q",
    "base_throughput",
    "throughput",
    "unit",
    "remark",
    "latency_us",
    "base_latency_us",
    "measures",
    "statement_times",
    "sla",
    "base_sla",
    "stalls",
    "inside",
    "failure",
    "planted",
    "warnings",
];

#[test]
fn every_row_has_every_key() {
    let mut made = findings(Size::FIVE_BUILDS);
    let cell = &mut made.tests[3].cells[2];
    (cell.throughput, cell.comparison) = (None, None);
    let document: Value = serde_json::from_str(&compare_json(&made)).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 32 * 4);
    for row in rows {
        let row = row.as_object().expect("an object");
        assert_eq!(row.len(), ROW.len(), "{row:?}");
        for key in ROW {
            assert!(row.contains_key(key), "{key} in {row:?}");
        }
    }
    let absent = rows.iter().find(|row| row["rqps"].is_null()).expect("the row without a number");
    assert_eq!(absent["test"], made.tests[3].name.as_str());
    assert_eq!(document["format"], 1);
}

#[test]
fn numbers_keep_full_precision() {
    let made = findings(Size::TWO_BUILDS);
    let text = compare_json(&made);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let comparison = made.tests[0].cells[1].comparison.as_ref().expect("compared");
    assert!(text.contains(&format!("\"rqps\": {}", comparison.rqps)));
    assert!(text.contains(&format!("\"low\": {}", comparison.low.expect("an interval"))));
    assert_eq!(document["rows"][0]["verdict"], "improved");
    assert_eq!(document["treatments"][1]["counts"]["improved"], made.treatments[1].counts[1]);
}

#[test]
fn latency_of_events_stands_beside_the_ratio() {
    let mut made = findings(Size::TWO_BUILDS);
    made.tests[1].cells[1].latency.clear();
    let document: Value = serde_json::from_str(&compare_json(&made)).expect("JSON");
    let event = |at: usize| made.tests[0].cells[at].latency[0].quantiles_us;
    for (key, [p50, _, p95, p99, ..]) in [("latency_us", event(1)), ("base_latency_us", event(0))] {
        assert_eq!(document["rows"][0][key], serde_json::json!({ "p50": p50, "p95": p95, "p99": p99 }), "{key}");
    }
    assert!(document["rows"][1]["latency_us"].is_null() && document["rows"][1]["base_latency_us"].is_object());
}

#[test]
fn engines_and_what_they_force_are_told() {
    let told = |builds: &[&str]| serde_json::from_str::<Value>(&compare_json(&of_engines(builds))).expect("JSON");
    let several = told(&FIVE_OF_THREE_ENGINES);
    assert_eq!(several["treatments"][0]["engine"], "postgres");
    assert!(several["treatments"][0]["storage_engine"].is_null());
    assert_eq!(several["treatments"][4]["storage_engine"], "rocksdb");
    assert_eq!(several["forced"][1]["tests"][0], "insert");
    assert_eq!(several["forced"][1]["forms"]["mariadb"], several["forced"][1]["forms"]["mysql"]);
    assert_eq!(several["side_by_side"][0]["values"].as_array().expect("values").len(), 5);
    let one = told(&MYSQL);
    assert_eq!((one["forced"].clone(), one["side_by_side"].clone()), (serde_json::json!([]), serde_json::json!([])));
}
