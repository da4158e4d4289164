//! What a statement does, by its words: whether it only reads, whether it asks for an order, and how it begins.
//!
//! In: a statement. Out: an answer that may be too careful, since only a server knows what a function does.

use crate::Dialect;
use crate::token::{TokenKind, tokens};

/// Words that say that a statement changes something, wherever they stand at the top level or in a common table
/// expression.
const WRITING: [&str; 12] =
    ["INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "CREATE", "ALTER", "DROP", "TRUNCATE", "CALL", "COPY", "LOAD"];

/// Words with which a statement begins that only reads.
const READING: [&str; 8] = ["SELECT", "VALUES", "TABLE", "SHOW", "WITH", "DESCRIBE", "DESC", "EXPLAIN"];

/// Words with which transactions begin and end.
const CONTROL: [&str; 9] = ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "SET"];

/// The statement's words in capitals, with the depth of parentheses of each; strings, names and numbers left out.
fn words(statement: &str, dialect: Dialect) -> Vec<(String, usize)> {
    let mut depth = 0_usize;
    let mut words = Vec::new();
    for token in tokens(statement, dialect) {
        match (token.kind, token.text(statement)) {
            (TokenKind::Symbol, "(") => depth += 1,
            (TokenKind::Symbol, ")") => depth = depth.saturating_sub(1),
            (TokenKind::Word, word) => words.push((word.to_ascii_uppercase(), depth)),
            _ => {}
        }
    }
    words
}

/// The first word, in capitals; empty where there is none.
pub fn first_word(statement: &str, dialect: Dialect) -> String {
    words(statement, dialect).into_iter().next().map(|(word, _)| word).unwrap_or_default()
}

/// Whether it only reads and locks nothing, as far as its words say: SELECT without INTO and FOR UPDATE, VALUES, TABLE,
/// SHOW, and WITH before such a one.
pub fn is_read(statement: &str, dialect: Dialect) -> bool {
    let words = words(statement, dialect);
    let Some((first, _)) = words.first() else { return false };
    if !READING.contains(&first.as_str()) {
        return false;
    }
    let follows = |at: usize, word: &str| words.get(at + 1).is_some_and(|(next, _)| next == word);
    words.iter().enumerate().all(|(at, (word, depth))| match word.as_str() {
        "INTO" => *depth > 0,
        "FOR" => !["UPDATE", "SHARE", "NO", "KEY"].iter().any(|lock| follows(at, lock)),
        "LOCK" => !follows(at, "IN"),
        // A column or a function may be named so; a common table expression is in parentheses behind AS.
        word if first == "WITH" && WRITING[..5].contains(&word) => false,
        _ => true,
    })
}

/// Whether the rows of its answer have an order.
pub fn has_order_by(statement: &str, dialect: Dialect) -> bool {
    let words = words(statement, dialect);
    words.windows(2).any(|pair| pair[0].0 == "ORDER" && pair[1].0 == "BY" && pair[0].1 == 0)
}

/// Whether it begins or ends a transaction, or sets something for the session.
pub fn is_transaction_control(statement: &str, dialect: Dialect) -> bool {
    CONTROL.contains(&first_word(statement, dialect).as_str())
}

/// Whether a transaction begins or ends with it; savepoints stay within one.
pub fn is_transaction_border(statement: &str, dialect: Dialect) -> bool {
    let words = words(statement, dialect);
    let word = |at: usize| words.get(at).map_or("", |(word, _)| word.as_str());
    match word(0) {
        "BEGIN" | "START" | "COMMIT" | "END" | "ABORT" => true,
        "ROLLBACK" => !words.iter().any(|(word, _)| word == "TO"),
        "PREPARE" => word(1) == "TRANSACTION",
        _ => false,
    }
}

/// Whether it changes something, by its first word.
pub fn writes(statement: &str, dialect: Dialect) -> bool {
    WRITING.contains(&first_word(statement, dialect).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_told_from_writes() {
        for (text, reads) in [
            ("SELECT 1", true),
            ("  /* x */ select * from t where a = 'for update'", true),
            ("SELECT * FROM t FOR UPDATE", false),
            ("SELECT * FROM t FOR NO KEY UPDATE", false),
            ("SELECT * FROM t LOCK IN SHARE MODE", false),
            ("SELECT a INTO b FROM t", false),
            ("WITH x AS (SELECT 1) SELECT * FROM x", true),
            ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", false),
            ("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", false),
            ("VALUES (1)", true),
            ("INSERT INTO t VALUES (1)", false),
            ("CALL p()", false),
            ("BEGIN", false),
            ("", false),
        ] {
            assert_eq!(is_read(text, Dialect::Postgres), reads, "{text}");
        }
        assert!(is_read("(SELECT 1) UNION (SELECT 2)", Dialect::Mysql));
    }

    #[test]
    fn savepoints_are_no_borders_of_a_transaction() {
        for text in
            ["begin;", "/* x */ START TRANSACTION", "END", "commit and chain", "ROLLBACK", "PREPARE TRANSACTION 'x'"]
        {
            assert!(is_transaction_border(text, Dialect::Postgres), "{text}");
        }
        for text in ["ROLLBACK TO SAVEPOINT a", "SAVEPOINT a", "RELEASE a", "PREPARE a AS SELECT 1", "SET a = 1", ""] {
            assert!(!is_transaction_border(text, Dialect::Postgres), "{text}");
        }
    }

    #[test]
    fn an_order_counts_at_the_top_alone() {
        for (text, has) in [
            ("SELECT * FROM t ORDER BY a", true),
            ("SELECT * FROM (SELECT * FROM t ORDER BY a) x", false),
            ("SELECT rank() OVER (ORDER BY a) FROM t", false),
            ("SELECT 'ORDER BY'", false),
        ] {
            assert_eq!(has_order_by(text, Dialect::Postgres), has, "{text}");
        }
    }
}
