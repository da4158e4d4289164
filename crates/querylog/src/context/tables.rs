//! The tables that a statement names, with their aliases.

use super::{Part, plain};
use rqps_sql::TokenKind;

/// A table that a statement names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
    pub(super) alias: Option<String>,
}

/// Words that are no alias behind a table.
const NOT_ALIASES: [&str; 29] = [
    "WHERE",
    "JOIN",
    "LEFT",
    "RIGHT",
    "INNER",
    "OUTER",
    "CROSS",
    "FULL",
    "NATURAL",
    "ON",
    "USING",
    "GROUP",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "HAVING",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "FOR",
    "SET",
    "VALUES",
    "SELECT",
    "FORCE",
    "IGNORE",
    "RETURNING",
    "DEFAULT",
    "STRAIGHT_JOIN",
    "USE",
];

/// Functions that have a FROM of their own.
const WITH_FROM: [&str; 5] = ["EXTRACT", "SUBSTRING", "TRIM", "OVERLAY", "POSITION"];

/// The tables behind FROM, JOIN, UPDATE and INTO, but for those that the statement itself defines.
pub(super) fn tables(parts: &[Part]) -> Vec<Table> {
    let is = |at: usize, words: &[&str]| {
        parts
            .get(at)
            .is_some_and(|part| !part.is_slot && part.kind != TokenKind::Name && words.contains(&part.upper.as_str()))
    };
    let is_name = |at: usize| parts.get(at).is_some_and(|part| matches!(part.kind, TokenKind::Word | TokenKind::Name));
    let mut found: Vec<Table> = Vec::new();
    let mut defined: Vec<String> = Vec::new();
    // Of each parenthesis that is open, whether it is of a function with a FROM of its own.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        if is(at, &["("]) {
            open.push(at > 0 && is(at - 1, &WITH_FROM));
        } else if is(at, &[")"]) {
            open.pop();
        }
        if is_name(at) && is(at + 1, &["AS"]) && is(at + 2, &["(", "MATERIALIZED"]) {
            defined.push(plain(&parts[at].text));
        }
        let is_from = is(at, &["FROM", "JOIN", "STRAIGHT_JOIN"])
            && open.last() != Some(&true)
            && !(at > 0 && is(at - 1, &["DISTINCT"]));
        let is_target = is(at, &["INTO", "UPDATE"]) && !(at > 0 && is(at - 1, &["FOR", "KEY", "DO", "ON"]));
        if is_from || is_target {
            at += 1;
            loop {
                while is(at, &["ONLY", "LATERAL", "IGNORE", "LOW_PRIORITY"]) {
                    at += 1;
                }
                if !is_name(at) || is(at, &["SELECT", "VALUES"]) {
                    break;
                }
                let mut names = vec![plain(&parts[at].text)];
                at += 1;
                while is(at, &["."]) && is_name(at + 1) {
                    names.push(plain(&parts[at + 1].text));
                    at += 2;
                }
                // A function gives rows too.
                if is(at, &["("]) && is_from {
                    break;
                }
                at += usize::from(is(at, &["AS"]));
                let alias = (is_name(at) && !is(at, &NOT_ALIASES)).then(|| plain(&parts[at].text));
                at += usize::from(alias.is_some());
                let name = names.pop().unwrap_or_default();
                found.push(Table { schema: names.pop(), name, alias });
                if !is(at, &[","]) {
                    break;
                }
                at += 1;
            }
            continue;
        }
        at += 1;
    }
    found.retain(|table| table.schema.is_some() || !defined.contains(&table.name));
    found
}
