//! A database server from nothing to ready and back.
//!
//! In: what the user named (a build, a profile, a placement) and the catalog. Out: installed builds with their facts,
//! data folders, running servers on private Unix sockets, copies of data, and every setting as read back.
//! Whatever is made here is written into a lease first, so that the next start finds and clears what a killed rqps
//! left. This crate must not generate load, judge results, print, or touch anything that it did not make itself.

pub mod account;
pub mod cache;
pub mod catalog;
pub mod cluster;
pub mod command;
pub mod copy;
pub mod elf;
pub mod error;
pub mod fetch;
pub mod inspect;
pub mod installation;
pub mod known_settings;
pub mod lease;
pub mod manifest;
mod mysql;
pub mod page_cache;
pub mod placement;
mod postgres;
pub mod process;
pub mod proctree;
pub mod profile;
pub mod program;
pub mod readback;
pub mod remove;
pub mod shared_memory;
pub mod storage;
pub mod unpack;
pub mod verify;
pub mod workspace;

pub use account::Account;
pub use cache::Cache;
pub use catalog::{Catalog, Release};
pub use copy::CopyMethod;
pub use error::{ServerError, free_bytes};
pub use installation::Progress;
pub use lease::Lease;
pub use process::{Launch, Listen, Server};
pub use profile::{Configuration, Profiles, Sizing};
pub use program::{plugin_folder, program};
pub use readback::Readback;
pub use remove::remove_tree;
pub use workspace::Workspace;

/// What every fallible act of this crate returns.
pub type Result<T, E = ServerError> = std::result::Result<T, E>;
