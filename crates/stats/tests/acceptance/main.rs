//! Acceptance of the statistics: published vectors reproduced, and error rates simulated.
//!
//! In: fixed seeds and a stated model of noise. Out: pass or fail by the bars that the
//! project promises, and the tables of `docs/statistics.md`, which are compared with what
//! was measured here (`UPDATE_EXPECT=1` rewrites them). No rate depends on the machine.

#![cfg(test)]

mod document;
mod equality;
mod false_changes;
mod fixtures;
mod group;
mod looks;
mod multiplicity;
mod noise;
mod pooled;
mod power;
mod two_speeds;
mod within_run;
