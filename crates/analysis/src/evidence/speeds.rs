//! Whether a sample ran at one speed or at two, and whether another build did so at the same time.
//!
//! In: samples with their slices and seconds. Out: the two speeds, where there are two (`stats::two_speeds`), and how
//! the rates of two samples correlate. Seconds that stalled are left out: they are reported as stalls.

use crate::compare::round::cycle_rates;
use crate::read::main_operation::Main;
use crate::read::measured::Measured;
use rqps_model::Interleave;
use rqps_model::sample::per_second;
use rqps_stats::{TwoSpeeds, correlation, stalls, two_speeds};

/// Of fewer cycles than this the rates correlate by chance.
const FEWEST_TO_CORRELATE: usize = 15;

/// The two speeds of a sample.
pub(crate) fn speeds(measured: &Measured) -> Option<TwoSpeeds> {
    if !measured.has_number() {
        return None;
    }
    let rates = match measured.sample.step() {
        Some(record) => {
            let rates = per_second(&measured.seconds, record.seconds, Main::of(record).by_second()?);
            let stalled = stalls(&rates);
            let moving = |second: &usize| !stalled.iter().any(|stall| stall.contains(second));
            (0..rates.len()).filter(moving).map(|second| rates[second]).collect()
        }
        None => {
            let slices = measured.slices.operations.iter().zip(&measured.slices.busy_ns);
            slices.map(|(&operations, &busy_ns)| operations as f64 / busy_ns as f64).collect::<Vec<f64>>()
        }
    };
    two_speeds(&rates)
}

/// Whether two samples of one round were slow and fast together: the correlation of their log rates, cycle by cycle.
/// `None` where builds did not alternate in slices, or too few were counted.
pub(crate) fn in_step(own: &Measured, other: &Measured) -> Option<f64> {
    if own.sample.interleave != Some(Interleave::Slices) {
        return None;
    }
    let rates = cycle_rates(&own.slices, &other.slices);
    let logs: Vec<(f64, f64)> = rates.into_iter().map(|(own, other)| (own.ln(), other.ln())).collect();
    correlation(&logs).filter(|_| logs.len() >= FEWEST_TO_CORRELATE)
}
