//! The rows of the Insert Benchmark and the statement that inserts them.
//!
//! In: seed, client, the number of a statement's first row. Out: SQL text in a buffer that is used again. The text is a
//! function of these alone: `dateandtime` is not the wall clock but follows from the row's number, so the same seed
//! gives the same rows on every build, fast or slow. Text, not a prepared statement: the published client sends text,
//! parsing it is the server's work that is measured, and `data` has no fixed length.

use crate::random::{Purpose, below, stream};
use crate::text::{date_and_time, push_number};
use rand_core::Rng;

/// What a client's rows may hold: column values are drawn below these.
const REGISTERS: u64 = 1000;
const CUSTOMERS: u64 = 100_000;
const PRODUCTS: u64 = 10_000;
const PRICES: u64 = 500;

/// Lengths of `data`.
const DATA_BYTES_MIN: u64 = 10;
const DATA_BYTES_MAX: u64 = 20;

/// Room for a row as text: 21 of time, 25 of numbers, 22 of data, and what separates them.
const ROW_BYTES_MAX: usize = 80;

/// Rows of a client that share a second of `dateandtime`.
const ROWS_PER_SECOND: u64 = 10_000;

/// 2026-01-01 00:00:00 UTC, when the first row is told to have been sold.
const FIRST_SECOND: u64 = 1_767_225_600;

/// The alphabet of base64.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Makes the statements of one client.
#[derive(Debug, Clone)]
pub(crate) struct InsertText {
    seed: u64,
    client: u64,
    head: String,
}

impl InsertText {
    /// For a client's rows in a table.
    pub(crate) fn new(seed: u64, client: u32, table: &str) -> InsertText {
        let head =
            format!("INSERT INTO {table} (dateandtime, cashregisterid, customerid, productid, price, data) VALUES ");
        InsertText { seed, client: u64::from(client), head }
    }

    /// The most bytes of a statement of `rows` rows.
    pub(crate) fn capacity(&self, rows: usize) -> usize {
        self.head.len() + rows * ROW_BYTES_MAX
    }

    /// Replaces `sql` by the statement for `rows` rows from number `first` of the client on.
    pub(crate) fn render(&self, sql: &mut Vec<u8>, first: u64, rows: u32) {
        sql.clear();
        sql.extend_from_slice(self.head.as_bytes());
        let time = date_and_time(FIRST_SECOND + first / ROWS_PER_SECOND);
        let mut random = stream(self.seed, Purpose::Rows, self.client, first);
        for row in 0..rows {
            sql.extend_from_slice(if row == 0 { b"('" } else { b",('" });
            sql.extend_from_slice(&time);
            sql.extend_from_slice(b"',");
            for domain in [REGISTERS, CUSTOMERS, PRODUCTS] {
                push_number(sql, below(&mut random, domain));
                sql.push(b',');
            }
            push_number(sql, below(&mut random, PRICES));
            sql.extend_from_slice(b".00,'");
            let len = DATA_BYTES_MIN + below(&mut random, DATA_BYTES_MAX - DATA_BYTES_MIN + 1);
            push_data(sql, len as usize, random.next_u64());
            sql.extend_from_slice(b"')");
        }
    }
}

/// Half filler that compresses well, half letters that don't; 64 random bits are ten letters.
#[inline]
fn push_data(sql: &mut Vec<u8>, len: usize, mut bits: u64) {
    let mut data = [b'a'; DATA_BYTES_MAX as usize];
    for letter in &mut data[len / 2..len] {
        *letter = LETTERS[(bits & 63) as usize];
        bits >>= 6;
    }
    sql.extend_from_slice(&data[..len]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(first: u64, rows: u32) -> String {
        let mut sql = b"what was there before".to_vec();
        InsertText::new(42, 1, "pi1").render(&mut sql, first, rows);
        String::from_utf8(sql).unwrap()
    }

    #[test]
    fn a_statement_never_changes() {
        expect_test::expect!["INSERT INTO pi1 (dateandtime, cashregisterid, customerid, productid, price, data) VALUES ('2026-01-01 03:25:45',410,79675,8086,73.00,'aaaaaaaaaYRo0oik+H'),('2026-01-01 03:25:45',358,42145,7977,430.00,'aaaaaaaz7gH1UU8'),('2026-01-01 03:25:45',951,53589,9363,329.00,'aaaaadY5pY0')"].assert_eq(&rendered(123_456_789, 3));
        assert_eq!(rendered(7, 100), rendered(7, 100));
        assert_ne!(rendered(7, 100), rendered(107, 100));
    }

    #[test]
    fn values_are_as_published_and_fit_their_room() {
        let text = InsertText::new(1, 3, "pi4");
        let (mut sql, mut seen) = (Vec::new(), [0u64; 5]);
        for statement in 0..500 {
            text.render(&mut sql, statement * 100, 100);
            assert!(sql.len() <= text.capacity(100));
            let sql = std::str::from_utf8(&sql).unwrap();
            let (_, rows) = sql.split_once("VALUES (").unwrap();
            for row in rows.trim_end_matches(')').split("),(") {
                let fields: Vec<&str> = row.split(',').collect();
                assert_eq!(fields.len(), 6, "{row}");
                for (place, limit) in [(1, REGISTERS), (2, CUSTOMERS), (3, PRODUCTS)] {
                    let value: u64 = fields[place].parse().unwrap();
                    assert!(value < limit);
                    seen[place - 1] = seen[place - 1].max(value);
                }
                let price: u64 = fields[4].strip_suffix(".00").unwrap().parse().unwrap();
                assert!(price < PRICES);
                seen[3] = seen[3].max(price);
                let data = fields[5].trim_matches('\'');
                assert!((10..=20).contains(&data.len()));
                assert!(data[..data.len() / 2].bytes().all(|letter| letter == b'a'));
                seen[4] = seen[4].max(data.len() as u64);
            }
        }
        // The largest of 50,000 draws is close to the largest there is.
        assert!(seen[0] == 999 && seen[1] > 99_900 && seen[2] > 9990 && seen[3] == 499 && seen[4] == 20, "{seen:?}");
    }
}
