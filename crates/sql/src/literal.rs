//! Literals of a statement: taken out for a fingerprint, and hidden where a statement is shown.
//!
//! In: a statement, or any text with literals in it. Out: the same with `?` for each.

use crate::Dialect;
use crate::token::{Token, TokenKind, tokens};

/// A statement without its values, and the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// The statement with `?` for each literal; lists of literals are `(?, ...)`, whatever their length.
    pub text: String,
    /// The literals in their order.
    pub literals: Vec<Literal>,
}

/// A literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// As it stands, with its quotes.
    pub text: String,
    /// Whether it is a number.
    pub is_number: bool,
}

/// Takes the literals out of a statement. Comments go, but for hints; blanks become single spaces.
pub fn fingerprint(text: &str, dialect: Dialect) -> Fingerprint {
    let kept: Vec<Token> = tokens(text, dialect).filter(|token| !token.is_blank()).collect();
    let (mut out, mut literals) = (String::new(), Vec::new());
    let mut last_end = None;
    for (at, token) in kept.iter().enumerate() {
        let word = token.text(text);
        let has_gap = last_end.is_some_and(|end| end != token.start);
        last_end = Some(token.end);
        if has_gap {
            out.push(' ');
        }
        match token.kind {
            TokenKind::String | TokenKind::Number => {
                let is_number = token.kind == TokenKind::Number;
                let sign = is_number && is_unary_minus(&kept, at, text);
                if sign {
                    out.truncate(out.trim_end().len() - 1);
                }
                out.push('?');
                literals.push(Literal { text: format!("{}{word}", if sign { "-" } else { "" }), is_number });
            }
            _ => out.push_str(word),
        }
    }
    Fingerprint { text: merged(&out), literals }
}

/// Whether the token before is a minus that belongs to the number.
fn is_unary_minus(kept: &[Token], at: usize, text: &str) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|index| kept[index]);
    let is_minus = before(1).is_some_and(|token| token.text(text) == "-");
    let follows = before(2).is_none_or(|token| match token.kind {
        TokenKind::Symbol => !matches!(token.text(text), ")" | "]"),
        TokenKind::Word => {
            let word = token.text(text).to_ascii_uppercase();
            ["SELECT", "AND", "OR", "IN", "VALUES", "BETWEEN", "LIMIT", "OFFSET", "THEN", "ELSE", "WHEN", "RETURN"]
                .contains(&word.as_str())
        }
        _ => false,
    });
    is_minus && follows
}

/// Lists of literals in one form: `(?, ?, ?)` and `(?), (?)` become `(?, ...)`.
fn merged(text: &str) -> String {
    let mut out = text.replace("?,?", "?, ?").replace("?,?", "?, ?");
    while out.contains("?, ?") {
        out = out.replace("?, ?", "?, ...").replace("..., ?", "...").replace("..., ...", "...");
    }
    for list in ["(?, ...)", "(?)"] {
        for gap in [", ", ","] {
            let twice = format!("{list}{gap}{list}");
            while out.contains(&twice) {
                out = out.replace(&twice, list);
            }
        }
    }
    out
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
            _ => out.push_str(token.text(text)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_differ_in_values_have_one_fingerprint() {
        for (text, expected, literals) in [
            (
                "SELECT a FROM t_2009 WHERE b = 'x' AND c=-3",
                "SELECT a FROM t_2009 WHERE b = ? AND c=?",
                &["'x'", "-3"][..],
            ),
            ("select  1\n -- x\n + a-1", "select ? + a-?", &["1", "1"]),
            ("SELECT * FROM t WHERE a IN (1, 2,3)", "SELECT * FROM t WHERE a IN (?, ...)", &["1", "2", "3"]),
            (
                "INSERT INTO t VALUES (1,'a'),(2,'b'), (3,'c')",
                "INSERT INTO t VALUES (?, ...)",
                &["1", "'a'", "2", "'b'", "3", "'c'"],
            ),
            ("SELECT /*+ NO_INDEX */ a /* x */ LIMIT 5", "SELECT /*+ NO_INDEX */ a LIMIT ?", &["5"]),
        ] {
            let found = fingerprint(text, Dialect::Mysql);
            let found_literals: Vec<&str> = found.literals.iter().map(|literal| literal.text.as_str()).collect();
            assert_eq!((found.text.as_str(), &found_literals[..]), (expected, literals), "{text}");
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
    }
}
