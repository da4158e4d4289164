//! `rqps-load`: the loader and the timed loop.
//!
//! In come the tests of a suite, a data shape, endpoints of servers that are up, and a seed; out go loaded tables, kept
//! plans, and for each arm what it did ([`drive::ArmRun`]). The same seed gives the same rows and keys on every build.
//! `suite` runs a test of a plan, whatever its suite is.
//!
//! It must not start a server, judge a number, print, or open a file, but for the dumps and SQL files of a user's own
//! workload.

pub mod data_set;
pub mod drive;
mod error;
mod load_data;
mod load_report;
mod mysql;
mod own;
mod own_clocks;
pub mod plan_capture;
pub mod prepare_data;
pub mod program;
pub use program::insert;
pub mod random;
pub mod rows;
mod session;
mod side_by_side;
mod statement_work;
pub mod suite;
mod test_run;
mod text;
mod transactions;
pub mod warehouses;
pub mod work;
mod zipfian;

pub use error::LoadError;
pub use own::plans as own_plans;
pub use own::statement_work as own_statement_work;
pub use zipfian::Zipfian;
