//! Long work that an interrupted campaign must not wait for.
//!
//! In: work that blocks, the server or the data folder that it blocks on if there is one, the stop flag. Out: the
//! work's result, or `Interrupted`: when the flag is raised the server is made to quit, which ends whatever the work
//! was waiting for. Its data can be made again, and is thrown away.

use crate::ConductError;
use rqps_machine::proctree::ProcessId;
use rqps_model::Engine;
use rqps_server::{Server, cluster};
use rqps_wire::Protocol;
use rustix::process::Signal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How soon a raised flag is seen.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What ends a server at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quit {
    postmaster: ProcessId,
    signal: Signal,
}

impl Quit {
    pub(crate) fn of(server: &Server) -> Option<Quit> {
        // PostgreSQL ends at once by itself and its children with it; to MySQL the same signal means to end in order.
        let signal = match server.endpoint().protocol() {
            Protocol::Postgres => Signal::QUIT,
            Protocol::Mysql => Signal::KILL,
        };
        server.processes().first().map(|postmaster| Quit { postmaster: *postmaster, signal })
    }
}

/// Runs `work`, and ends the server under it when `stop` is raised.
pub(crate) fn supervised<T>(
    server: &Server,
    stop: &AtomicBool,
    work: impl FnOnce() -> Result<T, ConductError>,
) -> Result<T, ConductError> {
    supervised_by(&Vec::from_iter(Quit::of(server)), stop, work)
}

/// Runs `work`, and ends all servers under it when `stop` is raised.
pub(crate) fn supervised_by<T>(
    servers: &[Quit],
    stop: &AtomicBool,
    work: impl FnOnce() -> Result<T, ConductError>,
) -> Result<T, ConductError> {
    let end = |_| servers.iter().for_each(|quit| _ = quit.postmaster.signal(quit.signal));
    watched(stop, end, work)
}

/// Runs `work` that makes a data folder, or starts or stops a server on it, and ends what runs on the folder when
/// `stop` is raised: each may take minutes.
pub(crate) fn supervised_on<T>(
    engine: Engine,
    folder: &Path,
    stop: &AtomicBool,
    work: impl FnOnce() -> Result<T, ConductError>,
) -> Result<T, ConductError> {
    watched(stop, |since| cluster::end_at_once(engine, folder, since), work)
}

/// Runs `work`, and calls `end` from when `stop` is raised until the work is done, with the time since then: it may
/// start one program after the other.
fn watched<T>(
    stop: &AtomicBool,
    end: impl Fn(Duration) + Sync,
    work: impl FnOnce() -> Result<T, ConductError>,
) -> Result<T, ConductError> {
    let done = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut raised: Option<Instant> = None;
            while !done.load(Ordering::Acquire) {
                if stop.load(Ordering::Relaxed) {
                    end(raised.get_or_insert_with(Instant::now).elapsed());
                }
                std::thread::park_timeout(LOOK_EVERY);
            }
        });
        // Dropped on a panic too; otherwise the scope would wait for the watcher forever.
        let _done = Done { done: &done, watcher: watcher.thread() };
        work()
    });
    check(stop)?;
    result
}

/// Tells the watcher when the work is over, however it ended.
struct Done<'a> {
    done: &'a AtomicBool,
    watcher: &'a Thread,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.watcher.unpark();
    }
}

/// Runs work that nothing can end, such as a flush of the disk, but does not wait for it once `stop` is raised: it goes
/// on in a thread of its own, and ends with this process at the latest.
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

/// Does the same to several things, to each in a thread of its own; the results in their order.
pub(crate) fn all_at_once<T: Send, R: Send>(
    things: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = things.into_iter().map(|thing| scope.spawn(move || work(thing))).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Waits for a moment, or until `stop` is raised.
pub(crate) fn pause_until(moment: Instant, stop: &AtomicBool) -> Result<(), ConductError> {
    loop {
        check(stop)?;
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK_EVERY));
    }
}

/// Ends the campaign here if the user asked for it.
pub(crate) fn check(stop: &AtomicBool) -> Result<(), ConductError> {
    if stop.load(Ordering::Relaxed) { Err(ConductError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::sync::{Condvar, Mutex};

    /// Starts programs on a folder, one after the other as initdb does, once the campaign is interrupted. Each would
    /// run for an hour.
    fn check_ended(command: &[&str]) {
        let folder = tempfile::tempdir().expect("a folder");
        for engine in Engine::ALL {
            let (stop, begun) = (AtomicBool::new(false), Instant::now());
            let run = || {
                let mut program = Command::new(command[0]);
                program.args(&command[1..]).current_dir(folder.path()).stdin(Stdio::null());
                program.status().expect("it can be run").success()
            };
            let ran = supervised_on(engine, folder.path(), &stop, || {
                stop.store(true, Ordering::Relaxed);
                Ok((run(), run()))
            });
            assert!(matches!(ran, Err(ConductError::Interrupted)), "{ran:?}");
            assert!(begun.elapsed() < Duration::from_secs(600), "{engine:?}: {:?}", begun.elapsed());
        }
    }

    #[test]
    fn what_runs_on_a_folder_is_not_waited_for() {
        check_ended(&["sleep", "3600"]);
    }

    /// A shell makes what it runs in the background ignore the signal that ends a PostgreSQL.
    #[test]
    fn what_ignores_its_signal_is_not_waited_for() {
        check_ended(&["sh", "-c", "trap '' QUIT; exec sleep 3600"]);
    }

    #[test]
    fn what_ends_by_itself_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(false);
        let ran = supervised_on(Engine::Mysql, folder.path(), &stop, || Ok(7));
        assert_eq!(ran.expect("done"), 7);
    }

    /// Each waits for the others to have begun; one after the other none would see that.
    #[test]
    fn all_at_once_is_in_order_and_not_one_after_the_other() {
        let (begun, all_begun) = (Mutex::new(0), Condvar::new());
        let worked = all_at_once(["a", "b", "c"], |name| {
            let mut count = begun.lock().expect("no panic");
            *count += 1;
            all_begun.notify_all();
            let waited = all_begun.wait_timeout_while(count, Duration::from_secs(60), |count| *count < 3);
            (name, !waited.expect("no panic").1.timed_out())
        });
        assert_eq!(worked, [("a", true), ("b", true), ("c", true)]);
    }

    #[test]
    fn a_pause_ends_with_its_moment_or_with_the_campaign() {
        let stop = AtomicBool::new(false);
        let moment = Instant::now() + Duration::from_millis(50);
        pause_until(moment, &stop).expect("not stopped");
        assert!(Instant::now() >= moment);
        stop.store(true, Ordering::Relaxed);
        let paused = pause_until(Instant::now() + Duration::from_secs(3600), &stop);
        assert!(matches!(paused, Err(ConductError::Interrupted)), "{paused:?}");
    }

    #[test]
    fn work_that_panics_is_not_waited_for() {
        let stop = AtomicBool::new(false);
        let panicked = std::panic::catch_unwind(|| watched::<()>(&stop, |_| (), || panic!("on purpose")));
        assert!(panicked.is_err());
    }
}
