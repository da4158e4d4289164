//! Dumps and SQL files, read as a stream: pg_dump's plain form, mysqldump's, mariadb-dump's, and whatever is written by
//! hand.
//!
//! In: bytes. Out: statements to send, rows of COPY, and what is left out, each with its line. Owners and rights are
//! left out, since the roles are not there, and so is what says where a replica stands. `\restrict` and the sandbox
//! line of mariadb-dump say nothing to a server; other commands of a client are refused.

use crate::Dialect;
use crate::split::Splitter;
use crate::statement_kind::first_word;
use crate::token::{TokenKind, tokens};
use std::collections::VecDeque;
use std::io::BufRead;

/// Rows of COPY are handed on in pieces of about this size.
const CHUNK_BYTES: usize = 64 << 10;

/// A piece of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where it begins, counted from 1.
    pub line: usize,
    /// What it is.
    pub what: What,
}

/// What a piece of a dump is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A statement to send.
    Statement(String),
    /// A COPY; its rows follow.
    Copy(String),
    /// Rows of the COPY under way, whole lines of its text format.
    CopyRows(Vec<u8>),
    /// The COPY is over.
    CopyEnd,
    /// A change of the database.
    Connect(String),
    /// The same on MySQL and MariaDB.
    Use(String),
    /// The database is made.
    CreateDatabase(String),
    /// Something that is not sent.
    LeftOut {
        /// What, such as `ALTER ... OWNER TO`.
        what: String,
        /// Why.
        why: &'static str,
    },
}

/// A dump that cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The file.
    #[error("line {line}: {error}")]
    Io {
        /// Where.
        line: usize,
        /// Why.
        error: std::io::Error,
    },
    /// Text that is not UTF-8.
    #[error("line {line}: the statement is not UTF-8; convert the file first: iconv -f LATIN1 -t UTF-8")]
    Encoding {
        /// Where.
        line: usize,
    },
    /// A command of a client that is not known.
    #[error("line {line}: `{command}` is a command of the client that cannot be done here; take it out")]
    Command {
        /// Where.
        line: usize,
        /// The command.
        command: String,
    },
    /// A statement without an end.
    #[error("line {line}: the string or comment that begins in this statement has no end")]
    Open {
        /// Where.
        line: usize,
    },
    /// Rows without an end.
    #[error("line {line}: the rows of this COPY have no end: a line `\\.` is missing")]
    Rows {
        /// Where.
        line: usize,
    },
    /// An archive that only pg_restore can read.
    #[error("it is an archive of pg_dump, not SQL: turn it into SQL with `pg_restore -f shop.sql ARCHIVE`")]
    Archive,
}

/// A dump under way.
#[derive(Debug)]
pub struct Dump<R> {
    input: R,
    dialect: Dialect,
    splitter: Splitter,
    line: usize,
    /// Where the statement under way began.
    begun: usize,
    /// The line of the COPY whose rows follow.
    copying: Option<usize>,
    ready: VecDeque<Item>,
    is_over: bool,
}

impl<R: BufRead> Dump<R> {
    /// A dump in a dialect.
    pub fn new(input: R, dialect: Dialect) -> Dump<R> {
        Dump {
            input,
            dialect,
            splitter: Splitter::new(dialect),
            line: 0,
            begun: 1,
            copying: None,
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    /// The next line with its end; `None` at the end of the file.
    fn read_line(&mut self) -> Result<Option<Vec<u8>>, DumpError> {
        let mut line = Vec::new();
        let line_number = self.line + 1;
        let read = self.input.read_until(b'\n', &mut line);
        let read = read.map_err(|error| DumpError::Io { line: line_number, error })?;
        self.line = line_number;
        if line_number == 1 && line.starts_with(b"PGDMP") {
            return Err(DumpError::Archive);
        }
        Ok((read > 0).then_some(line))
    }

    /// Reads until something is ready or the file is over.
    fn advance(&mut self) -> Result<(), DumpError> {
        if let Some(line) = self.copying {
            return self.rows(line);
        }
        let Some(line) = self.read_line()? else {
            self.is_over = true;
            if self.splitter.is_open() {
                return Err(DumpError::Open { line: self.begun });
            }
            if let Some(text) = self.splitter.end() {
                self.statement(text)?;
            }
            return Ok(());
        };
        if self.splitter.is_between() {
            self.begun = self.line;
            if self.is_command(&line)? {
                return Ok(());
            }
        }
        let mut done = Vec::new();
        self.splitter.push(&line, &mut |text| done.push(text));
        for text in done {
            self.statement(text)?;
            self.begun = self.line;
        }
        Ok(())
    }

    /// A line that speaks to a client and not to a server.
    fn is_command(&mut self, line: &[u8]) -> Result<bool, DumpError> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if self.dialect.is_postgres() {
            let Some(command) = text.strip_prefix('\\') else { return Ok(false) };
            let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
            match word {
                "restrict" | "unrestrict" | "." | "encoding" => {}
                "connect" | "c" => {
                    let name = rest.split_whitespace().last().unwrap_or_default().trim_matches('"').to_owned();
                    self.ready.push_back(Item { line: self.line, what: What::Connect(name) });
                }
                _ => return Err(DumpError::Command { line: self.line, command: format!("\\{word}") }),
            }
            return Ok(true);
        }
        let mut words = text.split_whitespace();
        if words.next().is_some_and(|word| word.eq_ignore_ascii_case("delimiter")) {
            let mark = words.next().unwrap_or(";");
            self.splitter.delimiter = mark.as_bytes().to_vec();
            return Ok(true);
        }
        // The first line of newer mariadb-dumps, which keeps old clients from doing harm.
        Ok(text.starts_with("/*!999999\\-") || text.starts_with("/*M!999999\\-"))
    }

    fn statement(&mut self, text: Vec<u8>) -> Result<(), DumpError> {
        let line = self.begun;
        let text = String::from_utf8(text).map_err(|_| DumpError::Encoding { line })?;
        let what = told(text.trim().to_owned(), self.dialect);
        if matches!(what, What::Copy(_)) {
            self.copying = Some(line);
        }
        self.ready.push_back(Item { line, what });
        Ok(())
    }

    /// Rows of COPY, up to a chunk of them or their end.
    fn rows(&mut self, begun: usize) -> Result<(), DumpError> {
        let line = self.line + 1;
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK_BYTES {
            let Some(row) = self.read_line()? else { return Err(DumpError::Rows { line: begun }) };
            if row.starts_with(b"\\.") && row[2..].iter().all(u8::is_ascii_whitespace) {
                self.copying = None;
                break;
            }
            chunk.extend_from_slice(&row);
        }
        if !chunk.is_empty() {
            self.ready.push_back(Item { line, what: What::CopyRows(chunk) });
        }
        if self.copying.is_none() {
            self.ready.push_back(Item { line: self.line, what: What::CopyEnd });
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for Dump<R> {
    type Item = Result<Item, DumpError>;

    fn next(&mut self) -> Option<Result<Item, DumpError>> {
        while self.ready.is_empty() && !self.is_over {
            if let Err(error) = self.advance() {
                self.is_over = true;
                self.ready.clear();
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

/// What a statement is to a loader.
fn told(text: String, dialect: Dialect) -> What {
    let words: Vec<String> = tokens(&text, dialect)
        .filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Name | TokenKind::Symbol))
        .take(24)
        .map(|token| token.text(&text).to_ascii_uppercase())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let left_out = |what: &str, why| What::LeftOut { what: what.to_owned(), why };
    let has = |pair: [&str; 2]| words.windows(2).any(|window| window == pair);
    let last_name = || tokens(&text, dialect).filter(|token| !token.is_blank()).last();
    let name = |token: Option<crate::Token>| {
        token.map_or_else(String::new, |token| token.text(&text).trim_matches(['`', '"']).to_owned())
    };
    const ROLES: &str = "the roles of your server are not there";
    const REPLICA: &str = "it says where a replica stands";
    match words[..] {
        ["GRANT" | "REVOKE", ..] => left_out(words[0], ROLES),
        ["ALTER", "DEFAULT", "PRIVILEGES", ..] => left_out("ALTER DEFAULT PRIVILEGES", ROLES),
        ["ALTER", ..] if has(["OWNER", "TO"]) => left_out("ALTER ... OWNER TO", ROLES),
        ["CREATE" | "ALTER" | "DROP", "ROLE" | "USER", ..] => left_out(&format!("{} {}", words[0], words[1]), ROLES),
        ["COMMENT", "ON", "EXTENSION", ..] => left_out("COMMENT ON EXTENSION", "its owner is another role"),
        ["CREATE" | "ALTER" | "DROP", "PUBLICATION" | "SUBSCRIPTION", ..] => {
            left_out(&format!("{} {}", words[0], words[1]), "it is for replication")
        }
        ["SET", ..] if text.contains("GTID_PURGED") => left_out("SET GTID_PURGED", REPLICA),
        ["SET", ..] if text.contains("SQL_LOG_BIN") => left_out("SET SQL_LOG_BIN", REPLICA),
        ["SELECT", "PG_CATALOG", ".", "PG_RESTORE_RELATION_STATS" | "PG_RESTORE_ATTRIBUTE_STATS", ..]
        | ["SELECT", "*", "FROM", "PG_CATALOG", ".", "PG_RESTORE_RELATION_STATS" | "PG_RESTORE_ATTRIBUTE_STATS", ..] => {
            left_out("statistics", "every build gets fresh ones")
        }
        ["CREATE", "DATABASE" | "SCHEMA", ..] if !dialect.is_postgres() || words[1] == "DATABASE" => {
            let quoted = |token: &crate::Token| {
                matches!(token.kind, TokenKind::Name | TokenKind::Word)
                    && !["CREATE", "DATABASE", "SCHEMA", "IF", "NOT", "EXISTS"]
                        .contains(&token.text(&text).to_ascii_uppercase().as_str())
            };
            let found = tokens(&text, dialect).find(quoted);
            What::CreateDatabase(name(found))
        }
        ["ALTER" | "DROP", "DATABASE", ..] => left_out(&format!("{} DATABASE", words[0]), "rqps makes the database"),
        ["CREATE", "SCHEMA", "PUBLIC", ..] => left_out("CREATE SCHEMA public", "it is there"),
        ["USE", ..] if !dialect.is_postgres() => What::Use(name(last_name())),
        ["COPY", ..] if is_copy_in(&words) => What::Copy(text),
        _ if first_word(&text, dialect).is_empty() && text.is_empty() => left_out("an empty statement", "it is empty"),
        _ if dialect.is_postgres() => What::Statement(text),
        _ => What::Statement(without_definer(text, dialect)),
    }
}

fn is_copy_in(words: &[&str]) -> bool {
    words.windows(2).any(|pair| pair == ["FROM", "STDIN"])
}

/// The statement without its `DEFINER = ...`: the user is not there. It may stand in a comment that servers execute.
fn without_definer(text: String, dialect: Dialect) -> String {
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

#[cfg(test)]
mod tests;
