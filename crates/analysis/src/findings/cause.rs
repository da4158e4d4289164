//! What stands behind a change: what a build does more or less of per operation than the base.
//!
//! Amounts are per operation, in the units of `Cost`; shares are fractions of the change in time per operation.

use serde::{Deserialize, Serialize};

/// One thing that differs from the base by more than chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cause {
    /// The plans of these statements have another structure.
    Plan {
        /// Kinds of statements.
        statements: Vec<String>,
    },
    /// CPU time of the server.
    ServerCpu {
        /// Microseconds.
        moved: Moved,
        /// Of the change in time per operation the share that it accounts for.
        share: Option<f64>,
        /// Of its own change the share that is in the kernel, where that is most or hardly any of it.
        kernel: Option<f64>,
    },
    /// CPU time of the client, which is no property of the build.
    ClientCpu {
        /// Microseconds.
        moved: Moved,
        /// Of the change in time per operation the share that it accounts for.
        share: Option<f64>,
    },
    /// Neither server nor client used the CPU for most of what changed, or the kernel did on the way to the device.
    Waiting {
        /// Of the change in time per operation.
        share: f64,
        /// The part of it that is CPU in the kernel's flush of files, which is in the server's CPU too; `None` where
        /// what no CPU accounts for is enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flush_cpu: Option<f64>,
        /// Of the change the part in which sessions are ready to run and have no CPU, where that is most of what they
        /// wait for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_cpu: Option<f64>,
    },
    /// The server counted another amount of work.
    Count {
        /// The name of `WorkFindings`.
        measure: String,
        /// Per operation of the base; 0 where only the build has it.
        from: f64,
        /// Per operation of the build.
        to: f64,
        /// 95 % interval of their ratio; `None` where the count is exact, or one of the amounts 0 in every round.
        interval: Option<(f64, f64)>,
    },
    /// Another amount of work, as the machine tells it.
    Work {
        /// The field of `Cost`, or the name of `WorkFindings` of what serves the sessions.
        measure: String,
        /// How much.
        moved: Moved,
    },
}

/// An amount per operation of the base and of the build.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Of the base.
    pub from: f64,
    /// Of the build.
    pub to: f64,
    /// Lower end of the 95 % interval of their ratio.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Moved {
    /// Build over base.
    pub fn ratio(&self) -> f64 {
        self.to / self.from
    }
}
