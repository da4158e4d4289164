//! The words for work done between tests.
//!
//! In: a word; out: a [`Work`]. What each does to a server is written in `crate::work`.

use std::fmt;
use std::str::FromStr;

/// Work done on a server between tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// What is dead is removed: VACUUM of every table; on InnoDB purge is waited for, RocksDB compacts.
    Vacuum,
    /// ANALYZE of every table.
    Analyze,
    /// What is dirty is written back: CHECKPOINT; on InnoDB forced flushing, on RocksDB of the memtable.
    Checkpoint,
    /// What follows a load or the heavy writes: all three.
    Postwrite,
    /// Tables and indexes are brought into memory.
    Warm,
    /// MySQL and MariaDB begin their binary logs anew, so that they don't fill the disk; nothing elsewhere.
    ResetBinlog,
}

impl Work {
    /// Every work.
    pub const ALL: [Work; 6] =
        [Work::Vacuum, Work::Analyze, Work::Checkpoint, Work::Postwrite, Work::Warm, Work::ResetBinlog];

    /// The word used in plans and files.
    pub const fn name(self) -> &'static str {
        match self {
            Work::Vacuum => "vacuum",
            Work::Analyze => "analyze",
            Work::Checkpoint => "checkpoint",
            Work::Postwrite => "postwrite",
            Work::Warm => "warm",
            Work::ResetBinlog => "reset-binlog",
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown work `{0}`; expected one of: vacuum, analyze, checkpoint, postwrite, warm, reset-binlog")]
pub struct UnknownWork(pub String);

impl FromStr for Work {
    type Err = UnknownWork;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Work::ALL.into_iter().find(|work| work.name() == text).ok_or_else(|| UnknownWork(text.to_owned()))
    }
}
