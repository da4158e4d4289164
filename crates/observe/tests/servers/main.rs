//! Real servers tell what they did: before and after a test, each second of it, what the CPU counted, and what their
//! sessions wait for.
//!
//! Each test starts servers of its own. Large builds are left to those who ask for them by name.

mod counters;
mod cpu_events;
mod monitor;
mod server;
mod waits;
