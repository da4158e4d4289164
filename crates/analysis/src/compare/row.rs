//! What is judged together: a test at one number of clients, or a group of tests, on all treatments.
//!
//! In: the rounds' ratios. Out: types.

use crate::compare::round::RoundRatio;
use rqps_stats::{Kept, Looking};

/// One test at one number of clients, or one group of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// By treatment: its rounds against the base, empty for the base itself.
    pub(crate) cells: Vec<Vec<RoundRatio>>,
    /// A/A pairs and their rounds.
    pub(crate) pairs: Vec<((usize, usize), Vec<RoundRatio>)>,
    /// By treatment: why its rounds, though there are numbers, are no comparison; empty where none is held back.
    pub(crate) held_back: Vec<Option<String>>,
    /// When it was looked at, which says at which levels its intervals are.
    pub(crate) looking: Looking,
    /// Treatments in which a change was planted.
    pub(crate) planted: Vec<usize>,
    /// What an A/A on this host had shown of its noise.
    pub(crate) kept: Option<Kept>,
}

impl Row {
    /// The row with the rounds of some treatments only.
    pub(crate) fn of(&self, is_kept: impl Fn(usize) -> bool) -> Row {
        let cells = self.cells.iter().enumerate();
        let cells = cells.map(|(at, rounds)| if is_kept(at) { rounds.clone() } else { Vec::new() });
        Row { cells: cells.collect(), ..self.clone() }
    }

    /// Why a treatment's rounds are no comparison.
    pub(crate) fn reason(&self, treatment: usize) -> Option<&str> {
        self.held_back.get(treatment)?.as_deref()
    }

    /// A treatment's rounds against the base, as far as they compare like with like.
    pub(crate) fn comparable(&self, treatment: usize) -> &[RoundRatio] {
        if self.reason(treatment).is_some() { &[] } else { &self.cells[treatment] }
    }
}

/// Which treatments of a test are compared with which, and when: the same for all of its amounts.
#[derive(Clone, Copy)]
pub(crate) struct Pairing<'a> {
    /// Index of the base.
    pub(crate) base: usize,
    /// A/A pairs.
    pub(crate) pairs: &'a [(usize, usize)],
    /// Treatments in which a change was planted.
    pub(crate) planted: &'a [usize],
    /// By treatment what spoils a comparison with it.
    pub(crate) missed: &'a [Option<String>],
    /// When the test was looked at.
    pub(crate) looking: Looking,
}

impl Pairing<'_> {
    /// The row of an amount, of which `ratios` are a treatment's rounds relative to another's.
    pub(crate) fn row(&self, ratios: impl Fn(usize, usize) -> Vec<RoundRatio>) -> Row {
        let of = |arm: usize, base: usize| match self.missed[arm].is_some() || self.missed[base].is_some() {
            true => Vec::new(),
            false => ratios(arm, base),
        };
        let against_base = |at: usize| if at == self.base { Vec::new() } else { of(at, self.base) };
        Row {
            cells: (0..self.missed.len()).map(against_base).collect(),
            pairs: self.pairs.iter().map(|&(a, b)| ((a, b), of(b, a))).collect(),
            held_back: Vec::new(),
            looking: self.looking,
            planted: self.planted.to_vec(),
            // It was kept of throughput only.
            kept: None,
        }
    }
}

/// The log ratios of rounds.
pub(crate) fn log_ratios(rounds: &[RoundRatio]) -> Vec<f64> {
    rounds.iter().map(|round| round.log_ratio).collect()
}
