//! How long something takes, as a person says it.
//!
//! In: a duration. Out: text with its two largest units.

use std::time::Duration;

/// Seconds as a person says them: `45 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`.
pub fn human_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64().round() as u64;
    let two = |large: u64, large_name: &str, small: u64, small_name: &str| match small {
        0 => format!("{large} {large_name}"),
        _ => format!("{large} {large_name} {small} {small_name}"),
    };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => two(seconds / 60, "min", seconds % 60, "s"),
        3600..86_400 => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_the_two_largest_units() {
        let said = |seconds| human_duration(Duration::from_secs_f64(seconds));
        assert_eq!([said(0.4), said(59.4), said(59.6), said(250.0)], ["0 s", "59 s", "1 min", "4 min 10 s"]);
        assert_eq!([said(3600.0), said(7500.0), said(270_000.0)], ["1 h", "2 h 5 min", "3 d 3 h"]);
    }
}
