//! What each kind of statement of a test makes a server do, and how that differs from the base.
//!
//! Amounts are per execution. They come from rounds of their own, which give no verdict, and there from executions
//! apart from the clients.

use super::PerOperation;
use serde::{Deserialize, Serialize};

/// The work of a treatment's statements beside those of the base, in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementWorkFindings {
    /// Rounds in which both were counted.
    pub rounds: u32,
    /// Statement by statement in the order of their names, of each what was counted.
    pub counts: Vec<StatementCount>,
    /// Of which kinds a build's work could not be told apart, and why.
    pub warnings: Vec<String>,
}

impl StatementWorkFindings {
    /// The counts that differ by more than chance, the largest change first.
    pub fn moved(&self) -> Vec<&StatementCount> {
        let mut moved: Vec<&StatementCount> = self.counts.iter().filter(|one| one.amount.is_sure).collect();
        moved.sort_by(|a, b| b.change().total_cmp(&a.change()));
        moved
    }
}

/// One count of one kind of statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementCount {
    /// The statement, as in `latency`.
    pub statement: String,
    /// What was counted, by the name that [`WorkFindings`](super::WorkFindings) has for it.
    pub count: String,
    /// Per execution.
    pub amount: PerOperation,
}

impl StatementCount {
    /// Its difference as a share of the larger amount, 1 where only one build does it.
    fn change(&self) -> f64 {
        self.amount.difference.abs() / self.amount.base.max(self.amount.own)
    }
}
