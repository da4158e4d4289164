//! Walks a plan: makes the data, starts servers, runs every test on all of them, publishes every sample.
//!
//! In: a plan whose builds are on this machine, and an open results folder. Out: samples in the folder, and events for
//! whoever watches. The only crate that sequences effects. It judges nothing and prints nothing; after it, nothing
//! talks to a database.
//!
//! The path, in order: `run` (one run of a campaign on a `job`) prepares the `bench`: it resolves each `treatment`,
//! makes each `master`, and leaves out what is `excluded`. For each of the `rounds`, `walk` says what is `missing`; for
//! each setup `programs` are drawn, `servers` starts its `arm`s, and `measure` runs one test on them through `load`,
//! under `supervise`. `eta` says how long it will take.

mod arm;
mod ask;
mod bench;
mod error;
mod eta;
mod excluded;
mod given;
mod job;
mod master;
mod measure;
mod missing;
mod piece;
mod profiling;
mod programs;
mod progress;
mod restore;
mod rounds;
mod run;
mod server_side;
mod servers;
mod stopwatch;
mod supervise;
#[cfg(test)]
mod testing;
mod treatment;
mod walk;
mod watched;

pub use error::ConductError;
pub use job::{Job, Watch};
pub use missing::is_measured;
pub use programs::check as check_program_pages;
pub use rounds::{extended_limit, rounds, rounds_due, rounds_in_all, share_spent, shortest_extension, time_left};
pub use run::Run;
