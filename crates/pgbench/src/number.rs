//! Doubles as pgbench writes them: `%.15g` of C, with the names of infinity and NaN that PostgreSQL has.
//!
//! In: a double. Out: its text in a buffer of fixed size, so that nothing is allocated.

use std::fmt::{self, Write};

/// Digits that are kept.
const PRECISION: usize = 15;

/// The longest text is `-1.23456789012345e-308`, and before zeros go `-0.000123456789012345`.
const LONGEST: usize = 32;

/// A short text that is its own storage.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Digits {
    const fn new() -> Digits {
        Digits { bytes: [0; LONGEST], length: 0 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Drops zeros behind the decimal point, and the point if nothing is left behind it.
    fn trim(&mut self) {
        if self.as_bytes().contains(&b'.') {
            while self.as_bytes().last() == Some(&b'0') {
                self.length -= 1;
            }
            if self.as_bytes().last() == Some(&b'.') {
                self.length -= 1;
            }
        }
    }
}

impl Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Writes as `%.15g` does: 15 digits, rounded to even, without zeros at the end; with an exponent of at least two
/// digits if it is below -4 or above 14.
pub(crate) fn general(value: f64) -> Digits {
    let mut out = Digits::new();
    write_general(value, &mut out).expect("the longest text fits");
    out
}

fn write_general(value: f64, out: &mut Digits) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("NaN");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    // The exponent is that of the rounded number: 999999999999999.9 is 1e+15.
    let mut scientific = Digits::new();
    write!(scientific, "{value:.*e}", PRECISION - 1)?;
    let (exponent_at, exponent) = exponent(scientific.as_bytes());
    if (-4..PRECISION as i32).contains(&exponent) {
        let decimals = usize::try_from(PRECISION as i32 - 1 - exponent).expect("from 0 to 18");
        write!(out, "{value:.decimals$}")?;
        out.trim();
        return Ok(());
    }
    scientific.length = exponent_at;
    scientific.trim();
    *out = scientific;
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "e{sign}{:02}", exponent.unsigned_abs())
}

/// Where the `e` is, and what stands behind it.
fn exponent(text: &[u8]) -> (usize, i32) {
    let at = text.iter().position(|byte| *byte == b'e').expect("a number with an exponent");
    let digits = text[at + 1..].iter().filter(|byte| byte.is_ascii_digit());
    let size = digits.fold(0, |size, digit| size * 10 + i32::from(digit - b'0'));
    (at, if text[at + 1] == b'-' { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64) -> String {
        String::from_utf8(general(value).as_bytes().to_vec()).expect("ASCII")
    }

    #[test]
    fn writes_what_printf_writes() {
        // What `printf '%.15g'` of glibc says.
        let golden = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333333"),
            (2.0 / 3.0, "0.666666666666667"),
            (100.0, "100"),
            (-1234.5, "-1234.5"),
            (123_456_789_012_345.0, "123456789012345"),
            (100_000_000_000_000.5, "100000000000000"),
            (100_000_000_000_001.5, "100000000000002"),
            (999_999_999_999_999.9, "1e+15"),
            (1e15, "1e+15"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.000_123_456_789_012_345_6, "0.000123456789012346"),
            (0.00001, "1e-05"),
            (9.999_999_999_999_999e-5, "0.0001"),
            (f64::MIN_POSITIVE, "2.2250738585072e-308"),
            (f64::MAX, "1.79769313486232e+308"),
            (-f64::MAX, "-1.79769313486232e+308"),
            (5e-324, "4.94065645841247e-324"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (value, expected) in golden {
            assert_eq!(text(value), expected, "{value:e}");
        }
    }

    proptest! {
        #[test]
        fn any_double_fits_and_keeps_15_digits(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let written = text(value);
            let back: f64 = written.parse().expect("a number");
            // Rust's own rounding to 15 digits is the reference of the value, this file only of the form.
            let expected: f64 = format!("{value:.14e}").parse().expect("a number");
            prop_assert_eq!(back.to_bits(), expected.to_bits(), "{}", written);
            let digits = written.split('e').next().unwrap_or_default().trim_matches(['-', '0', '.']);
            prop_assert!(digits.bytes().filter(u8::is_ascii_digit).count() <= 15, "{}", written);
        }
    }
}
