//! Strings of bytes in a dump of MySQL or MariaDB, which mysqldump writes as they are, most often behind `_binary`.
//!
//! In: a statement that is not UTF-8. Out: the same with each such string in hexadecimal digits, which says the same to
//! every server. Where the dump does not say that its text is UTF-8, a string that is not marked as bytes may be text
//! in another character set: that is refused.

use std::fmt::Write;

/// What stands in front of a string of bytes.
const MARK: &str = "_binary";

/// The statement as text; `None` where more than strings of bytes is not UTF-8. `says_utf8`: so its dump's text is.
pub(super) fn with_digits(text: &[u8], says_utf8: bool) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| b"'\"`".contains(byte)) {
        out.push_str(std::str::from_utf8(&rest[..at]).ok()?);
        let end = at + end_of_quoted(&rest[at..]);
        let quoted = &rest[at..end];
        match std::str::from_utf8(quoted) {
            Ok(quoted) => out.push_str(quoted),
            Err(_) if quoted[0] == b'\'' && quoted.ends_with(b"'") && (says_utf8 || out.trim_end().ends_with(MARK)) => {
                out.push_str("X'");
                for byte in bytes(&quoted[1..quoted.len() - 1]) {
                    write!(out, "{byte:02x}").expect("memory takes all of it");
                }
                out.push('\'');
            }
            Err(_) => return None,
        }
        rest = &rest[end..];
    }
    out.push_str(std::str::from_utf8(rest).ok()?);
    Some(out)
}

/// Where what begins with a quote is over.
fn end_of_quoted(text: &[u8]) -> usize {
    let quote = text[0];
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// What a string between its quotes stands for.
fn bytes(inner: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => bytes.extend(rest.next().map(|escaped| match escaped {
                b'0' => 0,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                b'Z' => 26,
                other => other,
            })),
            b'\'' => {
                // A quote in a string is written twice.
                rest.next();
                bytes.push(b'\'');
            }
            other => bytes.push(other),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_digits_and_text_stays() {
        let shown = |text: &[u8]| with_digits(text, false);
        let text =
            b"INSERT INTO `t` VALUES (1,_binary '\\0\xff\\'\\\\\\n''\\Z','it''s \xc3\xbc'),(2,_binary 'abc',NULL)";
        let expected = "INSERT INTO `t` VALUES (1,_binary X'00ff275c0a271a','it''s \u{fc}'),(2,_binary 'abc',NULL)";
        assert_eq!(shown(text).as_deref(), Some(expected));
        for other in [&b"INSERT INTO t VALUES ('\xff')"[..], b"SELECT \xff", b"SELECT `\xff`", b"SELECT _binary '\xff"]
        {
            assert_eq!(shown(other), None);
        }
        assert_eq!(with_digits(b"VALUES ('\xff')", true).as_deref(), Some("VALUES (X'ff')"));
        assert_eq!(with_digits(b"SELECT \xff", true), None);
    }
}
