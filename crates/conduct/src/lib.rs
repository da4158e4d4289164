//! Walks a plan: makes the data, starts servers, runs every test on all of them, publishes every sample.
//!
//! In: a plan whose builds are on this machine, and an open results folder. Out: samples in the folder, and events for
//! whoever watches. The only crate that sequences effects. It judges nothing and prints nothing; after it, nothing
//! talks to a database.
//!
//! The path, in order: `run` (one run of a campaign) resolves each `treatment`, makes each `master`, leaves out what is
//! `excluded`, and asks `walk` what of a round is `missing`; for each setup `servers` starts its `arm`s, and `measure`
//! runs one test on them by an `exercise` of load, under `supervise`. `eta` says how long it will take.

mod arm;
mod error;
mod eta;
mod excluded;
mod exercise;
mod master;
mod measure;
mod missing;
mod run;
mod servers;
mod supervise;
#[cfg(test)]
mod testing;
mod treatment;
mod walk;

pub use error::ConductError;
pub use missing::is_measured;
pub use run::{Job, Outcome, Run, Watch};
