//! Long work on a server that an interrupted campaign must not wait for.
//!
//! In: work that blocks on a server, the server's process, the stop flag. Out: the work's result, or `Interrupted`: when
//! the flag is raised the server is told to quit, which ends whatever the work was waiting for. Its data is a copy, and
//! is thrown away.

use crate::ConductError;
use rqps_server::Server;
use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How soon a raised flag is seen.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs `work`, and ends the server under it when `stop` is raised.
pub(crate) fn supervised<T>(
    server: &Server,
    stop: &AtomicBool,
    work: impl FnOnce() -> Result<T, ConductError>,
) -> Result<T, ConductError> {
    let Some(postmaster) = server.processes().first().copied() else { return work() };
    let done = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                if stop.load(Ordering::Relaxed) {
                    postmaster.signal(Signal::QUIT);
                    return;
                }
                std::thread::park_timeout(LOOK_EVERY);
            }
        });
        let result = work();
        done.store(true, Ordering::Release);
        result
    });
    check(stop)?;
    result
}

/// Ends the campaign here if the user asked for it.
pub(crate) fn check(stop: &AtomicBool) -> Result<(), ConductError> {
    if stop.load(Ordering::Relaxed) { Err(ConductError::Interrupted) } else { Ok(()) }
}
