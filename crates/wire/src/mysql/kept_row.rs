//! Reads rows for whoever asked to keep them: of text results as they are, of binary ones as the text that they would
//! be.
//!
//! In: column definitions and rows. Out: values in [`Rows`]. It follows the manual's "Column Definition", "Text
//! Resultset Row" and "Binary Protocol Value".

use std::io::Write;

use crate::rows::Rows;

use super::fields::Fields;
use super::packet::PacketError;

/// The flag of a column that holds no negative numbers.
const UNSIGNED: u16 = 1 << 5;

/// Types of the binary form that are no texts.
mod kind {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONGLONG: u8 = 8;
    pub(super) const INT24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
}

/// Notes the type in a column definition.
pub(super) fn keep_type(rows: &mut Rows, payload: &[u8]) -> Result<(), PacketError> {
    let mut fields = Fields::of(payload);
    for _ in 0..6 {
        fields.text()?;
    }
    // Length of what follows, character set, width.
    fields.bytes(1 + 2 + 4)?;
    let kind = fields.int1()?;
    let flags = fields.int2()?;
    rows.types.push((kind, flags & UNSIGNED != 0));
    Ok(())
}

/// Keeps a row.
pub(super) fn keep_row(rows: &mut Rows, payload: &[u8]) -> Result<(), PacketError> {
    let columns = rows.types.len();
    match rows.is_binary {
        true => keep_binary(rows, payload)?,
        false => {
            let mut fields = Fields::of(payload);
            for _ in 0..columns {
                let text = fields.text_or_null()?;
                rows.push(text.map(|text| |bytes: &mut Vec<u8>| bytes.extend_from_slice(text)));
            }
        }
    }
    rows.end_row(columns);
    Ok(())
}

fn keep_binary(rows: &mut Rows, payload: &[u8]) -> Result<(), PacketError> {
    /// NULLs are marked in bits, of which the first two mean nothing.
    const FIRST_BIT: usize = 2;
    let mut fields = Fields::behind_head(payload);
    let nulls = fields.bytes((rows.types.len() + FIRST_BIT).div_ceil(8))?;
    for column in 0..rows.types.len() {
        let bit = column + FIRST_BIT;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            rows.push(None::<fn(&mut Vec<u8>)>);
            continue;
        }
        let (kind, is_unsigned) = rows.types[column];
        let number = |signed: i64, unsigned: u64| if is_unsigned { i128::from(unsigned) } else { i128::from(signed) };
        match kind {
            kind::TINY => {
                let value = fields.int1()?;
                push_number(rows, number((value as i8).into(), value.into()));
            }
            kind::SHORT | kind::YEAR => {
                let value = fields.int2()?;
                push_number(rows, number((value as i16).into(), value.into()));
            }
            kind::LONG | kind::INT24 => {
                let value = fields.int4()?;
                push_number(rows, number((value as i32).into(), value.into()));
            }
            kind::LONGLONG => {
                let value = u64::from(fields.int4()?) | u64::from(fields.int4()?) << 32;
                push_number(rows, number(value as i64, value));
            }
            kind::FLOAT => push_number(rows, f32::from_bits(fields.int4()?)),
            kind::DOUBLE => {
                let bits = u64::from(fields.int4()?) | u64::from(fields.int4()?) << 32;
                push_number(rows, f64::from_bits(bits));
            }
            kind::DATE | kind::DATETIME | kind::TIMESTAMP | kind::TIME => {
                let length = usize::from(fields.int1()?);
                let parts = fields.bytes(length)?;
                rows.push(Some(|bytes: &mut Vec<u8>| push_time(bytes, kind, parts)));
            }
            _ => {
                let text = fields.text()?;
                rows.push(Some(|bytes: &mut Vec<u8>| bytes.extend_from_slice(text)));
            }
        }
    }
    Ok(())
}

fn push_number(rows: &mut Rows, number: impl std::fmt::Display) {
    rows.push(Some(|bytes: &mut Vec<u8>| {
        write!(bytes, "{number}").expect("writing to memory does not fail");
    }));
}

/// A date, a date and time, or a span of time; parts that are left out are 0.
fn push_time(bytes: &mut Vec<u8>, kind: u8, parts: &[u8]) {
    let part = |at: usize| parts.get(at).copied().unwrap_or(0);
    let micros = |at: usize| u32::from_le_bytes([part(at), part(at + 1), part(at + 2), part(at + 3)]);
    let written = match kind {
        kind::TIME => {
            let sign = if part(0) == 1 { "-" } else { "" };
            let hours = 24 * u32::from_le_bytes([part(1), part(2), part(3), part(4)]) + u32::from(part(5));
            write!(bytes, "{sign}{hours:02}:{:02}:{:02}", part(6), part(7)).map(|()| (8, micros(8)))
        }
        _ => {
            let year = u16::from_le_bytes([part(0), part(1)]);
            let date = write!(bytes, "{year:04}-{:02}-{:02}", part(2), part(3));
            match kind {
                kind::DATE => date.map(|()| (usize::MAX, 0)),
                _ => write!(bytes, " {:02}:{:02}:{:02}", part(4), part(5), part(6)).map(|()| (7, micros(7))),
            }
        }
    };
    if let Ok((at, micros)) = written
        && parts.len() > at
    {
        write!(bytes, ".{micros:06}").expect("writing to memory does not fail");
    }
}
