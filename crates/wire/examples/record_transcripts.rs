//! Records sessions with a real server into `tests/transcripts/`.
//!
//! In: the directories of server binaries, as arguments. Out: a file for each scenario and server version.
//! Run it from the crate's folder: `cargo run --example record_transcripts -- /usr/lib/postgresql/15/bin`.

#![expect(clippy::unwrap_used, reason = "a recording fails by panicking")]

#[path = "../tests/replay/scenario.rs"]
mod scenario;
#[path = "../tests/live/server.rs"]
#[expect(dead_code, reason = "the live tests use the rest of it")]
mod server;
#[path = "../tests/replay/transcript.rs"]
#[expect(dead_code, reason = "the replay reads what is written here")]
mod transcript;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rqps_wire::Transport;

use scenario::{SCENARIOS, Scenario};
use server::LiveServer;
use transcript::Transcript;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    for binaries in std::env::args().skip(1) {
        let server = LiveServer::start(Path::new(&binaries));
        let mut session = server.session();
        let version = session.query("show server_version").expect("a server has a version");
        let version = version.single().expect("a version is a text").to_owned();
        let number = version.split(' ').next().unwrap_or(&version);
        for scenario in &SCENARIOS {
            let mut transcript = record(&server, scenario);
            transcript.remark = format!("{}, PostgreSQL {version}", scenario.name);
            let path = folder.join(format!("{}-postgres-{number}.txt", scenario.name));
            std::fs::write(&path, transcript.render()).expect("the folder can be written to");
        }
    }
}

/// Plays a scenario through a relay that writes down what passes.
fn record(server: &LiveServer, scenario: &Scenario) -> Transcript {
    let Transport::Unix { directory, port } = server.unix(scenario.user).transport else {
        unreachable!("asked for a Unix socket");
    };
    let socket = directory.join(format!(".s.PGSQL.{port}"));
    let to_server = UnixStream::connect(socket).expect("the server runs");
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
