//! What host, server processes and server counters did while a test ran.
//!
//! In: the `/proc` and `/sys` files of this machine, a list of process ids, a session to a server. Out: [`Probe`]s,
//! which put small figures into a sample and return the rest as its named parts, or hand rows over as they come. A
//! reading is a total since some start; two of them are always subtracted, so a first line "since boot" or a repeated
//! heading cannot be counted. Rows of the monitor and sizes on disk are left as they are. This crate judges nothing,
//! starts nothing and writes no file.

pub mod client;
pub mod clock;
pub mod counters;
pub mod cpu_events;
pub mod device;
pub mod disk;
pub mod engine;
pub mod error;
pub mod facts;
pub mod host;
pub mod monitor;
mod mysql;
mod postgres;
pub mod probe;
pub mod process;
mod proctext;
mod seen;
pub mod server_counters;
pub mod sessions;
pub mod tally;
pub mod waits;

pub use client::{ClientMeter, ClientProbe};
pub use cpu_events::CpuEventProbe;
pub use device::DataDevice;
pub use disk::{GrowthProbe, disk_use};
pub use error::ObserveError;
pub use facts::host_facts;
pub use host::{HostMeter, HostProbe, HostReading};
pub use monitor::{Monitor, MonitorProbe, MonitorSink};
pub use probe::{Probe, Probes, Subject};
pub use process::{ProcessMeter, ProcessProbe, ProcessReading};
pub use server_counters::CountersProbe;
pub use sessions::SessionMeter;
pub use tally::Tally;
pub use waits::WaitSampler;
