//! Where a server's CPU time goes, by function, and how that differs from the base.
//!
//! Amounts are microseconds of CPU time per operation, in the unit of `Cost`. They come from rounds of their own, which
//! give no verdict.

use super::Amount;
use serde::{Deserialize, Serialize};

/// The functions of a treatment beside those of the base, in one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileFindings {
    /// Rounds in which both were sampled.
    pub rounds: u32,
    /// Samples of the base in counted time.
    pub base_samples: u64,
    /// Samples of the treatment.
    pub samples: u64,
    /// All functions together.
    pub total: Amount,
    /// Time in functions themselves, of those that have enough samples; the largest difference first.
    pub functions: Vec<FunctionFindings>,
    /// All functions that are not shown to differ, together.
    pub rest: Amount,
    /// How many those are.
    pub rest_count: u32,
    /// Time in functions and in all that they call; the largest difference first.
    pub inclusive: Vec<FunctionFindings>,
    /// Time in functions themselves, summed up by the file they are in: `server`, `kernel`, or a library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FunctionFindings>,
    /// The same by source file, where any build has debug information; what is in none that is known is summed up as in
    /// `files`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<FunctionFindings>,
    /// Time of processes or threads, summed up by what they are there for: sessions, the checkpointer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<FunctionFindings>,
    /// What the samples of server and client stand for, as a part of the CPU time that the system counted for both; of
    /// the base and of the treatment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_part: Option<[f64; 2]>,
    /// The part of the server's samples that lies outside of counted time, of the base and of the treatment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted_part: Option<[f64; 2]>,
    /// A difference that would have been found in 4 of 5 cases in any of the functions; `None` where none has enough
    /// samples.
    pub mde_us: Option<f64>,
    /// The stacks, from their outermost frames on: each frame is followed by those that it called, which are one
    /// deeper.
    pub graph: Vec<FrameFindings>,
    /// What a reader must know of the samples.
    pub warnings: Vec<String>,
}

impl ProfileFindings {
    /// The functions that differ by more than chance.
    pub fn moved(&self) -> impl Iterator<Item = &FunctionFindings> {
        self.functions.iter().filter(|function| function.amount.is_sure)
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionFindings {
    /// Its name, without what compilers and versions add; one of the kernel ends with `_[k]`.
    pub name: String,
    /// Samples of both builds.
    pub samples: u64,
    /// Its time.
    pub amount: Amount,
    /// Where one of the builds has no code of its own for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<Absence>,
}

/// A function that is part of others in one of two builds, or not in it at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// Whether it is the base that has no code of its own for it.
    pub in_base: bool,
    /// The functions that it was inlined into there, none where it is gone; `None` where that is not known.
    pub inlined_into: Option<Vec<String>>,
}

/// A frame of the flame graph: a function below the functions that called it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameFindings {
    /// Its function.
    pub name: String,
    /// How many functions called each other until this one.
    pub depth: u32,
    /// The time in it and in all that it called.
    pub amount: Amount,
    /// The time in itself, of the base.
    pub base_self_us: f64,
    /// Of the treatment.
    pub self_us: f64,
}
