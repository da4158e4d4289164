//! What a statement of a dump is to a loader, by its first words: sent, or left out, and why.
//!
//! In: a statement. Out: [`What`] it is. What servers would do with it, it does not know.

use super::definer::without_definer;
use super::item::What;
use crate::Dialect;
use crate::token::{Token, TokenKind, tokens};

/// So many first words decide.
const WORDS: usize = 24;

const ROLES: &str = "the roles of your server are not there";
const REPLICA: &str = "it says where a replica stands";
const DATABASE: &str = "rqps makes the database";
const PLACES: &str = "all data are in one folder";

/// What CREATE DATABASE may say of text.
const POSTGRES_OPTIONS: [&str; 6] = ["ENCODING", "LOCALE", "LC_COLLATE", "LC_CTYPE", "ICU_LOCALE", "BUILTIN_LOCALE"];
const MYSQL_OPTIONS: [&str; 3] = ["CHARACTER SET", "CHARSET", "COLLATE"];

/// What a statement is.
pub(super) fn told(text: String, dialect: Dialect) -> What {
    let words = first_words(&text, dialect);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some((what, why)) = left_out(&words, dialect) {
        return What::LeftOut { what, why };
    }
    match words[..] {
        [] => What::LeftOut { what: "an empty statement".to_owned(), why: "it is empty" },
        ["CREATE", "DATABASE", ..] => database(&text, dialect),
        ["CREATE", "SCHEMA", ..] if !dialect.is_postgres() => database(&text, dialect),
        ["USE", ..] if !dialect.is_postgres() => What::Use(database_name(&text, dialect)),
        ["COPY", ..] if is_copy_in(&text, dialect) => What::Copy(text),
        _ if dialect.is_postgres() => What::Statement(text),
        _ => What::Statement(without_definer(text, dialect)),
    }
}

/// What of it is not sent, and why.
fn left_out(words: &[&str], dialect: Dialect) -> Option<(String, &'static str)> {
    let two = || format!("{} {}", words[0], words[1]);
    let has = |pair: [&str; 2]| words.windows(2).any(|window| window == pair);
    let has_word = |name: &str| words.contains(&name);
    let is_postgres = dialect.is_postgres();
    let set = |name: &str| (format!("SET {name}"), REPLICA);
    Some(match *words {
        ["GRANT" | "REVOKE", ..] => (words[0].to_owned(), ROLES),
        ["ALTER", "DEFAULT", "PRIVILEGES", ..] => ("ALTER DEFAULT PRIVILEGES".to_owned(), ROLES),
        ["ALTER", ..] if is_postgres && has(["OWNER", "TO"]) => ("ALTER ... OWNER TO".to_owned(), ROLES),
        ["SET", "SESSION", "AUTHORIZATION", ..] => ("SET SESSION AUTHORIZATION".to_owned(), ROLES),
        // Policies and the like may need a role: whoever makes it in front of the dump has it.
        ["CREATE", "USER", "MAPPING", ..] => return None,
        ["CREATE", "ROLE" | "USER" | "GROUP", ..] if is_postgres => return None,
        ["CREATE" | "ALTER" | "DROP", "ROLE" | "USER" | "GROUP", ..] => (two(), ROLES),
        ["COMMENT", "ON", "EXTENSION", ..] => ("COMMENT ON EXTENSION".to_owned(), "its owner is another role"),
        ["COMMENT", "ON", what @ ("DATABASE" | "ROLE" | "TABLESPACE" | "PUBLICATION" | "SUBSCRIPTION"), ..] => {
            (format!("COMMENT ON {what}"), "what it is about is left out")
        }
        ["SECURITY", "LABEL", ..] => ("SECURITY LABEL".to_owned(), "what reads it is not there"),
        ["CREATE" | "ALTER" | "DROP", "PUBLICATION" | "SUBSCRIPTION", ..] => (two(), "it is for replication"),
        ["CREATE" | "ALTER" | "DROP", "TABLESPACE", ..] => (two(), PLACES),
        // The empty one, which stands in every dump, is a string and no word.
        ["SET", "DEFAULT_TABLESPACE", _, _, ..] => ("SET default_tablespace".to_owned(), PLACES),
        ["SET", ..] if has_word("GTID_PURGED") => set("GTID_PURGED"),
        ["SET", ..] if has_word("SQL_LOG_BIN") => set("SQL_LOG_BIN"),
        ["SET", ..] if has_word("GTID_SLAVE_POS") => set("gtid_slave_pos"),
        ["CHANGE", "MASTER" | "REPLICATION", ..] | ["START" | "STOP", "SLAVE" | "REPLICA", ..] => (two(), REPLICA),
        ["SELECT", ..] if words.iter().any(|word| is_statistics(word)) => {
            ("statistics".to_owned(), "every build gets fresh ones")
        }
        ["ALTER" | "DROP", "DATABASE", ..] => (two(), DATABASE),
        ["ALTER" | "DROP", "SCHEMA", ..] if !is_postgres => (two(), DATABASE),
        ["CREATE", "SCHEMA", "PUBLIC", ..] => ("CREATE SCHEMA public".to_owned(), "it is there"),
        _ => return None,
    })
}

/// What a short statement such as `/*!40101 SET NAMES utf8mb4 */` says of the text that follows.
pub(super) fn says_utf8(text: &str) -> Option<bool> {
    const LENGTH_MAX: usize = 80;
    let (_, charset) = Some(text).filter(|text| text.len() <= LENGTH_MAX)?.split_once("SET NAMES ")?;
    Some(charset.trim_start_matches(['\'', '`']).starts_with("utf8"))
}

/// Whether rows follow it; a table may have many columns.
fn is_copy_in(text: &str, dialect: Dialect) -> bool {
    let words = tokens(text, dialect).filter(|token| token.kind == TokenKind::Word).map(|token| token.text(text));
    let words: Vec<&str> = words.collect();
    words.windows(2).any(|pair| pair[0].eq_ignore_ascii_case("FROM") && pair[1].eq_ignore_ascii_case("STDIN"))
}

/// Functions by which newer dumps bring statistics along.
fn is_statistics(word: &str) -> bool {
    word.starts_with("PG_RESTORE_") && word.ends_with("_STATS")
}

/// Words, names and symbols in capitals, those in comments that servers execute too. A server variable counts as its
/// name, with or without `@@GLOBAL.` in front.
fn first_words(text: &str, dialect: Dialect) -> Vec<String> {
    let mut words = Vec::new();
    for token in tokens(text, dialect) {
        let word = token.text(text);
        match token.kind {
            TokenKind::Executed if !word.starts_with("/*+") => {
                words.extend(first_words(executed(word), dialect));
            }
            TokenKind::Word | TokenKind::Name | TokenKind::Symbol => words.push(word.to_ascii_uppercase()),
            _ => {}
        }
        if words.len() >= WORDS {
            break;
        }
    }
    words.iter_mut().for_each(|word| {
        if let Some((_, name)) = word.rsplit_once("@@") {
            *word = name.rsplit_once('.').map_or(name, |(_, name)| name).to_owned();
        }
    });
    words
}

/// A database that is made.
fn database(text: &str, dialect: Dialect) -> What {
    let options: &[&str] = if dialect.is_postgres() { &POSTGRES_OPTIONS } else { &MYSQL_OPTIONS };
    let words = words_as_written(text, dialect);
    let is_here = |at: usize, option: &str| {
        let written = || words[at..].iter().map(|(_, word)| word.to_ascii_uppercase());
        option.split(' ').eq(written().take(option.split(' ').count()))
    };
    let mut says = Vec::new();
    for (at, _) in words.iter().enumerate().filter(|(_, (kind, _))| *kind == TokenKind::Word) {
        let Some(option) = options.iter().find(|option| is_here(at, option)) else { continue };
        let behind = words[at + option.split(' ').count()..].iter().find(|(_, word)| word != "=");
        says.extend(behind.map(|(_, value)| (*option, value.trim_matches(['\'', '"', '`']).to_owned())));
    }
    What::CreateDatabase { name: database_name(text, dialect), says }
}

/// All but blanks, those in comments that servers execute too.
fn words_as_written(text: &str, dialect: Dialect) -> Vec<(TokenKind, String)> {
    let mut words = Vec::new();
    for token in tokens(text, dialect).filter(|token| !token.is_blank()) {
        let word = token.text(text);
        match token.kind {
            TokenKind::Executed => words.extend(words_as_written(executed(word), dialect)),
            kind => words.push((kind, word.to_owned())),
        }
    }
    words
}

/// What servers execute of a comment.
fn executed(comment: &str) -> &str {
    let inner = comment.trim_start_matches("/*").trim_start_matches('M').trim_start_matches('!');
    let inner = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    inner.strip_suffix("*/").unwrap_or(inner)
}

/// The name of a database behind CREATE DATABASE or USE.
fn database_name(text: &str, dialect: Dialect) -> String {
    const BEFORE: [&str; 7] = ["CREATE", "DATABASE", "SCHEMA", "USE", "IF", "NOT", "EXISTS"];
    let is_name = |token: &Token| match token.kind {
        TokenKind::Name => true,
        TokenKind::Word => !BEFORE.contains(&token.text(text).to_ascii_uppercase().as_str()),
        _ => false,
    };
    let found = tokens(text, dialect).find(is_name);
    found.map_or_else(String::new, |token| token.text(text).trim_matches(['`', '"']).to_owned())
}
