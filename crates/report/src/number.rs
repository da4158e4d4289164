//! Numbers as people read them: digits that fit the size, units beside them, never a single significant digit.
//!
//! In: full-precision values of the findings. Out: text. Nothing is rounded twice and nothing is stored from here.

pub(crate) use rqps_analysis::digits::{NONE, percent, ratio, significant};

/// Relative throughput in the published tables: two decimals, more where those would leave one significant digit.
pub(crate) fn published_ratio(value: f64) -> String {
    if value > 0.0 && value < 0.095 { significant(value, 2) } else { format!("{value:.2}") }
}

/// Throughput as in the published tables: whole numbers, more digits where those would be fewer than three.
pub(crate) fn throughput(value: f64) -> String {
    if value.is_finite() { significant(value, 3) } else { NONE.to_owned() }
}

/// The same with thin spaces between thousands, for pages.
pub(crate) fn grouped(value: f64) -> String {
    let plain = throughput(value);
    if plain.len() < 5 || !plain.bytes().all(|b| b.is_ascii_digit()) {
        return plain;
    }
    let mut text = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A ratio as a signed change in percent, such as `−2.8 %`; factors above two as `×2.5`.
pub(crate) fn change(ratio: f64) -> String {
    if !ratio.is_finite() || ratio < 0.0 {
        return NONE.to_owned();
    }
    if ratio >= 2.0 {
        return format!("×{}", significant(ratio, 3));
    }
    let change = (ratio - 1.0) * 100.0;
    let digits = format!("{:.1}", change.abs());
    format!("{}{digits} %", sign(&digits, change))
}

/// The same with the interval of the ratio: `−2.8 % (0.965 to 0.980)`.
pub(crate) fn change_within(value: f64, low: f64, high: f64) -> String {
    // A factor has ends however large it is; as throughput such a ratio would be a fault.
    let end = |end: f64| if end < 999.5 { ratio(end) } else { significant(end, 3) };
    format!("{} ({} to {})", change(value), end(low), end(high))
}

/// The share of a change that something accounts for, in words: `40 % of the change`.
pub(crate) fn share_of_change(share: f64) -> String {
    match share {
        share if share < 0.0 => "against the change".to_owned(),
        share if share > 1.1 => "more than the whole change".to_owned(),
        share if share > 0.95 => "all of the change".to_owned(),
        share => format!("{} of the change", percent((share * 100.0).round() / 100.0)),
    }
}

/// A difference of two shares in percentage points, such as `−2.0 pp`: a percentage of a percentage misleads.
pub(crate) fn points(difference: f64) -> String {
    if !difference.is_finite() {
        return NONE.to_owned();
    }
    let digits = format!("{:.1}", (difference * 100.0).abs());
    format!("{}{digits} pp", sign(&digits, difference))
}

/// The sign of a number that is written with these digits.
fn sign(digits: &str, value: f64) -> &'static str {
    match () {
        () if digits == "0.0" => "±",
        () if value < 0.0 => "−",
        () => "+",
    }
}

/// A q or p value.
pub(crate) fn probability(value: f64) -> String {
    if value < 0.0005 { "<0.001".to_owned() } else { format!("{value:.3}") }
}

/// A time given in microseconds, in the unit that suits it.
pub(crate) fn duration_us(us: f64) -> String {
    match us.abs() {
        0.0 => "0".to_owned(),
        v if !v.is_finite() => NONE.to_owned(),
        v if v < 0.9995 => format!("{} ns", significant(us * 1e3, 3)),
        v if v < 999.5 => format!("{} µs", significant(us, 3)),
        v if v < 999_500.0 => format!("{} ms", significant(us / 1e3, 3)),
        _ => format!("{} s", significant(us / 1e6, 3)),
    }
}

/// Bytes in binary units.
pub(crate) fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value;
    let mut unit = 0;
    while scaled.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", significant(scaled, 3), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_change_are_said_in_words() {
        let shares = [-0.2, 0.4, 1.0, 1.3].map(share_of_change);
        let expected = ["against the change", "40 % of the change", "all of the change", "more than the whole change"];
        assert_eq!(shares, expected);
    }

    #[test]
    fn a_factor_has_its_ends_however_large_it_is() {
        assert_eq!(change_within(0.972, 0.965, 0.98), "−2.8 % (0.965 to 0.980)");
        assert_eq!(change_within(2642.0, 994.0, 2701.2), "×2642 (994 to 2701)");
    }

    fn check(render: fn(f64) -> String, cases: &[(f64, &str)]) {
        for (value, expected) in cases {
            assert_eq!(render(*value), *expected, "{value}");
        }
    }

    #[test]
    fn ratios_have_three_significant_digits_or_more() {
        check(ratio, &[(1.9043, "1.904"), (0.985, "0.985"), (0.0123, "0.0123"), (12.34, "12.3"), (f64::NAN, "–")]);
        check(ratio, &[(9.9996, "10.0"), (0.0999, "0.100"), (123.4, "123"), (23412.0, ">1000"), (0.000_045, "<0.001")]);
        check(published_ratio, &[(2.494, "2.49"), (0.6, "0.60"), (0.0123, "0.012"), (0.0061, "0.0061"), (0.0, "0.00")]);
    }

    #[test]
    fn throughput_is_whole_unless_small() {
        check(throughput, &[(281_092.4, "281092"), (257.3, "257"), (12.34, "12.3"), (0.4567, "0.457"), (0.0, "0")]);
        check(grouped, &[(281_092.0, "281\u{202f}092"), (4812.0, "4812"), (1_013_725.4, "1\u{202f}013\u{202f}725")]);
        check(|v| significant(v, 3), &[(9.996, "10.0"), (99.96, "100"), (3.2e-7, "3.20e-7"), (-15.04, "-15.0")]);
    }

    #[test]
    fn changes_and_times_carry_their_units() {
        check(percent, &[(0.0085, "0.85 %"), (0.0951, "9.5 %"), (0.123, "12 %"), (0.0, "0 %"), (154_469.0, ">1000 %")]);
        check(
            change,
            &[
                (0.972, "−2.8 %"),
                (1.05, "+5.0 %"),
                (2.494, "×2.49"),
                (0.9998, "±0.0 %"),
                (f64::INFINITY, "–"),
                (-8.3, "–"),
            ],
        );
        check(points, &[(-0.0196, "−2.0 pp"), (0.123, "+12.3 pp"), (-0.0004, "±0.0 pp"), (f64::NAN, "–")]);
        check(duration_us, &[(0.5, "500 ns"), (45.678, "45.7 µs"), (1234.0, "1.23 ms"), (2.5e6, "2.50 s")]);
        check(bytes, &[(512.0, "512 B"), (6.4e9, "5.96 GiB")]);
        check(probability, &[(0.0001, "<0.001"), (0.0812, "0.081")]);
    }
}
