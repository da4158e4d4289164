//! Transactions whose statements the client sends: what comes after each answer.
//!
//! In: the statement that was answered and the rows of its answer. Out: the next one, and values for its parameters. It
//! knows the transactions, no SQL and no engine. Where a row is missing that must be there, it rolls back.

use super::inputs::{Lines, Transaction};
use super::values::{Parameter, Values, cents, rate};
use rqps_model::tproc_c::DISTRICTS;
use rqps_model::words;
use rqps_wire::Rows;
use std::io::Write;

words! {
    /// The statements, as the sections of statements.sql are called; the last three are those of routines.
    Statement {
        /// Begins a transaction.
        Begin = "begin",
        /// Ends it well.
        Commit = "commit",
        /// Undoes it.
        Rollback = "rollback",
        /// New-Order: what customer and warehouse bring to the price.
        SelectTaxAndDiscount = "select-tax-and-discount",
        /// New-Order: the number of the order, locked.
        SelectNextOrder = "select-next-order",
        /// New-Order: the number of the order after it.
        UpdateNextOrder = "update-next-order",
        /// New-Order: the order.
        InsertOrder = "insert-order",
        /// New-Order: its place in the queue.
        InsertNewOrder = "insert-new-order",
        /// New-Order, each line: the price.
        SelectItem = "select-item",
        /// New-Order, each line: the stock, locked.
        SelectStock = "select-stock",
        /// New-Order, each line: less stock.
        UpdateStock = "update-stock",
        /// New-Order, each line: the line.
        InsertLine = "insert-line",
        /// New-Order: a line whose item is not there, where that is committed.
        InsertInvalidLine = "insert-invalid-line",
        /// Payment: the warehouse gets it.
        UpdateWarehouse = "update-warehouse",
        /// Payment: name and address.
        SelectWarehouse = "select-warehouse",
        /// Payment: the district gets it.
        UpdateDistrict = "update-district",
        /// Payment: name and address.
        SelectDistrict = "select-district",
        /// Payment, Order-Status: all customers of a name.
        SelectCustomersByName = "select-customers-by-name",
        /// Payment: the customer, locked.
        SelectCustomer = "select-customer",
        /// Payment: the new balance.
        UpdateCustomer = "update-customer",
        /// Payment: the same, and what is noted of a bad customer.
        UpdateBadCustomer = "update-bad-customer",
        /// Payment: its row in the history.
        InsertHistory = "insert-history",
        /// Order-Status: the customer.
        SelectCustomerStatus = "select-customer-status",
        /// Order-Status: the last order.
        SelectLastOrder = "select-last-order",
        /// Order-Status: its lines.
        SelectLines = "select-lines",
        /// Delivery, each district: the order that waits longest, locked.
        SelectOldestNewOrder = "select-oldest-new-order",
        /// Delivery, each district: it waits no longer.
        DeleteNewOrder = "delete-new-order",
        /// Delivery, each district: who delivers it.
        UpdateCarrier = "update-carrier",
        /// Delivery, each district: to whom.
        SelectCustomerOfOrder = "select-customer-of-order",
        /// Delivery, each district: when.
        UpdateLines = "update-lines",
        /// Delivery, each district: its price.
        SelectAmount = "select-amount",
        /// Delivery, each district: who pays it.
        UpdateBalance = "update-balance",
        /// Stock-Level: the number of the next order.
        SelectOrderCount = "select-order-count",
        /// Stock-Level: items of the last orders that are low in stock.
        SelectLowStock = "select-low-stock",
        /// Routines: the values that go in.
        Set = "set",
        /// Routines: the routine.
        Call = "call",
        /// Routines: the values that come out.
        Results = "results",
    }
}

/// Which customer of a name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameRow {
    /// The one in the middle, rounded up.
    Middle,
    /// One before it, if there is one, in payments; in Order-Status one behind it.
    Before,
    /// One behind it, if there is one.
    Behind,
}

/// What differs by quirk and is no SQL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) name_row: NameRow,
    /// An order is committed though an item is not there.
    pub(super) commits_invalid: bool,
    /// A payment is added to the balance.
    pub(super) adds_payment: bool,
    /// An empty district is taken for the one before it.
    pub(super) is_unchecked: bool,
}

/// Where a transaction is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) sent: Statement,
    line: usize,
    /// Districts that had an order to deliver.
    pub(super) delivered: u32,
}

impl Place {
    /// At the first statement.
    pub(super) const BEGIN: Place = Place { sent: Statement::Begin, line: 0, delivered: 0 };

    /// What comes after the answer; nothing if the transaction is over.
    #[inline]
    pub(super) fn next(
        &mut self,
        transaction: Transaction,
        rows: &Rows,
        rules: &Rules,
        lines: &Lines,
        values: &mut Values,
    ) -> Option<Statement> {
        if matches!(self.sent, Statement::Commit | Statement::Rollback) {
            return None;
        }
        let next = match transaction {
            Transaction::NewOrder => self.new_order(rows, rules, lines, values),
            Transaction::Payment => self.payment(rows, rules, values),
            Transaction::Delivery => self.delivery(rows, rules, values),
            Transaction::OrderStatus => self.order_status(rows, rules, values),
            Transaction::StockLevel => self.stock_level(rows, values),
        };
        self.sent = next.unwrap_or(Statement::Rollback);
        Some(self.sent)
    }

    fn new_order(&mut self, rows: &Rows, rules: &Rules, lines: &Lines, values: &mut Values) -> Option<Statement> {
        Some(match self.sent {
            Statement::Begin => Statement::SelectTaxAndDiscount,
            Statement::SelectTaxAndDiscount => {
                // Between them are the customer's name and credit.
                values.set(Parameter::Discount, rate(rows, 0, 0)?);
                values.set(Parameter::Tax, rate(rows, 0, 3)?);
                Statement::SelectNextOrder
            }
            Statement::SelectNextOrder => {
                values.set(Parameter::Order, rows.integer(0, 0)?);
                values.set(Parameter::Tax, values.number(Parameter::Tax) + rate(rows, 0, 1)?);
                Statement::UpdateNextOrder
            }
            Statement::UpdateNextOrder => Statement::InsertOrder,
            Statement::InsertOrder => Statement::InsertNewOrder,
            Statement::InsertNewOrder => self.line(0, lines, values),
            Statement::SelectItem => match cents(rows, 0, 0) {
                Some(price) => {
                    values.set(Parameter::Amount, price * values.number(Parameter::Quantity));
                    Statement::SelectStock
                }
                None if rules.commits_invalid => Statement::InsertInvalidLine,
                None => return None,
            },
            Statement::SelectStock => {
                let left = rows.integer(0, 0)? - values.number(Parameter::Quantity);
                values.set(Parameter::Left, if left >= 10 { left } else { left + 91 });
                // Quantity and data come before the ten texts.
                let info = rows.text(0, 1 + values.number(Parameter::District) as usize)?;
                values.set_text(Parameter::DistrictInfo, &[info]);
                Statement::UpdateStock
            }
            Statement::UpdateStock => Statement::InsertLine,
            Statement::InsertLine | Statement::InsertInvalidLine => self.line(self.line + 1, lines, values),
            _ => return None,
        })
    }

    /// Goes on to a line, or if that was the last commits.
    fn line(&mut self, index: usize, lines: &Lines, values: &mut Values) -> Statement {
        let Some(line) = lines.get(index) else { return Statement::Commit };
        self.line = index;
        values.set(Parameter::Line, index as i64 + 1);
        values.set(Parameter::Item, line.item.into());
        values.set(Parameter::Supply, line.supply.into());
        values.set(Parameter::Quantity, line.quantity.into());
        let is_remote = i64::from(line.supply) != values.number(Parameter::Warehouse);
        values.set(Parameter::Remote, is_remote.into());
        Statement::SelectItem
    }

    fn payment(&mut self, rows: &Rows, rules: &Rules, values: &mut Values) -> Option<Statement> {
        Some(match self.sent {
            Statement::Begin => Statement::UpdateWarehouse,
            Statement::UpdateWarehouse => Statement::SelectWarehouse,
            Statement::SelectWarehouse => {
                values.set_text(Parameter::HistoryData, &[rows.text(0, 0)?]);
                Statement::UpdateDistrict
            }
            Statement::UpdateDistrict => Statement::SelectDistrict,
            Statement::SelectDistrict => {
                let warehouse = trimmed(values, Parameter::HistoryData);
                values.set_text(Parameter::HistoryData, &[warehouse.text(), b"    ", rows.text(0, 0)?]);
                match values.number(Parameter::ByName) {
                    1 => Statement::SelectCustomersByName,
                    _ => Statement::SelectCustomer,
                }
            }
            Statement::SelectCustomersByName => match named(rows, rules.name_row) {
                Some(row) => {
                    values.set(Parameter::Customer, rows.integer(row, 0)?);
                    Statement::SelectCustomer
                }
                // No customer was fetched: the number that was drawn is taken, and no balance was read.
                None if rules.name_row != NameRow::Middle => self.paid(0, rules, values),
                None => return None,
            },
            Statement::SelectCustomer => {
                let is_bad = rows.text(0, 1)? == b"BC";
                let paid = self.paid(cents(rows, 0, 0)?, rules, values);
                match is_bad {
                    true => {
                        note_payment(values, rows.text(0, 2).unwrap_or_default());
                        Statement::UpdateBadCustomer
                    }
                    false => paid,
                }
            }
            Statement::UpdateCustomer | Statement::UpdateBadCustomer => Statement::InsertHistory,
            Statement::InsertHistory => Statement::Commit,
            _ => return None,
        })
    }

    fn paid(&self, balance: i64, rules: &Rules, values: &mut Values) -> Statement {
        let amount = values.number(Parameter::Amount);
        values.set(Parameter::Balance, if rules.adds_payment { balance + amount } else { balance - amount });
        Statement::UpdateCustomer
    }

    fn delivery(&mut self, rows: &Rows, rules: &Rules, values: &mut Values) -> Option<Statement> {
        Some(match self.sent {
            Statement::Begin => {
                values.set(Parameter::District, 1);
                Statement::SelectOldestNewOrder
            }
            Statement::SelectOldestNewOrder => match rows.integer(0, 0) {
                Some(order) => {
                    values.set(Parameter::Order, order);
                    Statement::DeleteNewOrder
                }
                None if rules.is_unchecked => Statement::DeleteNewOrder,
                None => Place::next_district(values),
            },
            Statement::DeleteNewOrder => Statement::UpdateCarrier,
            Statement::UpdateCarrier => Statement::SelectCustomerOfOrder,
            Statement::SelectCustomerOfOrder => {
                match rows.integer(0, 0) {
                    Some(customer) => values.set(Parameter::Customer, customer),
                    None if rules.is_unchecked => {}
                    None => return None,
                }
                Statement::UpdateLines
            }
            Statement::UpdateLines => Statement::SelectAmount,
            Statement::SelectAmount => {
                values.set(Parameter::Amount, cents(rows, 0, 0).unwrap_or(0));
                Statement::UpdateBalance
            }
            Statement::UpdateBalance => {
                self.delivered += 1;
                Place::next_district(values)
            }
            _ => return None,
        })
    }

    fn next_district(values: &mut Values) -> Statement {
        let next = values.number(Parameter::District) + 1;
        values.set(Parameter::District, next);
        if next > i64::from(DISTRICTS) { Statement::Commit } else { Statement::SelectOldestNewOrder }
    }

    fn order_status(&self, rows: &Rows, rules: &Rules, values: &mut Values) -> Option<Statement> {
        Some(match self.sent {
            Statement::Begin => match values.number(Parameter::ByName) {
                1 => Statement::SelectCustomersByName,
                _ => Statement::SelectCustomerStatus,
            },
            Statement::SelectCustomersByName => {
                let row = if rules.name_row == NameRow::Middle { NameRow::Middle } else { NameRow::Behind };
                let Some(row) = named(rows, row) else { return Some(Statement::Commit) };
                values.set(Parameter::Customer, rows.integer(row, 0)?);
                Statement::SelectLastOrder
            }
            Statement::SelectCustomerStatus => Statement::SelectLastOrder,
            Statement::SelectLastOrder => {
                let Some(order) = rows.integer(0, 0) else { return Some(Statement::Commit) };
                values.set(Parameter::Order, order);
                Statement::SelectLines
            }
            Statement::SelectLines => Statement::Commit,
            _ => return None,
        })
    }

    fn stock_level(&self, rows: &Rows, values: &mut Values) -> Option<Statement> {
        Some(match self.sent {
            Statement::Begin => Statement::SelectOrderCount,
            Statement::SelectOrderCount => {
                values.set(Parameter::Order, rows.integer(0, 0)?);
                Statement::SelectLowStock
            }
            Statement::SelectLowStock => Statement::Commit,
            _ => return None,
        })
    }
}

/// The row that is taken of all customers of a name, if there is one.
fn named(rows: &Rows, name_row: NameRow) -> Option<usize> {
    let count = rows.count();
    let place = match name_row {
        NameRow::Middle => count.div_ceil(2),
        NameRow::Before => count / 2,
        NameRow::Behind => (count.div_ceil(2) + 1).min(count),
    };
    place.checked_sub(1)
}

/// A short text on the stack.
#[derive(Debug, Clone, Copy)]
struct Short {
    bytes: [u8; 96],
    len: usize,
}

impl Short {
    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn trimmed(values: &Values, parameter: Parameter) -> Short {
    let text = values.text(parameter).unwrap_or_default().trim_ascii_end();
    let mut short = Short { bytes: [0; 96], len: text.len() };
    short.bytes[..text.len()].copy_from_slice(text);
    short
}

/// What a bad customer has paid is noted before what is known already.
fn note_payment(values: &mut Values, known: &[u8]) {
    let mut short = Short { bytes: [0; 96], len: 0 };
    let [customer, district, warehouse] =
        [Parameter::Customer, Parameter::CustomerDistrict, Parameter::CustomerWarehouse].map(|of| values.number(of));
    let [to_district, to_warehouse, amount] =
        [Parameter::District, Parameter::Warehouse, Parameter::Amount].map(|of| values.number(of));
    let mut room = &mut short.bytes[..];
    let before = room.len();
    write!(
        room,
        "{customer} {district} {warehouse} {to_district} {to_warehouse} {}.{:02}|",
        amount / 100,
        amount % 100
    )
    .expect("six numbers fit");
    short.len = before - room.len();
    values.set_text(Parameter::CustomerData, &[short.text(), known]);
}
