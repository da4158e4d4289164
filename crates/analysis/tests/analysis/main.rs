//! Results folders, made up with known truth or published elsewhere, and what the analysis finds in them.

#![expect(clippy::unwrap_used, reason = "a test may panic, and says where")]

mod allot;
mod choices;
mod insert;
mod planted;
mod private;
mod profile;
mod published;
mod tproc_c;
mod truth;
mod waits;
