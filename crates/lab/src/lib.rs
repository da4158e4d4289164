//! What a command is made of: open the lab, prepare a campaign, run it, report it, tell its status; builds; the host.
//!
//! In: what was typed, as values, and someone who is notified. Out: values and errors. It calls the crates that do the
//! work in their order; it prints nothing, knows no argument parser and no exit code, so that another front end, or a
//! command that runs several campaigns, stands on it as `cli` does.

pub mod builds;
pub mod disk;
pub mod doctor;
pub mod floors;
pub mod guard;
pub mod input_files;
mod line;
pub mod notice;
pub mod open;
pub mod own;
mod pg_restore;
pub mod prepare;
pub mod results;
pub mod run;
pub mod status;
pub mod vocabulary;

pub use notice::{Notice, Notify};
pub use open::Lab;
pub use prepare::{Faults, Prepared};
pub use rqps_analysis::is_held;
pub use rqps_analysis::private::message as without_literals;
pub use run::Run;
pub use status::CampaignStatus;
