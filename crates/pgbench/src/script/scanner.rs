//! Where a statement ends.
//!
//! In: the text of a script. Out: one statement after the other, up to a semicolon, a backslash command or the end. The
//! rules are those of psql, which pgbench shares: strings, quoted names, dollar quotes and nested comments are skipped;
//! a semicolon does not end a statement within parentheses, nor within the body of a function that begins with BEGIN.

use crate::fault::Unplaced;
use crate::names::{is_name_part, is_name_start};

/// What ended a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Semicolon,
    /// A backslash; the scanner stands behind it.
    Backslash,
    /// The end of the script.
    Script,
}

/// A statement as it is sent; its text is empty where there was none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    /// Where its text begins in the script.
    pub(super) start: usize,
    pub(super) end: End,
}

/// Words at the beginning of a statement that can make it the definition of a function.
const DEFINING: [&str; 5] = ["create", "or", "replace", "function", "procedure"];

/// The scanner, which stands between two statements.
pub(super) struct Scanner<'a> {
    source: &'a str,
    at: usize,
    parentheses: usize,
    /// BEGIN and CASE without their END, in the body of a function.
    blocks: usize,
    /// The first words of the statement, as far as they are `DEFINING`; `None` for others.
    first_words: [Option<&'static str>; 4],
    words: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a str) -> Scanner<'a> {
        Scanner { source, at: 0, parentheses: 0, blocks: 0, first_words: [None; 4], words: 0 }
    }

    /// Goes past what a meta command took.
    pub(super) fn go_to(&mut self, offset: usize) {
        self.at = offset;
    }

    /// Where the scanner stands.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        &self.source.as_bytes()[self.at..]
    }

    /// The next statement. An open quote or comment is a fault, and what it would swallow is not read.
    pub(super) fn next(&mut self) -> Result<Statement, Unplaced> {
        self.skip_blank();
        let start = self.at;
        let mut text = String::new();
        let mut copied = start;
        let end = loop {
            let at = self.at;
            match self.rest() {
                [] => break End::Script,
                [b';', ..] => {
                    self.at += 1;
                    if self.parentheses == 0 && self.blocks == 0 {
                        self.words = 0;
                        break End::Semicolon;
                    }
                }
                [b'\\', forced @ (b';' | b':'), ..] => {
                    text.push_str(&self.source[copied..at]);
                    copied = at + 1;
                    self.at += 2;
                    if *forced == b';' {
                        self.words = 0;
                    }
                }
                [b'\\', ..] => break End::Backslash,
                rest => match question_length(rest) {
                    0 => self.skip_token()?,
                    length => {
                        text.push_str(&self.source[copied..at]);
                        text.push_str("FALSE");
                        self.at += length;
                        copied = self.at;
                    }
                },
            }
        };
        text.push_str(&self.source[copied..self.at]);
        if end == End::Backslash {
            self.at += 1;
        }
        Ok(Statement { text, start, end })
    }

    /// Skips white space and `--` comments, which are not sent before a statement.
    fn skip_blank(&mut self) {
        loop {
            match self.rest() {
                [byte, ..] if is_space(*byte) => self.at += 1,
                [b'-', b'-', ..] => self.skip_line(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    /// Skips a quote, a comment, a word or a sign.
    fn skip_token(&mut self) -> Result<(), Unplaced> {
        match self.rest() {
            [b'-', b'-', ..] => self.skip_line(),
            [b'/', b'*', ..] => return self.skip_comment(),
            [b'\'', ..] => return self.skip_quoted(b'\''),
            [b'"', ..] => return self.skip_quoted(b'"'),
            [b'e' | b'E', b'\'', ..] => return self.skip_escaped(),
            [b'$', ..] => return self.skip_dollar(),
            [b':', b':', ..] => self.at += 2,
            // A name of a variable is not a word of SQL.
            [b':', ..] => self.at += 1 + self.rest()[1..].iter().take_while(|byte| is_name_part(**byte)).count(),
            [first, ..] if is_name_start(*first) => self.skip_word(),
            [first, ..] => {
                match first {
                    b'(' => self.parentheses += 1,
                    b')' => self.parentheses = self.parentheses.saturating_sub(1),
                    _ => {}
                }
                self.at += 1;
            }
            [] => {}
        }
        Ok(())
    }

    fn skip_word(&mut self) {
        let rest = self.rest();
        let is_part = |byte: &u8| is_name_part(*byte) || *byte == b'$';
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let word = &self.source[self.at..self.at + length];
        self.at += length;
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        if self.words == 0 {
            self.first_words = [None; 4];
        }
        if let Some(first) = self.first_words.get_mut(self.words) {
            *first = DEFINING.into_iter().find(|known| is(known));
        }
        self.words += 1;
        if self.parentheses > 0 || !self.defines_function() {
            return;
        }
        if is("begin") || (is("case") && self.blocks > 0) {
            self.blocks += 1;
        } else if is("end") {
            self.blocks = self.blocks.saturating_sub(1);
        }
    }

    fn defines_function(&self) -> bool {
        let words = match self.first_words {
            [Some("create"), Some("or"), Some("replace"), word] => word,
            [Some("create"), word, ..] => word,
            _ => None,
        };
        matches!(words, Some("function" | "procedure"))
    }

    /// Skips a string or a quoted name. A quote that is doubled ends one and begins the next.
    fn skip_quoted(&mut self, quote: u8) -> Result<(), Unplaced> {
        let what = if quote == b'"' { "quoted name" } else { "string" };
        match self.rest()[1..].iter().position(|byte| *byte == quote) {
            Some(length) => self.at += length + 2,
            None => return Err(self.never_ends(what)),
        }
        Ok(())
    }

    /// Skips `E'...'`, in which a backslash takes the meaning of what follows it, over lines on which it goes on.
    fn skip_escaped(&mut self) -> Result<(), Unplaced> {
        let rest = self.rest();
        let mut length = 2;
        loop {
            match rest.get(length) {
                None => return Err(self.never_ends("string")),
                Some(b'\\') => length += 2,
                Some(b'\'') => match self.continued(self.at + length + 1) {
                    Some(next) => length = next - self.at,
                    None => break,
                },
                Some(_) => length += 1,
            }
        }
        self.at += length + 1;
        Ok(())
    }

    /// Where a string that was closed before `from` goes on: behind a quote that follows at once, or on a later line
    /// with nothing but white space and comments between.
    fn continued(&self, from: usize) -> Option<usize> {
        let bytes = self.source.as_bytes();
        if bytes.get(from) == Some(&b'\'') {
            return Some(from + 1);
        }
        let mut ahead = Scanner::new(self.source);
        ahead.go_to(from);
        ahead.skip_blank();
        let is_later = self.source[from..ahead.at].contains(['\n', '\r']);
        (is_later && bytes.get(ahead.at) == Some(&b'\'')).then_some(ahead.at + 1)
    }

    /// Skips `$tag$...$tag$`, or a dollar that begins no such thing.
    fn skip_dollar(&mut self) -> Result<(), Unplaced> {
        let rest = self.rest();
        let tag = rest[1..].iter().take_while(|byte| is_name_part(**byte)).count();
        let is_quote = rest.get(tag + 1) == Some(&b'$') && !rest[1].is_ascii_digit();
        if !is_quote {
            self.at += 1;
            return Ok(());
        }
        let delimiter = &self.source[self.at..self.at + tag + 2];
        match self.source[self.at + delimiter.len()..].find(delimiter) {
            Some(length) => self.at += length + 2 * delimiter.len(),
            None => return Err(self.never_ends("dollar-quoted string")),
        }
        Ok(())
    }

    /// Skips a comment with the comments in it.
    fn skip_comment(&mut self) -> Result<(), Unplaced> {
        let rest = self.rest();
        let mut depth = 1;
        let mut length = 2;
        while depth > 0 {
            match rest[length..] {
                [b'/', b'*', ..] => (depth, length) = (depth + 1, length + 2),
                [b'*', b'/', ..] => (depth, length) = (depth - 1, length + 2),
                [_, ..] => length += 1,
                [] => return Err(self.never_ends("comment")),
            }
        }
        self.at += length;
        Ok(())
    }

    /// The fault of something that begins here; the rest of the script is not read.
    fn never_ends(&mut self, what: &str) -> Unplaced {
        let fault = Unplaced::new(self.at, format!("this {what} does not end"));
        self.at = self.source.len();
        fault
    }
}

/// Length of psql's `:{?name}`, whether a variable is set: pgbench answers FALSE, whatever is set. 0 if it is not
/// there.
fn question_length(text: &[u8]) -> usize {
    let Some(name) = text.strip_prefix(b":{?") else { return 0 };
    match name.iter().position(|byte| !is_name_part(*byte)) {
        Some(length) if length > 0 && name[length] == b'}' => length + 4,
        _ => 0,
    }
}

fn is_space(byte: u8) -> bool {
    crate::value::is_space(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a script in which no backslash command has arguments.
    fn statements(source: &str) -> Vec<String> {
        let mut scanner = Scanner::new(source);
        let mut found = Vec::new();
        loop {
            let statement = scanner.next().expect("all ends");
            if !statement.text.is_empty() {
                found.push(statement.text);
            }
            if statement.end == End::Script {
                return found;
            }
        }
    }

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        assert_eq!(statements(source), expected, "{source}");
    }

    #[test]
    fn a_semicolon_ends_a_statement() {
        check("SELECT 1; SELECT 2", &["SELECT 1;", "SELECT 2"]);
        check(" -- no\n\tSELECT 1 -- ;\n ;\n\n", &["SELECT 1 -- ;\n ;"]);
        check("/* a */ -- b\n SELECT 1;;", &["/* a */ -- b\n SELECT 1;", ";"]);
        check("SELECT (1;2); x", &["SELECT (1;2);", "x"]);
        check("SELECT 1)); x", &["SELECT 1));", "x"]);
        check("-- only a comment", &[]);
    }

    #[test]
    fn quotes_and_comments_hide_semicolons_and_backslashes() {
        for hidden in [
            "';'",
            "'\\'",
            "'it''s;'",
            "\";\"",
            "\"a\"\";\"",
            "$$;$$",
            "$a$;$b$;$$$a$",
            "/*;/*;*/;*/",
            "--;\\\n",
            "E'\\';'",
            "E'a'\n 'b\\';'",
            "e'a''\\';'",
            "U&';'",
            "U&\";\"",
            "x';'",
            "N';'",
            "$é1$;$é1$",
        ] {
            let statement = format!("SELECT {hidden};");
            check(&format!("{statement} x"), &[&statement, "x"]);
        }
        check("SELECT 'a\\'; x", &["SELECT 'a\\';", "x"]);
    }

    #[test]
    fn a_dollar_within_a_name_quotes_nothing() {
        check("SELECT a$b$; x$b$; $1$; y", &["SELECT a$b$;", "x$b$;", "$1$;", "y"]);
    }

    #[test]
    fn forced_signs_stay_in_the_statement() {
        check("SELECT 1\\; SELECT '\\;'\\:\\:int; x", &["SELECT 1; SELECT '\\;'::int;", "x"]);
    }

    #[test]
    fn whether_a_variable_is_set_is_false() {
        check("SELECT :{?a}, ':{?a}', :{?}, :{?a; x", &["SELECT FALSE, ':{?a}', :{?}, :{?a;", "x"]);
    }

    #[test]
    fn the_body_of_a_function_is_one_statement() {
        let body =
            "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN 1=1 THEN 1 END; SELECT 2; END;";
        check(&format!("{body} x"), &[body, "x"]);
        let body = "create procedure p() begin atomic select 1; end;";
        check(&format!("{body} BEGIN; x; END;"), &[body, "BEGIN;", "x;", "END;"]);
        check("CREATE TABLE begin (a int); x", &["CREATE TABLE begin (a int);", "x"]);
        check("CREATE FUNCTION :begin ; x", &["CREATE FUNCTION :begin ;", "x"]);
    }

    #[test]
    fn what_never_ends_is_a_fault_where_it_begins() {
        for (source, offset) in
            [("x 'a", 2), ("\"a", 0), ("a /* /* */", 2), ("a $b$ $$", 2), ("E'\\'", 0), ("E'a\\", 0)]
        {
            let fault = Scanner::new(source).next().expect_err(source);
            assert_eq!(fault.offset, offset, "{fault:?}");
        }
    }
}
