//! `DEFINER` in a dump of MySQL or MariaDB: the user that it names is not there.
//!
//! In: a statement. Out: the statement without the clause, wherever it stands outside of strings.

use crate::Dialect;
use crate::token::{TokenKind, tokens};

/// The statement without its `DEFINER = ...`: the user is not there. It may stand in a comment that servers execute.
pub(super) fn without_definer(text: String, dialect: Dialect) -> String {
    if !text.contains("DEFINER") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut skipping = false;
    while let Some(token) = tokens(rest, dialect).next() {
        let word = token.text(rest);
        if token.kind == TokenKind::Executed && word.contains("DEFINER") && word.ends_with("*/") {
            let mark = word.find(|c: char| c.is_whitespace()).unwrap_or(word.len());
            let inner = &word[mark..word.len() - 2];
            out.push_str(&word[..mark]);
            out.push_str(&without_definer(inner.to_owned(), dialect));
            out.push_str("*/");
        } else if token.kind == TokenKind::Word && word.eq_ignore_ascii_case("DEFINER") && next_is_equals(rest, dialect)
        {
            skipping = true;
        } else if skipping {
            // `=`, a name, `@`, a name: `@` begins a word of its own where no name is quoted.
            let is_over = token.kind == TokenKind::Space && !out.is_empty() && definer_is_over(rest, dialect);
            skipping = !is_over;
        } else {
            out.push_str(word);
        }
        rest = &rest[token.end..];
    }
    out
}

fn next_is_equals(rest: &str, dialect: Dialect) -> bool {
    tokens(rest, dialect).skip(1).find(|token| !token.is_blank()).is_some_and(|token| token.text(rest) == "=")
}

/// Whether a blank in front of `rest` is followed by something that cannot belong to a user's name.
fn definer_is_over(rest: &str, dialect: Dialect) -> bool {
    let next = tokens(rest, dialect).find(|token| !token.is_blank());
    next.is_none_or(|token| {
        let word = token.text(rest);
        token.kind == TokenKind::Executed
            || token.kind == TokenKind::Word && !word.starts_with('@')
            || token.kind == TokenKind::Symbol && word != "="
    })
}
