//! Rows of a table whose columns are drawn, and rows that were given.
//!
//! In: columns with their sources, a seed. Out: any row by its number, always the same.

use crate::random::Random;
use crate::source::{Drawn, Source, SourceError, SourceSpec};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The rows of a table.
#[derive(Debug, Clone)]
pub struct Rows {
    columns: Vec<Source>,
    seed: u64,
}

impl Rows {
    /// Rows with these columns.
    ///
    /// # Errors
    /// What makes no sense in a column's source.
    pub fn new(columns: &[(String, SourceSpec)], seed: u64) -> Result<Rows, SourceError> {
        let columns = (0..).zip(columns).map(|(number, (_, spec))| spec.resolve(seed.wrapping_add(number)));
        Ok(Rows { columns: columns.collect::<Result<_, _>>()?, seed })
    }

    /// Puts the values of a row, counted from 0, into a buffer. A row has a stream of its own, so that it can be made
    /// without those before it.
    pub fn fill(&self, row: u64, values: &mut Vec<Drawn>) {
        values.resize_with(self.columns.len(), Drawn::default);
        let mut random = Random::seeded(self.seed ^ row.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for (column, value) in self.columns.iter().zip(values) {
            column.draw(&mut random, row, value);
        }
    }
}

/// Which row comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Any, each alike.
    Random,
    /// One after the other; behind the last comes the first.
    InOrder,
}

/// Rows of values, each of which may be NULL, for all sessions.
pub type SharedRows = Arc<Vec<Vec<Option<String>>>>;

/// Rows that were given, such as those of a CSV.
#[derive(Debug, Clone)]
pub struct Tuples {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: SharedRows,
    /// Which comes next.
    pub take: Take,
    /// Columns whose values are numbers.
    pub numbers: Vec<String>,
}

impl Tuples {
    /// Rows with these columns, all of them text.
    pub fn new(columns: Vec<String>, rows: Vec<Vec<Option<String>>>, take: Take) -> Tuples {
        Tuples { columns, rows: Arc::new(rows), take, numbers: Vec::new() }
    }

    /// The number of the next row, after `taken` were taken; there is one at least.
    pub fn draw(&self, random: &mut Random, taken: u64) -> usize {
        let last = self.rows.len() as u64 - 1;
        match self.take {
            Take::Random => random.up_to(last) as usize,
            Take::InOrder => (taken % (last + 1)) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_same_whichever_were_made_before() {
        let spec = |text: &str| serde_json::from_str::<SourceSpec>(text).expect("right");
        let columns = [
            ("id".to_owned(), spec(r#"{"sequence": 1}"#)),
            ("name".to_owned(), spec(r#"{"text": [3, 9], "nulls": 0.5}"#)),
            ("price".to_owned(), spec(r#"{"decimal": [-1.5, 99.99]}"#)),
        ];
        let rows = Rows::new(&columns, 7).expect("right");
        let (mut one, mut all) = (Vec::new(), Vec::new());
        for row in 0..100 {
            rows.fill(row, &mut all);
            rows.fill(99 - row, &mut one);
            rows.fill(row, &mut one);
            assert_eq!(one, all);
            assert_eq!(one[0], Drawn::Integer(row as i64 + 1));
        }
    }

    #[test]
    fn given_rows_come_in_order_or_at_random() {
        let rows = (0..3).map(|row| vec![Some(row.to_string())]).collect();
        let mut tuples = Tuples::new(vec!["a".to_owned()], rows, Take::InOrder);
        let mut random = Random::seeded(1);
        assert_eq!([0, 1, 2, 3, 4].map(|taken| tuples.draw(&mut random, taken)), [0, 1, 2, 0, 1]);
        tuples.take = Take::Random;
        let mut seen = [0; 3];
        (0..3000).for_each(|_| seen[tuples.draw(&mut random, 0)] += 1);
        assert!(seen.iter().all(|count| (900..1100).contains(count)), "{seen:?}");
    }
}
