//! Recordings of real servers, read as a user's files are.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod record;
mod replay;
mod variants;
