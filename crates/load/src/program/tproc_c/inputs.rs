//! What a terminal would enter: the numbers that a transaction begins with.
//!
//! In: a random stream, the home warehouse, the rules of the profile. Out: values for the statements, and the lines of
//! an order in the order in which they are worked on. The same stream gives the same inputs on every engine.

use super::values::{LINES_MAX, Line, Parameter, Values};
use crate::random::{Pcg64, below, one_to};
use crate::warehouses::draw::{LAST_NAME_BYTES_MAX, NuRand, between, push_last_name};
use rqps_model::tproc_c::{CUSTOMERS, DISTRICTS, ITEMS, Quirk};
use rqps_model::words;
use std::collections::BTreeSet;

words! {
    /// The types of transactions.
    Transaction {
        /// Orders items.
        NewOrder = "new-order",
        /// Pays.
        Payment = "payment",
        /// Delivers the oldest order of each district.
        Delivery = "delivery",
        /// Looks up a customer's last order.
        OrderStatus = "order-status",
        /// Counts recently sold items that are low in stock.
        StockLevel = "stock-level",
    }
}

/// The number of an item that is not there.
pub(super) const INVALID_ITEM: u32 = ITEMS + 1;

/// How often in a hundred an order has an item that is not there, and how often a line is from elsewhere.
const INVALID_PERCENT: u64 = 1;
const REMOTE_LINE_PERCENT: u64 = 1;

/// How often in a hundred a customer pays at another warehouse, and is known by name.
const REMOTE_PAYMENT_PERCENT: u64 = 15;
const BY_NAME_PERCENT: u64 = 60;

/// Payments, in cents.
const PAYMENT: (u64, u64) = (100, 500_000);

/// How inputs are drawn.
#[derive(Debug, Clone)]
pub(super) struct Inputs {
    warehouses: u32,
    last_name: NuRand,
    has_even_ids: bool,
    has_whole_payments: bool,
    /// Whether lines are drawn here, not in the server.
    has_lines: bool,
}

/// Where a virtual user works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) warehouse: u32,
    /// The district whose stock it looks after.
    pub(super) level_district: u32,
}

/// What was entered for a transaction.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub(super) values: Values,
    pub(super) lines: Lines,
    /// Room for a text that is being made.
    pub(super) text: Vec<u8>,
}

impl Entry {
    /// An empty one with room for a text of so many bytes.
    pub(super) fn with_room(bytes: usize) -> Entry {
        Entry { text: Vec::with_capacity(bytes.max(LAST_NAME_BYTES_MAX)), ..Entry::default() }
    }
}

/// The lines of an order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lines {
    all: [Line; LINES_MAX],
    count: usize,
}

impl Lines {
    /// The line of that number from 0, if there are so many.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Line> {
        self.all[..self.count].get(index).copied()
    }
}

impl Inputs {
    /// Under these quirks.
    pub(super) fn new(warehouses: u32, quirks: &BTreeSet<Quirk>, has_server_draws: bool) -> Inputs {
        Inputs {
            warehouses,
            last_name: NuRand::last_name_of_run(quirks),
            has_even_ids: quirks.contains(&Quirk::EvenIds),
            has_whole_payments: quirks.contains(&Quirk::WholePayments),
            has_lines: !has_server_draws,
        }
    }

    /// Draws what a transaction begins with.
    #[inline]
    pub(super) fn draw(&self, transaction: Transaction, home: Home, random: &mut Pcg64, entry: &mut Entry) {
        let Entry { values, lines, text } = entry;
        let Home { warehouse, level_district } = home;
        values.set(Parameter::Warehouse, warehouse.into());
        values.set(Parameter::Warehouses, self.warehouses.into());
        values.set(Parameter::District, one_to(random, DISTRICTS.into()) as i64);
        values.set(Parameter::CustomerWarehouse, warehouse.into());
        values.set(Parameter::CustomerDistrict, values.number(Parameter::District));
        values.set(Parameter::Order, 0);
        match transaction {
            Transaction::NewOrder => self.order(warehouse, random, values, lines),
            Transaction::Payment => self.payment(warehouse, random, values, text),
            Transaction::OrderStatus => self.customer(random, values, text),
            Transaction::Delivery => values.set(Parameter::Carrier, one_to(random, 10) as i64),
            Transaction::StockLevel => {
                values.set(Parameter::District, level_district.into());
                values.set(Parameter::Threshold, between(random, 10, 20) as i64);
            }
        }
    }

    fn customer_id(&self, random: &mut Pcg64) -> i64 {
        let id = if self.has_even_ids { one_to(random, CUSTOMERS.into()) } else { NuRand::customer().draw(random) };
        id as i64
    }

    fn item_id(&self, random: &mut Pcg64) -> u32 {
        let id = if self.has_even_ids { one_to(random, ITEMS.into()) } else { NuRand::item().draw(random) };
        id as u32
    }

    /// A warehouse other than the home, if there is one.
    fn elsewhere(&self, home: u32, random: &mut Pcg64) -> u32 {
        match self.warehouses {
            1 => home,
            several => (home + below(random, u64::from(several) - 1) as u32) % several + 1,
        }
    }

    fn order(&self, home: u32, random: &mut Pcg64, values: &mut Values, lines: &mut Lines) {
        values.set(Parameter::Customer, self.customer_id(random));
        let count = between(random, 5, LINES_MAX as u64) as usize;
        values.set(Parameter::LineCount, count as i64);
        if !self.has_lines {
            return;
        }
        lines.count = count;
        let mut is_local = true;
        for line in &mut lines.all[..count] {
            let is_remote = one_to(random, 100) <= REMOTE_LINE_PERCENT;
            let supply = if is_remote { self.elsewhere(home, random) } else { home };
            is_local &= supply == home;
            *line = Line { supply, item: self.item_id(random), quantity: one_to(random, 10) as u32 };
        }
        let is_invalid = one_to(random, 100) <= INVALID_PERCENT;
        let valid = count - usize::from(is_invalid);
        // Stock is locked in the same order by all; the line that is invalid stays the last.
        lines.all[..valid].sort_unstable_by_key(|line| (line.supply, line.item));
        if is_invalid {
            lines.all[valid].item = INVALID_ITEM;
        }
        values.set(Parameter::AllLocal, is_local.into());
        for (index, line) in lines.all[..count].iter().enumerate() {
            values.set_line(index, count, *line);
        }
    }

    /// Draws whether a customer is known by name, and name and number, as both are parameters of routines.
    fn customer(&self, random: &mut Pcg64, values: &mut Values, text: &mut Vec<u8>) {
        let is_by_name = one_to(random, 100) <= BY_NAME_PERCENT;
        values.set(Parameter::ByName, is_by_name.into());
        values.set(Parameter::Customer, self.customer_id(random));
        text.clear();
        push_last_name(text, self.last_name.draw(random));
        values.set_text(Parameter::LastName, &[text]);
    }

    fn payment(&self, home: u32, random: &mut Pcg64, values: &mut Values, text: &mut Vec<u8>) {
        if one_to(random, 100) <= REMOTE_PAYMENT_PERCENT {
            values.set(Parameter::CustomerWarehouse, self.elsewhere(home, random).into());
            values.set(Parameter::CustomerDistrict, one_to(random, DISTRICTS.into()) as i64);
        }
        self.customer(random, values, text);
        let (least, most) = PAYMENT;
        let cents = match self.has_whole_payments {
            true => 100 * between(random, least / 100, most / 100),
            false => between(random, least, most),
        };
        values.set(Parameter::Amount, cents as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    /// What so many transactions of a type begin with on ten warehouses.
    fn drawn<T>(transaction: Transaction, quirks: &[Quirk], count: usize, of: impl Fn(&Entry) -> T) -> Vec<T> {
        let inputs = Inputs::new(10, &quirks.iter().copied().collect(), false);
        let mut random = stream(1, Purpose::Keys, 0, 0);
        let mut entry = Entry::with_room(0);
        let mut draw = || {
            inputs.draw(transaction, Home { warehouse: 3, level_district: 9 }, &mut random, &mut entry);
            of(&entry)
        };
        (0..count).map(|_| draw()).collect()
    }

    fn share(all: &[bool]) -> f64 {
        all.iter().filter(|one| **one).count() as f64 / all.len() as f64
    }

    #[test]
    fn orders_are_as_the_specification_wants_them() {
        let all = drawn(Transaction::NewOrder, &[], 20_000, |entry| entry.lines.all[..entry.lines.count].to_vec());
        let lines: Vec<Line> = all.iter().flatten().copied().collect();
        let mean = lines.len() as f64 / all.len() as f64;
        assert!((mean - 10.0).abs() < 0.15, "{mean}");
        let is_invalid = |lines: &Vec<Line>| lines.last().is_some_and(|line| line.item == INVALID_ITEM);
        let invalid = share(&all.iter().map(is_invalid).collect::<Vec<_>>());
        assert!((invalid - 0.01).abs() < 0.004, "{invalid}");
        let remote = share(&lines.iter().map(|line| line.supply != 3).collect::<Vec<_>>());
        assert!((remote - 0.01).abs() < 0.002, "{remote}");
        assert!(lines.iter().all(|line| (1..=10).contains(&line.supply) && (1..=10).contains(&line.quantity)));
        let local = drawn(Transaction::NewOrder, &[], 20_000, |entry| {
            let is_local = entry.lines.all[..entry.lines.count].iter().all(|line| line.supply == 3);
            (entry.values.number(Parameter::AllLocal) == 1) == is_local
        });
        assert_eq!(share(&local), 1.0);
    }

    #[test]
    fn items_and_customers_are_skewed_unless_drawn_evenly() {
        let frequent = |transaction, quirks: &[Quirk], parameter: Option<Parameter>| {
            let of = |entry: &Entry| match parameter {
                Some(parameter) => entry.values.number(parameter) as usize,
                None => entry.lines.all[0].item as usize,
            };
            let mut counts = vec![0_u32; 100_002];
            drawn(transaction, quirks, 60_000, of).into_iter().for_each(|number| counts[number] += 1);
            counts.sort_unstable_by(|one, other| other.cmp(one));
            f64::from(counts[..300].iter().sum::<u32>()) / 60_000.0
        };
        // The 300 customers that come most often have a tenth of even draws and a bit, since the luckiest are counted.
        let even = frequent(Transaction::Payment, &[Quirk::EvenIds], Some(Parameter::Customer));
        let skewed = frequent(Transaction::Payment, &[], Some(Parameter::Customer));
        assert!(even < 0.15 && skewed > 0.25, "{even} {skewed}");
        let [even, skewed] = [&[Quirk::EvenIds][..], &[]].map(|quirks| frequent(Transaction::NewOrder, quirks, None));
        assert!(skewed > 2.0 * even, "{even} {skewed}");
    }

    #[test]
    fn payments_are_mostly_at_home_and_mostly_by_name() {
        let numbers = |parameter| drawn(Transaction::Payment, &[], 20_000, move |entry| entry.values.number(parameter));
        let is =
            |parameter, what: fn(i64) -> bool| share(&numbers(parameter).into_iter().map(what).collect::<Vec<_>>());
        assert!((is(Parameter::ByName, |by_name| by_name == 1) - 0.6).abs() < 0.02);
        assert!((is(Parameter::CustomerWarehouse, |warehouse| warehouse != 3) - 0.15).abs() < 0.015);
        assert!(is(Parameter::Amount, |cents| (100..=500_000).contains(&cents)) == 1.0);
        assert!(is(Parameter::Amount, |cents| cents % 100 == 0) < 0.02);
        let whole =
            drawn(Transaction::Payment, &[Quirk::WholePayments], 1000, |entry| entry.values.number(Parameter::Amount));
        assert!(whole.iter().all(|cents| cents % 100 == 0));
    }
}
