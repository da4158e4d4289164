//! What a burn costs besides the time that it takes.
//!
//! In: the slices of a round, in which the client's burns were short and long in turn. Out: how much was lost besides,
//! as a share of what was burned, with its standard error. While a client burns nobody uses the server's data, so that
//! others who share its caches push that out; how much so depends on the test and on the machine's other tenants.
//!
//! Only what slices with long burns lost beyond those with short ones is looked at, and not how fast the control is, so
//! that this says nothing of the ratio that its truth is compared with.

use crate::read::measured::Measured;
use rqps_stats::{DEFAULT_TRIM, Effect, TrimmedMean, trimmed_mean};

/// Long burns have three times the length of short ones. Where the two differ by less than this part of their mean they
/// were meant to be alike, or the clock cannot be read finely enough.
const LEAST_DIFFERENCE: f64 = 0.5;

/// A cycle in which both sides completed something; both are logarithms.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    /// What the burns took of the throughput.
    burned: f64,
    /// The rate without them, relative to the base's.
    rest: f64,
}

/// What one round says; `None` where nothing was burned, or always as much.
pub(super) fn of_round(arm: &Measured, base: &Measured) -> Option<Effect> {
    let cycles = cycles(arm, base);
    let middle = trimmed(&cycles, |cycle| cycle.burned)?.mean;
    let (long, short): (Vec<Cycle>, Vec<Cycle>) = cycles.into_iter().partition(|cycle| cycle.burned > middle);
    let longer = trimmed(&long, |cycle| cycle.burned)?.mean - trimmed(&short, |cycle| cycle.burned)?.mean;
    if longer < LEAST_DIFFERENCE * middle {
        return None;
    }
    let (long, short) = (trimmed(&long, |cycle| cycle.rest)?, trimmed(&short, |cycle| cycle.rest)?);
    let standard_error = long.standard_error?.hypot(short.standard_error?) / longer;
    Some(Effect { value: (short.mean - long.mean) / longer, standard_error })
}

fn cycles(arm: &Measured, base: &Measured) -> Vec<Cycle> {
    let (own, others) = (&arm.slices, &base.slices);
    let times = own.busy_ns.iter().zip(&own.burned_ns).zip(&others.busy_ns);
    let counts = own.operations.iter().zip(&others.operations);
    let cycles = times.zip(counts).map(|(((&busy_ns, &burned_ns), &base_ns), (&operations, &base_operations))| {
        let without_ns = busy_ns.saturating_sub(burned_ns) as f64;
        let (rate, base_rate) = (operations as f64 / without_ns, base_operations as f64 / base_ns as f64);
        Cycle { burned: (busy_ns as f64 / without_ns).ln(), rest: (rate / base_rate).ln() }
    });
    cycles.filter(|cycle| cycle.burned.is_finite() && cycle.rest.is_finite()).collect()
}

fn trimmed(cycles: &[Cycle], value: fn(&Cycle) -> f64) -> Option<TrimmedMean> {
    trimmed_mean(&cycles.iter().map(value).collect::<Vec<_>>(), DEFAULT_TRIM).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::sample::Slices;

    /// Slices of a statement that takes 100 us, on one side with burns of so many percent of that in turn, which cost
    /// so much besides.
    fn sides(burns: [u64; 2], side_cost: f64) -> [Measured; 2] {
        let noise_ns = |cycle: u64| [0, 300, 700, 400][(cycle % 4) as usize] * 100;
        let side = |burns: [u64; 2]| {
            let mut slices = Slices::default();
            for cycle in 0..40 {
                let burned_ns = burns[(cycle % 2) as usize] * 1_000 * 100;
                slices.operations.push(100);
                slices.burned_ns.push(burned_ns);
                let rest_ns = 10_000_000 + noise_ns(cycle / 2);
                slices.busy_ns.push(rest_ns + (burned_ns as f64 * (1.0 + side_cost)) as u64);
            }
            measured(4_000, slices.busy_ns.iter().sum(), slices)
        };
        [side(burns), side([0, 0])]
    }

    #[test]
    fn what_long_burns_cost_more_than_short_ones_is_told() {
        for side_cost in [0.0, 0.2, -0.1] {
            let [control, base] = sides([2, 6], side_cost);
            let found = of_round(&control, &base).expect("40 cycles");
            // What logarithms bend is in proportion to the burn.
            assert!((found.value - side_cost).abs() < 0.02, "{side_cost}: {found:?}");
            assert!(found.standard_error < 0.02, "{found:?}");
        }
    }

    #[test]
    fn burns_of_one_length_say_nothing() {
        let [control, base] = sides([4, 4], 0.2);
        assert_eq!(of_round(&control, &base), None);
        assert_eq!(of_round(&base, &base), None, "nothing was burned");
        let [mut control, base] = sides([2, 6], 0.2);
        control.slices = Slices::default();
        assert_eq!(of_round(&control, &base), None, "no slices");
    }
}
