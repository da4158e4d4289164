//! Real servers tell what they did: before and after a test, and each second of it.
//!
//! Each test starts servers of its own. Large builds are left to those who ask for them by name.

mod counters;
mod monitor;
mod server;
