//! The timed loop: one client with sessions to every arm, which runs them slice by slice and counts exactly.
//!
//! `contest` walks cycles and calls the caller's hook; `crew` holds the threads; `lane` is the loop itself, for one arm on one
//! thread; `slot` is a session's place in its event; `event` makes the statements; `pacing` says when events are due, `patience` whether answers are waited for in one piece;
//! `tally`, `intervals` and `recorder` count; `port` is the door to sockets and clock, which a simulation can take over.
//!
//! What counts: whole events that start after the lead-in and before the end of a slice, with the time from the session's
//! previous completion to their own. An event under way at the end is completed, so no transaction stays open on an idle
//! server. In counted time nothing is allocated (but for the first error of a kind) and no lock is taken.

mod contest;
mod crew;
mod event;
mod intervals;
mod lane;
mod outcome;
mod pacing;
mod patience;
mod pinning;
mod port;
mod recorder;
mod schedule;
mod slot;
mod tally;
mod watchdog;

pub use contest::{Contest, Phase, Switch, run, run_events};
pub(crate) use event::{Rendered, render_parameters};
pub use outcome::{ArmRun, ClientUse};
pub(crate) use pinning::Pinned;
pub use pinning::{process_cpu_ns, thread_cpu_ns};
pub(crate) use port::monotonic_ns;
pub(crate) use recorder::{Fine, joined};
pub use schedule::Schedule;
pub(crate) use watchdog::Watchdog;

#[cfg(test)]
mod simulation;
