//! The nouns of the field: what a campaign is about, what it plans, what it measures.
//!
//! Every other crate speaks in these types; a type that is written to disk derives `Serialize` here, since a
//! serialised type is a contract (docs/results-format.md). This crate does no IO, reads no clock and judges nothing.

mod accounting;
pub mod answers;
pub mod blocked;
pub mod build;
pub mod checkup;
pub mod cpu_events;
pub mod engine;
pub mod event;
pub mod facts;
pub mod format;
mod human_duration;
pub mod insert;
mod order;
pub mod own;
pub mod part;
pub mod plan;
mod planted;
pub mod plural;
pub mod profile;
mod round_seconds;
pub mod sample;
mod sampling;
pub mod settings;
pub mod statement_work;
pub mod syscalls;
pub mod test;
pub mod tproc_c;
pub mod verdict;
pub mod version;
pub mod waits;
pub mod warning;
mod words;

pub use build::{BuildSource, BuildSpec};
pub use engine::{Engine, StorageEngine};
pub use event::{Event, EventKind};
pub use format::{FORMAT, Format};
pub use human_duration::human_duration;
pub use part::Part;
pub use plan::{Interleave, Plan};
pub use plural::plural;
pub use round_seconds::RoundSeconds;
pub use sample::Sample;
pub use sampling::Sampling;
pub use settings::{Placement, ProgramPages};
pub use test::{Group, Unit};
pub use verdict::Verdict;
pub use version::Version;
pub use warning::WarningKind;
