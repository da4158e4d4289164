//! In which stacks sessions are off the CPU in the time of an operation, and how that differs from the base.
//!
//! Amounts are microseconds of the sessions' time per operation. They come from rounds of their own, which give no
//! verdict.

use super::{Amount, FunctionFindings};
use serde::{Deserialize, Serialize};

/// The blocked sessions of a treatment beside those of the base, in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockedFindings {
    /// Rounds in which both were sampled.
    pub rounds: u32,
    /// Sampled switches of the base's sessions.
    pub base_samples: u64,
    /// Of the treatment's.
    pub samples: u64,
    /// All time off the CPU but waiting for the client.
    pub total: Amount,
    /// By the innermost functions of the stack, those of which there is enough to say something; the largest difference
    /// first.
    pub stacks: Vec<FunctionFindings>,
    /// Another thread had the CPU.
    pub ready: Amount,
    /// Waiting for the client: no cause.
    pub client: Amount,
    /// A difference that would have been found in 4 of 5 cases in any of the stacks; `None` where there are none.
    pub mde_us: Option<f64>,
    /// What a reader must know of them.
    pub warnings: Vec<String>,
}

impl BlockedFindings {
    /// The stacks that differ by more than chance.
    pub fn moved(&self) -> impl Iterator<Item = &FunctionFindings> {
        self.stacks.iter().filter(|stack| stack.amount.is_sure)
    }

    /// Of those, the one that accounts for most of a change to more time per operation, or to less.
    pub fn largest(&self, is_more: bool) -> Option<&FunctionFindings> {
        self.moved().find(|stack| (stack.amount.difference_us > 0.0) == is_more)
    }
}
