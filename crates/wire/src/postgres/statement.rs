//! Encodes what the timed path sends: Bind + Execute + Sync with its parameters patched in place, the same behind a
//! Parse where a statement is parsed anew each time, or a Query.
//!
//! In: parameter types and values. Out: the bytes of one write. Integers travel in binary format, texts in
//! text format, results come back as text. Nothing is allocated once a statement exists, unless a simple
//! statement outgrows its capacity. It must not touch a socket.

use std::io::Write;
use std::sync::Arc;

use crate::prepared::{AnyValue, Encoded, ParameterType, Prepared, Slot, take_any};
use crate::session_state::SessionId;

use super::frame::HEADER_BYTES;
use super::tag::frontend;

/// The bytes of a Sync, which ends all but a Query.
pub(super) const SYNC_BYTES: usize = HEADER_BYTES;

/// A statement, encoded.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) encoded: Encoded,
    /// Where the Bind begins: behind the Parse, if there is one.
    bind_at: usize,
    /// Whether the server is asked for the names of the columns.
    describes: bool,
}

impl Statement {
    /// Encodes the execution of a statement that is prepared as [`name`]`(index)`.
    pub(crate) fn prepared(session: SessionId, index: u32, sql: Arc<str>, parameters: &[ParameterType]) -> Statement {
        Statement::bound(Vec::new(), &name(index), Some((session, index)), sql, parameters)
    }

    /// Encodes a statement that is parsed, without a name, and executed at once.
    pub(crate) fn parsed_each_time(sql: Arc<str>, parameters: &[ParameterType]) -> Statement {
        let mut bytes = Vec::new();
        message(&mut bytes, frontend::PARSE, |body| {
            body.push(0);
            body.extend(sql.as_bytes());
            body.push(0);
            body.extend(u16::try_from(parameters.len()).expect("checked by the caller").to_be_bytes());
            parameters.iter().for_each(|parameter| body.extend(type_oid(*parameter).to_be_bytes()));
        });
        Statement::bound(bytes, "", None, sql, parameters)
    }

    /// Appends Bind and what follows it to `bytes`.
    fn bound(
        mut bytes: Vec<u8>,
        name: &str,
        home: Option<(SessionId, u32)>,
        sql: Arc<str>,
        parameters: &[ParameterType],
    ) -> Statement {
        let bind_at = bytes.len();
        if take_any(parameters) {
            let any_from = Some(begin_bind_any(&mut bytes, name, parameters.len()));
            let slots = parameters.iter().map(|parameter| Slot { start: 0, parameter: *parameter }).collect();
            let encoded = Encoded { bytes, prepared: Some(Prepared { home, sql, slots, any_from }) };
            let mut statement = Statement { encoded, bind_at, describes: false };
            statement.set_any(|_| AnyValue::Null);
            return statement;
        }
        let slots = encode_bind(&mut bytes, name, parameters);
        end_bind(&mut bytes, false);
        bytes.shrink_to_fit();
        let encoded = Encoded { bytes, prepared: Some(Prepared { home, sql, slots, any_from: None }) };
        Statement { encoded, bind_at, describes: false }
    }

    /// From now on the server tells the names of the columns with each answer. To a text it does so anyway.
    pub(crate) fn describe(&mut self) {
        if self.encoded.prepared.is_some() && !self.describes {
            self.describes = true;
            let bytes = &mut self.encoded.bytes;
            bytes.truncate(bytes.len() - EXECUTE_BYTES - SYNC_BYTES);
            end_bind(bytes, true);
        }
    }

    /// Writes the values behind the head of Bind, as text, and what follows them.
    pub(crate) fn set_any<'v>(&mut self, value: impl Fn(usize) -> AnyValue<'v>) {
        let count = self.encoded.begin_values();
        let bytes = &mut self.encoded.bytes;
        for slot in 0..count {
            push_any(bytes, value(slot));
        }
        // No result format codes: every column as text.
        bytes.extend(0_u16.to_be_bytes());
        patch_length(bytes, self.bind_at);
        end_bind(bytes, self.describes);
    }

    /// A simple statement with room for an SQL text of `capacity` bytes.
    pub(crate) fn simple(capacity: usize) -> Statement {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + capacity + 1);
        message(&mut bytes, frontend::QUERY, |body| body.push(0));
        Statement { encoded: Encoded { bytes, prepared: None }, bind_at: 0, describes: false }
    }

    /// The bytes to send.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.encoded.bytes
    }

    /// The SQL text of a statement that does not live in a session.
    pub(crate) fn own_sql(&self) -> &[u8] {
        match &self.encoded.prepared {
            Some(prepared) => prepared.sql.as_bytes(),
            None => &self.encoded.bytes[HEADER_BYTES..self.encoded.bytes.len() - 1],
        }
    }

    /// What is sent of it within a pipeline, which has its own Sync; nothing of a text, which cannot be part of one.
    pub(super) fn without_sync(&self) -> Option<&[u8]> {
        let bytes = self.bytes();
        self.encoded.prepared.is_some().then(|| &bytes[..bytes.len() - SYNC_BYTES])
    }

    pub(crate) fn set_sql(&mut self, sql: &[u8]) {
        debug_assert!(!sql.contains(&0), "an SQL text ends at a NUL byte");
        self.encoded.replace_text(HEADER_BYTES, sql);
        self.encoded.bytes.push(0);
        patch_length(&mut self.encoded.bytes, 0);
    }
}

/// The name under which the server knows a session's statement.
pub(crate) fn name(index: u32) -> String {
    format!("s{index}")
}

/// The type that Parse declares: for a text it is left to the server, which then takes the column's own.
pub(crate) fn type_oid(parameter: ParameterType) -> u32 {
    const INT4: u32 = 23;
    const INT8: u32 = 20;
    const UNSPECIFIED: u32 = 0;
    match parameter {
        ParameterType::Int4 => INT4,
        ParameterType::Int8 => INT8,
        ParameterType::Text { .. } | ParameterType::Any => UNSPECIFIED,
    }
}

fn encode_bind(bytes: &mut Vec<u8>, name: &str, parameters: &[ParameterType]) -> Box<[Slot]> {
    const TEXT: u16 = 0;
    const BINARY: u16 = 1;
    let is_text = |parameter: &ParameterType| matches!(parameter, ParameterType::Text { .. });
    let count = u16::try_from(parameters.len()).expect("checked when the statement was prepared");
    let mut slots = Vec::with_capacity(parameters.len());
    message(bytes, frontend::BIND, |body| {
        body.push(0);
        body.extend(name.as_bytes());
        body.push(0);
        if parameters.is_empty() {
            body.extend(0_u16.to_be_bytes());
        } else if parameters.iter().any(is_text) {
            body.extend(count.to_be_bytes());
            for parameter in parameters {
                let format = if is_text(parameter) { TEXT } else { BINARY };
                body.extend(format.to_be_bytes());
            }
        } else {
            // One format code stands for all parameters.
            body.extend(1_u16.to_be_bytes());
            body.extend(BINARY.to_be_bytes());
        }
        body.extend(count.to_be_bytes());
        for &parameter in parameters {
            let (value_bytes, filler) = match parameter {
                ParameterType::Int4 => (4, 0),
                ParameterType::Int8 => (8, 0),
                ParameterType::Text { len } => (len, b' '),
                ParameterType::Any => unreachable!("they are encoded apart"),
            };
            let announced = i32::try_from(value_bytes).expect("a parameter is shorter than 2 GiB");
            body.extend(announced.to_be_bytes());
            let start = body.len();
            slots.push(Slot { start, parameter });
            body.resize(start + value_bytes, filler);
        }
        // No result format codes: every column as text.
        body.extend(0_u16.to_be_bytes());
    });
    slots.into()
}

/// Appends the head of a Bind whose values follow as text; where they begin.
fn begin_bind_any(bytes: &mut Vec<u8>, name: &str, parameters: usize) -> usize {
    let count = u16::try_from(parameters).expect("checked when the statement was prepared");
    message(bytes, frontend::BIND, |body| {
        body.push(0);
        body.extend(name.as_bytes());
        body.push(0);
        // No parameter format codes: every value as text.
        body.extend(0_u16.to_be_bytes());
        body.extend(count.to_be_bytes());
    });
    bytes.len()
}

/// Appends a value of a Bind: its length, and its text.
fn push_any(bytes: &mut Vec<u8>, value: AnyValue<'_>) {
    const NULL: i32 = -1;
    let at = bytes.len();
    bytes.extend(NULL.to_be_bytes());
    let start = bytes.len();
    match value {
        AnyValue::Null => return,
        AnyValue::Integer(number) => _ = write!(bytes, "{number}"),
        AnyValue::Float(number) => _ = write!(bytes, "{number:?}"),
        AnyValue::Text(text) => bytes.extend_from_slice(text),
    }
    let length = i32::try_from(bytes.len() - start).expect("a parameter is shorter than 2 GiB");
    bytes[at..start].copy_from_slice(&length.to_be_bytes());
}

/// The bytes of an Execute.
const EXECUTE_BYTES: usize = HEADER_BYTES + 1 + 4;

/// Appends what follows Bind: perhaps Describe for the columns, Execute for all rows, and Sync.
fn end_bind(bytes: &mut Vec<u8>, describes: bool) {
    if describes {
        message(bytes, frontend::DESCRIBE, |body| body.extend(b"P\0"));
    }
    message(bytes, frontend::EXECUTE, |body| {
        body.push(0);
        body.extend(0_i32.to_be_bytes());
    });
    push_sync(bytes);
}

/// Appends a Sync.
pub(super) fn push_sync(bytes: &mut Vec<u8>) {
    message(bytes, frontend::SYNC, |_| {});
}

/// Appends a message with the body that `write` appends.
fn message(bytes: &mut Vec<u8>, tag: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.push(tag);
    bytes.extend([0; HEADER_BYTES - 1]);
    write(bytes);
    patch_length(bytes, start);
}

/// Writes the length of the message that starts at `start` and ends with the bytes.
pub(crate) fn patch_length(bytes: &mut [u8], start: usize) {
    let length = u32::try_from(bytes.len() - start - 1).expect("a message is shorter than 4 GiB");
    bytes[start + 1..start + HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use postgres_protocol::IsNull;
    use postgres_protocol::message::frontend;

    use super::*;

    /// The same message sequence as the library would encode it.
    fn oracle(formats: &[i16], values: &[&[u8]]) -> Vec<u8> {
        let mut out = BytesMut::new();
        let bound = frontend::bind(
            "",
            "s3",
            formats.iter().copied(),
            values,
            |value, out| {
                out.extend_from_slice(value);
                Ok(IsNull::No)
            },
            [],
            &mut out,
        );
        assert!(bound.is_ok());
        frontend::execute("", 0, &mut out).unwrap();
        frontend::sync(&mut out);
        out.to_vec()
    }

    fn prepared(parameters: &[ParameterType]) -> Statement {
        Statement::prepared(SessionId::next(), 3, "select".into(), parameters)
    }

    #[test]
    fn encoded_as_the_library_does() {
        assert_eq!(prepared(&[]).bytes(), oracle(&[], &[]));
        let mut described = prepared(&[]);
        described.describe();
        described.describe();
        assert_eq!(described.bytes().len(), prepared(&[]).bytes().len() + HEADER_BYTES + 2);

        let mut integers = prepared(&[ParameterType::Int4, ParameterType::Int8]);
        integers.encoded.set(0, ParameterType::Int4, &(-7_i32).to_be_bytes());
        integers.encoded.set(1, ParameterType::Int8, &(1_i64 << 40).to_be_bytes());
        let values: [&[u8]; 2] = [&(-7_i32).to_be_bytes(), &(1_i64 << 40).to_be_bytes()];
        assert_eq!(integers.bytes(), oracle(&[1], &values));

        let mut mixed = prepared(&[ParameterType::Int4, ParameterType::Text { len: 3 }]);
        mixed.encoded.set(0, ParameterType::Int4, &1_i32.to_be_bytes());
        mixed.encoded.set(1, ParameterType::Text { len: 3 }, b"abc");
        mixed.encoded.set(0, ParameterType::Int4, &2_i32.to_be_bytes());
        let values: [&[u8]; 2] = [&2_i32.to_be_bytes(), b"abc"];
        assert_eq!(mixed.bytes(), oracle(&[1, 0], &values));
    }

    #[test]
    fn values_of_any_kind_are_encoded_as_the_library_does() {
        let mut statement = prepared(&[ParameterType::Any; 4]);
        let long = "x".repeat(300);
        for text in [&b""[..], b"it's", long.as_bytes(), b"short"] {
            let values =
                [AnyValue::Null, AnyValue::Integer(-70_000_000_000), AnyValue::Float(0.1), AnyValue::Text(text)];
            statement.set_any(|slot| values[slot]);
            let mut out = BytesMut::new();
            let texts = [None, Some(&b"-70000000000"[..]), Some(b"0.1"), Some(text)];
            let bound = frontend::bind(
                "",
                "s3",
                [],
                texts,
                |value, out| {
                    out.extend_from_slice(value.unwrap_or_default());
                    Ok(if value.is_some() { IsNull::No } else { IsNull::Yes })
                },
                [],
                &mut out,
            );
            assert!(bound.is_ok());
            frontend::execute("", 0, &mut out).unwrap();
            frontend::sync(&mut out);
            assert_eq!(statement.bytes(), &out[..]);
        }
        let room = statement.encoded.bytes.capacity();
        statement.set_any(|_| AnyValue::Integer(i64::MIN));
        assert_eq!(statement.encoded.bytes.capacity(), room);
    }

    #[test]
    fn a_statement_that_is_parsed_each_time_is_encoded_as_the_library_does() {
        let mut statement = Statement::parsed_each_time("select $1".into(), &[ParameterType::Any]);
        for value in ["", "some", "s"] {
            statement.set_any(|_| AnyValue::Text(value.as_bytes()));
            let mut out = BytesMut::new();
            frontend::parse("", "select $1", [0], &mut out).unwrap();
            let write = |value: &str, out: &mut BytesMut| {
                out.extend_from_slice(value.as_bytes());
                Ok(IsNull::No)
            };
            assert!(frontend::bind("", "", [], [value], write, [], &mut out).is_ok());
            frontend::execute("", 0, &mut out).unwrap();
            let unsynced = out.to_vec();
            frontend::sync(&mut out);
            assert_eq!((statement.bytes(), statement.without_sync()), (&out[..], Some(&unsynced[..])));
        }
        statement.describe();
        statement.set_any(|_| AnyValue::Null);
        let mut described = BytesMut::new();
        frontend::describe(b'P', "", &mut described).unwrap();
        frontend::execute("", 0, &mut described).unwrap();
        frontend::sync(&mut described);
        assert!(statement.bytes().ends_with(&described));
        assert_eq!(Statement::simple(10).without_sync(), None);
    }

    #[test]
    fn a_simple_statement_is_rewritten_in_place() {
        let mut statement = Statement::simple(20);
        let room = statement.encoded.bytes.capacity();
        for sql in ["select 1", "insert into t", ""] {
            statement.set_sql(sql.as_bytes());
            let mut out = BytesMut::new();
            frontend::query(sql, &mut out).unwrap();
            assert_eq!(statement.bytes(), &out[..]);
            assert_eq!(statement.own_sql(), sql.as_bytes());
        }
        assert_eq!(statement.encoded.bytes.capacity(), room);
    }

    #[test]
    #[should_panic(expected = "type of parameter 0")]
    fn a_text_of_another_length_is_a_fault_of_the_caller() {
        prepared(&[ParameterType::Text { len: 3 }]).encoded.set(0, ParameterType::Text { len: 2 }, b"ab");
    }
}
