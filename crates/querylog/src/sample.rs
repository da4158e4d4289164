//! A bounded sample of rows that come one after the other, the same for the same rows.
//!
//! In: rows. Out: every n-th of them, where n doubles whenever there are too many. So rows come from the whole time,
//! and those that are frequent stay frequent.

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
    every: u64,
    seen: u64,
    /// Rows with a value that is too long.
    pub(crate) too_long: u64,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample { rows: Vec::new(), bytes: 0, every: 1, seen: 0, too_long: 0 }
    }
}

impl Sample {
    /// Takes a row.
    pub(crate) fn add(&mut self, row: Vec<Value>) {
        let bytes = bytes_of(&row);
        if row.iter().any(|value| length(value) > VALUE_BYTES_MAX) {
            self.too_long += 1;
            return;
        }
        self.seen += 1;
        if !(self.seen - 1).is_multiple_of(self.every) {
            return;
        }
        self.rows.push(row);
        self.bytes += bytes;
        if self.rows.len() > ROWS_MAX || self.bytes > BYTES_MAX && self.rows.len() > 1 {
            self.thin();
        }
    }

    /// Keeps every second row; how many bytes that frees.
    pub(crate) fn thin(&mut self) -> usize {
        let before = self.bytes;
        let mut number = 0;
        self.rows.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.every *= 2;
        self.bytes = self.rows.iter().map(|row| bytes_of(row)).sum();
        before - self.bytes
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

    #[test]
    fn rows_come_from_the_whole_time_and_stay_few() {
        let mut sample = Sample::default();
        for number in 0..10_000 {
            sample.add(vec![Some(Literal::Number(number.to_string()))]);
        }
        let numbers: Vec<u32> = sample
            .rows()
            .iter()
            .map(|row| match &row[0] {
                Some(Literal::Number(number)) => number.parse().expect("a number"),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!((ROWS_MAX / 2..=ROWS_MAX).contains(&numbers.len()), "{}", numbers.len());
        assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] == 16), "every 16th");
        assert_eq!((numbers[0], sample.seen()), (0, 10_000));
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
