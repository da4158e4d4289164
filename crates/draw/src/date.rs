//! Days and times without a zone, as numbers and as ISO text.
//!
//! In: text, or a number of days or seconds since 1970. Out: the other.

use jiff::ToSpan;
use jiff::civil::{self, DateTime};
use std::fmt::Write;

const EPOCH: DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// A day, and perhaps a time of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    at: DateTime,
    pub(crate) has_time: bool,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Day {
    Day,
    Second,
}

impl Date {
    /// `2025-12-31`, or `2025-12-31 23:59:59`.
    pub(crate) fn parse(text: &str) -> Option<Date> {
        Some(Date { at: text.parse().ok()?, has_time: text.contains(':') })
    }

    /// Days or seconds since 1970.
    pub(crate) fn in_units(self, unit: Day) -> i64 {
        let seconds = self.at.duration_since(EPOCH).as_secs();
        match unit {
            Day::Day => seconds.div_euclid(86_400),
            Day::Second => seconds,
        }
    }
}

impl Day {
    /// Appends a number of days or seconds since 1970 as ISO text.
    pub(crate) fn write(self, number: i64, text: &mut String) {
        let span = match self {
            Day::Day => number.days(),
            Day::Second => number.seconds(),
        };
        // What was parsed is within the calendar, and so is all between.
        let at = EPOCH.saturating_add(span);
        let _ = match self {
            Day::Day => write!(text, "{}", at.date()),
            Day::Second => write!(text, "{} {:02}:{:02}:{:02}", at.date(), at.hour(), at.minute(), at.second()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_go_both_ways() {
        for (text, number) in [("1970-01-01", 0), ("2000-02-29", 11_016), ("2026-11-24", 20_781), ("1969-12-31", -1)] {
            assert_eq!(Date::parse(text).map(|date| date.in_units(Day::Day)), Some(number), "{text}");
        }
        for number in (-200_000..200_000).step_by(7) {
            let mut text = String::new();
            Day::Day.write(number, &mut text);
            assert_eq!(Date::parse(&text).map(|date| date.in_units(Day::Day)), Some(number), "{text}");
        }
        let mut text = String::new();
        Day::Second.write(86_400 + 3_723, &mut text);
        assert_eq!(text, "1970-01-02 01:02:03");
        for wrong in ["", "2025", "2025-02-29", "2025-13-01", "2025-01-01 24:00:00", "x-y-z"] {
            assert_eq!(Date::parse(wrong), None, "{wrong}");
        }
    }
}
