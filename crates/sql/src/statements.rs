//! A text cut into its statements.

use crate::Dialect;
use crate::dump::{Dump, What};

/// A statement of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Without the mark at its end.
    pub text: String,
    /// Where it begins, counted from 1.
    pub line: usize,
}

/// The statements of a text; what is no statement to a server is left out.
pub fn statements(text: &str, dialect: Dialect) -> Vec<Statement> {
    let items = Dump::new(text.as_bytes(), dialect).map_while(Result::ok);
    let statements = items.filter_map(|item| match item.what {
        What::Statement(text) => Some(Statement { text, line: item.line }),
        _ => None,
    });
    statements.collect()
}

/// A text with some words replaced, outside of strings and comments.
pub fn replace_words(text: &str, by: &std::collections::BTreeMap<String, String>, dialect: Dialect) -> String {
    use crate::token::{TokenKind, tokens};
    let mut out = String::with_capacity(text.len());
    for token in tokens(text, dialect) {
        let word = token.text(text);
        match by.get(word).filter(|_| token.kind == TokenKind::Word) {
            Some(other) => out.push_str(other),
            None => out.push_str(word),
        }
    }
    out
}
