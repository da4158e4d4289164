//! How often a server calls the kernel, by system call, and how that differs from the base.
//!
//! Amounts are calls per operation. They come from rounds of their own, which give no verdict.

use super::PerOperation;
use serde::{Deserialize, Serialize};

/// The system calls of a treatment beside those of the base, in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SyscallFindings {
    /// Rounds in which both were recorded.
    pub rounds: u32,
    /// Recorded calls of the base.
    pub base_samples: u64,
    /// Of the treatment.
    pub samples: u64,
    /// All calls.
    pub total: PerOperation,
    /// By name, those of which there is enough to say something; the largest difference first.
    pub calls: Vec<CallFindings>,
    /// A difference that would have been found in 4 of 5 cases in any of them; `None` where there are none.
    pub mde: Option<f64>,
    /// What a reader must know of them.
    pub warnings: Vec<String>,
}

impl SyscallFindings {
    /// The calls whose number differs by more than chance.
    pub fn moved(&self) -> impl Iterator<Item = &CallFindings> {
        self.calls.iter().filter(|call| call.amount.is_sure)
    }
}

/// A system call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallFindings {
    /// Its name, as in the manual.
    pub name: String,
    /// Recorded calls of both builds.
    pub samples: u64,
    /// How often it is made.
    pub amount: PerOperation,
}
