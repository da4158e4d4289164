//! The values that PostgreSQL logs beside a statement.
//!
//! In: a DETAIL such as `Parameters: $1 = 'x', $2 = NULL`. Out: the values, if they are whole.

use rqps_sql::{Dialect, Literal, TokenKind, tokens};

/// What a DETAIL says of parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Logged {
    /// All of them.
    Whole(Vec<Option<String>>),
    /// Some were cut, since `log_parameter_max_length` is smaller.
    Cut,
}

/// The values of a DETAIL; `None` where it has none.
pub(crate) fn logged(detail: &str) -> Option<Logged> {
    let list = detail.strip_prefix("Parameters: ").or_else(|| detail.strip_prefix("parameters: "))?;
    let mut values = Vec::new();
    let mut rest = list;
    loop {
        let (number, behind) = rest.strip_prefix('$')?.split_once(" = ")?;
        number.parse::<usize>().ok().filter(|number| *number == values.len() + 1)?;
        let (value, length) = match behind.strip_prefix("NULL") {
            Some(_) => (None, 4),
            None => {
                let end = end_of_string(behind)?;
                let inner = behind[1..end - 1].replace("''", "'");
                (Some(inner), end)
            }
        };
        rest = &behind[length..];
        if rest.starts_with("...") || value.as_ref().is_some_and(|value| value.ends_with("...")) {
            return Some(Logged::Cut);
        }
        values.push(value);
        match rest.strip_prefix(", ") {
            Some(more) => rest = more,
            None => return Some(Logged::Whole(values)),
        }
    }
}

/// The byte behind the quote that closes a string.
fn end_of_string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while *bytes.first()? == b'\'' && at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\'', Some(b'\'')) => at += 2,
            (b'\'', _) => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// The statement that SQL's PREPARE names: `PREPARE look (int) AS SELECT ...`.
pub(crate) fn prepared(sql: &str) -> Option<&str> {
    let mut words = tokens(sql, Dialect::Postgres).filter(|token| !token.is_blank());
    let is = |text: &str, word: &str| text.eq_ignore_ascii_case(word);
    words.next().filter(|first| is(first.text(sql), "PREPARE"))?;
    let mut depth = 0;
    for token in words.skip(1) {
        match token.text(sql) {
            "(" => depth += 1,
            ")" => depth -= 1,
            word if depth == 0 && is(word, "AS") => return Some(sql[token.end..].trim_start()),
            _ => {}
        }
    }
    None
}

/// The values of SQL's EXECUTE, where they are literals: `EXECUTE look (1, 'x')`.
pub(crate) fn executed(sql: &str) -> Option<Vec<Option<String>>> {
    let kept: Vec<_> = tokens(sql, Dialect::Postgres).filter(|token| !token.is_blank()).collect();
    kept.first().filter(|first| first.text(sql).eq_ignore_ascii_case("EXECUTE"))?;
    if kept.len() == 2 {
        return Some(Vec::new());
    }
    let inner = kept.get(3..kept.len().checked_sub(1)?)?;
    let mut values = Vec::new();
    for value in inner.split(|token| token.text(sql) == ",") {
        let (sign, token) = match value {
            [token] => ("", token),
            [sign, token] if sign.text(sql) == "-" && token.kind == TokenKind::Number => ("-", token),
            _ => return None,
        };
        values.push(match Literal::of(token.text(sql), token.kind, Dialect::Postgres) {
            Some(Literal::Number(number)) => Some(format!("{sign}{number}")),
            Some(Literal::Text(text)) => Some(text),
            _ if token.text(sql).eq_ignore_ascii_case("NULL") => None,
            _ => return None,
        });
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_the_server_wrote_them() {
        let whole = |values: &[Option<&str>]| {
            Some(Logged::Whole(values.iter().map(|value| value.map(str::to_owned)).collect()))
        };
        for (detail, expected) in [
            ("parameters: $1 = '83532'", whole(&[Some("83532")])),
            ("Parameters: $1 = 'it''s, $2 = x', $2 = NULL, $3 = ''", whole(&[Some("it's, $2 = x"), None, Some("")])),
            ("Parameters: $1 = 'a\nb'", whole(&[Some("a\nb")])),
            ("Parameters: $1 = 'xxxx...'", Some(Logged::Cut)),
            ("Parameters: $1 = 'xxxx'...", Some(Logged::Cut)),
            ("prepare: PREPARE q AS SELECT 1", None),
            ("Parameters: $1 = 'open", None),
        ] {
            assert_eq!(logged(detail), expected, "{detail}");
        }
    }

    #[test]
    fn prepare_and_execute_are_taken_apart() {
        assert_eq!(prepared("PREPARE q (int, varchar(3)) AS SELECT $1"), Some("SELECT $1"));
        assert_eq!(prepared("prepare q as select 1"), Some("select 1"));
        assert_eq!(prepared("SELECT 1 AS x"), None);
        let values =
            |values: &[Option<&str>]| Some(values.iter().map(|value| value.map(str::to_owned)).collect::<Vec<_>>());
        assert_eq!(executed("EXECUTE q (-1, 'it''s', NULL)"), values(&[Some("-1"), Some("it's"), None]));
        assert_eq!(executed("EXECUTE q"), values(&[]));
        assert_eq!(executed("EXECUTE q (1 + 1)"), None);
    }
}
