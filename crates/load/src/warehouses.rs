//! The tables of TPROC-C: made, filled, indexed, and checked for consistency.
//!
//! In: a target, [`Warehouses`](rqps_model::tproc_c::Warehouses), a seed. Out: loaded tables at rest ([`load()`]), and
//! later which consistency conditions they break ([`check()`]). `table` says what the tables are, `population` what
//! stands in them, `postgres` and `mysql` how an engine takes it, `draw` what rows and transactions both draw.

mod check;
mod condition;
pub mod draw;
mod load;
mod mysql;
mod population;
mod postgres;
mod stream;
mod table;

pub use check::{Broken, Counters, check, count};
pub use condition::Expectation;
pub use load::{load, load_with_progress};
