//! A change that is planted: between two statements the client burns time, and counts it.
//!
//! In: the share of a statement's time that was asked for, and what was burned. Out: [`Planted`], part of a sample, and
//! which slices have short burns and which have long ones. The load generator burns by that, and `analysis` tells from
//! it what burning costs besides its time.

use serde::{Deserialize, Serialize};

/// A change that was planted in a sample: between two statements its sessions burned time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Planted {
    /// The share of a statement's time that was to be burned.
    pub share: f64,
    /// Time that was burned in counted events, summed over the sessions that it held up: a part of the sample's busy
    /// time.
    pub burned_ns: u64,
    /// The throughput that was left of what it would have been, by sums over the whole sample and by what was burned
    /// alone.
    pub ratio: f64,
}

impl Planted {
    /// Short and long burns, as parts of the length asked for.
    pub const SHORT_AND_LONG: [f64; 2] = [0.5, 1.5];
    /// Eight slices have short burns, 16 long ones, 16 short ones and so on, so that a steady drift is in both alike.
    const BLOCK: u64 = 8;
    /// In fewer slices the two lengths are not balanced, and all burns have the length asked for.
    pub const FEWEST_SLICES: u64 = 4 * Planted::BLOCK;

    /// Whether the burns of a cycle's slice are long ones, where there are two lengths.
    pub fn has_long_burns(cycle: u64) -> bool {
        (cycle / Planted::BLOCK).div_ceil(2) % 2 == 1
    }

    /// What was planted where of `busy_ns` so much was burned.
    pub fn new(share: f64, burned_ns: u64, busy_ns: u64) -> Planted {
        let ratio = if busy_ns == 0 { 1.0 } else { busy_ns.saturating_sub(burned_ns) as f64 / busy_ns as f64 };
        Planted { share, burned_ns, ratio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_what_burning_left() {
        assert!((Planted::new(0.01, 3, 303).ratio - 300.0 / 303.0).abs() < 1e-12);
        assert!((Planted::new(0.01, 0, 0).ratio - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn short_and_long_burns_are_balanced_around_their_middle() {
        let blocks: Vec<bool> = (0..64).step_by(8).map(Planted::has_long_burns).collect();
        assert_eq!(blocks, [false, true, true, false, false, true, true, false]);
        let long = (0..Planted::FEWEST_SLICES).filter(|cycle| Planted::has_long_burns(*cycle)).count();
        assert_eq!(2 * long as u64, Planted::FEWEST_SLICES);
    }
}
