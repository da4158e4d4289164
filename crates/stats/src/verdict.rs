//! From an estimate to one of four answers.
//!
//! In: an [`Estimate`] and an equivalence margin chosen before the run; later a q-value.
//! Out: a [`Judgement`]. "Equal" is a claim of its own, made by two one-sided tests, not
//! the absence of a significant change; what fails both is undecided, and says so.

use crate::error::Error;
use crate::paired::Estimate;

/// Changes that stay unlikely to be false when a whole campaign is read at once.
pub const DEFAULT_FALSE_DISCOVERY_RATE: f64 = 0.05;

/// The change that is too small to matter, as a fraction: 0.02 makes rQPS of 0.98 to 1.02 equal.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Margin(f64);

impl Margin {
    /// A margin strictly between 0 and 1.
    pub fn new(margin: f64) -> Result<Self, Error> {
        if margin > 0.0 && margin < 1.0 { Ok(Self(margin)) } else { Err(Error::Margin { margin }) }
    }

    /// The margin as a fraction.
    pub fn fraction(self) -> f64 {
        self.0
    }

    /// Lower bound on the log scale, log(1 - margin).
    pub fn low(self) -> f64 {
        (-self.0).ln_1p()
    }

    /// Upper bound on the log scale, log(1 + margin).
    pub fn high(self) -> f64 {
        self.0.ln_1p()
    }
}

impl Default for Margin {
    /// Two percent.
    fn default() -> Self {
        Self(0.02)
    }
}

/// The four answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Any change is smaller than the margin.
    Equal,
    /// Slower than the base.
    Regressed,
    /// Faster than the base.
    Improved,
    /// These rounds cannot tell.
    Undecided,
}

/// A decision and what qualifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// The answer.
    pub decision: Decision,
    /// Equal, and yet the 95 % interval excludes "no change".
    pub real_but_below_margin: bool,
    /// Regressed or improved by more than the margin: the whole 95 % interval lies outside.
    pub beyond_margin: bool,
}

impl Judgement {
    /// What is said where no estimate exists, as after a single round.
    pub const UNDECIDED: Self =
        Self { decision: Decision::Undecided, real_but_below_margin: false, beyond_margin: false };

    /// Takes back a change whose q-value, over all cells of the campaign, is above `rate`.
    /// Equal stays: it is no discovery, its error rate is bounded cell by cell.
    #[must_use]
    pub fn corrected(self, q_value: f64, rate: f64) -> Self {
        match self.decision {
            Decision::Regressed | Decision::Improved if q_value > rate => Self::UNDECIDED,
            _ => self,
        }
    }
}

/// Judges an estimate by a margin.
pub fn decide(estimate: &Estimate, margin: Margin) -> Judgement {
    let equal = estimate.low90 > margin.low() && estimate.high90 < margin.high();
    let slower = estimate.high95 < 0.0;
    let faster = estimate.low95 > 0.0;
    let decision = match (equal, slower, faster) {
        (true, ..) => Decision::Equal,
        (_, true, _) => Decision::Regressed,
        (_, _, true) => Decision::Improved,
        _ => Decision::Undecided,
    };
    Judgement {
        decision,
        real_but_below_margin: equal && (slower || faster),
        beyond_margin: estimate.high95 < margin.low() || estimate.low95 > margin.high(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::Paired;
    use proptest::prelude::*;

    fn judge(rounds: &[f64]) -> Judgement {
        decide(&Paired::new(rounds).unwrap().plain().unwrap(), Margin::default())
    }

    #[test]
    fn four_answers_and_their_qualifiers() {
        let check = |rounds: &[f64], decision, real_but_below_margin, beyond_margin| {
            assert_eq!(judge(rounds), Judgement { decision, real_but_below_margin, beyond_margin }, "{rounds:?}");
        };
        check(&[0.001, -0.001, 0.002, -0.002], Decision::Equal, false, false);
        check(&[-0.009, -0.010, -0.011, -0.010], Decision::Equal, true, false);
        check(&[-0.020, -0.023, -0.018, -0.021], Decision::Regressed, false, false);
        check(&[-0.050, -0.052, -0.049, -0.051], Decision::Regressed, false, true);
        check(&[0.050, 0.052, 0.049, 0.051], Decision::Improved, false, true);
        check(&[0.050, -0.052, 0.049, -0.051], Decision::Undecided, false, false);
    }

    #[test]
    fn margin_bounds_are_logs() {
        let margin = Margin::default();
        assert!((margin.low() - 0.98f64.ln()).abs() < 1e-15 && (margin.high() - 1.02f64.ln()).abs() < 1e-15);
        for bad in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(Margin::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_high_q_value_takes_back_changes_only() {
        let regressed = judge(&[-0.050, -0.052, -0.049, -0.051]);
        assert_eq!(regressed.corrected(0.08, DEFAULT_FALSE_DISCOVERY_RATE), Judgement::UNDECIDED);
        assert_eq!(regressed.corrected(0.05, DEFAULT_FALSE_DISCOVERY_RATE), regressed);
        let equal = judge(&[-0.009, -0.010, -0.011, -0.010]);
        assert_eq!(equal.corrected(0.9, DEFAULT_FALSE_DISCOVERY_RATE), equal);
    }

    fn exchanged(decision: Decision) -> Decision {
        match decision {
            Decision::Regressed => Decision::Improved,
            Decision::Improved => Decision::Regressed,
            same => same,
        }
    }

    proptest! {
        #[test]
        fn a_wider_margin_never_unmakes_equal(
            rounds in prop::collection::vec(-0.03..0.03f64, 2..12), narrow in 0.001..0.2f64, more in 0.0..0.2f64,
        ) {
            let estimate = Paired::new(&rounds).unwrap().plain().unwrap();
            let narrow_decision = decide(&estimate, Margin::new(narrow).unwrap()).decision;
            let wide_decision = decide(&estimate, Margin::new(narrow + more).unwrap()).decision;
            prop_assert!(narrow_decision != Decision::Equal || wide_decision == Decision::Equal);
        }

        /// Exchanging version and base exchanges regressed and improved. Equal is left out
        /// near its bounds: log(0.98) and log(1.02) are not mirror images.
        #[test]
        fn exchanging_version_and_base_exchanges_the_answer(rounds in prop::collection::vec(-0.1..0.1f64, 2..12)) {
            let estimate = Paired::new(&rounds).unwrap().plain().unwrap();
            let margin = Margin::default();
            let near_bound = [estimate.low90, estimate.high90].iter().any(|x| (x.abs() - 0.02).abs() < 0.0003);
            prop_assume!(!near_bound && estimate.low95.abs() > 1e-12 && estimate.high95.abs() > 1e-12);
            let flipped: Vec<f64> = rounds.iter().map(|x| -x).collect();
            let there = decide(&estimate, margin).decision;
            let back = decide(&Paired::new(&flipped).unwrap().plain().unwrap(), margin).decision;
            prop_assert_eq!(exchanged(there), back);
        }

        #[test]
        fn qualifiers_fit_the_decision(rounds in prop::collection::vec(-0.04..0.05f64, 2..12)) {
            let judgement = judge(&rounds);
            prop_assert!(!judgement.real_but_below_margin || judgement.decision == Decision::Equal);
            prop_assert!(!judgement.beyond_margin || matches!(judgement.decision, Decision::Regressed | Decision::Improved));
        }
    }
}
