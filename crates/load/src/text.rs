//! Numbers and dates as SQL text, for statements and rows that are made by the million.
//!
//! In: a number, or a second since 1970. Out: its bytes. It knows no format of an engine.

/// Appends a number in decimal.
#[inline]
pub(crate) fn push_number(text: &mut Vec<u8>, mut number: u64) {
    const DIGITS_MAX: usize = 20;
    let mut digits = [0; DIGITS_MAX];
    let mut at = DIGITS_MAX;
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

/// `2026-01-01 00:00:00` for a second since 1970, by the proleptic Gregorian calendar counted from March on.
pub(crate) fn date_and_time(second: u64) -> [u8; 19] {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let (day, of_day) = (second / 86_400 + 719_468, second % 86_400);
    let (era, day_of_era) = (day / DAYS_OF_400_YEARS, day % DAYS_OF_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let mut text = *b"0000-00-00 00:00:00";
    let mut put = |at: usize, value: u64| {
        text[at] = b'0' + (value / 10) as u8;
        text[at + 1] = b'0' + (value % 10) as u8;
    };
    put(0, year / 100 % 100);
    for (at, value) in
        [(2, year % 100), (5, month), (8, day_of_month), (11, of_day / 3600), (14, of_day / 60 % 60), (17, of_day % 60)]
    {
        put(at, value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_shown_as_dates() {
        let check = |second: u64, shown: &str| assert_eq!(date_and_time(second), shown.as_bytes());
        check(0, "1970-01-01 00:00:00");
        check(1_767_225_600, "2026-01-01 00:00:00");
        check(1_709_251_199, "2024-02-29 23:59:59");
        check(1_709_251_200, "2024-03-01 00:00:00");
        check(4_107_542_400, "2100-03-01 00:00:00");
        check(1_798_761_599, "2026-12-31 23:59:59");
    }

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 7, 10, 99_999, u64::MAX] {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string().into_bytes());
        }
    }
}
