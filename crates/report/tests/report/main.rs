//! The report as a whole, rendered from made-up campaigns: what it says, how large it is, and what it must never let
//! through.

mod cpu_events;
mod golden;
mod hostile;
mod insert;
mod json;
mod markdown;
mod notes;
mod open_loop;
mod page;
mod terminal;
mod tproc_c;
mod world;
