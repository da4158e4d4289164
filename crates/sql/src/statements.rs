//! A text cut into its statements.

use crate::Dialect;
use crate::dump::{Dump, What};
use std::collections::BTreeMap;

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

/// A text with some words replaced, outside of strings and of comments that no server executes; `replaced` is told each
/// of them.
pub fn replace_words(
    text: &str,
    by: &BTreeMap<String, String>,
    dialect: Dialect,
    replaced: &mut dyn FnMut(&str),
) -> String {
    use crate::token::{TokenKind, tokens};
    let mut out = String::with_capacity(text.len());
    for token in tokens(text, dialect) {
        let word = token.text(text);
        // What stands in `/*!50003 ... */` is text like any other.
        let inner = word.strip_suffix("*/").and_then(|word| word.split_at_checked("/*!".len()));
        if let (TokenKind::Executed, Some((mark, inner))) = (token.kind, inner) {
            out.push_str(mark);
            out.push_str(&replace_words(inner, by, dialect, replaced));
            out.push_str("*/");
            continue;
        }
        match by.get(word).filter(|_| token.kind == TokenKind::Word) {
            Some(other) => {
                replaced(word);
                out.push_str(other);
            }
            None => out.push_str(word),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_where_servers_read_them() {
        let by = [("old_ci".to_owned(), "new_ci".to_owned())].into();
        let text =
            "/*!50003 SET collation_connection = old_ci */ COLLATE=old_ci 'old_ci' /* old_ci */ `old_ci` old_ci_x";
        let expected =
            "/*!50003 SET collation_connection = new_ci */ COLLATE=new_ci 'old_ci' /* old_ci */ `old_ci` old_ci_x";
        let mut count = 0;
        assert_eq!(replace_words(text, &by, Dialect::Mysql, &mut |_| count += 1), expected);
        assert_eq!(count, 2);
    }
}
