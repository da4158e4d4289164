//! Live tests: real packages and archives become builds on this machine.
//!
//! They use the user's cache of builds and fetch what is not there. After each, nothing is left.

mod archives;
mod builds;
mod packages;
mod scene;
mod sources;
