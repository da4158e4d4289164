//! A results folder → what the rest works on: samples with what lies beside them, treatments as they were found, the
//! base.
//!
//! In: the campaign as `store` reads it. Out: plain values. Compares nothing.

pub(crate) mod base;
pub(crate) mod looks;
pub(crate) mod main_operation;
pub(crate) mod measured;
pub(crate) mod round_seconds;
pub(crate) mod seconds;
pub(crate) mod took;
pub(crate) mod treatment;

use jiff::Timestamp;

/// Seconds since 1970 of `2026-11-21T06:00:00.250Z`.
pub(crate) fn seconds_of(rfc3339: &str) -> Option<f64> {
    rfc3339.parse::<Timestamp>().ok().map(|moment| moment.as_millisecond() as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::seconds_of;

    #[test]
    fn calendar_days_are_counted_right() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(seconds_of(text), expected, "{text}");
        check("1970-01-01T00:00:00Z", Some(0.0));
        check("2000-02-29T12:34:56Z", Some(951_827_696.0));
        check("2026-11-21T06:00:00.25Z", Some(1_795_240_800.25));
        check("yesterday", None);
        check("", None);
    }
}
