//! How a treatment compares with the base: in throughput, and in what else a round tells.
//!
//! Ratios are fractions in full precision.

use rqps_model::Verdict;
use rqps_stats::DEFAULT_FALSE_DISCOVERY_RATE;
use serde::{Deserialize, Serialize};

/// A treatment's throughput relative to the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Relative throughput, geometric mean over rounds.
    pub rqps: f64,
    /// Lower end of the 95 % interval; `None` with a single round.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Median over rounds.
    pub median: f64,
    /// Relative throughput of each round that has both.
    pub by_round: Vec<RoundFindings>,
    /// Verdict after correction for multiplicity.
    pub verdict: Verdict,
    /// Why the verdict reads so, where it needs words: `real but below the margin`, `q = 0.08`, `one round only`, or
    /// why there is no comparison: who missed a write rate, or that throughput was the requested rate.
    pub remark: Option<String>,
    /// Whether the whole interval lies beyond the margin.
    pub beyond_margin: bool,
    /// Rounds compared.
    pub n: u32,
    /// Smallest change that would have been found with 80 % power, as a fraction.
    pub mde: Option<f64>,
    /// Two-sided p.
    pub p: Option<f64>,
    /// p corrected over all cells of the campaign (Benjamini-Hochberg).
    pub q: Option<f64>,
    /// Noise floor used: the sd of a round's log ratio that is expected where nothing changed.
    pub floor: Option<f64>,
    /// Degrees of freedom that the floor counts for beside those of the rounds.
    pub floor_weight: Option<f64>,
    /// Sd of the rounds' log ratios.
    pub sd: Option<f64>,
    /// Standard error of the rounds' estimates from the cycles inside them (root mean square).
    pub cycle_se: Option<f64>,
    /// Rounds that would settle an undecided cell, where that can be estimated.
    pub rounds_needed: Option<u32>,
    /// The same, those there are included, where `rqps more` adds the others: its intervals are wider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_needed_in_all: Option<u32>,
}

/// A quantile of latency, a cost per operation, or how steady a test was, relative to the base's. Regressed means that
/// it takes more, or is less steady.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasureComparison {
    /// `p50`, `p95`, `p99`, `slow_seconds`, or a field of [`Cost`] such as `server_cpu_us`.
    pub measure: String,
    /// Whether `ratio`, its interval, the rounds and the MDE are differences: this less the base's.
    #[serde(default)]
    pub is_difference: bool,
    /// This over the base's, geometric mean over rounds.
    pub ratio: f64,
    /// Lower end of its 95 % interval; `None` with a single round.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The ratio of each round, from 1.
    pub by_round: Vec<(u32, f64)>,
    /// Verdict after correction over all tests, each measure by itself.
    pub verdict: Verdict,
    /// Why the verdict reads so, as of [`Comparison::remark`].
    pub remark: Option<String>,
    /// Rounds compared.
    pub n: u32,
    /// Smallest change that would have been found with 80 % power, as a fraction.
    pub mde: Option<f64>,
    /// p corrected over all cells of the campaign.
    pub q: Option<f64>,
}

impl MeasureComparison {
    /// The quantiles of whole events' latency.
    pub const LATENCY: [&str; 3] = ["p50", "p95", "p99"];

    /// The share of the seconds in which less than half of the median second's work was done.
    pub const SLOW_SECONDS: &str = "slow_seconds";

    /// A ratio that so many rounds gave, of which nothing else is known.
    pub fn undecided(measure: &str, ratio: f64, rounds: u32) -> MeasureComparison {
        MeasureComparison {
            measure: measure.to_owned(),
            is_difference: false,
            ratio,
            low: None,
            high: None,
            by_round: Vec::new(),
            verdict: Verdict::Undecided,
            remark: None,
            n: rounds,
            mde: None,
            q: None,
        }
    }

    /// Whether it is a quantile of latency, and not a cost.
    pub fn is_latency(&self) -> bool {
        MeasureComparison::LATENCY.contains(&self.measure.as_str())
    }
}

/// One round of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundFindings {
    /// Round, from 1.
    pub round: u32,
    /// Relative throughput.
    pub rqps: f64,
    /// Standard error of its logarithm from the cycles inside the round, where it has cycles.
    pub cycle_se: Option<f64>,
}

/// Advice to run more than this many times the rounds already run would not be followed.
const REACH: u32 = 3;

impl Comparison {
    /// A ratio that so many rounds gave, of which nothing else is known.
    pub fn undecided(rqps: f64, rounds: u32) -> Comparison {
        Comparison {
            rqps,
            low: None,
            high: None,
            median: rqps,
            by_round: Vec::new(),
            verdict: Verdict::Undecided,
            remark: None,
            beyond_margin: false,
            n: rounds,
            mde: None,
            p: None,
            q: None,
            floor: None,
            floor_weight: None,
            sd: None,
            cycle_se: None,
            rounds_needed: None,
            rounds_needed_in_all: None,
        }
    }

    /// Rounds that would settle an undecided cell, where they are not out of all proportion to those run.
    pub fn rounds_within_reach(&self) -> Option<u32> {
        self.rounds_needed.filter(|&rounds| rounds <= REACH.saturating_mul(self.n))
    }

    /// Rounds that `rqps more` would have to add to settle it, where they are not out of all proportion either.
    pub fn more_within_reach(&self) -> Option<u32> {
        let in_all = self.rounds_needed_in_all.filter(|&rounds| rounds <= REACH.saturating_mul(self.n))?;
        Some(in_all.saturating_sub(self.n))
    }

    /// Whether the interval excludes "no change", and the verdict is undecided only since so many cells were compared.
    pub fn is_taken_back(&self) -> bool {
        let excludes_one = excludes_one(self.low, self.high);
        let is_corrected = self.q.is_some_and(|q| q > DEFAULT_FALSE_DISCOVERY_RATE);
        self.verdict == Verdict::Undecided && excludes_one && is_corrected
    }
}

/// Whether the interval of a ratio leaves out 1.
fn excludes_one(low: Option<f64>, high: Option<f64>) -> bool {
    low.is_some_and(|low| low > 1.0) || high.is_some_and(|high| high < 1.0)
}

/// Whether a ratio differs from 1 by more than chance, after correction for what it was judged together with.
pub(crate) fn is_beyond_chance(low: Option<f64>, high: Option<f64>, q: Option<f64>) -> bool {
    excludes_one(low, high) && q.is_some_and(|q| q <= DEFAULT_FALSE_DISCOVERY_RATE)
}
