//! The text of a statement with names in the place of its values.
//!
//! In: a shape and a name for each slot that gets one. Out: text that every server can prepare: a type in front of a
//! string becomes a cast, and so does a number whose type PostgreSQL would guess wrongly.

use crate::log::Shape;
use rqps_sql::{Dialect, Literal, SlotValue, Token, TokenKind, tokens};

/// Types that can stand in front of a string.
const TYPES: [&str; 14] = [
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "interval",
    "numeric",
    "decimal",
    "json",
    "jsonb",
    "uuid",
    "inet",
    "bytea",
    "cidr",
];

/// Units behind an interval.
const UNITS: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];

/// The statement's text without comments, with names in the place of slots that have one.
pub(super) fn written(shape: &Shape, names: &[Option<String>], dialect: Dialect) -> String {
    let sql = shape.example.as_str();
    let all: Vec<Token> = tokens(sql, dialect).collect();
    let mut out = String::with_capacity(sql.len());
    // The last word's place in what is written, while nothing but blanks follows.
    let mut type_at: Option<(usize, &str)> = None;
    let mut skip_to = 0;
    for (at, token) in all.iter().enumerate() {
        if token.start < skip_to {
            continue;
        }
        let slot = shape.slots.iter().position(|slot| slot.start == token.start);
        if let Some((number, Some(name))) = slot.map(|number| (number, &names[number])) {
            let slot = &shape.slots[number];
            skip_to = slot.end;
            let is_text = !matches!(slot.value, SlotValue::Literal(Literal::Number(_)));
            match type_at.filter(|(_, word)| is_text && has_type(word, dialect)) {
                Some((start, word)) => {
                    out.truncate(start);
                    let (behind, unit) = unit_behind(&all[at..], sql, slot.end, word);
                    skip_to = behind;
                    out.push_str(&format!("CAST({name} AS {}{unit})", type_name(word, dialect)));
                }
                None => out.push_str(&in_place(name, shape, number, sql, dialect)),
            }
            type_at = None;
            continue;
        }
        let word = token.text(sql);
        match token.kind {
            TokenKind::Comment => {
                out.truncate(out.trim_end_matches([' ', '\t']).len());
                let needs_gap = |next: &Token| !matches!(next.kind, TokenKind::Space | TokenKind::Symbol);
                if all.get(at + 1).is_some_and(needs_gap) {
                    out.push(' ');
                }
                continue;
            }
            TokenKind::Space => {
                out.push_str(word);
                continue;
            }
            // A plain colon.
            TokenKind::Symbol if word == ":" && all.get(at + 1).is_some_and(|next| next.kind == TokenKind::Word) => {
                out.push_str("\\:");
            }
            _ => {
                type_at = (token.kind == TokenKind::Word).then_some((out.len(), word));
                out.push_str(word);
                continue;
            }
        }
        type_at = None;
    }
    out.trim().to_owned()
}

/// Whether a word in front of a value is its type. `INTERVAL :n DAY` is MySQL's own form.
fn has_type(word: &str, dialect: Dialect) -> bool {
    let lower = word.to_ascii_lowercase();
    match dialect.is_postgres() {
        true => TYPES.contains(&lower.as_str()),
        false => TYPES[..3].contains(&lower.as_str()),
    }
}

fn type_name(word: &str, dialect: Dialect) -> &str {
    if !dialect.is_postgres() && word.eq_ignore_ascii_case("timestamp") { "DATETIME" } else { word }
}

/// The unit behind an interval, and where what follows begins.
fn unit_behind(rest: &[Token], sql: &str, slot_end: usize, word: &str) -> (usize, String) {
    let next = rest.iter().find(|token| token.start >= slot_end && !token.is_blank());
    let is_unit = |token: &&Token| UNITS.contains(&token.text(sql).to_ascii_lowercase().as_str());
    match next.filter(is_unit).filter(|_| word.eq_ignore_ascii_case("interval")) {
        Some(unit) => (unit.end, format!(" {}", unit.text(sql))),
        None => (slot_end, String::new()),
    }
}

/// A name as it stands in place of a value.
fn in_place(name: &str, shape: &Shape, slot: usize, sql: &str, dialect: Dialect) -> String {
    let SlotValue::Literal(literal) = &shape.slots[slot].value else { return name.to_owned() };
    let numbers = || {
        shape.sample.rows().iter().filter_map(|row| match &row[slot] {
            Some(Literal::Number(number)) => Some(number.as_str()),
            _ => None,
        })
    };
    match literal {
        Literal::Hex(_) => format!("UNHEX({name})"),
        Literal::Number(_) if dialect.is_postgres() => {
            let has_decimals = numbers().any(|number| number.contains(['.', 'e', 'E']));
            let is_large = numbers().any(|number| number.parse::<i32>().is_err());
            match (has_decimals, is_argument(sql, shape.slots[slot].start, dialect)) {
                (true, _) => format!("CAST({name} AS numeric)"),
                (false, true) => format!("CAST({name} AS {})", if is_large { "bigint" } else { "int" }),
                (false, false) => name.to_owned(),
            }
        }
        _ => name.to_owned(),
    }
}

/// Whether what stands there is an argument of a function, whose type the function may not tell.
fn is_argument(sql: &str, place: usize, dialect: Dialect) -> bool {
    const NO_FUNCTIONS: [&str; 12] =
        ["IN", "VALUES", "AND", "OR", "ANY", "ALL", "NOT", "ON", "WHERE", "USING", "INTO", "EXISTS"];
    let mut open: Vec<bool> = Vec::new();
    let mut last: Option<Token> = None;
    let mut words: usize = 0;
    for token in tokens(sql, dialect).filter(|token| !token.is_blank()).take_while(|token| token.start < place) {
        match token.text(sql) {
            "(" => {
                let is_function = last.is_some_and(|last| {
                    last.kind == TokenKind::Word
                        && !NO_FUNCTIONS.contains(&last.text(sql).to_ascii_uppercase().as_str())
                });
                // Behind INSERT INTO and a table's name are columns.
                open.push(is_function && words > 0);
            }
            ")" => _ = open.pop(),
            _ => {}
        }
        words += usize::from(token.kind == TokenKind::Word);
        last = Some(token);
    }
    let is_alone = last.is_some_and(|last| matches!(last.text(sql), "(" | ","));
    is_alone && open.last() == Some(&true)
}
