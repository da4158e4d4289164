//! Live tests: real servers of real builds, on this machine.
//!
//! They use the user's cache of builds and fetch what is not there. After each, nothing runs and nothing is left.

mod full_disk;
mod kept;
mod mysql;
mod recovery;
mod scene;
mod servers;
mod sessions;
