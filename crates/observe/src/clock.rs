//! UTC time as text and back: RFC 3339 with milliseconds, such as `2026-11-20T05:14:00.250Z`.
//!
//! This room reads no clock: the time is an argument, so that whoever calls decides which clock counts.

use jiff::Timestamp;
use std::time::SystemTime;

/// The moment as RFC 3339 text in UTC, milliseconds included.
pub fn rfc3339(time: SystemTime) -> String {
    format!("{:.3}", Timestamp::try_from(time).unwrap_or(Timestamp::MAX))
}

/// The moment that such a text says, if it does.
pub fn moment(text: &str) -> Option<SystemTime> {
    text.parse::<Timestamp>().ok().map(SystemTime::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn known_moments() {
        let check = |seconds: u64, ms: u64, expected: &str| {
            let time = UNIX_EPOCH + Duration::from_millis(seconds * 1000 + ms);
            assert_eq!(rfc3339(time), expected);
            assert_eq!(moment(expected), Some(time));
        };
        check(0, 0, "1970-01-01T00:00:00.000Z");
        check(951_782_400, 0, "2000-02-29T00:00:00.000Z");
        check(951_868_800, 0, "2000-03-01T00:00:00.000Z");
        check(1_709_251_199, 999, "2024-02-29T23:59:59.999Z");
        check(1_767_225_600, 0, "2026-01-01T00:00:00.000Z");
        check(4_107_542_400, 5, "2100-03-01T00:00:00.005Z");
    }

    #[test]
    fn before_the_epoch() {
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_millis(1)), "1969-12-31T23:59:59.999Z");
    }
}
