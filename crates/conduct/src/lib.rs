//! Walks a plan: makes the data, starts servers, runs every test on all of them, publishes every sample.
//!
//! In: a plan whose builds are on this machine, and an open results folder. Out: samples in the folder, and events for
//! whoever watches. The only crate that sequences effects. It judges nothing and prints nothing; after it, nothing talks
//! to a database.

mod arm;
mod cells;
mod error;
mod event;
mod job;
mod master;
mod measure;
mod pace;
mod pass;
mod refusal;
mod round;
mod sitting;
mod step;
mod supervise;
#[cfg(test)]
mod testing;
mod walk;

pub use cells::is_measured;
pub use error::ConductError;
pub use event::{Event, Watch};
pub use job::Job;
pub use walk::run;
