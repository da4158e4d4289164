//! How often are two speeds seen where there is one, and missed where there are two? And how often is the machine
//! blamed for what each build did by itself?
//!
//! In: rates of one sample, around one speed or around two, with memory and outliers; another sample that is slow at
//! the same time, or at times of its own. Out: error rates, by the number of rates.

use crate::document;
use crate::noise::{Noise, rate};
use rqps_stats::{correlation, two_speeds};

const REPLICATES: usize = 5_000;

/// From which correlation on two samples were slow together; `IN_STEP` of `analysis`.
const IN_STEP: f64 = 0.7;

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

/// Which cycles are slow: a third of them, in runs of that many on average.
fn slow_cycles(noise: &mut Noise, count: usize, length: f64) -> Vec<bool> {
    let mut is_slow = noise.uniform() < 1.0 / 3.0;
    let next = |_| {
        let now = is_slow;
        is_slow ^= noise.uniform() < if now { 1.0 } else { 0.5 } / length;
        now
    };
    (0..count).map(next).collect()
}

/// Rates that are halved in slow cycles.
fn slowed(noise: &mut Noise, slow: &[bool]) -> Vec<f64> {
    let rates = rates(noise, slow.len(), 0.1);
    rates.into_iter().zip(slow).map(|(rate, is_slow)| if *is_slow { rate / 2.0 } else { rate }).collect()
}

#[test]
fn the_machine_is_seldom_blamed_for_what_builds_did_by_themselves() {
    let mut rows = Vec::new();
    for (stream, (count, length)) in
        [(60, 3.0), (60, 20.0), (300, 3.0), (300, 20.0), (300, 100.0)].into_iter().enumerate()
    {
        let mut noise = Noise::new(1600 + stream as u64);
        // Of samples that are seen to have two speeds.
        let mut is_blamed = |together: bool| loop {
            let slow = slow_cycles(&mut noise, count, length);
            let own = slowed(&mut noise, &slow);
            if two_speeds(&own).is_none() {
                continue;
            }
            let slow = if together { slow } else { slow_cycles(&mut noise, count, length) };
            let other = slowed(&mut noise, &slow);
            let logs: Vec<(f64, f64)> = own.iter().zip(&other).map(|(own, other)| (own.ln(), other.ln())).collect();
            return correlation(&logs).is_some_and(|found| found >= IN_STEP);
        };
        let together = rate(REPLICATES, || is_blamed(true));
        let apart = rate(REPLICATES, || is_blamed(false));
        assert!(together > 0.97 && apart < 0.03, "{count} cycles, {length} in a row: {together} and {apart}");
        rows.push(
            [vec![count.to_string(), length.to_string()], [together, apart].map(document::cell).to_vec()].concat(),
        );
    }
    let header =
        ["cycles", "slow for so many in a row", "both together: told", "each by itself: taken for the machine"];
    document::check("in-step", &document::table(&header, &rows), 0.002);
}
