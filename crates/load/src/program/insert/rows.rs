//! The rows of the Insert Benchmark and the statement that inserts them.
//!
//! In: seed, client, the number of a statement's first row. Out: SQL text in a buffer that is used again. The text is a
//! function of these alone: `dateandtime` is not the wall clock but follows from the row's number, so the same seed
//! gives the same rows on every build, fast or slow. Text, not a prepared statement: the published client sends text,
//! parsing it is the server's work that is measured, and `data` has no fixed length.

use crate::random::{Purpose, below, stream};
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

/// Appends a number in decimal.
#[inline]
pub(crate) fn push_number(sql: &mut Vec<u8>, mut number: u64) {
    const DIGITS_MAX: usize = 20;
    let mut digits = [0; DIGITS_MAX];
    let mut at = DIGITS_MAX;
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    sql.extend_from_slice(&digits[at..]);
}

/// `2026-01-01 00:00:00` for a second since 1970, by the proleptic Gregorian calendar counted from March on.
fn date_and_time(second: u64) -> [u8; 19] {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let (day, of_day) = (second / 86_400 + 719_468, second % 86_400);
    let (era, day_of_era) = (day / DAYS_OF_400_YEARS, day % DAYS_OF_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let mut text = *b"0000-00-00 00:00:00";
    let mut put = |at: usize, value: u64| {
        text[at] = b'0' + (value / 10) as u8;
        text[at + 1] = b'0' + (value % 10) as u8;
    };
    put(0, year / 100 % 100);
    for (at, value) in
        [(2, year % 100), (5, month), (8, day_of_month), (11, of_day / 3600), (14, of_day / 60 % 60), (17, of_day % 60)]
    {
        put(at, value);
    }
    text
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

    #[test]
    fn seconds_are_shown_as_dates() {
        let check = |second: u64, shown: &str| assert_eq!(date_and_time(second), shown.as_bytes());
        check(0, "1970-01-01 00:00:00");
        check(FIRST_SECOND, "2026-01-01 00:00:00");
        check(1_709_251_199, "2024-02-29 23:59:59");
        check(1_709_251_200, "2024-03-01 00:00:00");
        check(4_107_542_400, "2100-03-01 00:00:00");
        check(1_798_761_599, "2026-12-31 23:59:59");
    }

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 7, 10, 99_999, u64::MAX] {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string().into_bytes());
        }
    }
}
