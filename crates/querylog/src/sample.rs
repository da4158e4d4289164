//! A bounded sample of rows that come one after the other, the same for the same rows.
//!
//! In: rows. Out: some of them, each row as likely as any other. So they come from the whole time, and those that are
//! frequent stay frequent. Chance is a hash of the row's number: every n-th row would show one half only of what takes
//! turns.

use rqps_sql::Literal;

/// A value of a row; none is NULL.
pub(crate) type Value = Option<Literal>;

/// The most rows that are kept.
pub(crate) const ROWS_MAX: usize = 1_000;

/// The most bytes of values that are kept of one shape of a statement.
const BYTES_MAX: usize = 4 << 20;

/// A row with a longer value is not kept.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// Rows that were kept.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    rows: Vec<Vec<Value>>,
    bytes: usize,
    /// So many rows are kept at most.
    rows_max: usize,
    seen: u64,
    first: Vec<Value>,
    /// Of each column, whether any row differed from the first.
    varies: Vec<bool>,
    /// Rows with a value that is too long.
    pub(crate) too_long: u64,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample {
            rows: Vec::new(),
            bytes: 0,
            rows_max: ROWS_MAX,
            seen: 0,
            first: Vec::new(),
            varies: Vec::new(),
            too_long: 0,
        }
    }
}

impl Sample {
    /// Takes a row. The more there were, the less likely it takes the place of another (Vitter's algorithm R).
    pub(crate) fn add(&mut self, row: Vec<Value>) {
        if row.iter().any(|value| length(value) > VALUE_BYTES_MAX) {
            self.too_long += 1;
            return;
        }
        self.seen += 1;
        if self.seen == 1 {
            self.first.clone_from(&row);
            self.varies = vec![false; row.len()];
        }
        for ((varies, value), first) in self.varies.iter_mut().zip(&row).zip(&self.first) {
            *varies |= value != first;
        }
        if self.seen <= self.rows_max as u64 {
            self.bytes += bytes_of(&row);
            self.rows.push(row);
        } else {
            let place = usize::try_from(chance(self.seen) % self.seen).unwrap_or(usize::MAX);
            if let Some(before) = self.rows.get_mut(place) {
                self.bytes += bytes_of(&row);
                self.bytes -= bytes_of(before);
                *before = row;
            }
        }
        if self.bytes > BYTES_MAX && self.rows.len() > 1 {
            self.thin();
        }
    }

    /// Keeps about half of the rows; how many bytes that frees.
    pub(crate) fn thin(&mut self) -> usize {
        let before = self.bytes;
        let mut number = self.seen;
        self.rows.retain(|_| {
            number += 1;
            chance(number).is_multiple_of(2)
        });
        self.rows_max = self.rows.len().max(1);
        self.bytes = self.rows.iter().map(|row| bytes_of(row)).sum();
        before - self.bytes
    }

    /// Whether the values of a column were not all the same.
    pub(crate) fn varies(&self, column: usize) -> bool {
        self.varies.get(column).copied().unwrap_or(false)
    }

    pub(crate) fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// How many rows there were.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A number that says nothing of the other (splitmix64).
fn chance(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn bytes_of(row: &[Value]) -> usize {
    row.iter().map(|value| size_of::<Value>() + length(value)).sum()
}

fn length(value: &Value) -> usize {
    match value {
        None => 0,
        Some(Literal::Number(text) | Literal::Text(text) | Literal::Hex(text)) => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(sample: &Sample) -> Vec<u32> {
        let number = |row: &Vec<Value>| match &row[0] {
            Some(Literal::Number(number)) => number.parse().expect("a number"),
            other => panic!("{other:?}"),
        };
        sample.rows().iter().map(number).collect()
    }

    fn of(numbers: impl Iterator<Item = u32>) -> Sample {
        let mut sample = Sample::default();
        numbers.for_each(|number| sample.add(vec![Some(Literal::Number(number.to_string()))]));
        sample
    }

    #[test]
    fn rows_come_from_the_whole_time_and_stay_few() {
        let sample = of(0..20_000);
        let kept = numbers(&sample);
        assert_eq!((kept.len(), sample.seen()), (ROWS_MAX, 20_000));
        for quarter in 0..4 {
            let of_quarter = kept.iter().filter(|number| **number / 5_000 == quarter).count();
            assert!((200..300).contains(&of_quarter), "{of_quarter} of quarter {quarter}");
        }
        assert_eq!(numbers(&of(0..20_000)), kept, "the same again");
    }

    #[test]
    fn what_takes_turns_is_kept_alike_and_what_differs_once_is_known_to() {
        let sample = of((0..8_000).map(|number| number % 2));
        let ones = numbers(&sample).iter().sum::<u32>();
        assert!((400..600).contains(&ones), "{ones}");
        assert!(sample.varies(0));
        assert!(!of((0..8_000).map(|_| 7)).varies(0));
        assert!(of((0..8_000).map(|number| u32::from(number == 7_999))).varies(0));
    }

    #[test]
    fn long_values_are_counted_and_large_rows_thinned() {
        let mut sample = Sample::default();
        let row = |length: usize| vec![Some(Literal::Text("x".repeat(length))), None];
        sample.add(row(VALUE_BYTES_MAX + 1));
        (0..200).for_each(|_| sample.add(row(VALUE_BYTES_MAX)));
        assert_eq!((sample.too_long, sample.seen()), (1, 200));
        assert!(sample.bytes() <= BYTES_MAX, "{}", sample.bytes());
    }
}
