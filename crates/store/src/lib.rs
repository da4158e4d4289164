//! One directory per campaign: what was planned, where it ran, and every sample, complete or absent.
//!
//! In: the model's types, latency histograms, bytes made by others. Out: the files of docs/results-format.md, and the
//! same values read back and checked. `Campaign` reads, `Writer` adds; what is published is never changed again.
//! This crate computes nothing, knows no server, and touches only files that rqps made.

mod campaign;
mod damage;
mod disk;
mod error;
mod latency;
mod layout;
mod lock;
mod manifest;
mod rows;
mod sample;
mod status;
mod stored_file;
mod writer;

pub use campaign::Campaign;
pub use damage::Damage;
pub use error::{FoundFormat, StoreError};
pub use latency::{EVENT, FAILED_EVENT, Latencies, latency_part};
pub use lock::Owner;
pub use rows::RowsPart;
pub use sample::{SampleFolder, SampleParts};
pub use status::{Start, State, Status};
pub use writer::Writer;
