//! A value as a literal of SQL.
//!
//! In: a value, a dialect. Out: its text at the end of a buffer, which a server reads as just that value.

use rqps_sql::Dialect;
use rqps_wire::AnyValue;
use std::io::Write;

/// Appends a value as a literal.
pub(crate) fn push_literal(text: &mut Vec<u8>, value: AnyValue<'_>, dialect: Dialect) {
    match value {
        AnyValue::Null => text.extend_from_slice(b"NULL"),
        AnyValue::Integer(number) => _ = write!(text, "{number}"),
        AnyValue::Float(number) => _ = write!(text, "{number:?}"),
        AnyValue::Text(value) => {
            text.push(b'\'');
            for byte in value {
                // With standard strings a backslash is itself on PostgreSQL.
                match byte {
                    b'\'' => text.extend_from_slice(b"''"),
                    b'\\' if dialect != Dialect::Postgres => text.extend_from_slice(b"\\\\"),
                    other => text.push(*other),
                }
            }
            text.push(b'\'');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_servers_read_them() {
        let written = |value, dialect| {
            let mut text = Vec::new();
            push_literal(&mut text, value, dialect);
            String::from_utf8(text).expect("text")
        };
        for dialect in [Dialect::Postgres, Dialect::Mysql] {
            assert_eq!(written(AnyValue::Null, dialect), "NULL");
            assert_eq!(written(AnyValue::Integer(-3), dialect), "-3");
            assert_eq!(written(AnyValue::Float(2.0), dialect), "2.0");
            assert_eq!(written(AnyValue::Text(b"it's"), dialect), "'it''s'");
        }
        assert_eq!(written(AnyValue::Text(b"a\\b"), Dialect::Postgres), "'a\\b'");
        assert_eq!(written(AnyValue::Text(b"a\\b"), Dialect::Mariadb), "'a\\\\b'");
    }
}
