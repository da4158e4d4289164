//! Words, numbers and signs of an expression.
//!
//! In: the text of a line, which a backslash at its end continues. Out: tokens with their offsets.

use crate::fault::Unplaced;
use crate::names::{is_name_part, is_name_start, variable_length};
use crate::value::double_from_text;

/// What an expression is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Int(i64),
    /// 2^63, which is a number only behind a minus.
    IntLimit,
    Double(f64),
    /// A variable's name, without its colon.
    Variable(&'a str),
    /// A word that is no keyword: a function's name.
    Name(&'a str),
    Keyword(Keyword),
    /// One of `+ - * / % | & # ~ ( ) , < <= << > >= >> = <>`; `!=` is `<>`.
    Sign(&'static str),
    End,
}

/// A word with a meaning of its own, in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    Case,
    Else,
    End,
    False,
    Is,
    IsNull,
    Not,
    NotNull,
    Null,
    Or,
    Then,
    True,
    When,
}

const KEYWORDS: [(&str, Keyword); 14] = [
    ("and", Keyword::And),
    ("case", Keyword::Case),
    ("else", Keyword::Else),
    ("end", Keyword::End),
    ("false", Keyword::False),
    ("is", Keyword::Is),
    ("isnull", Keyword::IsNull),
    ("not", Keyword::Not),
    ("notnull", Keyword::NotNull),
    ("null", Keyword::Null),
    ("or", Keyword::Or),
    ("then", Keyword::Then),
    ("true", Keyword::True),
    ("when", Keyword::When),
];

/// Signs as they are typed and as they are known, the longer ones first.
const SIGNS: [(&str, &str); 21] = [
    ("<>", "<>"),
    ("!=", "<>"),
    ("<=", "<="),
    (">=", ">="),
    ("<<", "<<"),
    (">>", ">>"),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "%"),
    ("|", "|"),
    ("&", "&"),
    ("#", "#"),
    ("~", "~"),
    ("(", "("),
    (")", ")"),
    (",", ","),
];

/// Tokens of a text, one after the other.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Lexer<'a> {
        Lexer { text, at }
    }

    /// The next token with its offset.
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>), Unplaced> {
        self.skip_space();
        let at = self.at;
        let rest = &self.text[at..];
        let bytes = rest.as_bytes();
        let Some(first) = bytes.first() else { return Ok((at, Token::End)) };
        let (length, token) = match first {
            b':' => match variable_length(&bytes[1..]) {
                0 => return Err(unexpected(at, rest)),
                length => (length + 1, Token::Variable(&rest[1..=length])),
            },
            b'0'..=b'9' | b'.' => number(at, rest)?,
            first if is_name_start(*first) => {
                let length = bytes.iter().position(|byte| !is_name_part(*byte)).unwrap_or(bytes.len());
                (length, word(&rest[..length]))
            }
            _ => {
                let sign = SIGNS.iter().find(|(typed, _)| rest.starts_with(typed));
                let (typed, sign) = sign.ok_or_else(|| unexpected(at, rest))?;
                (typed.len(), Token::Sign(sign))
            }
        };
        self.at += length;
        Ok((at, token))
    }

    /// Skips white space, and backslashes that continue the line.
    fn skip_space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let length = match rest.as_bytes() {
                [b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c', ..] => 1,
                [b'\\', b'\n', ..] => 2,
                [b'\\', b'\r', b'\n', ..] => 3,
                _ => return,
            };
            self.at += length;
        }
    }
}

fn unexpected(at: usize, rest: &str) -> Unplaced {
    let char = rest.chars().next().unwrap_or(' ');
    Unplaced::new(at, format!("unexpected character ({char})"))
}

fn word(word: &str) -> Token<'_> {
    let keyword = KEYWORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
    keyword.map_or(Token::Name(word), |(_, keyword)| Token::Keyword(*keyword))
}

/// The number that a text begins with, as long as it can be.
fn number(at: usize, rest: &str) -> Result<(usize, Token<'static>), Unplaced> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    if bytes.get(length) == Some(&b'.') {
        let decimals = digits(length + 1);
        if whole + decimals == 0 {
            return Err(unexpected(at, rest));
        }
        length += 1 + decimals;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(bytes.len().min(length + 1 + sign));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    let typed = &rest[..length];
    let token = if length > whole {
        let double = double_from_text(typed);
        Token::Double(double.ok_or_else(|| Unplaced::new(at, format!("double constant overflow ({typed})")))?)
    } else if typed == "9223372036854775808" {
        Token::IntLimit
    } else {
        let int = typed.parse();
        Token::Int(int.map_err(|_| Unplaced::new(at, format!("bigint constant overflow ({typed})")))?)
    };
    Ok((length, token))
}
