//! The noise floor that a cell is judged with: how much an unchanged build differs from itself on this test.
//!
//! In: the log ratios of one test (or group): of every treatment against the base, and of the A/A pairs; how the cells
//! of the campaign's other tests spread; and what this host had shown before. Out: a floor, where one can be known. A
//! floor never comes from the comparison it is to judge: a cell's own rounds, counted twice, would make intervals too
//! narrow.

use crate::compare::round::RoundRatio;
use crate::compare::row::{Row, log_ratios};
use crate::findings::KeptNoise;
use rqps_stats::{
    DEFAULT_FLOOR_DEGREES_OF_FREEDOM, Floor, Kept, Prior, Spread, agree, mean, median, pooled_floor, sample_variance,
};

/// Treatments other than the base that a campaign needs before their spread makes a floor.
const FEWEST_TREATMENTS: usize = 3;
/// Correlation of two cells' variances, since both hold the noise of the one base: the square of 1/2.
const SHARED_BASE_CORRELATION: f64 = 0.25;
/// Worth of a median of standard deviations, and of a pair that shares the base, against independent variances.
/// Simulated with 2 to 10 rounds and 3 to 13 treatments: intervals then miss 1.8 to 5 % of the time, never more.
const EFFICIENCY: f64 = 0.65;

/// Two treatments that are the same build with the same settings, by index, and their log ratios by round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) treatments: (usize, usize),
    pub(crate) log_ratios: &'a [f64],
}

/// The floor that the test itself gives for judging `treatment` against `base`: from the A/A pairs, else from the other
/// treatments. `cells` holds the log ratios of each treatment against the base, empty for the base.
pub(crate) fn of_test(treatment: usize, base: usize, cells: &[&[f64]], pairs: &[Pair<'_>]) -> Option<Floor> {
    from_pairs(treatment, base, pairs).or_else(|| from_treatments(treatment, base, cells))
}

/// By row: how its cells spread, to judge those of the other rows by.
pub(crate) fn spreads(rows: &[Row]) -> Vec<Vec<Spread>> {
    let of_row = |row: &Row| (0..row.cells.len()).filter_map(|at| spread(row.comparable(at))).collect();
    rows.iter().map(of_row).collect()
}

/// What the cells of all other rows say of the noise of `row`.
pub(crate) fn prior(row: usize, spreads: &[Vec<Spread>]) -> Option<Prior> {
    let others = spreads.iter().enumerate().filter(|(at, _)| *at != row);
    Prior::of_cells(&others.flat_map(|(_, cells)| cells.iter().copied()).collect::<Vec<_>>())
}

/// What an A/A on this host showed of the noise of `row` before, if the cells of all other rows agree with what it
/// showed of them.
pub(crate) fn of_host(row: usize, rows: &[Row], spreads: &[Vec<Spread>]) -> Option<Kept> {
    let kept = rows[row].kept?;
    let others = rows.iter().zip(spreads).enumerate().filter(|(at, _)| *at != row);
    let others = others.flat_map(|(_, (other, cells))| other.kept.into_iter().flat_map(|kept| beside(cells, kept)));
    agree(&others.collect::<Vec<_>>()).then_some(kept)
}

/// How many rows an A/A on this host had told of, and in how many that counts.
pub(crate) fn kept_noise(rows: &[Row]) -> Option<KeptNoise> {
    let spreads = spreads(rows);
    let known = rows.iter().filter(|row| row.kept.is_some()).count() as u32;
    let counted = (0..rows.len()).filter(|row| of_host(*row, rows, &spreads).is_some()).count() as u32;
    (known > 0).then_some(KeptNoise { known, counted })
}

fn beside(cells: &[Spread], kept: Kept) -> impl Iterator<Item = (Spread, Kept)> {
    cells.iter().map(move |cell| (*cell, kept))
}

/// How a cell's rounds spread, `None` for fewer than two of them.
fn spread(rounds: &[RoundRatio]) -> Option<Spread> {
    let variance = sample_variance(&log_ratios(rounds)).ok()??;
    Some(Spread { variance, degrees_of_freedom: (rounds.len() - 1) as f64, slices: slice_variance(rounds) })
}

/// Mean square of the slices' standard errors, 0 where rounds have none.
pub(crate) fn slice_variance(rounds: &[RoundRatio]) -> f64 {
    let squares: Vec<f64> = rounds.iter().filter_map(|round| round.cycle_se).map(|se| se * se).collect();
    mean(&squares).unwrap_or(0.0)
}

fn from_pairs(treatment: usize, base: usize, pairs: &[Pair<'_>]) -> Option<Floor> {
    let judged = [(base, treatment), (treatment, base)];
    let is_judged = |pair: &&Pair<'_>| judged.contains(&pair.treatments);
    let usable: Vec<&[f64]> = pairs
        .iter()
        .filter(|pair| !is_judged(pair) && !pair.log_ratios.is_empty())
        .map(|pair| pair.log_ratios)
        .collect();
    let pooled = pooled_floor(&usable).ok()?;
    weighed(pooled.sd, pooled.degrees_of_freedom)
}

fn from_treatments(treatment: usize, base: usize, cells: &[&[f64]]) -> Option<Floor> {
    let spread = |log_ratios: &&[f64]| -> Option<(f64, f64)> {
        let sd = sample_variance(log_ratios).ok()??.sqrt();
        let degrees_of_freedom = (log_ratios.len() - 1) as f64;
        Some((sd / median_of_sd(degrees_of_freedom), degrees_of_freedom))
    };
    let others = cells.iter().enumerate().filter(|&(at, _)| at != treatment && at != base);
    let spreads: Vec<(f64, f64)> = others.filter_map(|(_, cell)| spread(cell)).collect();
    if spreads.len() + 1 < FEWEST_TREATMENTS {
        return None;
    }
    let sds: Vec<f64> = spreads.iter().map(|spread| spread.0).collect();
    let fewest = spreads.iter().map(|spread| spread.1).fold(f64::INFINITY, f64::min);
    let count = spreads.len() as f64;
    weighed(median(&sds).ok()?, fewest * count / (1.0 + SHARED_BASE_CORRELATION * (count - 1.0)))
}

/// A floor that weighs no more than what it was measured with.
fn weighed(sd: f64, degrees_of_freedom: f64) -> Option<Floor> {
    let weight = (EFFICIENCY * degrees_of_freedom).min(DEFAULT_FLOOR_DEGREES_OF_FREEDOM);
    Floor::with_degrees_of_freedom(sd, weight).ok()
}

/// Median of a standard deviation whose true value is 1: the square root of the median of chi-squared over its degrees
/// of freedom (Wilson and Hilferty 1931; exact within 1 % from 2 on). With two rounds the middle sd is a third too low.
fn median_of_sd(degrees_of_freedom: f64) -> f64 {
    const WITH_ONE: f64 = 0.674_49;
    if degrees_of_freedom <= 1.0 {
        return WITH_ONE;
    }
    (1.0 - 2.0 / (9.0 * degrees_of_freedom)).powf(1.5)
}

#[cfg(test)]
mod tests;
