//! Seconds in which a rate all but stopped.
//!
//! In: a rate for each second. Out: the stretches that lie below a tenth of the median.

use std::ops::Range;

/// What a second must not be below to be no stall: this part of the median.
const STALL_DIVISOR: f64 = 10.0;

/// The stretches of seconds below a tenth of the median, by index.
pub fn stalls(per_second: &[f64]) -> Vec<Range<usize>> {
    let mut sorted = per_second.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let mut stalls: Vec<Range<usize>> = Vec::new();
    for (second, _) in per_second.iter().enumerate().filter(|(_, rate)| **rate * STALL_DIVISOR < median) {
        match stalls.last_mut() {
            Some(stall) if stall.end == second => stall.end += 1,
            _ => stalls.push(second..second + 1),
        }
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_dated_and_counted() {
        let check = |rates: &[f64], expected: &[Range<usize>]| assert_eq!(stalls(rates), expected, "{rates:?}");
        check(&[100.0, 100.0, 0.0, 9.0, 10.0, 100.0, 100.0, 0.0], &[2..4, 7..8]);
        check(&[100.0, 90.0, 110.0, 10.0], &[]);
        check(&[0.0, 0.0, 0.0], &[]);
        check(&[], &[]);
    }
}
