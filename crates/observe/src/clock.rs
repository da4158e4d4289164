//! UTC time as text. In: a `SystemTime`. Out: RFC 3339 with milliseconds, such as `2026-11-20T05:14:00.250Z`.
//!
//! This room reads no clock: the time is an argument, so that whoever calls decides which clock counts.

use std::time::{SystemTime, UNIX_EPOCH};

const MS_PER_DAY: i128 = 86_400_000;

/// The moment as RFC 3339 text in UTC, milliseconds included.
pub fn rfc3339(time: SystemTime) -> String {
    let ms = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_millis() as i128,
        Err(before) => -(before.duration().as_millis() as i128),
    };
    let (year, month, day) = civil_from_days(ms.div_euclid(MS_PER_DAY) as i64);
    let ms = ms.rem_euclid(MS_PER_DAY);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970-01-01.
///
/// Counted in eras of 400 years (146097 days) that begin on 1 March, so that the leap day is the last of its year.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn known_moments() {
        let check = |seconds: u64, ms: u64, expected: &str| {
            let time = UNIX_EPOCH + Duration::from_millis(seconds * 1000 + ms);
            assert_eq!(rfc3339(time), expected);
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

    #[test]
    fn every_day_follows_the_day_before() {
        let (mut year, mut month, mut day) = civil_from_days(0);
        for days in 1..60_000 {
            let next = civil_from_days(days);
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = [31, 28 + i64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
            (year, month, day) = match (day == length, month == 12) {
                (false, _) => (year, month, day + 1),
                (true, false) => (year, month + 1, 1),
                (true, true) => (year + 1, 1, 1),
            };
            assert_eq!(next, (year, month, day), "day {days}");
        }
    }
}
