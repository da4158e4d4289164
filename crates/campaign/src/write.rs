//! A request as a campaign file: kept beside the results, and a start for a file of one's own.
//!
//! In: a request, of flags or with all presets. Out: TOML that `read` takes back to an equal request.

use crate::place::{Place, Stated};
use crate::request::{BuildRequest, Request, Setting};
use rqps_model::{BuildSpec, Interleave, StorageEngine};
use rqps_suites::KEYS;
use toml::Value;

/// The campaign file that says the same as a request.
pub fn to_toml(request: &Request) -> String {
    let mut text = String::from("# A campaign of rqps; docs/campaign-file.md tells every key.\n");
    for key in &KEYS {
        if let Some(value) = request.write_key(key.name).filter(|_| key.name != "slice" || slices_fit(request)) {
            text.push_str(&format!("{} = {value}\n", key.name));
        }
    }
    text
}

/// Whether a length of slices says something: a default length is left out where there are none, since it would
/// contradict.
fn slices_fit(request: &Request) -> bool {
    let turns = request.interleave.as_ref().is_some_and(|how| how.value == Interleave::Turns);
    !turns || !request.slice.as_ref().is_some_and(|slice| matches!(slice.place, Place::Preset(_)))
}

pub(crate) fn text(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

pub(crate) fn texts(words: &[Stated<String>]) -> String {
    list(words.iter().map(|word| text(&word.value)).collect())
}

pub(crate) fn storage(engines: &[Stated<StorageEngine>]) -> String {
    list(engines.iter().map(|engine| text(engine.value.name())).collect())
}

/// A list on one line where it fits, else an item a line.
pub(crate) fn list(items: Vec<String>) -> String {
    const LINE: usize = 90;
    let short = format!("[{}]", items.join(", "));
    if short.len() <= LINE { short } else { format!("[\n    {},\n]", items.join(",\n    ")) }
}

pub(crate) fn build(build: &BuildRequest) -> String {
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

pub(crate) fn settings(set: &[Stated<Setting>]) -> String {
    // A dot in a bare key would make a table of it.
    let key = |name: &str| if name.contains('.') { text(name) } else { name.to_owned() };
    let entries: Vec<String> =
        set.iter().map(|setting| format!("{} = {}", key(&setting.value.0), text(&setting.value.1))).collect();
    format!("{{ {} }}", entries.join(", "))
}

#[cfg(test)]
mod tests;
