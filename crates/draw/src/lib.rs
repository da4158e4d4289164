//! Numbers and values that are drawn: the generator of pgbench and its distributions, sources of values, and rows of
//! them.
//!
//! In: seeds, and what the user's files say of sources. Out: values. The same seed gives the same values on every
//! machine and release. It reads no file.

mod date;
mod random;
mod rows;
mod source;

pub use random::{Random, hash_fnv1a, hash_murmur2, permute};
pub use rows::{Rows, SharedRows, Take, Tuples};
pub use source::{Constant, Drawn, Source, SourceError, SourceSpec};
