//! Warnings from the comparison of a cell: rounds that disagree, chance, and what could not have been seen.
//!
//! In: a comparison and what kind of test it is of. Out: warnings.

use super::{advised, warning};
use crate::advice::{Advice, Kind};
use crate::digits::percent;
use crate::findings::{Comparison, Warning};
use rqps_model::{Verdict, WarningKind};

/// Warnings from the comparison of a cell.
pub(crate) fn judged(comparison: &Comparison, kind: Kind, margin: f64) -> Vec<Warning> {
    let mut found = Vec::new();
    if let (Some(low), Some(high)) = (comparison.low, comparison.high)
        && (comparison.rqps.ln() - comparison.median.ln()).abs() > 0.5 * (high.ln() - low.ln())
    {
        let message = format!("mean {:.3} and median {:.3} of the rounds disagree", comparison.rqps, comparison.median);
        found.push(warning(WarningKind::Skewed, message));
    }
    if comparison.is_taken_back() {
        let q = comparison.remark.as_deref().unwrap_or("q above 0.05");
        let message = format!("the interval does not contain 1, but of so many comparisons some do so by chance: {q}");
        found.push(advised(WarningKind::Chance, message, &Advice::of(comparison, kind).words()));
        return found;
    }
    // What was shown needs no more power; only where nothing was does it matter what could have been.
    if let Some(mde) = comparison.mde
        && mde > margin
        && comparison.verdict == Verdict::Undecided
    {
        found.push(advised(WarningKind::Noisy, could_not_see(mde), &Advice::of(comparison, kind).words()));
    }
    found
}

/// What would have stayed unseen. A loss cannot be larger than the whole, and twice as fast is as far as half as fast.
fn could_not_see(mde: f64) -> String {
    if mde > 1.0 {
        return "not even a halving could be seen".to_owned();
    }
    format!("changes below {} could not be seen", percent(mde))
}

#[cfg(test)]
mod tests;
