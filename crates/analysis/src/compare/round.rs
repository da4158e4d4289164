//! One round of a cell and of the base → one log ratio.
//!
//! In: two samples of the same round with their slices. Out: [`RoundRatio`], the round's single number, and how steady
//! its cycles were. The cycles' standard error is given as a quality only: the replicate is the round, so it never
//! enters a verdict.

use crate::read::measured::Measured;
use rqps_model::sample::Slices;
use rqps_stats::{DEFAULT_TRIM, trimmed_mean};

/// Cycles that both sides must share before cycles are compared rather than whole samples.
const FEWEST_CYCLES: usize = 2;

/// One round's throughput relative to another treatment's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RoundRatio {
    /// Round, from 1.
    pub(crate) round: u32,
    /// log(throughput / throughput of the other).
    pub(crate) log_ratio: f64,
    /// Standard error of `log_ratio` from the cycles.
    pub(crate) cycle_se: Option<f64>,
    /// Cycles compared; 0 where whole samples were.
    pub(crate) cycles: usize,
    /// Cycles in which one side completed nothing.
    pub(crate) cycles_lost: usize,
}

impl RoundRatio {
    /// Of a number of whole samples, of which no cycles are known.
    pub(crate) fn whole(round: u32, log_ratio: f64) -> RoundRatio {
        RoundRatio { round, log_ratio, cycle_se: None, cycles: 0, cycles_lost: 0 }
    }
}

/// Compares a treatment with another one, usually the base, in one round; `None` where either has no number.
pub(crate) fn ratio_of_round(arm: &Measured, base: &Measured) -> Option<RoundRatio> {
    let whole = arm.sample.throughput()?.ln() - base.sample.throughput()?.ln();
    let cycles = cycle_log_ratios(&arm.slices, &base.slices);
    let lost = arm.slices.operations.len().max(base.slices.operations.len()) - cycles.len();
    let round = arm.sample.round;
    if cycles.len() < FEWEST_CYCLES {
        return Some(RoundRatio { cycles_lost: lost, ..RoundRatio::whole(round, whole) });
    }
    let trimmed = trimmed_mean(&cycles, DEFAULT_TRIM).expect("two finite values or more, and a constant trim");
    // A scan's unit counts rows; were the tables of unlike size, slices alone would not show it.
    let units = arm.sample.score.factor.ln() - base.sample.score.factor.ln();
    Some(RoundRatio {
        round,
        log_ratio: trimmed.mean + units,
        cycle_se: trimmed.standard_error,
        cycles: cycles.len(),
        cycles_lost: lost,
    })
}

/// What a change that was planted in the arm did to the number of its round: that number, less what it would be had
/// nothing been burned. `None` where nothing was planted or either has no number.
pub(crate) fn planted_log_ratio(arm: &Measured, base: &Measured) -> Option<f64> {
    let planted = arm.sample.planted.as_ref().filter(|_| arm.has_number() && base.has_number())?;
    let trimmed = |slices: &Slices| {
        let cycles = cycle_log_ratios(slices, &base.slices);
        let mean = || trimmed_mean(&cycles, DEFAULT_TRIM).expect("two finite values or more, and a constant trim").mean;
        (cycles.len() >= FEWEST_CYCLES).then(mean)
    };
    match (trimmed(&arm.slices), trimmed(&arm.slices.without_burns())) {
        (Some(with), Some(without)) => Some(with - without),
        _ => Some(planted.ratio.ln()).filter(|log_ratio| log_ratio.is_finite()),
    }
}

/// Log ratio of the rates of each cycle in which both sides completed something.
fn cycle_log_ratios(arm: &Slices, base: &Slices) -> Vec<f64> {
    cycle_rates(arm, base).into_iter().map(|(arm, base)| (arm / base).ln()).collect()
}

/// The rates of both sides in each cycle in which both completed something, in operations a nanosecond.
pub(crate) fn cycle_rates(arm: &Slices, base: &Slices) -> Vec<(f64, f64)> {
    let rates = |slices: &Slices| -> Vec<Option<f64>> {
        let pieces = slices.operations.iter().zip(&slices.busy_ns);
        pieces
            .map(|(&operations, &busy)| (operations > 0 && busy > 0).then(|| operations as f64 / busy as f64))
            .collect()
    };
    let both = rates(arm).into_iter().zip(rates(base));
    both.filter_map(|(arm, base)| Some((arm?, base?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::sample::Planted;

    fn slices(operations: &[u64], busy_ns: u64) -> Slices {
        Slices { operations: operations.to_vec(), busy_ns: vec![busy_ns; operations.len()], burned_ns: Vec::new() }
    }

    #[test]
    fn a_spoilt_cycle_does_not_move_the_round() {
        let base = measured(1000, 1_000_000_000, slices(&[100; 10], 5_000_000));
        let mut pieces = [110; 10];
        pieces[4] = 1;
        let arm = measured(991, 1_000_000_000, slices(&pieces, 5_000_000));
        let ratio = ratio_of_round(&arm, &base).unwrap();
        assert!((ratio.log_ratio - 1.1f64.ln()).abs() < 1e-12);
        assert_eq!((ratio.cycles, ratio.cycles_lost), (10, 0));
        assert!(ratio.cycle_se.is_some());
    }

    #[test]
    fn cycles_are_matched_by_index_and_lost_ones_counted() {
        let base = measured(400, 1_000_000_000, slices(&[100, 0, 50, 100, 7], 5_000_000));
        let arm = measured(400, 1_000_000_000, slices(&[200, 50, 100, 200], 5_000_000));
        let ratio = ratio_of_round(&arm, &base).unwrap();
        assert!((ratio.log_ratio - 2f64.ln()).abs() < 1e-12);
        assert_eq!((ratio.cycles, ratio.cycles_lost), (3, 2));
    }

    #[test]
    fn without_cycles_whole_samples_are_compared() {
        let base = measured(1000, 1_000_000_000, slices(&[500], 5_000_000));
        let arm = measured(900, 1_000_000_000, Slices::default());
        let ratio = ratio_of_round(&arm, &base).unwrap();
        assert!((ratio.log_ratio - 0.9f64.ln()).abs() < 1e-12);
        assert_eq!((ratio.cycles, ratio.cycle_se), (0, None));
    }

    #[test]
    fn the_truth_of_a_planted_change_is_what_it_did_to_the_number() {
        let base = measured(1000, 50_000_000, slices(&[100; 10], 5_000_000));
        let mut pieces = slices(&[100; 10], 5_000_000);
        pieces.burned_ns = vec![50_000; 10];
        // A stall makes a slice ten times as long; it is trimmed from the number, and so from the truth.
        (pieces.busy_ns[4], pieces.burned_ns[4]) = (50_000_000, 50_000);
        let mut arm = measured(1000, 95_000_000, pieces);
        assert_eq!(planted_log_ratio(&arm, &base), None);
        arm.sample.planted = Some(Planted::new(0.01, 500_000, 95_000_000));
        assert!((planted_log_ratio(&arm, &base).unwrap() - 0.99f64.ln()).abs() < 1e-12);
        let sums = 94.5f64 / 95.0;
        arm.slices = Slices::default();
        assert!((planted_log_ratio(&arm, &base).unwrap() - sums.ln()).abs() < 1e-12, "without cycles by sums");
        arm.sample.failure = Some("server died".to_owned());
        assert_eq!(planted_log_ratio(&arm, &base), None);
    }

    #[test]
    fn a_failed_sample_has_no_ratio() {
        let good = measured(1000, 1_000_000_000, slices(&[100; 10], 5_000_000));
        let mut failed = measured(1000, 1_000_000_000, slices(&[100; 10], 5_000_000));
        failed.sample.failure = Some("server died".to_owned());
        assert_eq!(ratio_of_round(&failed, &good), None);
        assert_eq!(ratio_of_round(&good, &failed), None);
        let nothing = measured(0, 0, Slices::default());
        assert_eq!(ratio_of_round(&nothing, &good), None);
    }
}
