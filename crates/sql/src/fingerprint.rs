//! A statement without its values: what it has in common with others that differ in values alone, and where they stand.
//!
//! In: a statement. Out: its fingerprint, its shape, and its slots. A slot is a literal or a parameter in whose place
//! another value could stand. What could not be prepared so is none: positions in ORDER BY, lengths of types, strings
//! that must be literals.

use crate::Dialect;
use crate::literal::Literal;
use crate::token::{Token, TokenKind, tokens};

/// A statement, its values apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Alike for statements that differ in values, in how long their lists are, in comments, blanks and capitals.
    pub key: String,
    /// Alike for those that have their values in the same places too.
    pub shape: String,
    /// Where values stand.
    pub slots: Vec<Slot>,
}

/// A place in a statement where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// What stands there.
    pub value: SlotValue,
    /// Whether it stands for a list whose length the server did not tell: `$1 /*, ... */`.
    pub is_list: bool,
}

/// What stands in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotValue {
    /// A literal.
    Literal(Literal),
    /// NULL, where another value could stand.
    Null,
    /// `$1` with its number, or `?`.
    Parameter(Option<usize>),
}

/// How PostgreSQL writes of a list that it left its other members out.
const MORE_OF_LIST: &str = "/*, ... */";

/// Types with a length behind them.
const TYPES: [&str; 17] = [
    "DECIMAL",
    "NUMERIC",
    "VARCHAR",
    "CHAR",
    "CHARACTER",
    "VARYING",
    "BIT",
    "VARBIT",
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "TIME",
    "TIMETZ",
    "INTERVAL",
    "FLOAT",
    "BINARY",
    "VARBINARY",
    "DATETIME",
];

/// Words behind which only a literal can stand.
const BEFORE_LITERALS: [&str; 6] = ["AS", "SEPARATOR", "ESCAPE", "COLLATE", "PATH", "UESCAPE"];

/// Words that end a list of ORDER BY or GROUP BY.
const AFTER_ORDER: [&str; 9] = ["LIMIT", "OFFSET", "HAVING", "FETCH", "FOR", "UNION", "EXCEPT", "INTERSECT", "ROWS"];

/// Words before a minus that belongs to the number behind it.
const BEFORE_SIGN: [&str; 15] = [
    "SELECT", "AND", "OR", "IN", "VALUES", "BETWEEN", "LIMIT", "OFFSET", "THEN", "ELSE", "WHEN", "RETURN", "LIKE",
    "BY", "NOT",
];

/// Takes the values out of a statement.
pub fn fingerprint(text: &str, dialect: Dialect) -> Fingerprint {
    let all: Vec<Token> = tokens(text, dialect).filter(|token| token.kind != TokenKind::Space).collect();
    let mut walk = Walk::over(text, dialect);
    for token in all {
        walk.take(token);
    }
    let parts = |of_shape: bool| {
        let part = |part: &Part| match part {
            Part::Text(text) => text.to_ascii_lowercase(),
            Part::Kept(text) => text.clone(),
            Part::Slot(number) => match walk.slots[*number].value {
                SlotValue::Parameter(Some(number)) if of_shape => format!("${number}"),
                _ => "?".to_owned(),
            },
        };
        walk.parts.iter().map(part).collect::<Vec<String>>()
    };
    let (key, shape) = (merged(parts(false)).join(" "), parts(true).join(" "));
    Fingerprint { key, shape, slots: walk.slots }
}

/// A part of a statement as a fingerprint has it.
#[derive(Debug)]
enum Part {
    /// A word, whose capitals say nothing.
    Text(String),
    /// Anything else that stays.
    Kept(String),
    /// The slot of that number.
    Slot(usize),
}

/// The walk over a statement's tokens.
struct Walk<'t> {
    text: &'t str,
    dialect: Dialect,
    /// Tokens so far that are no comments.
    before: Vec<Token>,
    parts: Vec<Part>,
    slots: Vec<Slot>,
    /// Of each parenthesis that is open, what it holds.
    open: Vec<Within>,
    /// Whether each parenthesis level, from the outermost, is in a list of ORDER BY or GROUP BY.
    in_order: Vec<bool>,
}

/// What a parenthesis or bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Parenthesis,
    /// The lengths of a type.
    Type,
    /// A subscript or a slice.
    Subscript,
    /// The members of an array.
    Array,
}

impl<'t> Walk<'t> {
    fn over(text: &'t str, dialect: Dialect) -> Walk<'t> {
        Walk {
            text,
            dialect,
            before: Vec::new(),
            parts: Vec::new(),
            slots: Vec::new(),
            open: Vec::new(),
            in_order: vec![false],
        }
    }

    /// The token so many before this one, in capitals.
    fn back(&self, by: usize) -> Option<(TokenKind, String)> {
        let token = self.before.len().checked_sub(by).and_then(|at| self.before.get(at))?;
        Some((token.kind, token.text(self.text).to_ascii_uppercase()))
    }

    fn follows(&self, words: &[&str]) -> bool {
        self.back(1).is_some_and(|(kind, word)| kind == TokenKind::Word && words.contains(&word.as_str()))
    }

    fn follows_symbol(&self, symbols: &[&str]) -> bool {
        self.back(1).is_some_and(|(kind, word)| kind == TokenKind::Symbol && symbols.contains(&word.as_str()))
    }

    fn take(&mut self, token: Token) {
        let word = token.text(self.text);
        match token.kind {
            TokenKind::Comment => {
                if let Some(slot) = self.slots.last_mut().filter(|_| word == MORE_OF_LIST) {
                    slot.is_list = true;
                }
                return;
            }
            TokenKind::Word if word.eq_ignore_ascii_case("NULL") && self.follows_symbol(&["(", ",", "="]) => {
                self.slot(token, SlotValue::Null);
            }
            TokenKind::Word => {
                self.order(word);
                self.parts.push(Part::Text(word.to_owned()));
            }
            TokenKind::Parameter => {
                self.slot(token, SlotValue::Parameter(word[1..].parse().ok()));
            }
            TokenKind::String | TokenKind::Number => match self.literal(token) {
                Some(literal) => self.slot(token, SlotValue::Literal(literal)),
                None => self.parts.push(Part::Kept(word.to_owned())),
            },
            TokenKind::Symbol => {
                self.nest(word);
                self.parts.push(Part::Kept(word.to_owned()));
            }
            _ => self.parts.push(Part::Kept(word.to_owned())),
        }
        self.before.push(token);
    }

    /// Adds a slot, with the sign in front of it.
    fn slot(&mut self, token: Token, value: SlotValue) {
        let is_number = matches!(value, SlotValue::Literal(Literal::Number(_)));
        let (start, value) = match (is_number && self.is_signed(), value) {
            (true, SlotValue::Literal(Literal::Number(number))) => {
                self.parts.pop();
                let minus = self.before.last().map_or(token.start, |minus| minus.start);
                (minus, SlotValue::Literal(Literal::Number(format!("-{number}"))))
            }
            (_, value) => (token.start, value),
        };
        self.parts.push(Part::Slot(self.slots.len()));
        self.slots.push(Slot { start, end: token.end, value, is_list: false });
    }

    /// Whether the token before is a minus that belongs to the number.
    fn is_signed(&self) -> bool {
        let follows = self.back(2).is_none_or(|(kind, word)| match kind {
            TokenKind::Symbol => !matches!(word.as_str(), ")" | "]"),
            TokenKind::Word => BEFORE_SIGN.contains(&word.as_str()),
            _ => false,
        });
        self.follows_symbol(&["-"]) && follows
    }

    /// The literal of a token in whose place a value could stand.
    fn literal(&self, token: Token) -> Option<Literal> {
        let literal = Literal::of(token.text(self.text), token.kind, self.dialect)?;
        let is_number = token.kind == TokenKind::Number;
        let is_path = !self.dialect.is_postgres() && self.follows_symbol(&[">"]) && {
            let (last, minus) = (self.back(2), self.back(3));
            let is =
                |token: &Option<(TokenKind, String)>, what: &str| token.as_ref().is_some_and(|(_, word)| word == what);
            is(&last, "-") || is(&last, ">") && is(&minus, "-")
        };
        let is_fixed = self.follows(&BEFORE_LITERALS)
            || is_path
            || is_number && self.follows(&["SELECT", "DISTINCT"])
            || is_number && self.is_position()
            || matches!(self.open.last(), Some(Within::Type | Within::Subscript));
        (!is_fixed).then_some(literal)
    }

    /// Whether a number is the position of a column in ORDER BY or GROUP BY.
    fn is_position(&self) -> bool {
        let begins = self.follows(&["BY"]) || self.follows_symbol(&[","]);
        self.in_order.last() == Some(&true) && begins
    }

    /// Notes where lists of ORDER BY and GROUP BY begin and end.
    fn order(&mut self, word: &str) {
        let upper = word.to_ascii_uppercase();
        let begins = upper == "BY" && self.follows(&["ORDER", "GROUP"]);
        if let Some(last) = self.in_order.last_mut() {
            *last = begins || *last && !AFTER_ORDER.contains(&upper.as_str());
        }
    }

    fn nest(&mut self, symbol: &str) {
        match symbol {
            "(" => {
                let is_type = self.follows(&TYPES) && self.is_behind_cast();
                self.open.push(if is_type { Within::Type } else { Within::Parenthesis });
                self.in_order.push(false);
            }
            "[" => {
                let is_subscript = self.back(1).is_some_and(|(kind, word)| match kind {
                    TokenKind::Word => word != "ARRAY",
                    TokenKind::Name => true,
                    _ => matches!(word.as_str(), ")" | "]"),
                });
                self.open.push(if is_subscript { Within::Subscript } else { Within::Array });
                self.in_order.push(false);
            }
            ")" | "]" => {
                self.open.pop();
                if self.in_order.len() > 1 {
                    self.in_order.pop();
                }
            }
            _ => {}
        }
    }

    /// Whether the word before stands where a type does: `AS decimal`, `::numeric`, `character varying`.
    fn is_behind_cast(&self) -> bool {
        self.back(2).is_some_and(|(_, word)| matches!(word.as_str(), "AS" | "::" | "CHARACTER" | "BIT" | ","))
    }
}

/// The parts with lists of values cut to one, and repeated rows too.
fn merged(parts: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::with_capacity(parts.len());
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        let is_list = part == "(" && out.last().is_some_and(|last| last == "in")
            || part == "[" && out.last().is_some_and(|last| last == "array");
        let is_row = part == "(" && out.last().is_some_and(|last| last == "values");
        if is_list {
            let values = parts[at + 1..].iter().take_while(|part| *part == "?" || *part == ",").count();
            let closes = parts.get(at + 1 + values).is_some_and(|part| part == ")" || part == "]");
            if values > 0 && closes {
                out.extend([part.clone(), "?".to_owned()]);
                at += 1 + values;
                continue;
            }
        }
        if is_row {
            let row = &parts[at..closing(&parts, at)];
            out.extend_from_slice(row);
            at += row.len();
            while parts.get(at).is_some_and(|part| part == ",") && parts[at + 1..].starts_with(row) {
                at += 1 + row.len();
            }
            continue;
        }
        out.push(part.clone());
        at += 1;
    }
    out
}

/// The place behind the parenthesis that closes this one.
fn closing(parts: &[String], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, part) in parts.iter().enumerate().skip(open) {
        match part.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    parts.len()
}

#[cfg(test)]
mod tests;
