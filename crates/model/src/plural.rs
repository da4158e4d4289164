//! How many of what, in words: `1 test`, `2 tests`.
//!
//! In: a number of any integer type and the noun of one. Out: both, the noun as English wants it, by an added s. Every
//! sentence that counts something is made here, so that none says `1 tests`.

use std::fmt::Display;

/// `1 round`, `3 rounds`.
pub fn plural<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn one_is_no_plural_in_any_integer_type() {
        assert_eq!(plural(0_usize, "cell"), "0 cells");
        assert_eq!(plural(1_u32, "cell"), "1 cell");
        assert_eq!(plural(1_u64, "group"), "1 group");
        assert_eq!(plural(21_u64, "cell"), "21 cells");
    }
}
