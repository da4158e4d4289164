//! Long work that an interrupted campaign must not wait for.
//!
//! In: work that blocks, the process of the server that it blocks on if there is one, the stop flag. Out: the work's
//! result, or `Interrupted`: when the flag is raised the server is told to quit, which ends whatever the work was waiting
//! for. Its data is a copy, and is thrown away.

use crate::ConductError;
use rqps_server::Server;
use rqps_wire::Protocol;
use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
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
    // PostgreSQL ends at once by itself and its children with it; to MySQL the same signal means to end in order.
    let at_once = match server.endpoint().engine {
        Protocol::Postgres => Signal::QUIT,
        Protocol::Mysql => Signal::KILL,
    };
    let done = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                if stop.load(Ordering::Relaxed) {
                    postmaster.signal(at_once);
                    return;
                }
                std::thread::park_timeout(LOOK_EVERY);
            }
        });
        let result = work();
        done.store(true, Ordering::Release);
        watcher.thread().unpark();
        result
    });
    check(stop)?;
    result
}

/// Runs work that nothing can end, such as a flush of the disk, but does not wait for it once `stop` is raised: it goes on
/// in a thread of its own, and ends with this process at the latest.
pub(crate) fn unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ConductError> {
    let (done, result) = channel();
    std::thread::spawn(move || _ = done.send(work()));
    loop {
        check(stop)?;
        match result.recv_timeout(LOOK_EVERY) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the work sends its result, for it does not panic"),
        }
    }
}

/// Ends the campaign here if the user asked for it.
pub(crate) fn check(stop: &AtomicBool) -> Result<(), ConductError> {
    if stop.load(Ordering::Relaxed) { Err(ConductError::Interrupted) } else { Ok(()) }
}
