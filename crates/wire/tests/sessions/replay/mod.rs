//! Recorded sessions played again: whole, split at every byte, truncated at every byte; and noise in their place.
//!
//! The recordings in `tests/transcripts/` come from real servers (see `examples/record_transcripts.rs`). Whatever the
//! splits, every call must say what it said when recorded; whatever is cut off, the session must end with an error.

mod early;
mod noise;
mod peer;
mod scenario;
mod transcript;

use std::path::Path;
use std::sync::Mutex;

use peer::{Delivery, replay};
use rqps_wire::{Protocol, WireError};
use scenario::{SCENARIOS, Scenario};
use transcript::Transcript;

/// All recordings with their scenarios.
fn recordings() -> Vec<(String, &'static Scenario, Transcript)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let scenario = SCENARIOS
            .iter()
            .find(|scenario| {
                let protocol = if file.contains("-postgres-") { Protocol::Postgres } else { Protocol::Mysql };
                scenario.protocol == protocol && file.starts_with(&format!("{}-", scenario.name))
            })
            .unwrap_or_else(|| panic!("{file} belongs to no scenario"));
        let text = std::fs::read_to_string(&path).unwrap();
        found.push((file, scenario, Transcript::parse(&text)));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() >= SCENARIOS.len(), "the recordings are missing");
    found
}

/// The bytes of the server at which splitting and cutting begins: logins are tried in recordings of their own.
fn first_position(scenario: &Scenario, transcript: &Transcript) -> usize {
    match scenario.protocol {
        _ if !matches!(scenario.name, "control" | "copy" | "load" | "timed") => 0,
        Protocol::Postgres => transcript.exchanges[0].server.len(),
        // The greeting, then the answer to ours.
        Protocol::Mysql => transcript.exchanges[0].server.len() + transcript.exchanges[1].server.len(),
    }
}

/// Runs a test on all recordings, as many at once as there are CPUs: who waits for the other end of its session passes
/// its CPU on, best to that end and not to a hundred other sessions.
fn on_each_recording(test: impl Fn(&str, &'static Scenario, &Transcript) + Sync) {
    let recordings = Mutex::new(recordings().into_iter());
    let next = || recordings.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while let Some((file, scenario, transcript)) = next() {
                    test(&file, scenario, &transcript);
                }
            });
        }
    });
}

fn server_bytes(transcript: &Transcript) -> usize {
    transcript.exchanges.iter().map(|e| e.server.len()).sum()
}

#[test]
fn whole_recordings_give_the_recorded_outcomes() {
    for (file, scenario, transcript) in recordings() {
        assert_eq!(Transcript::parse(&transcript.render()), transcript, "{file}");
        let (outcomes, error) = replay(scenario, &transcript, Delivery::Whole);
        assert_eq!(outcomes, transcript.outcomes, "{file}");
        assert!(error.is_none(), "{file}: {error:?}");
    }
}

#[test]
fn recordings_split_at_every_byte_give_the_recorded_outcomes() {
    on_each_recording(|file, scenario, transcript| {
        for position in first_position(scenario, transcript)..server_bytes(transcript) {
            let (outcomes, error) = replay(scenario, transcript, Delivery::SplitAt(position));
            assert_eq!(outcomes, transcript.outcomes, "{file} split at {position}");
            assert!(error.is_none(), "{file} split at {position}: {error:?}");
        }
    });
}

#[test]
fn recordings_in_single_bytes_give_the_recorded_outcomes() {
    for (file, scenario, transcript) in recordings() {
        let (outcomes, error) = replay(scenario, &transcript, Delivery::SingleBytes);
        assert_eq!(outcomes, transcript.outcomes, "{file}");
        assert!(error.is_none(), "{file}: {error:?}");
    }
}

#[test]
fn recordings_cut_at_every_byte_end_in_a_lost_connection() {
    on_each_recording(|file, scenario, transcript| {
        for position in first_position(scenario, transcript)..server_bytes(transcript) {
            let (outcomes, error) = replay(scenario, transcript, Delivery::CutAt(position));
            let error = error.unwrap_or_else(|| panic!("{file} cut at {position} goes unnoticed"));
            assert!(matches!(error, WireError::Lost { .. }), "{file} cut at {position}: {error}");
            assert!(transcript.outcomes.starts_with(&outcomes), "{file} cut at {position}");
        }
    });
}
