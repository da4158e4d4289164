//! What sessions do in the time of an operation, and how that differs from the base.
//!
//! Amounts are microseconds of the sessions' time per operation: running, waiting and idle add up to the time that an
//! operation takes. They come from rounds of their own, which give no verdict.

use super::Amount;
use serde::{Deserialize, Serialize};

/// The waits of a treatment beside those of the base, in one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitFindings {
    /// Rounds in which both were asked.
    pub rounds: u32,
    /// Moments in counted time at which the base said what its sessions did.
    pub base_moments: u64,
    /// The treatment.
    pub moments: u64,
    /// The whole time of the sessions.
    pub total: Amount,
    /// What sessions were found in, of which there is enough to say something; the largest difference first.
    pub events: Vec<EventFindings>,
    /// On a CPU, ready to run, or in a wait that the server does not name.
    pub running: Amount,
    /// Waiting for the client. It is what the server has nothing to do in, and no cause.
    pub idle: Amount,
    /// A difference that would have been found in 4 of 5 cases in any of the events; `None` where there are none.
    pub mde_us: Option<f64>,
    /// What a reader must know of them.
    pub warnings: Vec<String>,
}

impl WaitFindings {
    /// The events that differ by more than chance.
    pub fn moved(&self) -> impl Iterator<Item = &EventFindings> {
        self.events.iter().filter(|event| event.amount.is_sure)
    }

    /// Of those, the one that accounts for most of a change to more time per operation, or to less.
    pub fn largest(&self, is_more: bool) -> Option<&EventFindings> {
        self.moved().find(|event| (event.amount.difference_us > 0.0) == is_more)
    }
}

/// A wait, or a step of a statement where that is all that a server tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventFindings {
    /// The server's words: `Lock/transactionid`, `State/updating`.
    pub name: String,
    /// Whether it is a wait; of other steps the server does not say.
    pub is_wait: bool,
    /// How often it was found on both builds.
    pub count: u64,
    /// Its time.
    pub amount: Amount,
}
