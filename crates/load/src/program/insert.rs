//! The Insert Benchmark: a queue of rows with three secondary indexes, filled, indexed, churned, and queried while it
//! is written.
//!
//! `shape` says how large it is and what the steps are; `sql`, `rows` and `queries` make the statements; `roles` are
//! the programs of a client's sessions, `shared` is what they share, `step` makes them; `probes` finds the oldest and
//! newest row on a connection of its own; `seconds` keeps what the published client reports; `run` is one step, `table`
//! what lies between steps, `chain` a pass of them, `clock` a server's own time where several take turns, `ready` the
//! servers that take part; `statements` has those of a step apart from the clients, of which `plans` keeps how the
//! server means to answer and `statement_work` what they make it do. In come endpoints, a [`Shape`] and a [`Step`], out
//! goes a [`StepRun`] for each.
//!
//! While a step runs nothing is allocated (but for the first error of a kind, and seconds beyond the room for them),
//! and a second of a client is all that memory grows by. It must not start a server or judge builds against each other.

mod chain;
mod clock;
mod plans;
mod probes;
mod queries;
mod ready;
mod roles;
mod rows;
mod run;
mod seconds;
mod shared;
mod sql;
mod statement_work;
mod statements;
mod step;
mod table;

pub use chain::Chain;
pub use plans::{planned_meanwhile, statement_plans};
pub use run::{StepRun, run_side_by_side, run_step};
pub use shared::Bench;
pub use statement_work::statement_work;
pub use table::{State, count_rows, rest};
