//! A request as a campaign file: kept beside the results, and a start for a file of one's own.
//!
//! In: a request, of flags or with all presets. Out: TOML that `read` takes back to an equal request.

use crate::key::KEYS;
use crate::place::{Place, Stated};
use crate::read::write_size;
use crate::request::{BuildRequest, Request, Setting};
use rqps_model::plan::Arrival;
use rqps_model::{BuildSpec, Interleave, StorageEngine};
use toml::Value;

/// The campaign file that says the same as a request.
pub fn to_toml(request: &Request) -> String {
    let mut text = String::from("# A campaign of rqps; docs/campaign-file.md tells every key.\n");
    for key in &KEYS {
        if let Some(value) = value_of(key.name, request) {
            text.push_str(&format!("{} = {value}\n", key.name));
        }
    }
    text
}

/// A key's value in TOML, if it was said.
fn value_of(key: &str, request: &Request) -> Option<String> {
    match key {
        "name" => request.name.as_ref().map(|name| text(&name.value)),
        "build" => request.build.as_ref().map(|builds| list(builds.value.iter().map(build).collect())),
        "base" => request.base.as_ref().map(|base| text(&base.value)),
        "profile" => request.profile.as_ref().map(|words| texts(&words.value)),
        "storage-engine" => request.storage_engine.as_ref().map(|engines| storage(&engines.value)),
        "set" => request.set.as_ref().map(|set| settings(&set.value)),
        "suite" => request.suite.as_ref().map(|suite| text(&suite.value)),
        "scale" => request.scale.as_ref().map(|scale| text(&scale.value.to_string())),
        "tests" => request.tests.as_ref().map(|words| texts(&words.value)),
        "tables" => request.tables.as_ref().map(|tables| tables.value.to_string()),
        "rows" => request.rows.as_ref().map(|rows| rows.value.to_string()),
        "rows-written" => request.rows_written.as_ref().map(|rows| rows.value.to_string()),
        "clients" => request.clients.as_ref().map(|all| numbers(&all.value)),
        "write-rates" => request.write_rates.as_ref().map(|all| numbers(&all.value)),
        "read-seconds" => request.read_seconds.as_ref().map(|seconds| seconds.value.to_string()),
        "write-seconds" => request.write_seconds.as_ref().map(|seconds| seconds.value.to_string()),
        "rest-seconds" => request.rest_seconds.as_ref().map(|seconds| seconds.value.to_string()),
        "catch-up-seconds" => request.catch_up_seconds.as_ref().map(|seconds| seconds.value.to_string()),
        "warmup" => request.warmup.as_ref().map(|warmup| warmup.value.to_string()),
        "rounds" => request.rounds.as_ref().map(|rounds| rounds.value.to_string()),
        "interleave" => request.interleave.as_ref().map(|how| text(how.value.name())),
        "slice" => {
            request.slice.as_ref().filter(|slice| says_something(slice, request)).map(|slice| slice.value.to_string())
        }
        "rate" => request.rate.as_ref().map(|rate| match rate.value {
            Arrival::Closed => text("closed"),
            Arrival::Poisson { rate_per_s } => rate_per_s.to_string(),
            Arrival::Even { rate_per_s } => text(&format!("even:{rate_per_s}")),
        }),
        "placement" => request.placement.as_ref().map(|placement| text(placement.value.name())),
        "machine" => request.machine.as_ref().map(|machine| {
            let memory = text(&write_size(machine.value.memory_bytes));
            format!("{{ cores = {}, memory = {memory} }}", machine.value.cores)
        }),
        "margin" => request.margin.as_ref().map(|margin| margin.value.to_string()),
        "seed" => request.seed.as_ref().map(|seed| seed.value.to_string()),
        "quick" => request.quick.as_ref().map(|quick| quick.value.to_string()),
        other => unreachable!("key `{other}` is in KEYS and is not written"),
    }
}

/// A default length of slices is left out where there are none, since it would contradict.
fn says_something(slice: &Stated<f64>, request: &Request) -> bool {
    let turns = request.interleave.as_ref().is_some_and(|how| how.value == Interleave::Turns);
    !turns || !matches!(slice.place, Place::Preset(_))
}

fn text(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn texts(words: &[Stated<String>]) -> String {
    list(words.iter().map(|word| text(&word.value)).collect())
}

fn numbers(numbers: &[Stated<u32>]) -> String {
    list(numbers.iter().map(|number| number.value.to_string()).collect())
}

fn storage(engines: &[Stated<StorageEngine>]) -> String {
    list(engines.iter().map(|engine| text(engine.value.name())).collect())
}

/// A list on one line where it fits, else an item a line.
fn list(items: Vec<String>) -> String {
    const LINE: usize = 90;
    let short = format!("[{}]", items.join(", "));
    if short.len() <= LINE { short } else { format!("[\n    {},\n]", items.join(",\n    ")) }
}

fn build(build: &BuildRequest) -> String {
    let spec = &build.spec.value;
    if build.profile.is_none() && build.storage.is_none() && build.set.is_empty() {
        return text(&spec.to_string());
    }
    let from = BuildSpec { name: None, ..spec.clone() };
    let name = spec.name.as_ref().map(|name| format!("name = {}", text(name)));
    let from = Some(format!("from = {}", text(&from.to_string())));
    let profile = build.profile.as_ref().map(|words| format!("profile = {}", texts(&words.value)));
    let set = (!build.set.is_empty()).then(|| format!("set = {}", settings(&build.set)));
    let engines = build.storage.as_ref().map(|engines| format!("storage-engine = {}", storage(&engines.value)));
    let entries: Vec<String> = [name, from, profile, engines, set].into_iter().flatten().collect();
    format!("{{ {} }}", entries.join(", "))
}

fn settings(set: &[Stated<Setting>]) -> String {
    // A dot in a bare key would make a table of it.
    let key = |name: &str| if name.contains('.') { text(name) } else { name.to_owned() };
    let entries: Vec<String> =
        set.iter().map(|setting| format!("{} = {}", key(&setting.value.0), text(&setting.value.1))).collect();
    format!("{{ {} }}", entries.join(", "))
}

#[cfg(test)]
mod tests;
