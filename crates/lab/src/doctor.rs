//! Is this host fit to measure? What it is, what else runs on it, and how fast its CPUs, its clock and the disk of the
//! data folder are.
//!
//! In: the data folder, and how long to watch. Out: a [`Checkup`], and the [`Finding`]s in it, each with its reason and
//! the command that changes it. Nothing is changed but by [`apply`]; written are a file without
//! a name, and what was found, for the campaigns that follow ([`kept`]).

pub mod apply;
mod checkup;
pub mod finding;
pub mod kept;
mod other_work;
mod rules;
mod system;
pub mod text;
mod trials;

pub use checkup::Checkup;
pub use finding::{Change, ChangeKind, Finding};
pub use other_work::OtherWork;
pub use system::{System, memory_available};
pub use trials::{ClockSpeed, CpuSpeed, FlushTime, PingPong, Trials};
