//! Encodes what the timed path sends: COM_STMT_EXECUTE with its parameters patched in place, or COM_QUERY.
//!
//! In: parameter types and values. Out: the bytes of one write. All parameters travel in binary form; their types only
//! until the server has them. Nothing is allocated once a statement exists, unless a text outgrows its capacity. It
//! must not touch a socket.

use std::sync::Arc;

use crate::prepared::{AnyValue, Encoded, ParameterType, Prepared, Slot, take_any};
use crate::session_state::SessionId;

use super::flags::command;
use super::packet::{HEADER_BYTES, PACKET_BYTES_MAX, encode_long, header};

/// What lies before the SQL text of a COM_QUERY.
const QUERY_START: usize = HEADER_BYTES + 1;

/// MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_VAR_STRING.
const TYPES: [u8; 3] = [3, 8, 253];

/// MYSQL_TYPE_DOUBLE, MYSQL_TYPE_NULL.
const DOUBLE: u8 = 5;
const NULL: u8 = 6;

/// A statement, encoded.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// Of a prepared one: the packet without types, headed by nothing; of a text: the packet with the text.
    pub(crate) encoded: Encoded,
    /// The types of the parameters, and where in the bytes they belong.
    types: Box<[u8]>,
    types_at: usize,
}

impl Statement {
    /// Encodes the execution of a statement that the server knows by `id`; `None` if it doesn't fit a packet.
    pub(crate) fn prepared(
        session: SessionId,
        index: u32,
        id: u32,
        sql: Arc<str>,
        parameters: &[ParameterType],
    ) -> Option<Statement> {
        let home = Some((session, index));
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.push(command::STMT_EXECUTE);
        bytes.extend(id.to_le_bytes());
        // No cursor; one iteration.
        bytes.push(0);
        bytes.extend(1_u32.to_le_bytes());
        if take_any(parameters) {
            let any_from = Some(bytes.len());
            let slots = parameters.iter().map(|parameter| Slot { start: 0, parameter: *parameter }).collect();
            let encoded = Encoded { bytes, prepared: Some(Prepared { home, sql, slots, any_from }) };
            let mut statement = Statement { encoded, types: Box::default(), types_at: 0 };
            statement.set_any(|_| AnyValue::Null);
            return Some(statement);
        }
        if !parameters.is_empty() {
            bytes.resize(bytes.len() + parameters.len().div_ceil(8), 0);
            // new_params_bound_flag: no types follow.
            bytes.push(0);
        }
        let types_at = bytes.len();
        let mut types = Vec::with_capacity(2 * parameters.len());
        let mut slots = Vec::with_capacity(parameters.len());
        for &parameter in parameters {
            let [long, longlong, string] = TYPES;
            let (code, value_bytes, filler) = match parameter {
                ParameterType::Int4 => (long, 4, 0),
                ParameterType::Int8 => (longlong, 8, 0),
                ParameterType::Text { len } => {
                    push_lenenc(&mut bytes, len);
                    (string, len, b' ')
                }
                ParameterType::Any => unreachable!("they are encoded apart"),
            };
            types.extend([code, 0]);
            let start = bytes.len();
            if start + value_bytes + types.len() >= PACKET_BYTES_MAX {
                return None;
            }
            slots.push(Slot { start, parameter });
            bytes.resize(start + value_bytes, filler);
        }
        bytes.shrink_to_fit();
        let length = bytes.len() - HEADER_BYTES;
        bytes[..HEADER_BYTES].copy_from_slice(&header(0, length));
        let prepared = Prepared { home, sql, slots: slots.into(), any_from: None };
        Some(Statement { encoded: Encoded { bytes, prepared: Some(prepared) }, types: types.into(), types_at })
    }

    /// Writes which values are NULL, their types, and the values.
    pub(crate) fn set_any<'v>(&mut self, value: impl Fn(usize) -> AnyValue<'v>) {
        let count = self.encoded.begin_values();
        let bytes = &mut self.encoded.bytes;
        let nulls = bytes.len();
        bytes.resize(nulls + count.div_ceil(8), 0);
        // new_params_bound_flag: types follow.
        bytes.push(1);
        let [_, longlong, string] = TYPES;
        for slot in 0..count {
            let code = match value(slot) {
                AnyValue::Null => {
                    bytes[nulls + slot / 8] |= 1 << (slot % 8);
                    NULL
                }
                AnyValue::Integer(_) => longlong,
                AnyValue::Float(_) => DOUBLE,
                AnyValue::Text(_) => string,
            };
            bytes.extend([code, 0]);
        }
        for slot in 0..count {
            match value(slot) {
                AnyValue::Null => {}
                AnyValue::Integer(number) => bytes.extend(number.to_le_bytes()),
                AnyValue::Float(number) => bytes.extend(number.to_le_bytes()),
                AnyValue::Text(text) => {
                    push_lenenc(bytes, text.len());
                    bytes.extend_from_slice(text);
                }
            }
        }
        self.patch_header();
    }

    /// Writes the packet's header, unless it takes several.
    fn patch_header(&mut self) {
        if !self.is_long() {
            let length = self.bytes().len() - HEADER_BYTES;
            self.encoded.bytes[..HEADER_BYTES].copy_from_slice(&header(0, length));
        }
    }

    /// A text statement with room for `capacity` bytes.
    pub(crate) fn text(capacity: usize) -> Statement {
        let mut bytes = Vec::with_capacity(QUERY_START + capacity);
        bytes.extend(header(0, 1));
        bytes.push(command::QUERY);
        Statement { encoded: Encoded { bytes, prepared: None }, types: Box::default(), types_at: 0 }
    }

    /// The bytes to send once the server knows the types, unless they are long.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.encoded.bytes
    }

    /// Whether the bytes are more than a packet can carry.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.bytes().len() - HEADER_BYTES >= PACKET_BYTES_MAX
    }

    /// Whether its bytes always carry the types of the values.
    #[inline]
    pub(crate) fn has_types(&self) -> bool {
        self.encoded.prepared.as_ref().is_some_and(Prepared::takes_any)
    }

    /// The bytes to send if they are long: a packet after the other.
    pub(crate) fn long_bytes(&self) -> Vec<u8> {
        encode_long(&self.bytes()[HEADER_BYTES..])
    }

    /// The bytes to send as long as the server does not know the types.
    pub(crate) fn bytes_with_types(&self) -> Vec<u8> {
        if self.types.is_empty() {
            return self.bytes().to_vec();
        }
        let (before, values) = self.bytes().split_at(self.types_at);
        let mut bytes = [before, &self.types, values].concat();
        // new_params_bound_flag: types follow.
        bytes[self.types_at - 1] = 1;
        let length = bytes.len() - HEADER_BYTES;
        bytes[..HEADER_BYTES].copy_from_slice(&header(0, length));
        bytes
    }

    /// The SQL text of a text statement.
    pub(crate) fn sql_bytes(&self) -> &[u8] {
        &self.bytes()[QUERY_START..]
    }

    pub(crate) fn set_sql(&mut self, sql: &[u8]) {
        self.encoded.replace_text(QUERY_START, sql);
        self.patch_header();
    }
}

/// Appends an int<lenenc>.
fn push_lenenc(bytes: &mut Vec<u8>, number: usize) {
    let eight = (number as u64).to_le_bytes();
    match number {
        ..=0xfa => bytes.push(eight[0]),
        0xfb..=0xffff => {
            bytes.push(0xfc);
            bytes.extend(&eight[..2]);
        }
        0x1_0000..=0xff_ffff => {
            bytes.push(0xfd);
            bytes.extend(&eight[..3]);
        }
        _ => {
            bytes.push(0xfe);
            bytes.extend(eight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_carries_types_only_when_asked() {
        let types = [ParameterType::Int4, ParameterType::Text { len: 3 }, ParameterType::Int8];
        let mut statement = Statement::prepared(SessionId::next(), 0, 5, "call p(?, ?, ?)".into(), &types).unwrap();
        statement.encoded.set(0, ParameterType::Int4, &(-2_i32).to_le_bytes());
        statement.encoded.set(1, ParameterType::Text { len: 3 }, b"abc");
        statement.encoded.set(2, ParameterType::Int8, &(1_i64 << 40).to_le_bytes());
        let values = b"\xfe\xff\xff\xff\x03abc\0\0\0\0\0\x01\0\0";
        let short = [&b"\x1c\0\0\0\x17\x05\0\0\0\0\x01\0\0\0\0\0"[..], values].concat();
        assert_eq!(statement.bytes(), short);
        let long = [&b"\x22\0\0\0\x17\x05\0\0\0\0\x01\0\0\0\0\x01\x03\0\xfd\0\x08\0"[..], values].concat();
        assert_eq!(statement.bytes_with_types(), long);

        let bare = Statement::prepared(SessionId::next(), 1, 6, "commit".into(), &[]).unwrap();
        assert_eq!(bare.bytes(), b"\x0a\0\0\0\x17\x06\0\0\0\0\x01\0\0\0");
        assert_eq!(bare.bytes(), bare.bytes_with_types());
    }

    #[test]
    fn values_of_any_kind_carry_their_types() {
        let types = [ParameterType::Any; 4];
        let mut statement = Statement::prepared(SessionId::next(), 0, 5, "call p(?, ?, ?, ?)".into(), &types).unwrap();
        let head = &b"\x17\x05\0\0\0\0\x01\0\0\0"[..];
        let packet = |body: &[u8]| [&header(0, head.len() + body.len())[..], head, body].concat();
        assert_eq!(statement.bytes(), packet(b"\x0f\x01\x06\0\x06\0\x06\0\x06\0"));
        let values = [AnyValue::Null, AnyValue::Integer(-2), AnyValue::Float(1.5), AnyValue::Text(b"abc")];
        statement.set_any(|slot| values[slot]);
        let two = b"\xfe\xff\xff\xff\xff\xff\xff\xff";
        let expected = [&b"\x01\x01\x06\0\x08\0\x05\0\xfd\0"[..], two, &1.5_f64.to_le_bytes(), b"\x03abc"].concat();
        assert_eq!(statement.bytes(), packet(&expected));
    }

    #[test]
    fn long_texts_get_long_lengths_and_too_long_ones_none() {
        for (len, prefix) in [(250, &b"\xfa"[..]), (251, b"\xfc\xfb\0"), (1 << 16, b"\xfd\0\0\x01")] {
            let types = [ParameterType::Text { len }];
            let statement = Statement::prepared(SessionId::next(), 0, 1, "".into(), &types).unwrap();
            let start = statement.bytes().len() - len - prefix.len();
            assert_eq!(&statement.bytes()[start..start + prefix.len()], prefix);
            assert!(statement.bytes().ends_with(b"    "));
        }
        let too_long = [ParameterType::Text { len: PACKET_BYTES_MAX }];
        assert!(Statement::prepared(SessionId::next(), 0, 1, "".into(), &too_long).is_none());
    }

    #[test]
    fn a_text_is_replaced() {
        let mut statement = Statement::text(0);
        assert_eq!(statement.bytes(), b"\x01\0\0\0\x03");
        statement.set_sql(b"select 1");
        assert_eq!(statement.bytes(), b"\x09\0\0\0\x03select 1");
        statement.set_sql(b"do 0");
        assert_eq!(statement.bytes(), b"\x05\0\0\0\x03do 0");
        assert_eq!(statement.sql_bytes(), b"do 0");
        statement.set_sql(&vec![b' '; PACKET_BYTES_MAX - 2]);
        assert!(!statement.is_long());
        statement.set_sql(&vec![b' '; PACKET_BYTES_MAX - 1]);
        assert!(statement.is_long());
    }
}
