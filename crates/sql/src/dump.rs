//! Dumps and SQL files, read as a stream: pg_dump's plain form, mysqldump's, mariadb-dump's, and whatever is written by
//! hand.
//!
//! In: bytes. Out: statements to send, rows of COPY, and what is left out, each with its line. Owners and rights are
//! left out, since the roles are not there, and so is what says where a replica stands. `\restrict` and the sandbox
//! line of mariadb-dump say nothing to a server; other commands of a client are refused.

mod binary;
mod definer;
mod item;
mod told;

use crate::Dialect;
use crate::split::Splitter;
pub use item::{Item, What};
use std::collections::VecDeque;
use std::io::BufRead;

/// Rows of COPY are handed on in pieces of about this size.
const CHUNK_BYTES: usize = 64 << 10;

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
    #[error(
        "line {line}: {error} in the statement; convert the file first, iconv -f LATIN1 -t UTF-8, or dump bytes with --hex-blob"
    )]
    Encoding {
        /// Where.
        line: usize,
        /// What is wrong.
        error: std::str::Utf8Error,
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
    /// Whether it says that its text is UTF-8.
    says_utf8: bool,
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
            says_utf8: false,
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
                    self.ready.push_back(Item { line: self.line, what: What::Connect(connected(rest)) });
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
        let text = match String::from_utf8(text) {
            Ok(text) => text,
            Err(error) if self.dialect.is_postgres() => {
                return Err(DumpError::Encoding { line, error: error.utf8_error() });
            }
            Err(error) => binary::with_digits(error.as_bytes(), self.says_utf8)
                .ok_or_else(|| DumpError::Encoding { line, error: error.utf8_error() })?,
        };
        if let Some(says_utf8) = told::says_utf8(&text) {
            self.says_utf8 = says_utf8;
        }
        let what = told::told(text.trim().to_owned(), self.dialect);
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

/// The database of a `\connect`: its name, or where that has special characters a connection string, as in
/// `-reuse-previous=on "dbname='my-shop'"`.
fn connected(words: &str) -> String {
    match words.split_once("dbname='").and_then(|(_, quoted)| quoted.rsplit_once('\'')) {
        Some((name, _)) => name.replace("\\'", "'").replace("\\\\", "\\"),
        None => words.split_whitespace().last().unwrap_or_default().trim_matches('"').to_owned(),
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

#[cfg(test)]
mod tests;
