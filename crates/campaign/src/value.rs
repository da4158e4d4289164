//! The values of keys that have a type of their own.
//!
//! In: words. Out: types with right forms and ranges; names in them are still words. How they are read is `read`'s
//! business, but for times, which some flags have that are no keys.

use crate::place::Spanned;
use jiff::SignedDuration;
use rqps_model::{BuildSpec, StorageEngine};
use std::fmt;

/// A setting and its value.
pub type Setting = (String, String);

/// Seconds from a time such as 15m or 1h30m, or from a plain number of them.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let number = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite());
    number.or_else(|| Some(text.parse::<SignedDuration>().ok()?.as_secs_f64()))
}

/// The time of a flag that is no key of a campaign, in seconds.
///
/// # Errors
/// What was expected instead.
pub fn time(text: &str) -> Result<f64, String> {
    let time = seconds(text).ok_or("expected a time such as 5m")?;
    match (1.0..=7.0 * 86400.0).contains(&time) {
        true => Ok(time),
        false => Err("expected a time from 1s to 7d, such as 5m".to_owned()),
    }
}

/// A ready-made size, and how many times its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Its name, such as `cached-large`.
    pub word: String,
    /// 1 for its own size.
    pub factor: f64,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        if self.factor == 1.0 { Ok(()) } else { write!(f, ":{}", self.factor) }
    }
}

/// A build as asked for, with what is said about it alone.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildRequest {
    /// Engine, source and the user's name for it.
    pub spec: Spanned<BuildSpec>,
    /// Profiles for this build instead of the campaign's.
    pub profile: Option<Spanned<Vec<Spanned<String>>>>,
    /// Storage engines for this build instead of the campaign's.
    pub storage: Option<Spanned<Vec<Spanned<StorageEngine>>>>,
    /// Settings for this build on top of the campaign's.
    pub set: Vec<Spanned<Setting>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(["5m", "90s", "90", "1h30m"].map(time), [Ok(300.0), Ok(90.0), Ok(90.0), Ok(5400.0)]);
        for wrong in ["", "5 apples", "-5m", "0", "inf", "NaN"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
