//! What stands in the tables once they are loaded (TPC-C, clause 4.3.3): the same for the same seed and quirks, whoever
//! makes it and in whatever order.
//!
//! In: a seed, quirks, a table, a warehouse and which tenth of it. Out: rows as text with a tab between fields and a
//! newline after each row, `\N` for NULL, which COPY and LOAD DATA both take. Every row has a random stream of its own,
//! and a line of an order that of its order. It knows no engine.

use super::draw::{NuRand, between, push_alphanumeric, push_digits, push_last_name};
use super::table::Table;
use crate::random::{Pcg64, Purpose, below, one_to, shuffle, stream};
use crate::text::{date_and_time, push_number};
use rqps_model::tproc_c::{CUSTOMERS, DELIVERED, DISTRICTS, ITEMS, Quirk};
use std::collections::BTreeSet;

/// The rows of all tables.
#[derive(Debug)]
pub(crate) struct Population<'a> {
    seed: u64,
    quirks: &'a BTreeSet<Quirk>,
    last_name: NuRand,
    /// The second since 1970 at which everything begins.
    begin: u64,
}

/// The first second of 2026.
const FIRST_SECOND: u64 = 1_767_225_600;
const SECONDS_OF_DAY: u64 = 86_400;
const DAYS_OF_YEAR: u64 = 365;

/// Customers of a district whose last names are the first numbers; all others draw theirs.
const NAMED_IN_TURN: u64 = 1000;

const ORIGINAL: &[u8; 8] = b"ORIGINAL";

/// The one quantity of lines that are loaded.
const QUANTITY: u64 = 5;

impl<'a> Population<'a> {
    pub(crate) fn new(seed: u64, quirks: &'a BTreeSet<Quirk>) -> Population<'a> {
        let begin = FIRST_SECOND + seed % DAYS_OF_YEAR * SECONDS_OF_DAY;
        Population { seed, quirks, last_name: NuRand::last_name_of_load(quirks), begin }
    }

    fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// Appends the rows of a tenth (from 0) of a warehouse, in the order of the primary key, and says how many they
    /// are. The items are those of warehouse 0; a warehouse is in its first tenth.
    pub(crate) fn push_tenth(&self, table: Table, warehouse: u32, tenth: u32, rows: &mut Vec<u8>) -> u64 {
        let warehouse = u64::from(warehouse);
        let count = u64::from(table.rows_of_tenth());
        let district = u64::from(tenth) + 1;
        let first = u64::from(tenth) * count + 1;
        let ids = 1..=count;
        let mut row = Row { text: rows };
        match table {
            Table::Stock => (first..first + count).for_each(|item| self.stock(warehouse, item, &mut row)),
            Table::Item => (first..first + count).for_each(|item| self.item(item, &mut row)),
            Table::Customer => ids.for_each(|id| self.customer(warehouse, district, id, &mut row)),
            Table::History => ids.for_each(|id| self.history(warehouse, district, id, &mut row)),
            Table::Orders => self.orders(warehouse, district, &mut row),
            Table::OrderLine => return ids.map(|id| self.lines(warehouse, district, id, &mut row)).sum(),
            Table::NewOrder => ids.for_each(|id| {
                row.numbers(&[warehouse, district, u64::from(DELIVERED) + id]);
                row.end();
            }),
            Table::District => self.district(warehouse, district, &mut row),
            Table::Warehouse if tenth == 0 => self.warehouse(warehouse, &mut row),
            Table::Warehouse => return 0,
        }
        count
    }

    /// The stream of a row, by its table and its place among those of all warehouses.
    fn stream(&self, table: Table, warehouse: u64, of_warehouse: u64) -> Pcg64 {
        stream(self.seed, Purpose::Rows, table as u64, warehouse << 32 | of_warehouse)
    }

    fn stream_of_district(&self, table: Table, warehouse: u64, district: u64, id: u64) -> Pcg64 {
        self.stream(table, warehouse, district << 16 | id)
    }

    fn date(&self, seconds: u64) -> [u8; 19] {
        date_and_time(self.begin + seconds)
    }

    fn stock(&self, warehouse: u64, item: u64, row: &mut Row<'_>) {
        let random = &mut self.stream(Table::Stock, warehouse, item);
        row.numbers(&[item, warehouse, 0, between(random, 10, 100), 0, 0]);
        for _ in 0..DISTRICTS {
            row.alphanumeric(random, 24, 24);
        }
        self.data_of_item(random, row);
        row.end();
    }

    fn item(&self, item: u64, row: &mut Row<'_>) {
        let random = &mut self.stream(Table::Item, 0, item);
        row.numbers(&[item, one_to(random, 10_000)]);
        row.alphanumeric(random, 14, 24);
        row.hundredths(between(random, 100, 10_000));
        self.data_of_item(random, row);
        row.end();
    }

    /// 26 to 50 characters, and in a tenth of the rows the mark of an original somewhere in them.
    fn data_of_item(&self, random: &mut Pcg64, row: &mut Row<'_>) {
        let start = row.text.len();
        row.alphanumeric(random, 26, 50);
        if below(random, 10) == 0 {
            let length = row.text.len() - 1 - start;
            let at = start + below(random, (length - ORIGINAL.len() + 1) as u64) as usize;
            let mark = &mut row.text[at..at + ORIGINAL.len()];
            mark.copy_from_slice(ORIGINAL);
            if self.has(Quirk::LowercaseOriginal) {
                mark.make_ascii_lowercase();
            }
        }
    }

    fn customer(&self, warehouse: u64, district: u64, id: u64, row: &mut Row<'_>) {
        let random = &mut self.stream_of_district(Table::Customer, warehouse, district, id);
        row.numbers(&[warehouse, district, id]);
        row.alphanumeric(random, 8, 16);
        row.field(b"OE");
        let name = if id <= NAMED_IN_TURN { id - 1 } else { self.last_name.draw(random) };
        push_last_name(row.text, name);
        row.end_field();
        row.address(random);
        push_digits(row.text, random, 16);
        row.end_field();
        row.field(&self.date(0));
        let bad_percent = if self.has(Quirk::HalfBadCredit) { 50 } else { 10 };
        row.field(if below(random, 100) < bad_percent { b"BC" } else { b"GC" });
        row.field(b"50000.00");
        row.fraction(below(random, 5001));
        row.field(b"-10.00");
        row.field(b"10.00");
        row.numbers(&[1, 0]);
        row.alphanumeric(random, 300, 500);
        row.end();
    }

    fn history(&self, warehouse: u64, district: u64, customer: u64, row: &mut Row<'_>) {
        let random = &mut self.stream_of_district(Table::History, warehouse, district, customer);
        row.numbers(&[warehouse, district, customer, warehouse, district]);
        row.field(&self.date(0));
        row.field(b"10.00");
        row.alphanumeric(random, 12, 24);
        row.end();
    }

    /// The customers of a district's orders: each has one, unless they repeat.
    fn customers_of_orders(&self, warehouse: u64, district: u64) -> Vec<u64> {
        let random = &mut self.stream_of_district(Table::Orders, warehouse, district, 0);
        let last = u64::from(CUSTOMERS);
        if self.has(Quirk::RepeatedCustomers) {
            return (1..=last).map(|order| between(random, order, last)).collect();
        }
        let mut customers: Vec<u64> = (1..=last).collect();
        shuffle(random, &mut customers);
        customers
    }

    fn orders(&self, warehouse: u64, district: u64, row: &mut Row<'_>) {
        for (order, customer) in (1..).zip(self.customers_of_orders(warehouse, district)) {
            let random = &mut self.stream_of_district(Table::OrderLine, warehouse, district, order);
            let (lines, carrier) = (lines_of_order(random), one_to(random, 10));
            row.numbers(&[warehouse, district, order, customer]);
            if is_delivered(order) {
                row.numbers(&[carrier])
            } else {
                row.null()
            }
            row.numbers(&[lines, 1]);
            row.field(&self.date(order));
            row.end();
        }
    }

    fn lines(&self, warehouse: u64, district: u64, order: u64, row: &mut Row<'_>) -> u64 {
        let random = &mut self.stream_of_district(Table::OrderLine, warehouse, district, order);
        let (lines, _carrier) = (lines_of_order(random), one_to(random, 10));
        let date = self.date(order);
        for line in 1..=lines {
            row.numbers(&[warehouse, district, order, line, one_to(random, ITEMS.into()), warehouse]);
            if is_delivered(order) {
                row.field(&date)
            } else {
                row.null()
            }
            row.numbers(&[QUANTITY]);
            let amount = match (self.has(Quirk::SwappedAmounts), is_delivered(order)) {
                (false, true) | (true, false) => 0,
                (false, false) => between(random, 1, 999_999),
                (true, true) => between(random, 10, 10_000),
            };
            if self.has(Quirk::IntegerAmounts) {
                row.numbers(&[(amount + 50) / 100])
            } else {
                row.hundredths(amount)
            }
            row.alphanumeric(random, 24, 24);
            row.end();
        }
        lines
    }

    fn district(&self, warehouse: u64, district: u64, row: &mut Row<'_>) {
        let random = &mut self.stream_of_district(Table::District, warehouse, district, 0);
        row.numbers(&[warehouse, district]);
        row.field(b"30000.00");
        row.numbers(&[u64::from(CUSTOMERS) + 1]);
        row.fraction(self.tax(random));
        row.alphanumeric(random, 6, 10);
        row.address(random);
        row.end();
    }

    fn warehouse(&self, warehouse: u64, row: &mut Row<'_>) {
        let random = &mut self.stream(Table::Warehouse, warehouse, 0);
        row.numbers(&[warehouse]);
        row.field(b"300000.00");
        row.fraction(self.tax(random));
        row.alphanumeric(random, 6, 10);
        row.address(random);
        row.end();
    }

    fn tax(&self, random: &mut Pcg64) -> u64 {
        if self.has(Quirk::NarrowTaxes) { between(random, 10, 20) * 100 } else { below(random, 2001) }
    }
}

fn is_delivered(order: u64) -> bool {
    order <= DELIVERED.into()
}

/// What the stream of an order begins with.
fn lines_of_order(random: &mut Pcg64) -> u64 {
    between(random, 5, 15)
}

/// A row in the making, after those that are complete.
struct Row<'a> {
    text: &'a mut Vec<u8>,
}

impl Row<'_> {
    fn end_field(&mut self) {
        self.text.push(b'\t');
    }

    fn end(&mut self) {
        if let Some(last) = self.text.last_mut() {
            *last = b'\n';
        }
    }

    fn field(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.end_field();
    }

    fn null(&mut self) {
        self.field(b"\\N");
    }

    fn numbers(&mut self, numbers: &[u64]) {
        for number in numbers {
            push_number(self.text, *number);
            self.end_field();
        }
    }

    /// A number of hundredths, such as cents.
    fn hundredths(&mut self, number: u64) {
        push_number(self.text, number / 100);
        self.field(&[b'.', b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8]);
    }

    /// A number of ten-thousandths below one.
    fn fraction(&mut self, number: u64) {
        let digit = |unit: u64| b'0' + (number / unit % 10) as u8;
        self.field(&[b'0', b'.', digit(1000), digit(100), digit(10), digit(1)]);
    }

    fn alphanumeric(&mut self, random: &mut Pcg64, shortest: u64, longest: u64) {
        let length = between(random, shortest, longest);
        push_alphanumeric(self.text, random, length);
        self.end_field();
    }

    /// Two streets, a city, a state and a zip.
    fn address(&mut self, random: &mut Pcg64) {
        for _ in 0..3 {
            self.alphanumeric(random, 10, 20);
        }
        let letters = [0; 2].map(|_: u8| b'A' + below(random, 26) as u8);
        self.field(&letters);
        push_digits(self.text, random, 4);
        self.field(b"11111");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenth(quirks: &[Quirk], table: Table, warehouse: u32, tenth: u32) -> Vec<Vec<String>> {
        let quirks = quirks.iter().copied().collect();
        let mut text = Vec::new();
        let count = Population::new(1, &quirks).push_tenth(table, warehouse, tenth, &mut text);
        let text = String::from_utf8(text).unwrap();
        let rows: Vec<Vec<String>> = text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
        assert_eq!(rows.len() as u64, count);
        rows
    }

    /// The values of a column.
    fn values(rows: &[Vec<String>], table: Table, column: &str) -> Vec<String> {
        let place = table.schema().fields.split(", ").position(|field| field == column).unwrap();
        rows.iter().map(|row| row[place].clone()).collect()
    }

    fn numbers(rows: &[Vec<String>], table: Table, column: &str) -> Vec<f64> {
        values(rows, table, column).iter().map(|value| value.parse().unwrap()).collect()
    }

    fn share(values: &[String], is_one: impl Fn(&str) -> bool) -> f64 {
        values.iter().filter(|value| is_one(value)).count() as f64 / values.len() as f64
    }

    #[test]
    fn every_row_has_its_fields_and_none_is_like_another() {
        for table in Table::ALL {
            let rows = tenth(&[], table, 2, 0);
            let fields = table.schema().fields.split(", ").count();
            assert!(
                rows.iter().all(|row| row.len() == fields && row.iter().all(|field| !field.is_empty())),
                "{table:?}"
            );
            let distinct: BTreeSet<&Vec<String>> = rows.iter().collect();
            assert_eq!(distinct.len(), rows.len(), "{table:?}");
            if !matches!(table, Table::Item | Table::Warehouse) {
                assert_ne!(rows, tenth(&[], table, 2, 1), "{table:?}");
                assert_ne!(rows, tenth(&[], table, 3, 0), "{table:?}");
            }
        }
    }

    #[test]
    fn rows_never_change() {
        let first = |table: Table| tenth(&[], table, 1, 0)[0].join(" ");
        let shown: Vec<String> = Table::ALL.map(first).iter().map(|row| row.chars().take(160).collect()).collect();
        expect_test::expect![[r#"
            1 1 0 19 0 0 J0ZTN6iynJ7opSxi3oVUTFYB FxFvkWFGjKt8P7XYjsfMOG7p nebEbOKv61Sr3ml0OMsVahGT Xm7iXNJRLNYipR6bSqmd5Dxy Q5YNoi4kLq49mowAB9aTXrLQ yloStBxu4XvueGVTFi1IlF
            1 1 1 1 80400 1 2026-01-02 00:00:01 5 0.00 LZ9bPNX9ebJQ554xsNxsVxlC
            1 1 1 9RFbg9Q4 OE BARBARBAR 8uAvZx5Z02EV s2vIXLgg1Qn0IYvYfL dbzI5lC9ywso UO 492611111 7957827409297035 2026-01-02 00:00:00 GC 50000.00 0.3073 -10.00 10.00 1 0 G
            1 1 1 2308 1 5 1 2026-01-02 00:00:01
            1 1 1 1 1 2026-01-02 00:00:00 10.00 0yuvxsrHXE6Vn03M
            1 1 2101
            1 7326 oqG9mfVDJVSvfHuzd0nwm8jU 16.74 JSfc9Bbg5J43aQGqXI6jPuolF5sP25oD
            1 1 30000.00 3001 0.1108 E2yUz02 sr0ximH3xX7XWlilw SKITbadqGTRoNBos d5GfdJfAKQX BS 274811111
            1 300000.00 0.1805 MZVG3qV5R zdvAyz4u0V9po 5Dtm8YPbNLygv4xBC2Hk s3BhxA0hu0XVxlOoYU UX 194011111"#]].assert_eq(&shown.join("\n"));
    }

    #[test]
    fn orders_and_their_lines_fit_together() {
        for quirks in [&[][..], &[Quirk::SwappedAmounts, Quirk::RepeatedCustomers]] {
            let (orders, lines) = (tenth(quirks, Table::Orders, 3, 7), tenth(quirks, Table::OrderLine, 3, 7));
            let announced = numbers(&orders, Table::Orders, "o_ol_cnt");
            let of_orders = numbers(&lines, Table::OrderLine, "ol_o_id");
            for (order, announced) in (1..).map(f64::from).zip(announced) {
                assert_eq!(of_orders.iter().filter(|of| **of == order).count() as f64, announced);
            }
            let carriers = values(&orders, Table::Orders, "o_carrier_id");
            assert!((0..3000).all(|at| (carriers[at] == "\\N") == (at >= 2100)));
            let delivered = values(&lines, Table::OrderLine, "ol_delivery_d");
            assert!(delivered.iter().zip(&of_orders).all(|(date, order)| (date == "\\N") == (*order > 2100.0)));
            let amounts = numbers(&lines, Table::OrderLine, "ol_amount");
            let is_swapped = !quirks.is_empty();
            assert!(
                amounts.iter().zip(&of_orders).all(|(amount, of)| (*amount > 0.0) == ((*of > 2100.0) != is_swapped))
            );
            let customers: BTreeSet<String> = values(&orders, Table::Orders, "o_c_id").into_iter().collect();
            // Of those that repeat half have an order, give or take 5 standard deviations of less than 30.
            assert!(if is_swapped { customers.len().abs_diff(1500) < 150 } else { customers.len() == 3000 });
        }
    }

    #[test]
    fn quirks_change_what_they_say_and_nothing_else() {
        use Quirk::{HalfBadCredit, IntegerAmounts, LowercaseOriginal, NarrowTaxes};
        let bad = |quirks: &[Quirk]| {
            share(&values(&tenth(quirks, Table::Customer, 1, 0), Table::Customer, "c_credit"), |credit| credit == "BC")
        };
        assert!((0.07..0.13).contains(&bad(&[])) && (0.45..0.55).contains(&bad(&[HalfBadCredit])));

        let marked = |quirks: &[Quirk], mark: &str| {
            share(&values(&tenth(quirks, Table::Stock, 1, 0), Table::Stock, "s_data"), |data| data.contains(mark))
        };
        assert!((0.085..0.115).contains(&marked(&[], "ORIGINAL")) && marked(&[], "original") == 0.0);
        assert_eq!(marked(&[LowercaseOriginal], "original"), marked(&[], "ORIGINAL"));

        let taxes = |quirks: &[Quirk]| {
            (1..=300)
                .map(|warehouse| numbers(&tenth(quirks, Table::Warehouse, warehouse, 0), Table::Warehouse, "w_tax")[0])
                .collect::<Vec<f64>>()
        };
        assert!(taxes(&[]).iter().any(|tax| *tax < 0.02) && taxes(&[]).iter().all(|tax| (0.0..=0.2).contains(tax)));
        assert!(taxes(&[NarrowTaxes]).iter().all(|tax| (0.1..=0.2).contains(tax)));

        let amounts = |quirks: &[Quirk]| numbers(&tenth(quirks, Table::OrderLine, 1, 0), Table::OrderLine, "ol_amount");
        let rounded: Vec<f64> = amounts(&[]).iter().map(|amount| amount.round()).collect();
        assert_eq!(amounts(&[IntegerAmounts]), rounded);
        assert_eq!(tenth(&[HalfBadCredit, NarrowTaxes], Table::Stock, 1, 0), tenth(&[], Table::Stock, 1, 0));
    }

    #[test]
    fn values_are_within_their_bounds() {
        let check = |table: Table, column: &str, low: f64, high: f64| {
            let found = numbers(&tenth(&[], table, 1, 3), table, column);
            let (least, most) =
                found.iter().fold((f64::MAX, f64::MIN), |(low, high), one| (low.min(*one), high.max(*one)));
            assert!(low <= least && most <= high, "{column} {least} {most}");
            assert!(
                least - low <= (high - low) * 0.02 && high - most <= (high - low) * 0.02,
                "{column} {least} {most}"
            );
        };
        check(Table::Stock, "s_quantity", 10.0, 100.0);
        check(Table::Item, "i_price", 1.0, 100.0);
        check(Table::Item, "i_im_id", 1.0, 10_000.0);
        check(Table::Customer, "c_discount", 0.0, 0.5);
        check(Table::Orders, "o_ol_cnt", 5.0, 15.0);
        check(Table::OrderLine, "ol_i_id", 1.0, 100_000.0);
        check(Table::OrderLine, "ol_amount", 0.0, 9999.99);
        let zips = values(&tenth(&[], Table::Customer, 1, 0), Table::Customer, "c_zip");
        assert!(zips.iter().all(|zip| zip.len() == 9 && zip.ends_with("11111")));
        let names = values(&tenth(&[], Table::Customer, 1, 0), Table::Customer, "c_last");
        assert_eq!((names[0].as_str(), names[999].as_str()), ("BARBARBAR", "EINGEINGEING"));
        let by_name: BTreeSet<&String> = names.iter().collect();
        assert_eq!(by_name.len(), 1000);
    }
}
