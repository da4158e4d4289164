//! What the CPU counted, wherever a change is explained, and what it did not, once.

use crate::world::counted_by_cpu;
use rqps_report::{compare_json, explain, explain_json, html};
use serde_json::Value;

/// As made up: a statement of the first test takes 1.3 times the instructions, and each of those two cycles as before.
#[test]
fn more_instructions_are_told_with_how_long_they_were_counted() {
    let told = explain(&counted_by_cpu(), &[], 100);
    let unwrapped = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "; instructions per statement +30.0 % (1.300 to 1.300), 40000 → 52000",
        "; what the CPU counted is scaled, from 50 % of the time on",
        "; more instructions, each as fast as before: more code is run",
    ] {
        assert!(unwrapped.contains(words), "{words} in {told}");
    }
    assert!(!unwrapped.contains("cycles of an instruction"), "they did not change: {told}");
}

#[test]
fn scripts_get_ratios_with_intervals_and_the_part_of_the_time() {
    let findings = counted_by_cpu();
    let compared: Value = serde_json::from_str(&compare_json(&findings)).expect("JSON");
    let measures = compared["rows"][0]["measures"].as_array().expect("a list");
    let ratio = |name: &str| {
        let measure = measures.iter().find(|one| one["measure"] == name).unwrap_or_else(|| panic!("no {name}"));
        (measure["ratio"].as_f64().expect("known") * 1000.0).round() / 1000.0
    };
    assert_eq!([ratio("instructions"), ratio("cycles_kernel"), ratio("branch_misses_user")], [1.3; 3]);
    assert_eq!(ratio("cycles_per_instruction"), 1.0);
    let explained: Value = serde_json::from_str(&explain_json(&findings, &[])).expect("JSON");
    let rules = &explained[0]["rules"];
    assert_eq!(rules[0]["rule"], "more-code", "{rules}");
    let counted = findings.tests[0].cells[1].work.iter().find(|work| work.name == "instructions").expect("counted");
    assert_eq!(counted.counted.map(|share| (share * 1000.0).round()), Some(500.0));
}

#[test]
fn the_page_marks_what_is_scaled_and_says_once_what_was_not_counted() {
    let page = html(&counted_by_cpu()).expect("renders");
    let begin = page.find("Counted by the CPU").expect("a table");
    let table = &page[begin..begin + page[begin..].find("</table>").expect("it ends")];
    for words in ["instructions in the kernel", "≈ 52000", "a cycle (IPC)", "for this part of the time"] {
        assert!(table.contains(words), "{words} in {table}");
    }
    assert!(!table.contains("cache misses"), "{table}");
    let refused = "not counted (cache_misses, cache_references): this CPU does not count it";
    assert_eq!(page.matches(refused).count(), 1);
}
