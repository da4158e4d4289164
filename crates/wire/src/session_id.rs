//! Tells the sessions of this process apart, so that a prepared statement knows the one that it lives in.
//!
//! In: nothing. Out: a number that no other session has had. The servers' own numbers will not do: each server counts by itself,
//! and sessions to several of them are open at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionId(u64);

impl SessionId {
    /// The next number.
    pub(crate) fn next() -> SessionId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        SessionId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
