//! What two builds do or take per operation, side by side, with the interval of the difference.

use serde::{Deserialize, Serialize};

/// Of anything that is counted, such as calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PerOperation {
    /// Of the base.
    pub base: f64,
    /// Of the treatment.
    pub own: f64,
    /// Treatment minus base: mean over rounds.
    pub difference: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The p-value after correction for what it was judged together with.
    pub q: Option<f64>,
    /// Whether it differs by more than chance, after correction.
    pub is_sure: bool,
}

/// Microseconds per operation of two builds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Of the base.
    pub base_us: f64,
    /// Of the treatment.
    pub us: f64,
    /// Treatment minus base: mean over rounds.
    pub difference_us: f64,
    /// Lower end of its 95 % interval.
    pub low_us: f64,
    /// Upper end.
    pub high_us: f64,
    /// The p-value after correction for what it was judged together with.
    pub q: Option<f64>,
    /// Whether it differs by more than chance, after correction.
    pub is_sure: bool,
}

impl From<PerOperation> for Amount {
    /// Of microseconds.
    fn from(us: PerOperation) -> Amount {
        let PerOperation { base, own, difference, low, high, q, is_sure } = us;
        Amount { base_us: base, us: own, difference_us: difference, low_us: low, high_us: high, q, is_sure }
    }
}
