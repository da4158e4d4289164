//! The floor under every measurement of the client: a bare ping-pong over a socket pair.
//!
//! In: sizes and a count. Out: elapsed time and CPU time of the asking thread alone, for the same send, poll and
//! receive that the timed path does with a server that does nothing. It speaks no protocol.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use rustix::time::{ClockId, clock_gettime};

use crate::poll::wait_readable;

/// The largest message of a ping-pong.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// What a ping-pong cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPong {
    /// The round trips made.
    pub round_trips: u64,
    /// The time it took.
    pub elapsed: Duration,
    /// The CPU time, user and system, of the asking thread.
    pub client_cpu: Duration,
}

/// Plays against a thread of this process. For a peer with an address space of its own, as a server has, give one
/// end of a socket pair to a child process that calls [`echo`], and call [`ask`] with the other.
pub fn ping_pong(round_trips: u64, request_bytes: usize, reply_bytes: usize) -> io::Result<PingPong> {
    let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    std::thread::scope(|scope| {
        let peer = scope.spawn(move || echo(far, request_bytes, reply_bytes));
        let asked = ask(&near, round_trips, request_bytes, reply_bytes);
        // The peer ends when it sees the end of the stream.
        drop(near);
        peer.join().expect("the echo does not panic")?;
        asked
    })
}

/// Sends requests over `socket`, one after the other, and waits for each reply as the timed path does.
pub fn ask(socket: impl AsFd, round_trips: u64, request_bytes: usize, reply_bytes: usize) -> io::Result<PingPong> {
    let request = message(request_bytes)?;
    message(reply_bytes)?;
    let cpu_before = thread_cpu();
    let start = Instant::now();
    for _ in 0..round_trips {
        send_whole(&socket, request)?;
        if !receive_whole(&socket, reply_bytes)? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(PingPong { round_trips, elapsed: start.elapsed(), client_cpu: thread_cpu().saturating_sub(cpu_before) })
}

/// Answers requests until the other side hangs up.
pub fn echo(socket: impl AsFd, request_bytes: usize, reply_bytes: usize) -> io::Result<()> {
    let reply = message(reply_bytes)?;
    message(request_bytes)?;
    while receive_whole(&socket, request_bytes)? {
        send_whole(&socket, reply)?;
    }
    Ok(())
}

/// A message of so many bytes.
fn message(bytes: usize) -> io::Result<&'static [u8]> {
    static BLANK: [u8; MESSAGE_BYTES_MAX] = [0; MESSAGE_BYTES_MAX];
    match bytes {
        1..=MESSAGE_BYTES_MAX => Ok(&BLANK[..bytes]),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "a message of a ping-pong has 1 to 16384 bytes")),
    }
}

fn send_whole(socket: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        bytes = &bytes[send(&socket, bytes, SendFlags::NOSIGNAL)?..];
    }
    Ok(())
}

/// Receives so many bytes; false if the other side hung up instead.
fn receive_whole(socket: impl AsFd, bytes: usize) -> io::Result<bool> {
    let mut space = [const { MaybeUninit::<u8>::uninit() }; MESSAGE_BYTES_MAX];
    let mut received = 0;
    while received < bytes {
        wait_readable(&socket, None)?;
        match recv(&socket, &mut space, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Ok(false),
            Ok((_, count)) => received += count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// The CPU time of this thread: RUSAGE_THREAD, but in nanoseconds.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_trip_is_made_and_costs_something() {
        let played = ping_pong(200, 42, 156).unwrap();
        assert_eq!(played.round_trips, 200);
        assert!(played.client_cpu > Duration::ZERO);
        assert!(played.client_cpu <= played.elapsed + Duration::from_millis(10));
        assert_eq!(ping_pong(1, 0, 1).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_peer_that_hangs_up_is_an_error() {
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(far);
        assert!(ask(&near, 1, 42, 156).is_err());
    }
}
