//! The engine room: one client with sessions to every arm, which sends what programs say and counts exactly.
//!
//! `run` takes an `exercise`; its `leader` walks cycles, or in `to_end` each arm's run from begin to end, or in `equal`
//! equal work, and calls the caller's hook;
//! `crew` holds the threads; `lane` is the loop itself, for one arm on one thread, with its retries and what programs
//! do besides statements; `slot` is a session's place in its event; `placing` pins a thread and what serves its
//! sessions to a CPU, and says when these come and go; `arrival` says when events are due, `batch` whether answers are
//! waited for in one piece, `burn` how a planted change is made, `interrupt` how a statement ends that takes too long;
//! `tally`, `intervals` and `recorder` count, `seconds` hands over what was done in each second while the run goes on;
//! `port` is the door to sockets and clock, which a simulation can take over. What is sent, programs say
//! (`crate::program`).
//!
//! What counts: whole events that start after the lead-in and before the end of a slice, with the time from the
//! session's previous completion to their own. An event under way at the end is completed, so no transaction stays open
//! on an idle server. In counted time nothing is allocated (but for the first error of a kind) and no lock is taken.

mod arrival;
mod batch;
mod burn;
mod crew;
mod equal;
mod exercise;
mod interrupt;
mod intervals;
mod lane;
mod leader;
mod outcome;
mod pinning;
mod placing;
mod port;
mod recorder;
mod run;
mod schedule;
mod seconds;
mod slot;
mod tally;
mod to_end;
mod watchdog;

pub use exercise::{Exercise, Phase, Switch};
pub(crate) use interrupt::{end_session, look_every};
pub use leader::Ended;
pub use outcome::{ArmRun, EventRun};
pub use pinning::{process_cpu_ns, thread_cpu_ns};
pub use placing::{ClientCpus, ServerSide};
pub(crate) use port::monotonic_ns;
pub use run::{run, run_equal, run_events, run_to_end};
pub use schedule::Schedule;
pub use seconds::RowSink;
pub use to_end::{Slices, Span};
pub(crate) use watchdog::Watchdog;

#[cfg(test)]
mod simulation;
