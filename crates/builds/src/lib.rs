//! Builds: from the name that a user gives to an installation with its facts.
//!
//! In: a `BuildSpec`, the catalog and the cache. Out: an installed build as
//! [`BuildFacts`](rqps_model::facts::BuildFacts): fetched, checked, unpacked, inspected and published whole. This crate
//! must not start a server that others can reach, nor measure anything.

/// Files of the repository that are compiled in, with their names.
macro_rules! built_in {
    ($($name:literal),*) => { [$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $name)))),*] };
}

pub mod catalog;
pub mod elf;
pub mod error;
pub mod fetch;
pub mod inspect;
pub mod installation;
pub mod manifest;
pub mod program;
pub mod source;
pub mod storage;
pub mod unpack;
pub mod verify;

pub use catalog::{Catalog, Release, SourcePackage};
pub use error::BuildError;
pub use installation::Progress;
pub use program::{plugin_folder, program};

/// What every fallible act of this crate returns.
pub type Result<T, E = BuildError> = std::result::Result<T, E>;
