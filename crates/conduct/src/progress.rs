//! Progress of work that blocks: its threads say how far it is, and this one passes that on.
//!
//! In: work that reports a share from any of its threads, and who watches. Out: the work's result. It must not make the
//! work wait, nor end later than it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// How often progress is passed on.
const PASS_ON_EVERY: Duration = Duration::from_secs(1);

/// Progress is in steps of one in so many.
const STEPS: f64 = 1000.0;

/// Does the work on a thread of its own, and passes its progress on from this one.
pub(crate) fn with_progress<T: Send>(
    work: impl FnOnce(&(dyn Fn(f64) + Sync)) -> T + Send,
    mut advance: impl FnMut(f64),
) -> T {
    let (reached, done) = (AtomicU32::new(0), AtomicBool::new(false));
    let watcher = std::thread::current();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let worked = work(&|share| reached.store((share * STEPS) as u32, Ordering::Relaxed));
            done.store(true, Ordering::Release);
            watcher.unpark();
            worked
        });
        let mut passed_on = 0;
        while !done.load(Ordering::Acquire) && !worker.is_finished() {
            std::thread::park_timeout(PASS_ON_EVERY);
            let now = reached.load(Ordering::Relaxed);
            if now != std::mem::replace(&mut passed_on, now) {
                advance(f64::from(now) / STEPS);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn progress_is_passed_on_while_the_work_goes_on() {
        let (watched, heard) = channel();
        let work = move |progress: &(dyn Fn(f64) + Sync)| {
            std::thread::scope(|scope| scope.spawn(|| progress(0.25)).join()).expect("it does not panic");
            // It ends only once its progress was seen.
            heard.recv().expect("somebody watches")
        };
        assert_eq!(with_progress(work, |share| _ = watched.send(share)), 0.25);
    }

    #[test]
    #[should_panic(expected = "the server is gone")]
    fn a_panic_of_the_work_is_passed_on() {
        with_progress(|_| panic!("the server is gone"), |_| ());
    }
}
