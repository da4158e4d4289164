//! Text cut into statements while it comes, line by line, each byte looked at once.
//!
//! In: lines. Out: statements without the mark at their end. A `;` ends a statement outside of strings, comments and
//! parentheses; on PostgreSQL not within the body of a routine in `BEGIN ATOMIC ... END`; on MySQL and MariaDB the mark
//! may be another one (`DELIMITER`).

use crate::Dialect;
use memchr::memmem;

/// Where the text so far ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Plain,
    /// In a string or name in these quotes.
    Quoted {
        quote: u8,
        has_backslash: bool,
    },
    /// In a comment up to the end of the line.
    Line,
    /// In a comment, nested so deep.
    Block(usize),
    /// In a string in dollar quotes.
    Dollar(Vec<u8>),
}

/// A statement under way.
#[derive(Debug)]
pub(crate) struct Splitter {
    dialect: Dialect,
    state: State,
    pub(crate) delimiter: Vec<u8>,
    text: Vec<u8>,
    parentheses: usize,
    /// The word that is being read, in capitals.
    word: Vec<u8>,
    /// How many words there were, and whether they began with CREATE ... FUNCTION or PROCEDURE.
    is_routine: bool,
    begins_create: Option<bool>,
    /// BEGIN and CASE of a routine's body that are open.
    blocks: usize,
    /// Whether there is more than blanks and comments.
    has_content: bool,
}

impl Splitter {
    pub(crate) fn new(dialect: Dialect) -> Splitter {
        Splitter {
            dialect,
            state: State::Plain,
            delimiter: b";".to_vec(),
            text: Vec::new(),
            parentheses: 0,
            word: Vec::new(),
            is_routine: false,
            begins_create: None,
            blocks: 0,
            has_content: false,
        }
    }

    /// Whether no statement has begun.
    pub(crate) fn is_between(&self) -> bool {
        !self.has_content && matches!(self.state, State::Plain | State::Line)
    }

    /// Whether something is open that its end must close.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.state, State::Plain | State::Line)
    }

    /// Takes a line with its end; statements that it completes go to `done`.
    pub(crate) fn push(&mut self, line: &[u8], done: &mut dyn FnMut(Vec<u8>)) {
        let mut at = 0;
        while at < line.len() {
            at += self.step(line, at, done);
        }
        if self.state == State::Line {
            self.state = State::Plain;
        }
        self.end_word();
    }

    /// What is left at the end of the text, if it is a statement.
    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        let text = std::mem::take(&mut self.text);
        std::mem::take(&mut self.has_content).then_some(text)
    }

    /// One byte or mark; how many bytes it was.
    fn step(&mut self, line: &[u8], at: usize, done: &mut dyn FnMut(Vec<u8>)) -> usize {
        let rest = &line[at..];
        let taken = match &mut self.state {
            State::Line => rest.len(),
            State::Quoted { quote, has_backslash } => {
                let quote = *quote;
                let end = rest.iter().position(|byte| *byte == quote || *has_backslash && *byte == b'\\');
                match end {
                    None => rest.len(),
                    Some(end) if rest[end] == b'\\' && quote != b'\\' => (end + 2).min(rest.len()),
                    Some(end) if rest.get(end + 1) == Some(&quote) => end + 2,
                    Some(end) => {
                        self.state = State::Plain;
                        end + 1
                    }
                }
            }
            State::Block(depth) => match rest {
                [b'*', b'/', ..] => {
                    *depth -= 1;
                    if *depth == 0 {
                        self.state = State::Plain;
                    }
                    2
                }
                [b'/', b'*', ..] if self.dialect.is_postgres() => {
                    *depth += 1;
                    2
                }
                _ => 1 + rest[1..].iter().position(|byte| matches!(byte, b'*' | b'/')).unwrap_or(rest.len() - 1),
            },
            State::Dollar(tag) => match memmem::find(rest, tag) {
                Some(end) => {
                    let length = end + tag.len();
                    self.state = State::Plain;
                    length
                }
                None => rest.len(),
            },
            State::Plain => return self.plain(rest, done),
        };
        self.keep(&rest[..taken]);
        taken
    }

    /// Adds to the statement; comments in front of it are no part of it.
    fn keep(&mut self, text: &[u8]) {
        if self.has_content {
            self.text.extend_from_slice(text);
        }
    }

    /// Outside of strings and comments.
    fn plain(&mut self, rest: &[u8], done: &mut dyn FnMut(Vec<u8>)) -> usize {
        let is_postgres = self.dialect.is_postgres();
        let byte = rest[0];
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        if rest.starts_with(&self.delimiter) && self.parentheses == 0 {
            self.end_word();
            if self.blocks == 0 {
                let text = std::mem::take(&mut self.text);
                if std::mem::take(&mut self.has_content) {
                    done(text);
                }
                (self.begins_create, self.is_routine) = (None, false);
                return self.delimiter.len();
            }
        }
        if is_word {
            self.word.push(byte.to_ascii_uppercase());
        } else {
            let has_backslash = !is_postgres || self.word == b"E";
            self.end_word();
            let comment = |mark: &[u8]| rest.starts_with(mark);
            let is_dash = comment(b"--") && (is_postgres || rest.get(2).is_none_or(|c| c.is_ascii_whitespace()));
            if is_dash || !is_postgres && byte == b'#' {
                self.state = State::Line;
                self.keep(&rest[..1]);
                return 1;
            }
            if comment(b"/*") {
                self.state = State::Block(1);
                // What servers execute in a comment is content.
                self.has_content |= !is_postgres && (comment(b"/*!") || comment(b"/*M!"));
                self.keep(b"/*");
                return 2;
            }
            match byte {
                b'\'' => self.state = State::Quoted { quote: b'\'', has_backslash },
                b'"' => self.state = State::Quoted { quote: b'"', has_backslash: !is_postgres },
                b'`' if !is_postgres => self.state = State::Quoted { quote: b'`', has_backslash: false },
                b'(' => self.parentheses += 1,
                b')' => self.parentheses = self.parentheses.saturating_sub(1),
                b'$' if is_postgres => {
                    if let Some(tag) = dollar_tag(rest) {
                        self.has_content = true;
                        self.text.extend_from_slice(&tag);
                        let length = tag.len();
                        self.state = State::Dollar(tag);
                        return length;
                    }
                }
                _ => {}
            }
        }
        self.has_content |= !byte.is_ascii_whitespace();
        self.keep(&rest[..1]);
        1
    }

    /// A word is over: whether it begins or ends a block of a routine.
    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let begins_create = *self.begins_create.get_or_insert(word == b"CREATE");
        if !begins_create || !self.dialect.is_postgres() {
            return;
        }
        match &word[..] {
            b"FUNCTION" | b"PROCEDURE" => self.is_routine = true,
            b"BEGIN" | b"CASE" if self.is_routine => self.blocks += 1,
            b"END" if self.is_routine => self.blocks = self.blocks.saturating_sub(1),
            _ => {}
        }
    }
}

/// The mark in front of a string in dollar quotes.
fn dollar_tag(text: &[u8]) -> Option<Vec<u8>> {
    let end = text[1..].iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80))? + 1;
    let is_tag = text[end] == b'$' && !text[1].is_ascii_digit();
    is_tag.then(|| text[..=end].to_vec())
}
