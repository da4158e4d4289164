//! The Insert Benchmark in nouns: its shape and steps, and what is known about a step afterwards.
//!
//! Planned by `campaign`, run by `load`, stored in samples, read by `analysis`.

mod buckets;
mod record;
mod seconds;
mod shape;

pub use buckets::Buckets;
pub use record::{IndexBuild, Operations, Questions, Sla, StepRecord, TableIds};
pub use seconds::{SecondRow, Stall, per_second, rate_held_in};
pub use shape::{CONNECTIONS, Kind, Shape, Step, UnsoundShape, steps};
