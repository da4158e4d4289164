//! What the other cells of a campaign say of the noise of a cell.
//!
//! In: the [`Spread`] of each other cell. Out: a [`Prior`], and from it the [`Floor`] that a cell is judged with (after
//! Smyth 2004). The cell's own rounds must not be among them. A round differs from the next because servers were
//! started anew, which is alike for all cells, and because its slices are noisy, which is known for each cell by
//! itself: variance = starts + slices.

use crate::distribution::digamma;
use crate::floor::Floor;

/// Other cells that it takes.
const FEWEST_CELLS: usize = 3;

/// Weight of a prior, in degrees of freedom. Cells differ from each other by factors, and a noisy one must not be taken
/// for a usual one: with more the noisiest of 32 real tests is held too rarely.
pub const PRIOR_DEGREES_OF_FREEDOM: f64 = 1.0;

/// What usually differs from one start of the servers to the next: the standard deviation of a round's log ratio,
/// slices apart (docs/statistics.md). A rule of thumb for plans, never for intervals.
pub const USUAL_START_SPREAD: f64 = 0.012;

/// What a prior counts for of the usual variance. So light a prior has long tails, which by themselves make intervals
/// wider; with the whole of it they hold more often than stated.
const SCALE: f64 = 0.68;

/// How a cell's rounds spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Sample variance of the rounds' log ratios.
    pub variance: f64,
    /// Rounds minus one.
    pub degrees_of_freedom: f64,
    /// The part of the variance that is due to the slices of a round: mean square of their standard error; 0 where
    /// rounds have no slices. Of a count it is what chance makes.
    pub slices: f64,
}

/// The noise that a cell is expected to have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Variance that servers' starts account for.
    starts: f64,
}

impl Prior {
    /// The noise of the cells in the middle; `None` from fewer than three cells.
    pub fn of_cells(cells: &[Spread]) -> Option<Self> {
        let known: Vec<&Spread> =
            cells.iter().filter(|cell| cell.variance > 0.0 && cell.degrees_of_freedom > 0.0).collect();
        (known.len() >= FEWEST_CELLS).then(|| Self { starts: fit_starts(&known) })
    }

    /// The floor of a cell whose slices account for the variance `slices` of its rounds.
    pub fn floor(&self, slices: f64) -> Option<Floor> {
        let variance = SCALE * (self.starts + slices);
        Floor::with_degrees_of_freedom(variance.sqrt(), PRIOR_DEGREES_OF_FREEDOM).ok()
    }
}

/// Unbiased estimate of ln σ² from a sample variance: its logarithm has the mean ln σ² + ψ(d/2) - ln(d/2).
pub(crate) fn log_variance(cell: &Spread) -> f64 {
    let half = 0.5 * cell.degrees_of_freedom;
    cell.variance.ln() - digamma(half) + half.ln()
}

/// The variance of starts with which the model's logarithms have the mean of the cells', by bisection of its logarithm;
/// 0 where the slices alone explain more than is there.
pub(crate) fn fit_starts(cells: &[&Spread]) -> f64 {
    const STEPS: usize = 50;
    let count = cells.len() as f64;
    let mean = cells.iter().map(|cell| log_variance(cell)).sum::<f64>() / count;
    if cells.iter().all(|cell| cell.slices == 0.0) {
        return mean.exp();
    }
    let excess = |starts: f64| cells.iter().map(|cell| (starts + cell.slices).ln()).sum::<f64>() / count - mean;
    if excess(0.0) >= 0.0 {
        return 0.0;
    }
    // With slices it is less than it would be without any.
    let (mut low, mut high) = (mean - 30.0, mean);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if excess(middle.exp()) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(variance: f64, degrees_of_freedom: f64, slices: f64) -> Spread {
        Spread { variance, degrees_of_freedom, slices }
    }

    /// A sample variance whose unbiased logarithm is that of `variance`.
    fn typical(variance: f64, degrees_of_freedom: f64) -> f64 {
        let half: f64 = 0.5 * degrees_of_freedom;
        variance * (digamma(half) - half.ln()).exp()
    }

    /// The sd that a prior expects before it is scaled.
    fn expected(prior: Prior, slices: f64) -> f64 {
        prior.floor(slices).unwrap().sd() / SCALE.sqrt()
    }

    #[test]
    fn cells_that_agree_give_their_noise() {
        let prior = Prior::of_cells(&vec![spread(typical(4e-4, 5.0), 5.0, 0.0); 20]).unwrap();
        assert!((expected(prior, 0.0) - 0.02).abs() < 1e-9);
        assert_eq!(prior.floor(0.0).unwrap().degrees_of_freedom(), PRIOR_DEGREES_OF_FREEDOM);
    }

    #[test]
    fn slices_are_added_to_what_starts_have_in_common() {
        let of = |slices: f64| spread(typical(1e-4 + slices, 9.0), 9.0, slices);
        let prior = Prior::of_cells(&[of(0.0), of(1e-4), of(3e-4), of(8e-4)]).unwrap();
        assert!((expected(prior, 0.0) - 0.01).abs() < 1e-9);
        assert!((expected(prior, 8e-4) - 0.03).abs() < 1e-9);
        // Slices that explain more than is there leave nothing to starts.
        let quiet = Prior::of_cells(&[spread(1e-6, 9.0, 1e-4); 4]).unwrap();
        assert!((expected(quiet, 1e-4) - 0.01).abs() < 1e-9);
        assert_eq!(quiet.floor(0.0), None, "no floor of nothing");
    }

    #[test]
    fn few_cells_and_rounds_that_agree_exactly_say_nothing() {
        assert_eq!(Prior::of_cells(&[spread(1e-4, 9.0, 0.0); 2]), None);
        assert_eq!(Prior::of_cells(&[spread(0.0, 9.0, 0.0); 9]), None);
    }
}
