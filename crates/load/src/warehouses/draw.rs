//! What rows and transactions both draw: skewed numbers, last names, strings.
//!
//! In: a random stream. Out: values by the clauses of the TPC-C specification, appended to a buffer where they are
//! text. It allocates nothing beyond that buffer, and knows no table.

use crate::random::{Pcg64, below};
use rand_core::Rng;
use rqps_model::tproc_c::{CUSTOMERS, ITEMS, Quirk};
use std::collections::BTreeSet;

/// NURand (clause 2.1.6): numbers from `first` to `last`, of which some are drawn far more often than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NuRand {
    a: u64,
    first: u64,
    last: u64,
    c: u64,
}

/// The constant of the last names of a load, and of a run: clause 2.1.6.1 wants them to differ by 65 to 119, but not by
/// 96 or 112. Which they are changes no result, so no seed moves them: a run on data that another campaign loaded is
/// right too.
const LAST_NAME_OF_LOAD: u64 = 91;
const LAST_NAME_OF_RUN: u64 = 178;

/// The constant of HammerDB, whenever it draws.
const SAME_CONSTANT: u64 = 123;

/// Numbers of last names.
const LAST_NAMES: u64 = 1000;

impl NuRand {
    /// Numbers of last names, as the rows of a load draw them.
    pub fn last_name_of_load(quirks: &BTreeSet<Quirk>) -> NuRand {
        NuRand::last_name(quirks, LAST_NAME_OF_LOAD)
    }

    /// Numbers of last names, as transactions draw them.
    pub fn last_name_of_run(quirks: &BTreeSet<Quirk>) -> NuRand {
        NuRand::last_name(quirks, LAST_NAME_OF_RUN)
    }

    fn last_name(quirks: &BTreeSet<Quirk>, c: u64) -> NuRand {
        let c = if quirks.contains(&Quirk::SameConstant) { SAME_CONSTANT } else { c };
        NuRand { a: 255, first: 0, last: LAST_NAMES - 1, c }
    }

    /// Customers of a district.
    pub const fn customer() -> NuRand {
        NuRand { a: 1023, first: 1, last: CUSTOMERS as u64, c: 259 }
    }

    /// Items.
    pub const fn item() -> NuRand {
        NuRand { a: 8191, first: 1, last: ITEMS as u64, c: 7911 }
    }

    /// Draws one.
    #[inline]
    pub fn draw(&self, random: &mut Pcg64) -> u64 {
        let even = between(random, self.first, self.last);
        ((below(random, self.a + 1) | even) + self.c) % (self.last - self.first + 1) + self.first
    }
}

/// A number from `first` to `last`, all equally often.
#[inline]
pub fn between(random: &mut Pcg64, first: u64, last: u64) -> u64 {
    first + below(random, last - first + 1)
}

/// The syllables of last names, one for each decimal digit (clause 4.3.2.3).
const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// Bytes of the longest last name.
pub const LAST_NAME_BYTES_MAX: usize = 15;

/// Appends the last name of a number from 0 to 999.
pub fn push_last_name(text: &mut Vec<u8>, number: u64) {
    for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
        text.extend_from_slice(SYLLABLES[digit as usize].as_bytes());
    }
}

const DIGITS_AND_LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Characters that are taken from one draw: 62 to the power of it is below 2^64.
const CHARACTERS_OF_DRAW: usize = 10;

/// Appends so many digits and letters.
#[inline]
pub fn push_alphanumeric(text: &mut Vec<u8>, random: &mut Pcg64, count: u64) {
    push_characters(text, random, count, DIGITS_AND_LETTERS);
}

/// Appends so many digits.
#[inline]
pub fn push_digits(text: &mut Vec<u8>, random: &mut Pcg64, count: u64) {
    push_characters(text, random, count, &DIGITS_AND_LETTERS[..10]);
}

#[inline]
fn push_characters(text: &mut Vec<u8>, random: &mut Pcg64, count: u64, characters: &[u8]) {
    let start = text.len();
    text.resize(start + count as usize, 0);
    for several in text[start..].chunks_mut(CHARACTERS_OF_DRAW) {
        // A fraction whose digits to the base of so many characters are the string.
        let mut fraction = random.next_u64();
        for place in several {
            let product = u128::from(fraction) * characters.len() as u128;
            *place = characters[(product >> 64) as usize];
            fraction = product as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = Vec::new();
        push(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn last_names_are_three_syllables() {
        for (number, name) in [(0, "BARBARBAR"), (371, "PRICALLYOUGHT"), (40, "BARPRESBAR"), (999, "EINGEINGEING")] {
            assert_eq!(text(|text| push_last_name(text, number)), name);
        }
        let longest = (0..LAST_NAMES).map(|number| text(|text| push_last_name(text, number)).len()).max();
        assert_eq!(longest, Some(LAST_NAME_BYTES_MAX));
    }

    #[test]
    fn constants_of_load_and_run_are_as_far_apart_as_the_clause_says() {
        let delta = LAST_NAME_OF_LOAD.abs_diff(LAST_NAME_OF_RUN);
        assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
        assert!([LAST_NAME_OF_LOAD, LAST_NAME_OF_RUN].iter().all(|c| *c <= 255));
        let same = BTreeSet::from([Quirk::SameConstant]);
        assert_eq!(NuRand::last_name_of_load(&same), NuRand::last_name_of_run(&same));
        assert_ne!(NuRand::last_name_of_load(&BTreeSet::new()), NuRand::last_name_of_run(&BTreeSet::new()));
    }

    #[test]
    fn skewed_draws_stay_within_their_bounds_and_favour_some() {
        let mut random = stream(1, Purpose::Keys, 0, 0);
        for (skewed, first, last) in [
            (NuRand::customer(), 1, 3000),
            (NuRand::item(), 1, 100_000),
            (NuRand::last_name_of_run(&BTreeSet::new()), 0, 999),
        ] {
            let mut counts = vec![0u32; last + 1];
            for _ in 0..300_000 {
                counts[skewed.draw(&mut random) as usize] += 1;
            }
            assert!(counts[..first].iter().all(|count| *count == 0));
            counts.sort_unstable();
            let frequent: u32 = counts.iter().rev().take(last / 10).sum();
            assert!(frequent > 75_000, "a tenth of the numbers has more than a quarter of the draws: {frequent}");
        }
    }

    #[test]
    fn strings_are_of_all_characters_equally() {
        let mut random = stream(1, Purpose::Rows, 0, 0);
        let long = text(|text| push_alphanumeric(text, &mut random, 62_000));
        for character in DIGITS_AND_LETTERS {
            let count = long.bytes().filter(|byte| byte == character).count();
            // Five standard deviations of a binomial with n = 62,000 and p = 1/62 are 157.
            assert!(count.abs_diff(1000) < 157, "{count}");
        }
        let digits = text(|text| push_digits(text, &mut random, 13));
        assert!(digits.len() == 13 && digits.bytes().all(|byte| byte.is_ascii_digit()));
    }

    #[test]
    fn draws_never_change() {
        let mut random = stream(7, Purpose::Rows, 1, 1);
        let string = text(|text| push_alphanumeric(text, &mut random, 24));
        let numbers = [NuRand::customer().draw(&mut random), NuRand::item().draw(&mut random)];
        expect_test::expect!["j2Ok9o6dG2gs0goLy9ypAdT6 [2819, 40677]"].assert_eq(&format!("{string} {numbers:?}"));
    }
}
