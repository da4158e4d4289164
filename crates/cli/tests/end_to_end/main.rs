//! The binary on real servers: whole campaigns, interruptions of every kind, servers that die, and bad input.
//!
//! Each test has its own folders for results, data, leases and sockets, and ends by proving that no process and no file
//! of it is left. Data is tiny and times are short: here it is tested that everything works, not how fast anything is.

mod bad_input;
mod builds;
mod calibrate;
mod campaign;
mod control;
mod cpu_events;
mod doctor;
mod engines;
mod examples;
mod explain;
mod failing;
mod hosts;
mod insert;
mod kinds;
mod largest;
mod own;
mod own_log;
mod own_steps;
mod program_pages;
mod scene;
mod screen;
mod sources;
mod status;
mod stopping;
mod time;
mod tproc_c;
