//! Numbers in sentences and tables, by one rule: what the sentence says of a test stands in the table, digit by digit.
//!
//! In: full-precision values. Out: text with digits that fit the size. It knows no unit; what has one is shown by
//! `report`.

/// What stands where there is no number.
pub const NONE: &str = "–";

/// Relative throughput: three decimals around 1, three significant digits far from it, and no more than that beyond a
/// thousandfold: only an interval of two or three rounds that disagree reaches there, and its digits say nothing.
pub fn ratio(value: f64) -> String {
    match value {
        v if !v.is_finite() => NONE.to_owned(),
        v if v > 1e3 => ">1000".to_owned(),
        v if v > 0.0 && v < 1e-3 => "<0.001".to_owned(),
        v if (0.0995..9.995).contains(&v) => format!("{v:.3}"),
        v => significant(v, 3),
    }
}

/// A number with `digits` significant digits, whole where it is that large, without exponent down to a millionth.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value.abs() < 1e-6 {
        return format!("{value:.*e}", (digits - 1).max(0) as usize);
    }
    let decimals = |v: f64| (digits - 1 - v.abs().log10().floor() as i32).max(0) as usize;
    // Rounding may carry into another digit (9.996 → 10.0): count the decimals again from what was rounded.
    let rounded: f64 = format!("{value:.*}", decimals(value)).parse().unwrap_or(value);
    let again = if rounded == 0.0 { decimals(value) } else { decimals(rounded).min(decimals(value)) };
    format!("{value:.again$}")
}

/// A fraction as percent with two digits, such as `0.85 %` or `12 %`; beyond tenfold `>1000 %`.
pub fn percent(fraction: f64) -> String {
    match fraction {
        f if !f.is_finite() => NONE.to_owned(),
        f if f > 10.0 => ">1000 %".to_owned(),
        f => format!("{} %", significant(f * 100.0, 2)),
    }
}

/// A count, rate or time as a reader needs it: whole from 100 on, else one place behind the point, if there is anything
/// there.
pub(crate) fn plain(value: f64) -> String {
    let text = if value.abs() >= 99.95 { format!("{value:.0}") } else { format!("{value:.1}") };
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_rates_have_no_needless_digits() {
        assert_eq!([412.3, 99.96, 3.24, 40.0, 0.04].map(plain), ["412", "100", "3.2", "40", "0"]);
    }

    #[test]
    fn small_ratios_keep_three_digits() {
        let check = |value: f64, expected: &str| assert_eq!(ratio(value), expected);
        check(0.01487, "0.0149");
        check(0.972, "0.972");
        check(1.884, "1.884");
        check(f64::NAN, NONE);
        assert_eq!(significant(9.996, 3), "10.0");
    }
}
