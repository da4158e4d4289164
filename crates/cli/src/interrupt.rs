//! Ctrl-C and SIGTERM: the first asks the campaign to end in order, the second ends it at once.
//!
//! In: signals. Out: the flag that `conduct` looks at between slices. Servers die with this process and a lease notes
//! folders, so even the hard end leaves nothing that the next start does not clear.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit code after an interruption, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// How soon a signal is seen.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Time for an end in order; together with `LOOK_EVERY` below five seconds.
const ORDERLY_END: Duration = Duration::from_millis(4500);

/// Makes signals raise a flag; a second one ends the process with `INTERRUPTED`.
pub(crate) fn flag_on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Registered first, it acts on a signal only if the flag was raised by an earlier one.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&stop))
            .context("cannot listen for signals")?;
        flag::register(signal, Arc::clone(&stop)).context("cannot listen for signals")?;
    }
    end_hanging(Arc::clone(&stop));
    Ok(stop)
}

/// Ends the process if it has not ended by itself in time after a signal: something it waits for does not end.
fn end_hanging(stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
        }
        std::thread::sleep(ORDERLY_END);
        std::process::exit(i32::from(INTERRUPTED));
    });
}
