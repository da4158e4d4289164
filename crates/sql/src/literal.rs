//! Literals hidden where a statement is shown, and what a literal's text stands for.
//!
//! In: a statement, any text with literals in it, or a single literal. Out: the text with `?` for each, or the value.

use crate::Dialect;
use crate::token::{TokenKind, tokens};

/// What a literal stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// A number, as it is written.
    Number(String),
    /// Text, without its quotes.
    Text(String),
    /// Bytes, in hexadecimal digits.
    Hex(String),
}

impl Literal {
    /// What a token stands for; `None` where it is no literal, or one that no text can take the place of, such as a
    /// string of bits.
    pub fn of(text: &str, kind: TokenKind, dialect: Dialect) -> Option<Literal> {
        let is_hex = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match kind {
            TokenKind::Number if text.starts_with("0x") && !dialect.is_postgres() => {
                Some(Literal::Hex(text[2..].to_owned())).filter(|_| is_hex(&text[2..]))
            }
            TokenKind::Number if text.len() > 1 && text[1..].starts_with(['x', 'X', 'b', 'B', 'o']) => None,
            TokenKind::Number => Some(Literal::Number(text.replace('_', ""))),
            TokenKind::String if text.starts_with('$') => {
                let tag = text[1..].find('$')? + 2;
                Some(Literal::Text(text.get(tag..text.len().checked_sub(tag)?)?.to_owned()))
            }
            TokenKind::String => {
                let quote = text.find(['\'', '"'])?;
                let mark = text.as_bytes()[quote];
                let prefix = text[..quote].trim_end_matches('&').to_ascii_lowercase();
                let inner = text[quote..].strip_prefix(mark as char)?.strip_suffix(mark as char)?;
                match prefix.as_str() {
                    "x" if !dialect.is_postgres() => Some(Literal::Hex(inner.to_owned())).filter(|_| is_hex(inner)),
                    "b" | "x" | "u" => None,
                    _ => unquoted(inner, mark, !dialect.is_postgres() || prefix == "e", dialect).map(Literal::Text),
                }
            }
            _ => None,
        }
    }
}

/// The text between quotes. `None` where it has escapes that are not text, or goes on in another line's quotes.
fn unquoted(inner: &str, mark: u8, has_backslash: bool, dialect: Dialect) -> Option<String> {
    let mark = mark as char;
    let mut out = String::with_capacity(inner.len());
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if has_backslash => match letters.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'b' => out.push('\u{8}'),
                'f' if dialect.is_postgres() => out.push('\u{c}'),
                'Z' if !dialect.is_postgres() => out.push('\u{1a}'),
                '0' if !dialect.is_postgres() => out.push('\0'),
                'x' | 'u' | 'U' | '0'..='7' if dialect.is_postgres() => return None,
                // Patterns of LIKE keep theirs.
                other @ ('%' | '_') if !dialect.is_postgres() => out.extend(['\\', other]),
                other => out.push(other),
            },
            letter if letter == mark => match letters.next() {
                Some(next) if next == mark => out.push(mark),
                _ => return None,
            },
            letter => out.push(letter),
        }
    }
    Some(out)
}

/// A text with `?` for each literal: a statement, a plan, a line of a log. A quote that nobody closes hides all behind
/// it.
pub fn redact(text: &str, dialect: Dialect) -> String {
    let mut out = String::with_capacity(text.len());
    for token in tokens(text, dialect) {
        match token.kind {
            TokenKind::String | TokenKind::Number => out.push('?'),
            // They may hold anything.
            TokenKind::Comment => out.push_str("/* ? */"),
            // What a server executes is text like any other.
            TokenKind::Executed => {
                let (mark, inner) = executed(token.text(text));
                out.push_str(mark);
                out.push_str(&redact(inner.strip_suffix("*/").unwrap_or(inner), dialect));
                out.push_str("*/");
            }
            _ => out.push_str(token.text(text)),
        }
    }
    out
}

/// The mark of a comment that servers execute, with the version behind it, and the rest of it.
fn executed(comment: &str) -> (&str, &str) {
    let mark = comment.find(['!', '+']).map_or(comment.len(), |at| at + 1);
    let version = comment[mark..].find(|c: char| !c.is_ascii_digit()).unwrap_or(comment.len() - mark);
    comment.split_at(mark + version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_stands_for_its_value() {
        use Dialect::{Mysql, Postgres};
        let text = |value: &str| Some(Literal::Text(value.to_owned()));
        for (written, dialect, value) in [
            ("'it''s'", Postgres, text("it's")),
            (r"'a\b'", Postgres, text(r"a\b")),
            (r"E'a\tb\'c'", Postgres, text("a\tb'c")),
            (r"E'\x41'", Postgres, None),
            ("$x$it's$x$", Postgres, text("it's")),
            ("B'101'", Postgres, None),
            ("'a'\n 'b'", Postgres, None),
            (r#""say \"hi\" it's""#, Mysql, text("say \"hi\" it's")),
            (r"'50\% a\nb\\'", Mysql, text("50\\% a\nb\\")),
            ("_utf8'é'", Mysql, text("é")),
            ("x'1F'", Mysql, Some(Literal::Hex("1F".to_owned()))),
            ("0xff", Mysql, Some(Literal::Hex("ff".to_owned()))),
            ("0xff", Postgres, None),
            ("1_000.5", Postgres, Some(Literal::Number("1000.5".to_owned()))),
            ("'open", Postgres, None),
            ("name", Postgres, None),
        ] {
            let token = tokens(written, dialect).next().expect("a token");
            assert_eq!(Literal::of(written, token.kind, dialect), value, "{written}");
        }
    }

    #[test]
    fn nothing_of_a_literal_stays_in_sight() {
        for (text, expected) in [
            ("SELECT 'se''cret', 42 -- secret", "SELECT ?, ? /* ? */"),
            ("Filter: (name = 'secret'::text)", "Filter: (name = ?::text)"),
            ("ERROR: near 'secret", "ERROR: near ?"),
        ] {
            assert_eq!(redact(text, Dialect::Postgres), expected);
        }
        for (text, expected) in [
            ("SELECT 1 /*!50003 AND a = 'secret' */ FROM t", "SELECT ? /*!50003 AND a = ? */ FROM t"),
            ("SELECT /*M!100100 42 */ /*+ INDEX(t k1) */ a", "SELECT /*M!100100 ? */ /*+ INDEX(t k1) */ a"),
            ("/*! 'secret", "/*! ?*/"),
        ] {
            assert_eq!(redact(text, Dialect::Mysql), expected);
        }
    }
}
