//! How often are two speeds seen where there is one, and missed where there are two?
//!
//! In: rates of one sample, around one speed or around two, with memory and outliers. Out: both error rates, by the
//! number of rates.

use crate::document;
use crate::noise::{Noise, rate};
use rqps_stats::two_speeds;

const REPLICATES: usize = 5_000;

/// Rates around a speed of 1. Neighbours are alike, with a correlation of a half, and one in twenty is three times as
/// far out.
fn rates(noise: &mut Noise, count: usize, spread: f64) -> Vec<f64> {
    let states = noise.autocorrelated(count, 0.5);
    let far = |noise: &mut Noise| if noise.uniform() < 0.05 { 3.0 } else { 1.0 };
    states.into_iter().map(|state| (spread * far(noise) * state).exp()).collect()
}

#[test]
fn one_speed_is_seldom_taken_for_two_and_two_are_seldom_missed() {
    let mut rows = Vec::new();
    for (stream, count) in [15, 20, 30, 60, 300].into_iter().enumerate() {
        let mut noise = Noise::new(1500 + stream as u64);
        let mut taken = |spread: f64| rate(REPLICATES, || two_speeds(&rates(&mut noise, count, spread)).is_some());
        let (narrow, wide) = (taken(0.3), taken(0.6));
        let missed = rate(REPLICATES, || {
            let mut two = rates(&mut noise, count, 0.2);
            two.iter_mut().step_by(6).for_each(|rate| *rate /= 4.0);
            two_speeds(&two).is_none()
        });
        assert!(narrow < 0.01 && wide < 0.01, "{count} rates: {narrow} and {wide} taken for two speeds");
        // Few rates say little: most pairs of speeds that are hidden in noise are missed, not invented.
        let may_miss = if count < 30 { 0.6 } else { 0.12 };
        assert!(missed < may_miss, "{count} rates: {missed} missed");
        rows.push([vec![count.to_string()], [narrow, wide, missed].map(document::cell).to_vec()].concat());
    }
    let header = ["rates", "one speed, spread 30 %: taken for two", "spread 60 %", "two speeds, spread 20 %: missed"];
    document::check("two-speeds", &document::table(&header, &rows), 0.002);
}
