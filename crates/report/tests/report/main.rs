//! The report as a whole, rendered from invented campaigns: what it says, how large it is, and what it must never let
//! through.

mod golden;
mod hostile;
mod insert;
mod json;
mod notes;
mod open_loop;
mod page;
mod synthetic;
mod terminal;
