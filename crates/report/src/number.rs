//! Numbers as people read them: digits that fit the size, units beside them, never a single significant digit.
//!
//! In: full-precision values of the findings. Out: text. Nothing is rounded twice and nothing is stored from here.

/// What stands where there is no number.
pub(crate) const NONE: &str = "–";

/// Relative throughput: three decimals around 1, three significant digits far from it, and no more than that beyond a
/// thousandfold: only an interval of two or three rounds that disagree reaches there, and its digits say nothing.
pub(crate) fn ratio(value: f64) -> String {
    match value {
        v if !v.is_finite() => NONE.to_owned(),
        v if v > 1e3 => ">1000".to_owned(),
        v if v > 0.0 && v < 1e-3 => "<0.001".to_owned(),
        v if (0.0995..9.995).contains(&v) => format!("{v:.3}"),
        v => significant(v, 3),
    }
}

/// Relative throughput in the published tables: two decimals, more where those would leave one significant digit.
pub(crate) fn published_ratio(value: f64) -> String {
    if value > 0.0 && value < 0.095 { significant(value, 2) } else { format!("{value:.2}") }
}

/// Throughput as in the published tables: whole numbers, more digits where those would be fewer than three.
pub(crate) fn throughput(value: f64) -> String {
    if value.is_finite() { significant(value, 3) } else { NONE.to_owned() }
}

/// A number with `digits` significant digits, whole where it is that large, without exponent down to a millionth.
pub(crate) fn significant(value: f64, digits: i32) -> String {
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

/// The same with thin spaces between thousands, for pages.
pub(crate) fn grouped(value: f64) -> String {
    let plain = throughput(value);
    let (whole, fraction) = plain.split_once('.').map_or((plain.as_str(), None), |(w, f)| (w, Some(f)));
    let bare = whole.trim_start_matches('-');
    if bare.len() < 5 || !bare.bytes().all(|b| b.is_ascii_digit()) {
        return plain;
    }
    let mut text = String::new();
    for (at, digit) in bare.chars().enumerate() {
        if at > 0 && (bare.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    if whole.starts_with('-') {
        text.insert(0, '-');
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// A fraction as percent with two digits, such as `0.85 %` or `12 %`; beyond tenfold `>1000 %`.
pub(crate) fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        return NONE.to_owned();
    }
    if fraction > 10.0 {
        return ">1000 %".to_owned();
    }
    format!("{} %", significant(fraction * 100.0, 2))
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
    let sign = match () {
        () if digits == "0.0" => "±",
        () if change < 0.0 => "−",
        () => "+",
    };
    format!("{sign}{digits} %")
}

/// A q or p value.
pub(crate) fn probability(value: f64) -> String {
    if value < 0.0005 { "<0.001".to_owned() } else { format!("{value:.3}") }
}

/// A time given in microseconds, in the unit that suits it.
pub(crate) fn duration_us(us: f64) -> String {
    match us.abs() {
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
        check(duration_us, &[(0.5, "500 ns"), (45.678, "45.7 µs"), (1234.0, "1.23 ms"), (2.5e6, "2.50 s")]);
        check(bytes, &[(512.0, "512 B"), (6.4e9, "5.96 GiB")]);
        check(probability, &[(0.0001, "<0.001"), (0.0812, "0.081")]);
    }
}
