//! A request as a campaign file: kept beside the results, and a start for a file of one's own.
//!
//! In: a request, of flags or with all presets. Out: TOML that `read` takes back to an equal request.

use crate::place::Place;
use crate::request::Request;
use rqps_model::Interleave;
use rqps_suites::KEYS;

/// The campaign file that says the same as a request.
pub fn to_toml(request: &Request) -> String {
    let mut text = String::from("# A campaign of rqps; docs/campaign-file.md tells every key.\n");
    for key in KEYS.iter() {
        let says_something = match key.name.as_str() {
            "slice" => slices_fit(request),
            "time" => is_time_said(request),
            _ => true,
        };
        if let Some((value, _)) = request.given(&key.name).filter(|_| says_something) {
            text.push_str(&format!("{} = {}\n", key.name, value.write()));
        }
    }
    text
}

/// Whether the user gave a time: one that was given is refused if it is too short, a default becomes longer instead.
fn is_time_said(request: &Request) -> bool {
    request.time.as_ref().is_some_and(|time| !matches!(time.place, Place::Preset(_)))
}

/// Whether a length of slices says something: a default length is left out where there are none, since it would
/// contradict.
fn slices_fit(request: &Request) -> bool {
    let turns = request.interleave.as_ref().is_some_and(|how| how.value == Interleave::Turns);
    !turns || !request.slice.as_ref().is_some_and(|slice| matches!(slice.place, Place::Preset(_)))
}

#[cfg(test)]
mod tests;
