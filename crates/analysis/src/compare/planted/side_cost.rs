//! What a burn costs besides the time that it takes.
//!
//! In: the slices of a round, some with short burns and some with long ones. Out: how much was lost besides, as a share
//! of what was burned, with its standard error. While a client burns nobody uses the server's data, so that others who
//! share its caches push that out; how much so depends on the test and on the machine's other tenants. Large caches
//! remember longer than a slice, so that burns keep their length for some slices in a row.
//!
//! Only what slices with long burns lost beyond those with short ones is looked at, and not how fast the control is, so
//! that this says nothing of the ratio that its truth is compared with. Which slices had long burns is known from the
//! cycle's number and not told from what was burned: where a statement is slow, the same burn is a smaller part of it.

use crate::read::measured::Measured;
use rqps_model::sample::Planted;
use rqps_stats::{DEFAULT_TRIM, Effect, TrimmedMean, trimmed_mean};

/// Long burns have three times the length of short ones. Where they are not even this many times as long all were meant
/// to have one length, or the clock cannot be read finely enough.
const LEAST_TIMES: f64 = 2.0;

/// A cycle in which both sides completed something.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    is_long: bool,
    /// What the burns took of the throughput; a logarithm.
    burned: f64,
    /// The rate without them, relative to the base's; a logarithm.
    rest: f64,
}

/// What one round says; `None` where nothing was burned, or always as much.
pub(super) fn of_round(arm: &Measured, base: &Measured) -> Option<Effect> {
    let cycles = cycles(arm, base);
    if cycles.len() < Planted::FEWEST_SLICES as usize {
        return None;
    }
    let (long, short): (Vec<Cycle>, Vec<Cycle>) = cycles.into_iter().partition(|cycle| cycle.is_long);
    let (in_short, in_long) = (trimmed(&short, |cycle| cycle.burned)?.mean, trimmed(&long, |cycle| cycle.burned)?.mean);
    if in_long <= LEAST_TIMES * in_short {
        return None;
    }
    let (long, short) = (trimmed(&long, |cycle| cycle.rest)?, trimmed(&short, |cycle| cycle.rest)?);
    let longer = in_long - in_short;
    let standard_error = long.standard_error?.hypot(short.standard_error?) / longer;
    Some(Effect { value: (short.mean - long.mean) / longer, standard_error })
}

fn cycles(arm: &Measured, base: &Measured) -> Vec<Cycle> {
    let (own, others) = (&arm.slices, &base.slices);
    let times = own.busy_ns.iter().zip(&own.burned_ns).zip(&others.busy_ns);
    let counts = own.operations.iter().zip(&others.operations);
    let both = (0..).zip(times.zip(counts));
    let cycles = both.map(|(cycle, (((&busy_ns, &burned_ns), &base_ns), (&operations, &base_operations)))| {
        let without_ns = busy_ns.saturating_sub(burned_ns) as f64;
        let (rate, base_rate) = (operations as f64 / without_ns, base_operations as f64 / base_ns as f64);
        let (burned, rest) = ((busy_ns as f64 / without_ns).ln(), (rate / base_rate).ln());
        Cycle { is_long: Planted::has_long_burns(cycle), burned, rest }
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

    /// Slices of a statement that takes 100 us, on one side with short and long burns of so many percent of that, which
    /// cost so much besides.
    fn sides(burns: [u64; 2], side_cost: f64) -> [Measured; 2] {
        let noise_ns = |cycle: u64| [0, 300, 700, 400][(cycle % 4) as usize] * 100;
        let side = |burns: [u64; 2]| {
            let mut slices = Slices::default();
            for cycle in 0..64 {
                let burned_ns = burns[usize::from(Planted::has_long_burns(cycle))] * 1_000 * 100;
                slices.operations.push(100);
                slices.burned_ns.push(burned_ns);
                let rest_ns = 10_000_000 + noise_ns(cycle);
                slices.busy_ns.push(rest_ns + (burned_ns as f64 * (1.0 + side_cost)) as u64);
            }
            measured(6_400, slices.busy_ns.iter().sum(), slices)
        };
        [side(burns), side([0, 0])]
    }

    #[test]
    fn what_long_burns_cost_more_than_short_ones_is_told() {
        for side_cost in [0.0, 0.2, -0.1] {
            let [control, base] = sides([2, 6], side_cost);
            let found = of_round(&control, &base).expect("64 cycles");
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
        // Whatever else runs makes some burns and slices much longer; that is no plan.
        let [mut control, base] = sides([4, 4], 0.2);
        for cycle in (0..64).step_by(3) {
            control.slices.burned_ns[cycle] *= 3;
            control.slices.busy_ns[cycle] += 2_000_000;
        }
        assert_eq!(of_round(&control, &base), None);
        let [mut control, base] = sides([2, 6], 0.2);
        control.slices = Slices::default();
        assert_eq!(of_round(&control, &base), None, "no slices");
    }
}
