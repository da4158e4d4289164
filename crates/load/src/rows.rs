//! What stands in a row: the same for the same seed, table and id, whoever makes it and in whatever order.
//!
//! In: seed, table, rows of a table. Out: the values of `k`, `c` and `pad` as sysbench shapes them: groups of eleven
//! random digits joined by hyphens. It knows no SQL and allocates nothing.

use crate::random::{Purpose, one_to, stream};
use rand_core::Rng;
use rand_pcg::Pcg64;
use rqps_suites::Generator;
use rqps_wire::ParameterType;

/// Digits of a group.
const GROUP_DIGITS: usize = 11;
/// Numbers that a group can show.
const GROUP_VALUES: u64 = 100_000_000_000;

/// Length of a value of column `c`: ten groups. The column is CHAR(120), so the server adds a blank.
pub const C_BYTES: usize = 10 * (GROUP_DIGITS + 1) - 1;
/// Length of a value of column `pad`: five groups in a CHAR(60).
pub const PAD_BYTES: usize = 5 * (GROUP_DIGITS + 1) - 1;

/// The type of each parameter that a generator makes.
pub(crate) const fn parameter_type(generator: Generator) -> ParameterType {
    match generator {
        Generator::NewC => ParameterType::Text { len: C_BYTES },
        Generator::NewPad => ParameterType::Text { len: PAD_BYTES },
        _ => ParameterType::Int4,
    }
}

/// The two digits of 00 to 99.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    pairs
};

/// Fills `text` with groups of random digits; its length is one of the two above.
#[inline]
pub fn fill_digits(random: &mut Pcg64, text: &mut [u8]) {
    debug_assert_eq!((text.len() + 1) % (GROUP_DIGITS + 1), 0);
    for group in text.chunks_mut(GROUP_DIGITS + 1) {
        let mut value = ((u128::from(random.next_u64()) * u128::from(GROUP_VALUES)) >> 64) as u64;
        for pair in group[1..GROUP_DIGITS].rchunks_exact_mut(2) {
            pair.copy_from_slice(&PAIRS[(value % 100) as usize]);
            value /= 100;
        }
        group[0] = b'0' + value as u8;
        if let Some(separator) = group.get_mut(GROUP_DIGITS) {
            *separator = b'-';
        }
    }
}

/// One row of a table but its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Uniform over 1..=rows.
    pub k: i32,
    /// Value of column `c`.
    pub c: [u8; C_BYTES],
    /// Value of column `pad`.
    pub pad: [u8; PAD_BYTES],
}

impl Row {
    /// The row with that id in table `table` (from 1) of `rows` rows.
    #[inline]
    pub fn generate(seed: u64, table: u32, id: u64, rows: u64) -> Row {
        let mut random = stream(seed, Purpose::Rows, u64::from(table), id);
        let mut row = Row { k: one_to(&mut random, rows) as i32, c: [0; C_BYTES], pad: [0; PAD_BYTES] };
        fill_digits(&mut random, &mut row.c);
        fill_digits(&mut random, &mut row.pad);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_never_changes() {
        let row = Row::generate(42, 1, 1, 100_000);
        let shown = format!("{} {} {}", row.k, String::from_utf8_lossy(&row.c), String::from_utf8_lossy(&row.pad));
        expect_test::expect!["52016 72466909361-08938668202-36408608566-68735924864-46458362009-56419830215-40729112784-87250648399-42213414437-01671765473 15999145433-37090381127-55888243108-17102987294-82671366661"].assert_eq(&shown);
        assert_eq!(row, Row::generate(42, 1, 1, 100_000));
        assert_ne!(row, Row::generate(42, 2, 1, 100_000));
        assert_ne!(row, Row::generate(42, 1, 2, 100_000));
        assert_ne!(row, Row::generate(43, 1, 1, 100_000));
    }

    #[test]
    fn strings_are_groups_of_eleven_digits_of_which_none_is_rare() {
        let mut counts = [[0u32; 10]; GROUP_DIGITS];
        for id in 1..=2000 {
            let row = Row::generate(1, 1, id, 2000);
            assert!((1..=2000).contains(&row.k));
            for text in [&row.c[..], &row.pad[..]] {
                let groups: Vec<&[u8]> = text.split(|byte| *byte == b'-').collect();
                assert_eq!(groups.len(), (text.len() + 1) / 12);
                for group in groups {
                    assert_eq!(group.len(), GROUP_DIGITS);
                    for (place, digit) in group.iter().enumerate() {
                        counts[place][usize::from(digit - b'0')] += 1;
                    }
                }
            }
        }
        // 30,000 groups: 3,000 of each digit in each place, give or take five standard deviations (52 each).
        assert!(counts.iter().flatten().all(|count| count.abs_diff(3000) < 260), "{counts:?}");
    }
}
