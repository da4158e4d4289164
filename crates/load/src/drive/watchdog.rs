//! Ends waits that would not end by themselves, once the caller wants to stop.
//!
//! The loop waits for replies without a time limit, because a timer would cost something at every statement. When the
//! caller's flag is up and the loop hasn't ended within the patience, the watchdog shuts the sockets down, so that the
//! waits end. It reads and writes nothing else, and sleeps otherwise.

use rqps_wire::Session;
use rustix::net::{Shutdown, shutdown};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the flag is looked at.
const PERIOD: Duration = Duration::from_millis(100);

/// How long a statement under way may go on after the flag is up.
const PATIENCE: Duration = Duration::from_secs(1);

/// The sockets of all arms and threads.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    /// By arm and thread.
    sockets: Vec<((usize, usize), OwnedFd)>,
}

impl Watchdog {
    /// Watches these sessions of a thread to an arm instead of those before.
    pub(crate) fn watch<'s>(
        &self,
        arm: usize,
        thread: usize,
        sessions: impl Iterator<Item = &'s Session>,
    ) -> std::io::Result<()> {
        let copies = sessions.map(|session| session.as_fd().try_clone_to_owned()).collect::<Result<Vec<_>, _>>()?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sockets.retain(|(place, _)| *place != (arm, thread));
        state.sockets.extend(copies.into_iter().map(|copy| ((arm, thread), copy)));
        Ok(())
    }

    /// Lets go of a thread's sessions to an arm, so that closing them ends the connections.
    pub(crate) fn release(&self, arm: usize, thread: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sockets.retain(|(place, _)| *place != (arm, thread));
    }

    /// Ends the watch when it is dropped: a scope with the watchdog's thread cannot end before.
    pub(crate) fn end_of_watch(&self) -> EndOfWatch<'_> {
        EndOfWatch(self)
    }

    /// The exercise is over.
    fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.changed.notify_all();
    }

    /// Keeps watch until the end.
    pub(crate) fn run(&self, stop: &AtomicBool) {
        let mut since: Option<Instant> = None;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_over {
            if stop.load(Ordering::Relaxed) && since.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
                for (_, socket) in &state.sockets {
                    // A socket that is closed already needs no shutting down.
                    let _ = shutdown(socket, Shutdown::Both);
                }
            }
            let waited = self.changed.wait_timeout(state, PERIOD);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Whatever happens, the watchdog's thread must end.
pub(crate) struct EndOfWatch<'a>(&'a Watchdog);

impl Drop for EndOfWatch<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
