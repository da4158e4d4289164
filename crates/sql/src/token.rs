//! SQL text cut into tokens, without gaps.
//!
//! In: text and its dialect. Out: tokens whose texts, put together, are the text. Whatever the text is, nothing
//! panics: a string or comment that nobody closed goes to the end.

use crate::Dialect;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Spaces and line ends.
    Space,
    /// `-- ...`, `# ...`, `/* ... */`.
    Comment,
    /// A comment whose content some servers execute: `/*!40101 ... */`, `/*M! ... */`; also a hint, `/*+ ... */`.
    Executed,
    /// A keyword or a bare name.
    Word,
    /// A name in quotes.
    Name,
    /// A string, of whatever kind, with its quotes.
    String,
    /// A number.
    Number,
    /// `$1`, or `?` on MySQL and MariaDB.
    Parameter,
    /// Anything else: an operator of one or more characters, a comma, a parenthesis.
    Symbol,
}

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
}

impl Token {
    /// Its text.
    pub fn text<'t>(&self, of: &'t str) -> &'t str {
        &of[self.start..self.end]
    }

    /// Whether it says nothing to a server.
    pub fn is_blank(&self) -> bool {
        matches!(self.kind, TokenKind::Space | TokenKind::Comment)
    }
}

/// The tokens of a text.
#[derive(Debug, Clone)]
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
}

/// Cuts a text into tokens.
pub fn tokens(text: &str, dialect: Dialect) -> Tokens<'_> {
    Tokens { text, at: 0, dialect }
}

/// The string, quoted name or comment in a text that nobody closed.
pub fn unclosed(text: &str, dialect: Dialect) -> Option<Token> {
    // What is closed does not reach into a further line.
    let longer = format!("{text}\nx");
    let last = tokens(&longer, dialect).last()?;
    (last.start < text.len()).then_some(Token { end: text.len(), ..last })
}

/// Symbols of several characters that must stay whole.
const LONG_SYMBOLS: [&str; 2] = ["::", ":="];

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (kind, length) = self.first(rest, first);
        let start = self.at;
        self.at += length;
        Some(Token { kind, start, end: self.at })
    }
}

impl Tokens<'_> {
    /// The first token of what is left.
    fn first(&self, rest: &str, first: char) -> (TokenKind, usize) {
        let is_postgres = self.dialect.is_postgres();
        match first {
            c if c.is_whitespace() => (TokenKind::Space, while_true(rest, char::is_whitespace)),
            '-' if self.is_dash_comment(rest) => (TokenKind::Comment, line(rest)),
            '#' if !is_postgres => (TokenKind::Comment, line(rest)),
            '/' if rest.starts_with("/*") => self.block_comment(rest),
            '\'' => (TokenKind::String, self.string(rest, !is_postgres)),
            '"' if is_postgres => (TokenKind::Name, quoted(rest, b'"', false)),
            '"' => (TokenKind::String, quoted(rest, b'"', true)),
            '`' if !is_postgres => (TokenKind::Name, quoted(rest, b'`', false)),
            '$' if is_postgres => dollar(rest).unwrap_or((TokenKind::Symbol, 1)),
            '?' if !is_postgres => (TokenKind::Parameter, 1),
            c if c.is_ascii_digit() => (TokenKind::Number, number(rest)),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => (TokenKind::Number, number(rest)),
            c if is_word_start(c) => self.word(rest),
            c => {
                let long = LONG_SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
                (TokenKind::Symbol, long.map_or(c.len_utf8(), str::len))
            }
        }
    }

    /// `--`; MySQL wants a space behind it.
    fn is_dash_comment(&self, rest: &str) -> bool {
        let Some(behind) = rest.strip_prefix("--") else { return false };
        self.dialect.is_postgres() || behind.chars().next().is_none_or(|c| c.is_whitespace() || c.is_control())
    }

    fn block_comment(&self, rest: &str) -> (TokenKind, usize) {
        let is_nested = self.dialect.is_postgres();
        let is_executed = !is_nested && ["/*!", "/*M!", "/*+"].iter().any(|mark| rest.starts_with(mark))
            || is_nested && rest.starts_with("/*+");
        let kind = if is_executed { TokenKind::Executed } else { TokenKind::Comment };
        let bytes = rest.as_bytes();
        let (mut depth, mut at) = (1, 2);
        while at + 1 < bytes.len() {
            match &bytes[at..at + 2] {
                b"*/" => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return (kind, at);
                    }
                }
                b"/*" if is_nested => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        (kind, rest.len())
    }

    /// A string in single quotes; PostgreSQL's may go on in the next line.
    fn string(&self, rest: &str, has_backslash: bool) -> usize {
        let mut end = quoted(rest, b'\'', has_backslash);
        while self.dialect.is_postgres() {
            let blank = while_true(&rest[end..], char::is_whitespace);
            let goes_on = rest[end..end + blank].contains('\n') && rest[end + blank..].starts_with('\'');
            if !goes_on {
                break;
            }
            end += blank + quoted(&rest[end + blank..], b'\'', has_backslash);
        }
        end
    }

    /// A word, or a string with a letter or a character set in front.
    fn word(&self, rest: &str) -> (TokenKind, usize) {
        let length = while_true(rest, is_word);
        let (word, behind) = rest.split_at(length);
        if !behind.starts_with('\'') {
            let is_unicode_name = word.eq_ignore_ascii_case("u") && behind.starts_with("&\"");
            if self.dialect.is_postgres() && is_unicode_name {
                return (TokenKind::Name, length + 1 + quoted(&behind[1..], b'"', false));
            }
            if self.dialect.is_postgres() && word.eq_ignore_ascii_case("u") && behind.starts_with("&'") {
                return (TokenKind::String, length + 1 + self.string(&behind[1..], false));
            }
            return (TokenKind::Word, length);
        }
        let lower = word.to_ascii_lowercase();
        let is_prefix = match self.dialect {
            Dialect::Postgres => matches!(lower.as_str(), "e" | "b" | "x" | "n"),
            Dialect::Mysql | Dialect::Mariadb => matches!(lower.as_str(), "b" | "x" | "n") || lower.starts_with('_'),
        };
        match is_prefix {
            true => (TokenKind::String, length + self.string(behind, !self.dialect.is_postgres() || lower == "e")),
            false => (TokenKind::Word, length),
        }
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '@' || !c.is_ascii() && !c.is_whitespace() && !c.is_control()
}

fn is_word(c: char) -> bool {
    is_word_start(c) || c.is_ascii_digit() || c == '$'
}

/// Bytes of the characters in front for which that holds.
fn while_true(text: &str, holds: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !holds(c)).unwrap_or(text.len())
}

/// Up to the end of the line.
fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Up to and with the closing quote; a doubled quote is not it.
fn quoted(text: &str, quote: u8, has_backslash: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        if has_backslash && bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at] != quote {
            at += 1;
        } else if bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return at + 1;
        }
    }
    // A backslash may have led behind the end, or into a character.
    let at = at.min(bytes.len());
    (at..=bytes.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(bytes.len())
}

/// `$1`, or a string in dollar quotes.
fn dollar(text: &str) -> Option<(TokenKind, usize)> {
    let digits = while_true(&text[1..], |c| c.is_ascii_digit());
    if digits > 0 {
        return Some((TokenKind::Parameter, 1 + digits));
    }
    let tag = while_true(&text[1..], |c| c.is_alphanumeric() || c == '_');
    let mark = text.get(..tag + 2).filter(|mark| mark.ends_with('$'))?;
    let length = text[mark.len()..].find(mark).map_or(text.len(), |at| at + 2 * mark.len());
    Some((TokenKind::String, length))
}

/// A number, with a point and an exponent if it has such.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| while_true(&text[from..], |c| c.is_ascii_digit() || c == '_');
    let is_hex = bytes.len() > 2 && bytes[0] == b'0' && matches!(bytes[1], b'x' | b'X' | b'b' | b'o');
    if is_hex {
        return 2 + while_true(&text[2..], |c| c.is_ascii_hexdigit());
    }
    let mut at = digits(0);
    // `1..10` is a range, not a number with a point.
    if text[at..].starts_with('.') && !text[at + 1..].starts_with('.') {
        at += 1;
        at += digits(at);
    }
    let exponent = text[at..].strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    if let Some(rest) = exponent.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        at = text.len() - rest.len();
        at += digits(at);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(text: &str, dialect: Dialect) -> String {
        let parts = tokens(text, dialect).filter(|token| token.kind != TokenKind::Space);
        parts.map(|token| format!("{:?}({})", token.kind, token.text(text))).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_dialect_has_its_strings_names_and_comments() {
        use Dialect::{Mysql, Postgres};
        for (text, dialect, expected) in [
            ("a='it''s'", Postgres, "Word(a) Symbol(=) String('it''s')"),
            (r"'a\' 'b'", Postgres, r"String('a\') String('b')"),
            (r"'a\' b' c", Mysql, r"String('a\' b') Word(c)"),
            (r"E'a\'b' 1", Postgres, r"String(E'a\'b') Number(1)"),
            ("$$a;b$$ $x$ $$ $x$ $1", Postgres, "String($$a;b$$) String($x$ $$ $x$) Parameter($1)"),
            ("\"a\"\"b\" x", Postgres, "Name(\"a\"\"b\") Word(x)"),
            ("\"a\" `b`", Mysql, "String(\"a\") Name(`b`)"),
            ("/* a /* b */ c */ 1", Postgres, "Comment(/* a /* b */ c */) Number(1)"),
            ("/* a /* b */ 1", Mysql, "Comment(/* a /* b */) Number(1)"),
            ("/*!40101 SET x */ 1", Mysql, "Executed(/*!40101 SET x */) Number(1)"),
            ("1--2", Mysql, "Number(1) Symbol(-) Symbol(-) Number(2)"),
            ("1--2", Postgres, "Number(1) Comment(--2)"),
            ("a#b", Mysql, "Word(a) Comment(#b)"),
            ("a::int := 1.5e3", Postgres, "Word(a) Symbol(::) Word(int) Symbol(:=) Number(1.5e3)"),
            ("t_2009.x", Postgres, "Word(t_2009) Symbol(.) Word(x)"),
            ("'a'\n 'b'", Postgres, "String('a'\n 'b')"),
            ("_utf8'x' 0xff ?", Mysql, "String(_utf8'x') Number(0xff) Parameter(?)"),
        ] {
            assert_eq!(told(text, dialect), expected, "{text}");
        }
    }

    #[test]
    fn what_nobody_closed_is_found() {
        use Dialect::{Mysql, Postgres};
        for (text, dialect, open) in [
            ("SELECT 'a' -- it's", Postgres, None),
            ("SELECT 'it''s', $$a$$ /* b */", Postgres, None),
            ("SELECT 'a, 1", Postgres, Some("'a, 1")),
            ("SELECT 'a\\'", Mysql, Some("'a\\'")),
            ("SELECT 'a\\'", Postgres, None),
            ("SELECT $x$ a $$", Postgres, Some("$x$ a $$")),
            ("SELECT 1 /* a /* b */", Postgres, Some("/* a /* b */")),
            ("SELECT 1 /* a /* b */", Mysql, None),
            ("SELECT `a", Mysql, Some("`a")),
            ("", Mysql, None),
        ] {
            assert_eq!(unclosed(text, dialect).map(|token| token.text(text).to_owned()).as_deref(), open, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_gaps(text in "(?s).{0,60}|[-'\"`$/*\\\\#a:;1 \n(é]{0,40}") {
            for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::Mariadb] {
                let mut at = 0;
                for token in tokens(&text, dialect) {
                    prop_assert_eq!(token.start, at);
                    prop_assert!(token.end > at && text.is_char_boundary(token.end));
                    at = token.end;
                }
                prop_assert_eq!(at, text.len());
            }
        }
    }
}
