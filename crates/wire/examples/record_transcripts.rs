//! Records sessions with a real server into `tests/transcripts/`.
//!
//! In: builds, as arguments, in the words of `rqps run --build`.
//! Out: a file for each scenario and server version. Run it from the crate's folder:
//! `cargo run --example record_transcripts -- postgres:/usr/lib/postgresql/15 mysql:8.0.15`.

#![expect(clippy::unwrap_used, reason = "a recording fails by panicking")]

#[path = "../tests/sessions/replay/scenario.rs"]
mod scenario;
#[path = "../tests/sessions/server.rs"]
#[expect(dead_code, reason = "the live tests use the rest of it")]
mod server;
#[path = "../tests/sessions/replay/transcript.rs"]
#[expect(dead_code, reason = "the replay reads what is written here")]
mod transcript;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rqps_wire::{Endpoint, Protocol, Transport};

use scenario::{SCENARIOS, Scenario};
use transcript::Transcript;

fn main() {
    for word in std::env::args().skip(1) {
        let server = server::Server::start(&word);
        let build = server.build();
        let has = |user: &str| user == "bench" || server.accounts().iter().any(|(_, known)| *known == user);
        let endpoint = |user: &str| has(user).then(|| server.unix(user));
        record_all(server.endpoint().protocol(), build.engine.name(), &build.version.to_string(), endpoint);
    }
}

/// Records every scenario of a protocol whose account the server has.
fn record_all(protocol: Protocol, engine: &str, version: &str, endpoint: impl Fn(&str) -> Option<Endpoint>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.protocol == protocol) {
        let Some(endpoint) = endpoint(scenario.user) else { continue };
        let mut transcript = record(&endpoint, scenario);
        transcript.remark = format!("{}, {engine} {version}", scenario.name);
        let path = folder.join(format!("{}-{engine}-{version}.txt", scenario.name));
        std::fs::write(&path, transcript.render()).expect("the folder can be written to");
    }
}

/// Plays a scenario through a relay that writes down what passes.
fn record(endpoint: &Endpoint, scenario: &Scenario) -> Transcript {
    let Transport::Unix { path } = &endpoint.transport else {
        unreachable!("asked for a Unix socket");
    };
    let to_server = UnixStream::connect(path).expect("the server runs");
    let (client, to_client) = UnixStream::pair().expect("a socket pair can be had");
    let transcript = Arc::new(Mutex::new(Transcript::default()));

    let relay = |from: &UnixStream, to: &UnixStream, add: fn(&mut Transcript, &[u8])| {
        let (mut from, mut to) =
            (from.try_clone().expect("a descriptor is left"), to.try_clone().expect("a descriptor is left"));
        let transcript = Arc::clone(&transcript);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 20];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                let bytes = &buffer[..count];
                add(&mut transcript.lock().expect("nobody panics"), bytes);
                if to.write_all(bytes).is_err() {
                    break;
                }
            }
            // Either side hanging up ends both directions.
            let _ = to.shutdown(std::net::Shutdown::Both);
        })
    };
    let forth = relay(&to_client, &to_server, Transcript::add_client);
    let back = relay(&to_server, &to_client, Transcript::add_server);
    let (outcomes, error) = scenario.play_over(client.into());
    assert!(error.is_none(), "{}: {error:?}", scenario.name);
    forth.join().expect("the relay does not panic");
    back.join().expect("the relay does not panic");

    let mut transcript = std::mem::take(&mut *transcript.lock().expect("nobody panics"));
    transcript.outcomes = outcomes;
    transcript
}
