//! What host, server processes and server counters did while a test ran.
//!
//! In: the `/proc` and `/sys` files of this machine, a list of process ids, a session to a server. Out: raw readings,
//! and their differences as the model's `HostUse`, `ProcessUse` and named counters. A reading is a total since some
//! start; two of them are always subtracted, so a first line "since boot" or a repeated heading cannot be counted. Rows of a
//! watcher and sizes on disk are told as they are.
//! This crate judges nothing, starts nothing and writes no file.

pub mod client;
pub mod clock;
pub mod counters;
pub mod device;
pub mod disk;
pub mod error;
pub mod facts;
pub mod host;
mod mysql;
mod postgres;
pub mod process;
mod proctext;
mod session;
pub mod storage;
pub mod tally;
pub mod watch;

pub use client::ClientMeter;
pub use device::DataDevice;
pub use disk::disk_use;
pub use error::ObserveError;
pub use facts::host_facts;
pub use host::{HostMeter, HostReading};
pub use process::{ProcessMeter, ProcessReading};
pub use tally::Tally;
pub use watch::Watcher;
