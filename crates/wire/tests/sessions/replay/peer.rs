//! The server's side of a replay: says what was recorded, in the pieces that the test wants.
//!
//! In: a transcript and a delivery. Out: what the client's calls said. It checks that the client sends exactly the
//! recorded bytes, and waits between pieces until the client has read the one before, so that a split
//! is a split for sure.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rqps_wire::WireError;

use super::scenario::Scenario;
use super::transcript::Transcript;

/// How the server's bytes are delivered; positions count them from the start of the session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delivery {
    Whole,
    SplitAt(usize),
    SingleBytes,
    CutAt(usize),
}

/// Plays the scenario against the transcript.
pub(crate) fn replay(
    scenario: &Scenario,
    transcript: &Transcript,
    delivery: Delivery,
) -> (Vec<String>, Option<WireError>) {
    let (near, far) = UnixStream::pair().unwrap();
    let client_end: OwnedFd = near.try_clone().unwrap().into();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            serve(transcript, delivery, far, &client_end);
        });
        scenario.play_over(near.into())
    })
}

fn serve(transcript: &Transcript, delivery: Delivery, mut socket: UnixStream, client: &OwnedFd) {
    let mut said = 0;
    for exchange in &transcript.exchanges {
        let mut request = vec![0; exchange.client.len()];
        if socket.read_exact(&mut request).is_err() {
            return;
        }
        assert!(request == exchange.client, "the client sends something else than recorded");
        let bytes = &exchange.server[..];
        let end = said + bytes.len();
        match delivery {
            Delivery::CutAt(position) if (said..end).contains(&position) => {
                say(&mut socket, &bytes[..position - said]);
                socket.shutdown(std::net::Shutdown::Both).unwrap();
                return;
            }
            Delivery::SplitAt(position) if (said..end).contains(&position) => {
                let (first, second) = bytes.split_at(position - said);
                say(&mut socket, first);
                wait_until_read(client);
                say(&mut socket, second);
            }
            Delivery::SingleBytes => {
                for byte in bytes {
                    say(&mut socket, &[*byte]);
                    wait_until_read(client);
                }
            }
            _ => say(&mut socket, bytes),
        }
        said = end;
    }
}

fn say(socket: &mut UnixStream, bytes: &[u8]) {
    // A client that has gone finds its own words for it.
    let _ = socket.write_all(bytes);
}

/// Waits until the client has read all that was said.
pub(crate) fn wait_until_read(client: &OwnedFd) {
    let start = Instant::now();
    while rustix::io::ioctl_fionread(client).unwrap() > 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "the client does not read");
        std::thread::yield_now();
    }
}
