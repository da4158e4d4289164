//! Samples of two treatments → ratios, verdicts, groups, and what holds a verdict back.
//!
//! In: what was read. Out: comparisons. What explains them is in `evidence`; what must stand beside them in `warnings`.

pub(crate) mod aa_pairs;
pub(crate) mod crossing;
pub(crate) mod floor;
pub(crate) mod groups;
pub(crate) mod inside;
pub(crate) mod judge;
pub(crate) mod measures;
pub(crate) mod open_loop;
pub(crate) mod planted;
pub(crate) mod round;
pub(crate) mod row;
pub(crate) mod sla;
pub(crate) mod statement_times;
