//! Long work whose threads know how far it is, and one thread that may tell it.
//!
//! In: work that blocks and is told a share from any of its threads, whom to tell. Out: the work's result. It must not
//! make the work wait, nor end later than it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// How often whoever watches hears how far the work is.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The finest step that is told is a share of so much.
const STEPS: f64 = 1000.0;

/// Does the work on a thread of its own, and passes its progress on in this one.
pub(crate) fn telling<T: Send>(
    work: impl FnOnce(&(dyn Fn(f64) + Sync)) -> T + Send,
    mut advance: impl FnMut(f64),
) -> T {
    let (reached, done) = (AtomicU32::new(0), AtomicBool::new(false));
    let teller = std::thread::current();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let worked = work(&|share| reached.store((share * STEPS) as u32, Ordering::Relaxed));
            done.store(true, Ordering::Release);
            teller.unpark();
            worked
        });
        let mut told = 0;
        while !done.load(Ordering::Acquire) && !worker.is_finished() {
            std::thread::park_timeout(TELL_EVERY);
            let now = reached.load(Ordering::Relaxed);
            if now != std::mem::replace(&mut told, now) {
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
    fn what_a_thread_knows_is_told_by_another_while_the_work_goes_on() {
        let (told, heard) = channel();
        let work = move |progress: &(dyn Fn(f64) + Sync)| {
            std::thread::scope(|scope| scope.spawn(|| progress(0.25)).join()).expect("it does not panic");
            // It ends only when somebody was told.
            heard.recv().expect("somebody tells")
        };
        assert_eq!(telling(work, |share| _ = told.send(share)), 0.25);
    }

    #[test]
    #[should_panic(expected = "the server is gone")]
    fn a_panic_of_the_work_is_passed_on() {
        telling(|_| panic!("the server is gone"), |_| ());
    }
}
