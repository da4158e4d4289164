//! `rqps-load`: workloads as data, the loader, and the timed loop.
//!
//! In come a [`Suite`], a data shape, endpoints of servers that are up, and a seed; out go loaded tables, kept plans, and for
//! each arm what it did ([`drive::ArmRun`]). The same seed gives the same rows and keys on every build.
//!
//! It must not start a server, judge a number, print, or open a file.

pub mod drive;
mod error;
mod forced;
mod generator;
mod mysql;
pub mod plan_capture;
pub mod prepare_data;
pub mod program;
pub use program::insert;
pub mod random;
pub mod rows;
mod suite;
pub mod work;
mod zipfian;

pub use error::LoadError;
pub use forced::ForcedForm;
pub use generator::Generator;
pub use suite::{ForcedSql, SecondsClass, StatementKind, Suite, SuiteError, TableChoice, Test, UnknownWork, Work};
pub use zipfian::Zipfian;
