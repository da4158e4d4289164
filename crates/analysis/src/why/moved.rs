//! An amount of a build beside the base's: whether it moved by more than chance, and by so much that it says something.

use crate::findings::{Cause, CellFindings, Moved, is_beyond_chance};

/// A share of the change that is worth a word.
pub(super) const WORTH_A_SHARE: f64 = 0.1;

/// Work that moved by less than this explains nothing, however sure it is.
pub(super) const WORTH_NAMING: f64 = 1.05;

/// Work that moved by so much.
pub(super) fn work(cell: &CellFindings, name: &str, own: f64, base: f64) -> Option<Cause> {
    let moved = moved(cell, name, base)?;
    // A ratio of rounds and of sums agree, unless an odd round is behind it.
    let agrees = (own / base).ln() * moved.ratio().ln() > 0.0;
    let is_large = moved.ratio().ln().abs() >= WORTH_NAMING.ln();
    (agrees && is_large).then(|| Cause::Work { measure: name.to_owned(), moved })
}

/// An amount that differs by more than chance.
pub(super) fn moved(cell: &CellFindings, name: &str, from: f64) -> Option<Moved> {
    let measure = cell.measure(name)?;
    let (low, high) = measure.low.zip(measure.high)?;
    let is_moved = is_beyond_chance(measure.low, measure.high, measure.q) && from > 0.0;
    is_moved.then_some(Moved { from, to: from * measure.ratio, low, high })
}
