//! Values as they were written, before anyone knows what they should be: the common form of file and flags.
//!
//! In: TOML values with spans, or the words of the command line. Out: `Spanned<Raw>`. No key is known here.

use crate::place::{Place, Spanned};
use toml::de::DeValue;

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Raw {
    /// A word of the command line, which may be anything.
    Word(String),
    /// Text in quotes.
    Text(String),
    /// A whole number, as digits.
    Whole(i128),
    /// A number with decimals.
    Number(f64),
    /// `true` or `false`.
    Switch(bool),
    /// A list.
    List(Vec<Spanned<Raw>>),
    /// A table, in the order in which it was written.
    Table(Vec<(Spanned<String>, Spanned<Raw>)>),
    /// A date or time.
    Date,
}

impl Raw {
    /// What it is, in words that follow "found".
    pub(crate) fn found(&self) -> &'static str {
        match self {
            Raw::Word(_) => "a word",
            Raw::Text(_) => "text",
            Raw::Whole(_) | Raw::Number(_) => "a number",
            Raw::Switch(_) => "true or false",
            Raw::List(_) => "a list",
            Raw::Table(_) => "a table",
            Raw::Date => "a date",
        }
    }

    /// As a TOML value without places; nothing if there is a date in it.
    pub(crate) fn to_toml(&self) -> Option<toml::Value> {
        Some(match self {
            Raw::Word(text) | Raw::Text(text) => toml::Value::String(text.clone()),
            Raw::Whole(number) => toml::Value::Integer(i64::try_from(*number).ok()?),
            Raw::Number(number) => toml::Value::Float(*number),
            Raw::Switch(yes) => toml::Value::Boolean(*yes),
            Raw::List(items) => {
                toml::Value::Array(items.iter().map(|item| item.value.to_toml()).collect::<Option<_>>()?)
            }
            Raw::Table(entries) => {
                let entry =
                    |(key, raw): &(Spanned<String>, Spanned<Raw>)| Some((key.value.clone(), raw.value.to_toml()?));
                toml::Value::Table(entries.iter().map(entry).collect::<Option<_>>()?)
            }
            Raw::Date => return None,
        })
    }

    /// The TOML value with its places.
    pub(crate) fn from_toml(value: &toml::Spanned<DeValue<'_>>) -> Spanned<Raw> {
        let raw = match value.get_ref() {
            DeValue::String(text) => Raw::Text(text.to_string()),
            DeValue::Integer(digits) => {
                // Digits beyond 128 bits are beyond every range as well.
                Raw::Whole(i128::from_str_radix(digits.as_str(), digits.radix()).unwrap_or(i128::MAX))
            }
            DeValue::Float(digits) => Raw::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(yes) => Raw::Switch(*yes),
            DeValue::Datetime(_) => Raw::Date,
            DeValue::Array(items) => Raw::List(items.iter().map(Raw::from_toml).collect()),
            DeValue::Table(table) => Raw::Table(entries(table)),
        };
        Spanned::new(raw, Place::Text(value.span()))
    }
}

/// The entries of a TOML table in the order in which they were written.
pub(crate) fn entries(table: &toml::de::DeTable<'_>) -> Vec<(Spanned<String>, Spanned<Raw>)> {
    let entry = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        let key = Spanned::new(key.get_ref().to_string(), Place::Text(key.span()));
        (key, Raw::from_toml(value))
    };
    let mut entries: Vec<_> = table.iter().map(entry).collect();
    entries.sort_by_key(|(key, _)| match &key.place {
        Place::Text(span) => span.start,
        _ => 0,
    });
    entries
}
