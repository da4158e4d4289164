//! A database server from nothing to ready and back.
//!
//! In: an installed build, a profile, a placement. Out: data folders, running servers on private Unix sockets, and
//! every setting as read back. Whatever is made here is written into a lease first, so that the next start finds and
//! clears what a killed rqps left. This crate must not generate load, judge results, print, or touch anything that it
//! did not make itself.

pub mod cluster;
mod dbms;
pub mod error;
mod keeper;
mod kept;
pub mod known_settings;
mod launch;
mod listen;
mod log;
pub mod login;
mod mysql;
pub mod page_cache;
pub mod placement;
mod postgres;
pub mod process;
pub mod profile;
pub mod program_copy;
mod program_text;
pub mod readback;

pub use error::ServerError;
pub use launch::Launch;
pub use process::Server;
pub use profile::{Configuration, Profiles, Sizing};
pub use readback::Readback;

/// What every fallible act of this crate returns.
pub type Result<T, E = ServerError> = std::result::Result<T, E>;
