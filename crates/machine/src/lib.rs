//! This machine, as far as rqps uses it: programs under an account, processes, folders, and the leases that note them.
//!
//! In: what is about to be started or made. Out: running programs, folders, copies, and after a crash their removal:
//! whatever is made here is written into a lease first, so that the next start finds and clears what a killed rqps
//! left. This crate must not know what a build, a server or a database is, nor touch anything that it did not make
//! itself.

pub mod account;
pub mod cache;
pub mod command;
pub mod copy;
pub mod error;
pub mod full_disk;
pub mod last_words;
pub mod lease;
pub mod proc_stat;
pub mod proctree;
pub mod program_place;
pub mod remove;
pub mod shared_memory;
pub mod stream;
pub mod user_files;
pub mod workspace;

pub use account::Account;
pub use cache::Cache;
pub use copy::CopyMethod;
pub use error::{MachineError, free_bytes};
pub use lease::Lease;
pub use remove::remove_tree;
pub use stream::ProgramOutput;
pub use workspace::Workspace;

/// What every fallible act of this crate returns.
pub type Result<T, E = MachineError> = std::result::Result<T, E>;
