//! Whether a sample ran at one speed or at two.
//!
//! In: a sample with its slices and seconds. Out: the two speeds, where there are two (`stats::two_speeds`). Seconds
//! that stalled are left out: they are reported as stalls.

use crate::read::main_operation::Main;
use crate::read::measured::Measured;
use rqps_model::sample::per_second;
use rqps_stats::{TwoSpeeds, stalls, two_speeds};

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
