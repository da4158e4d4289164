//! A results folder → what the rest works on: samples with what lies beside them, treatments as they were found, the
//! base.
//!
//! In: the campaign as `store` reads it. Out: plain values. Compares nothing.

pub(crate) mod base;
pub(crate) mod looks;
pub(crate) mod main_operation;
pub(crate) mod measured;
pub(crate) mod round_seconds;
pub(crate) mod seconds;
pub(crate) mod took;
pub(crate) mod treatment;
