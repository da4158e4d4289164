//! The values of a transaction: what was drawn for it and what its statements returned, by the names that the SQL uses.
//!
//! In: numbers and texts. Out: the same, as parameters of statements. Texts have a fixed width, with spaces behind; the
//! SQL trims them. It allocates nothing.

use rqps_model::words;
use rqps_wire::{ParameterType, Rows};

words! {
    /// A named parameter. Amounts of money are in cents, taxes and discount in ten-thousandths.
    Parameter {
        /// The warehouse of the virtual user.
        Warehouse = "w",
        /// How many warehouses there are.
        Warehouses = "warehouses",
        /// The district.
        District = "d",
        /// The customer.
        Customer = "c",
        /// The customer's warehouse.
        CustomerWarehouse = "c_w",
        /// The customer's district.
        CustomerDistrict = "c_d",
        /// Whether the customer is found by name.
        ByName = "by_name",
        /// An order.
        Order = "o",
        /// How many lines an order has.
        LineCount = "ol_cnt",
        /// Whether all lines are from the home warehouse.
        AllLocal = "all_local",
        /// The number of a line.
        Line = "n",
        /// Its item.
        Item = "item",
        /// The warehouse that supplies it.
        Supply = "supply",
        /// How many of it.
        Quantity = "quantity",
        /// Whether it comes from elsewhere.
        Remote = "remote",
        /// What is left in stock.
        Left = "left",
        /// Who delivers.
        Carrier = "carrier",
        /// What counts as low in stock.
        Threshold = "threshold",
        /// A payment, or the amount of a line, or of an order that is delivered.
        Amount = "amount",
        /// The taxes of warehouse and district.
        Tax = "tax",
        /// The customer's discount.
        Discount = "discount",
        /// What the customer has.
        Balance = "balance",
        /// The customer's last name.
        LastName = "last",
        /// What is noted of a customer.
        CustomerData = "c_data",
        /// What is noted of a payment.
        HistoryData = "h_data",
        /// The stock's text for the district.
        DistrictInfo = "dist_info",
        /// All lines of an order, for a routine: an array as PostgreSQL writes it, each number of a fixed width.
        Lines = "lines",
    }
}

/// The most lines of an order.
pub(super) const LINES_MAX: usize = 15;

/// Bytes of a line in [`Parameter::Lines`]: item, supply and quantity, each with a separator.
const LINE_BYTES: usize = 7 + 7 + 3;

const LAST_NAME_BYTES: usize = 16;
const CUSTOMER_DATA_BYTES: usize = 500;
const HISTORY_DATA_BYTES: usize = 24;
const DISTRICT_INFO_BYTES: usize = 24;
const LINES_BYTES: usize = 1 + LINE_BYTES * LINES_MAX;

/// Digits and sign of a number that is sent as text.
const NUMBER_BYTES: usize = 20;

impl Parameter {
    /// Its type in the protocols.
    pub(super) const fn kind(self) -> ParameterType {
        let len = match self {
            Parameter::LastName => LAST_NAME_BYTES,
            Parameter::CustomerData => CUSTOMER_DATA_BYTES,
            Parameter::HistoryData => HISTORY_DATA_BYTES,
            Parameter::DistrictInfo => DISTRICT_INFO_BYTES,
            Parameter::Lines => LINES_BYTES,
            Parameter::Amount | Parameter::Balance => return ParameterType::Int8,
            _ => return ParameterType::Int4,
        };
        ParameterType::Text { len }
    }

    /// The most bytes that it takes in a text.
    pub(super) const fn width(self) -> usize {
        match self.kind() {
            ParameterType::Text { len } => len + 2,
            ParameterType::Int4 | ParameterType::Int8 | ParameterType::Any => NUMBER_BYTES,
        }
    }

    /// Whether it is a 64-bit integer.
    pub(super) const fn is_long(self) -> bool {
        matches!(self.kind(), ParameterType::Int8)
    }
}

/// All of them.
#[derive(Debug, Clone)]
pub(super) struct Values {
    numbers: [i64; Parameter::ALL.len()],
    last_name: [u8; LAST_NAME_BYTES],
    customer_data: [u8; CUSTOMER_DATA_BYTES],
    history_data: [u8; HISTORY_DATA_BYTES],
    district_info: [u8; DISTRICT_INFO_BYTES],
    lines: [u8; LINES_BYTES],
}

impl Default for Values {
    fn default() -> Values {
        Values {
            numbers: [0; Parameter::ALL.len()],
            last_name: [b' '; LAST_NAME_BYTES],
            customer_data: [b' '; CUSTOMER_DATA_BYTES],
            history_data: [b' '; HISTORY_DATA_BYTES],
            district_info: [b' '; DISTRICT_INFO_BYTES],
            lines: [b' '; LINES_BYTES],
        }
    }
}

impl Values {
    /// A number.
    #[inline]
    pub(super) fn number(&self, parameter: Parameter) -> i64 {
        self.numbers[parameter as usize]
    }

    #[inline]
    pub(super) fn set(&mut self, parameter: Parameter, number: i64) {
        self.numbers[parameter as usize] = number;
    }

    /// A text in its full width; nothing if the parameter is a number.
    #[inline]
    pub(super) fn text(&self, parameter: Parameter) -> Option<&[u8]> {
        Some(match parameter {
            Parameter::LastName => &self.last_name,
            Parameter::CustomerData => &self.customer_data,
            Parameter::HistoryData => &self.history_data,
            Parameter::DistrictInfo => &self.district_info,
            Parameter::Lines => &self.lines,
            _ => return None,
        })
    }

    /// Sets a text to these parts, one after the other; what is too long is cut.
    #[inline]
    pub(super) fn set_text(&mut self, parameter: Parameter, parts: &[&[u8]]) {
        let room: &mut [u8] = match parameter {
            Parameter::LastName => &mut self.last_name,
            Parameter::CustomerData => &mut self.customer_data,
            Parameter::HistoryData => &mut self.history_data,
            Parameter::DistrictInfo => &mut self.district_info,
            Parameter::Lines => &mut self.lines,
            _ => return,
        };
        let mut at = 0;
        for part in parts {
            let taken = part.len().min(room.len() - at);
            room[at..at + taken].copy_from_slice(&part[..taken]);
            at += taken;
        }
        room[at..].fill(b' ');
    }

    /// Writes line `index` of `count` into [`Parameter::Lines`].
    #[inline]
    pub(super) fn set_line(&mut self, index: usize, count: usize, line: Line) {
        let start = 1 + index * LINE_BYTES;
        self.lines[0] = b'{';
        let place = &mut self.lines[start..start + LINE_BYTES];
        for (digits, number) in [(0..6, line.item), (7..13, line.supply), (14..16, line.quantity)] {
            place[digits.end] = b',';
            let mut left = number;
            for digit in place[digits].iter_mut().rev() {
                *digit = b'0' + (left % 10) as u8;
                left /= 10;
            }
        }
        if index + 1 == count {
            place[LINE_BYTES - 1] = b'}';
            self.lines[start + LINE_BYTES..].fill(b' ');
        }
    }
}

/// A line of an order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) supply: u32,
    pub(super) item: u32,
    pub(super) quantity: u32,
}

/// An amount of money in an answer, in cents; nothing if it is none.
#[inline]
pub(super) fn cents(rows: &Rows, row: usize, column: usize) -> Option<i64> {
    whole_units::<2>(rows, row, column)
}

/// A tax or a discount in an answer, in ten-thousandths; nothing if it is none.
#[inline]
pub(super) fn rate(rows: &Rows, row: usize, column: usize) -> Option<i64> {
    whole_units::<4>(rows, row, column)
}

/// A number in an answer, in units of its last wanted decimal; what is smaller is dropped.
#[inline]
fn whole_units<const DECIMALS: u32>(rows: &Rows, row: usize, column: usize) -> Option<i64> {
    let text = rows.text(row, column)?;
    let (is_negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let mut units: i64 = 0;
    let mut decimals = None;
    for byte in digits {
        match (byte, decimals) {
            (b'.', None) => decimals = Some(0),
            (b'0'..=b'9', Some(count)) if count == DECIMALS => {}
            (b'0'..=b'9', _) => {
                units = 10 * units + i64::from(byte - b'0');
                decimals = decimals.map(|count| count + 1);
            }
            _ => return None,
        }
    }
    units *= 10_i64.pow(DECIMALS - decimals.unwrap_or(0));
    Some(if is_negative { -units } else { units })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_an_array_with_numbers_at_fixed_places() {
        let mut values = Values::default();
        for (index, item) in [7, 100_001].into_iter().enumerate() {
            values.set_line(index, 2, Line { supply: 12, item, quantity: 10 });
        }
        let text = values.text(Parameter::Lines).unwrap();
        assert_eq!(text.trim_ascii_end(), b"{000007,000012,10,100001,000012,10}");
        values.set_line(0, 1, Line { supply: 1, item: 2, quantity: 3 });
        assert_eq!(values.text(Parameter::Lines).unwrap().trim_ascii_end(), b"{000002,000001,03}");
    }

    #[test]
    fn texts_are_cut_and_filled_up() {
        let mut values = Values::default();
        values.set_text(Parameter::HistoryData, &[b"0123456789", b"    ", b"abcdefghijklmn"]);
        assert_eq!(values.text(Parameter::HistoryData).unwrap(), b"0123456789    abcdefghij");
        values.set_text(Parameter::HistoryData, &[b"x"]);
        assert_eq!(values.text(Parameter::HistoryData).unwrap(), format!("{:24}", "x").as_bytes());
    }
    #[test]
    fn amounts_and_rates_are_read_as_whole_numbers() {
        for (text, in_cents, in_ten_thousandths) in [
            ("-10.05", Some(-1005), Some(-100_500)),
            ("7", Some(700), Some(70_000)),
            (".1", Some(10), Some(1000)),
            ("0.12349", Some(12), Some(1234)),
            ("1.2.3", None, None),
            ("x", None, None),
        ] {
            let rows = Rows::of(&[&[Some(text)]]);
            assert_eq!((cents(&rows, 0, 0), rate(&rows, 0, 0)), (in_cents, in_ten_thousandths), "{text}");
        }
        assert_eq!(rate(&Rows::of(&[&[None]]), 0, 0), None);
    }
}
