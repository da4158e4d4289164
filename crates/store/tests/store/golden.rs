//! Results of every format that was ever released stay readable: the folders in `tests/golden` are never written again.

use crate::made;
use rqps_model::part::LATENCY;
use rqps_store::{Campaign, FoundFormat, SampleParts, State, StoreError};
use std::path::{Path, PathBuf};

fn golden(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format)
}

#[test]
fn format_1_0_is_read() {
    let campaign = Campaign::open(&golden("format-1.0")).expect("opened");
    let plan = made::plan(2, 1, 1);
    assert_eq!((campaign.plan(), campaign.host()), (&plan, &made::host()));
    assert_eq!(campaign.status().state, State::Complete);
    let treatment = &plan.treatments[0].name;
    assert_eq!(campaign.build(treatment).expect("read"), Some(made::build_facts()));
    assert_eq!(campaign.settings(treatment).expect("read"), Some(made::settings_facts()));
    assert_eq!(campaign.plans(treatment, &plan.tests()[0].name).expect("read"), Some(made::statement_plans()));
    // Histograms are compressed, and not every release of a library compresses alike.
    let but_latency = |mut parts: SampleParts| {
        parts.parts.retain(|part| part.name != LATENCY);
        parts
    };
    for (sample, treatment) in campaign.samples().expect("read").iter().zip([0, 1]) {
        let mut made = made::parts(&plan, 1, treatment, 0, 6);
        // When it was written, failures had no classes, planning had no time, sessions were not followed, events of the
        // CPU were not counted, and what was refused was not kept.
        made.sample.failures = Default::default();
        made.sample.not_sampled.clear();
        made.sample.planning_us = None;
        made.sample.cpu_events = None;
        made.sample.resources.sessions = None;
        let latency = made.parts.iter().find(|part| part.name == LATENCY).expect("a part").clone();
        let latencies = sample.latencies().expect("read");
        let again = rqps_store::latency_part(&latencies, made.sample.seconds).expect("written");
        assert_eq!(again, latency, "the same histograms");
        assert_eq!(but_latency(sample.parts().expect("read")), but_latency(made));
    }
}

#[test]
fn the_form_before_the_first_release_is_refused() {
    let check = |error: StoreError| {
        assert!(matches!(error, StoreError::OtherFormat { found: FoundFormat::Unreleased, .. }), "{error}");
    };
    check(Campaign::open(&golden("unreleased")).expect_err("another form"));
    // Nor is it resumed, and no lock file is put there.
    check(Campaign::open_to_resume(&golden("unreleased"), made::start()).expect_err("another form"));
    assert!(std::fs::read_dir(golden("unreleased")).expect("listed").count() == 6);
}

/// Every field that is written is told in the contract.
#[test]
fn the_contract_names_every_field() {
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results-format.md");
    let contract = std::fs::read_to_string(contract).expect("the contract");
    let folder = golden(&format!("format-{}", rqps_model::FORMAT));
    let treatment = folder.join("treatments/pg1200.x10a_c2r24");
    let sample = folder.join("rounds/1/pg1200.x10a_c2r24/sysbench/random-points_range=10.c1");
    let host = format!("hosts/{}.json", Campaign::open(&folder).expect("opened").host_id());
    let of_campaign = ["plan.json", &host, "status.json"].map(|name| folder.join(name));
    let of_treatment =
        ["build.json", "settings.json", "plans/random-points_range=10.json"].map(|name| treatment.join(name));
    const OF_SAMPLE: [&str; 6] =
        ["sample.json", "slices.json", "seconds.jsonl", "monitor.jsonl", "counters.jsonl", "manifest.json"];
    let of_sample = OF_SAMPLE.map(|name| sample.join(name));
    let mut fields = 0;
    for path in of_campaign.iter().chain(&of_treatment).chain(&of_sample) {
        let text = std::fs::read_to_string(path).expect("there");
        for value in serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>() {
            each_field(&value.expect("JSON"), &mut |field| {
                let told = [format!("`{field}`"), format!("\"{field}\"")].iter().any(|word| contract.contains(word));
                assert!(told, "{} has a field `{field}` that docs/results-format.md does not name", path.display());
                fields += 1;
            });
        }
    }
    assert!(fields > 150, "only {fields} fields looked at");
}

/// Calls back with each field's name; the keys of maps are data and no fields.
fn each_field(value: &serde_json::Value, visit: &mut impl FnMut(&str)) {
    const MAPS: [&str; 9] =
        ["server", "counters", "values", "set", "written", "left_out", "effective", "load_seconds", "files"];
    match value {
        serde_json::Value::Array(values) => values.iter().for_each(|value| each_field(value, visit)),
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                visit(name);
                if !MAPS.contains(&name.as_str()) {
                    each_field(value, visit);
                }
            }
        }
        _ => {}
    }
}

#[test]
#[ignore = "makes the golden folder of a new format; refuses to touch one that is there"]
fn make_golden() {
    let folder = golden(&format!("format-{}", rqps_model::FORMAT));
    let mut plan = made::plan(2, 1, 1);
    let root = folder.parent().expect("a parent");
    let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
    plan.name = "made".into();
    let mut writer = Campaign::create(root, name, &plan, &made::host(), "", made::start()).expect("not there yet");
    let treatment = &plan.treatments[0].name;
    writer.write_build(treatment, &made::build_facts()).expect("written");
    writer.write_settings(treatment, &made::settings_facts()).expect("written");
    writer.write_plans(treatment, &plan.tests()[0].name, &made::statement_plans()).expect("written");
    for treatment in 0..2 {
        writer.publish(&made::parts(&plan, 1, treatment, 0, 6)).expect("published");
    }
    writer.finish("2026-11-20T06:00:00.000Z").expect("finished");
}
