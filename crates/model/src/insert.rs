//! The Insert Benchmark in nouns: its shape and steps, and what is known about a step afterwards.
//!
//! Planned by `campaign`, run by `load`, stored in samples, read by `analysis`.

mod buckets;
mod record;
mod shape;

pub use buckets::Buckets;
pub use record::{IdProbes, IndexBuild, Operations, Sla, Stall, StepRecord, TableIds};
pub use shape::{CONNECTIONS, Kind, Shape, Step, UnsoundShape, steps};
