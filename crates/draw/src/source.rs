//! Sources of values: what a file says of one, and what it draws.
//!
//! In: a [`SourceSpec`] as a workload file has it. Out: a [`Source`], once everything in it makes sense, and from it
//! values into a buffer that is used again.

use crate::date::{Date, Day};
use crate::random::{Random, permute};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// pgbench's bounds of a Zipfian distribution's skew.
const SKEW_MIN: f64 = 1.001;
const SKEW_MAX: f64 = 1000.0;

/// The skew, the deviations and the steepness where none is given.
const SKEW: f64 = 1.1;
const DEVIATIONS: f64 = 2.5;
const STEEPNESS: f64 = 5.0;

/// Text is made of words of these letters, so that it packs about as well as prose.
const LETTERS: &[u8; 26] = b"etaoinshrdlcumwfgypbvkjxqz";

/// The longest text that is drawn.
const TEXT_MAX: u64 = 1 << 20;

/// A source of values, as it stands in a workload file: one of the kinds, and what goes with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct SourceSpec {
    /// Numbers one after the other, from this one on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<i64>,
    /// Numbers from and to, each alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[i64; 2]>,
    /// Numbers from and to, the first the most frequent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zipfian: Option<[i64; 2]>,
    /// Numbers from and to, those in the middle the most frequent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaussian: Option<[i64; 2]>,
    /// Numbers from and to, rarer and rarer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponential: Option<[i64; 2]>,
    /// Numbers with decimals, from and to, each alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<[f64; 2]>,
    /// Text of so many letters, from and to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<[u64; 2]>,
    /// Dates or times, from and to, each alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<[String; 2]>,
    /// One of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pick: Option<Vec<Constant>>,
    /// Always the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<Constant>,
    /// By how much a sequence goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// How much more frequent the frequent ones are, of a Zipfian distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
    /// Deviations from the middle to an end, of a normal distribution; steepness of an exponential one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Whether the frequent ones are scattered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<bool>,
    /// Digits behind the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digits: Option<u32>,
    /// `day` or `second`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How often each of a list is picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<u32>>,
    /// The share of NULL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nulls: Option<f64>,
}

/// A value that a file gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Constant {
    /// A whole number.
    Integer(i64),
    /// A number with decimals.
    Float(f64),
    /// Text.
    Text(String),
}

/// A value that was drawn; its buffer is used again.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Drawn {
    /// NULL.
    #[default]
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with decimals.
    Float(f64),
    /// Text.
    Text(String),
}

/// What is wrong with a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// None of the kinds, or several.
    #[error("a source is exactly one of {}, and this is {found}", KINDS.join(", "))]
    Kind {
        /// What it is.
        found: String,
    },
    /// Something that does not go with the kind.
    #[error("`{0}` says nothing about `{1}`")]
    Unfit(&'static str, &'static str),
    /// A range without numbers.
    #[error("the range of `{0}` is empty: its first number is above its last")]
    Empty(&'static str),
    /// A number out of its bounds.
    #[error("`{what}` is {found}, expected {expected}")]
    Bounds {
        /// Which.
        what: &'static str,
        /// As it is.
        found: String,
        /// As it may be.
        expected: String,
    },
    /// An empty list.
    #[error("`pick` has no values")]
    NoValues,
    /// Weights that are all 0.
    #[error("no value of `pick` has a weight above 0")]
    NoWeight,
    /// Not as many weights as values.
    #[error("there are {weights} weights for {values} values")]
    Weights {
        /// How many there are.
        weights: usize,
        /// How many there must be.
        values: usize,
    },
}

const KINDS: [&str; 10] =
    ["sequence", "uniform", "zipfian", "gaussian", "exponential", "decimal", "text", "dates", "pick", "constant"];

/// A source of values.
#[derive(Debug, Clone)]
pub struct Source {
    kind: Kind,
    nulls: f64,
}

#[derive(Debug, Clone)]
enum Kind {
    Sequence { first: i64, step: i64 },
    Uniform { lo: i64, hi: i64 },
    Zipfian { lo: i64, hi: i64, skew: f64, shuffle: Option<i64> },
    Gaussian { lo: i64, hi: i64, deviations: f64 },
    Exponential { lo: i64, hi: i64, steepness: f64 },
    Decimal { lo: i64, hi: i64, digits: u32 },
    Text { lo: u64, hi: u64 },
    Dates { lo: i64, hi: i64, unit: Day },
    Pick { values: Vec<Constant>, weights: Vec<u32>, total: u64 },
}

impl SourceSpec {
    /// The words that a source is written with: its kinds, and what goes with them.
    pub const KEYS: [&str; 18] = [
        "sequence",
        "uniform",
        "zipfian",
        "gaussian",
        "exponential",
        "decimal",
        "text",
        "dates",
        "pick",
        "constant",
        "step",
        "skew",
        "deviation",
        "shuffle",
        "digits",
        "unit",
        "weights",
        "nulls",
    ];

    /// The source; ranks that are scattered are so by `seed`.
    ///
    /// # Errors
    /// What makes no sense in it.
    pub fn resolve(&self, seed: u64) -> Result<Source, SourceError> {
        let given = self.given();
        let [kind] = given[..] else {
            let found = if given.is_empty() { "none".to_owned() } else { given.join(" and ") };
            return Err(SourceError::Kind { found });
        };
        self.goes_with(kind)?;
        let kind = match kind {
            "sequence" => Kind::Sequence { first: self.sequence.unwrap_or(1), step: self.step.unwrap_or(1) },
            "uniform" => {
                let (lo, hi) = range("uniform", self.uniform)?;
                Kind::Uniform { lo, hi }
            }
            "zipfian" => {
                let (lo, hi) = range("zipfian", self.zipfian)?;
                let skew = within("skew", self.skew.unwrap_or(SKEW), SKEW_MIN, SKEW_MAX)?;
                Kind::Zipfian { lo, hi, skew, shuffle: self.shuffle.unwrap_or(false).then_some(seed as i64) }
            }
            "gaussian" => {
                let (lo, hi) = range("gaussian", self.gaussian)?;
                let deviations = within("deviation", self.deviation.unwrap_or(DEVIATIONS), 2.0, 1000.0)?;
                Kind::Gaussian { lo, hi, deviations }
            }
            "exponential" => {
                let (lo, hi) = range("exponential", self.exponential)?;
                let steepness = within("deviation", self.deviation.unwrap_or(STEEPNESS), 0.01, 1000.0)?;
                Kind::Exponential { lo, hi, steepness }
            }
            "decimal" => self.decimals()?,
            "text" => {
                let [lo, hi] = self.text.unwrap_or_default();
                if lo > hi {
                    return Err(SourceError::Empty("text"));
                }
                within("text", hi as f64, 0.0, TEXT_MAX as f64)?;
                Kind::Text { lo, hi }
            }
            "dates" => self.days()?,
            _ => self.list()?,
        };
        let nulls = within("nulls", self.nulls.unwrap_or(0.0), 0.0, 1.0)?;
        Ok(Source { kind, nulls })
    }

    /// The kinds that are given.
    fn given(&self) -> Vec<&'static str> {
        let is_given = [
            self.sequence.is_some(),
            self.uniform.is_some(),
            self.zipfian.is_some(),
            self.gaussian.is_some(),
            self.exponential.is_some(),
            self.decimal.is_some(),
            self.text.is_some(),
            self.dates.is_some(),
            self.pick.is_some(),
            self.constant.is_some(),
        ];
        KINDS.into_iter().zip(is_given).filter(|(_, is_given)| *is_given).map(|(kind, _)| kind).collect()
    }

    /// Refuses what says nothing about a kind.
    fn goes_with(&self, kind: &'static str) -> Result<(), SourceError> {
        let beside = [
            ("step", self.step.is_some(), &["sequence"][..]),
            ("skew", self.skew.is_some(), &["zipfian"]),
            ("deviation", self.deviation.is_some(), &["gaussian", "exponential"]),
            ("shuffle", self.shuffle.is_some(), &["zipfian"]),
            ("digits", self.digits.is_some(), &["decimal"]),
            ("unit", self.unit.is_some(), &["dates"]),
            ("weights", self.weights.is_some(), &["pick"]),
        ];
        match beside.into_iter().find(|(_, is_given, kinds)| *is_given && !kinds.contains(&kind)) {
            Some((unfit, ..)) => Err(SourceError::Unfit(unfit, kind)),
            None => Ok(()),
        }
    }

    fn decimals(&self) -> Result<Kind, SourceError> {
        const DIGITS_MAX: u32 = 9;
        const LARGEST: f64 = 1e9;
        let [lo, hi] = self.decimal.unwrap_or_default();
        let digits = self.digits.unwrap_or(2);
        within("digits", f64::from(digits), 0.0, f64::from(DIGITS_MAX))?;
        within("decimal", lo, -LARGEST, LARGEST)?;
        within("decimal", hi, -LARGEST, LARGEST)?;
        let scaled = |number: f64| (number * 10_f64.powi(digits as i32)).round() as i64;
        let (lo, hi) = (scaled(lo), scaled(hi));
        if lo > hi {
            return Err(SourceError::Empty("decimal"));
        }
        Ok(Kind::Decimal { lo, hi, digits })
    }

    fn days(&self) -> Result<Kind, SourceError> {
        let [from, to] = self.dates.clone().unwrap_or_default();
        let read = |text: &str| Date::parse(text);
        let wrong = |found: &str| SourceError::Bounds {
            what: "dates",
            found: format!("\"{found}\""),
            expected: "days such as \"2025-12-31\", or times such as \"2025-12-31 23:59:59\"".to_owned(),
        };
        let lo = read(&from).ok_or_else(|| wrong(&from))?;
        let hi = read(&to).ok_or_else(|| wrong(&to))?;
        let unit = match self.unit.as_deref() {
            None if lo.has_time || hi.has_time => Day::Second,
            None | Some("day") => Day::Day,
            Some("second") => Day::Second,
            Some(other) => {
                let expected = "day or second".to_owned();
                return Err(SourceError::Bounds { what: "unit", found: format!("\"{other}\""), expected });
            }
        };
        let (lo, hi) = (lo.in_units(unit), hi.in_units(unit));
        if lo > hi {
            return Err(SourceError::Empty("dates"));
        }
        Ok(Kind::Dates { lo, hi, unit })
    }

    fn list(&self) -> Result<Kind, SourceError> {
        let values = self.pick.clone().unwrap_or_else(|| self.constant.iter().cloned().collect());
        let weights = self.weights.clone().unwrap_or_else(|| vec![1; values.len()]);
        if weights.len() != values.len() {
            return Err(SourceError::Weights { weights: weights.len(), values: values.len() });
        }
        let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        if values.is_empty() {
            return Err(SourceError::NoValues);
        }
        if total == 0 {
            return Err(SourceError::NoWeight);
        }
        Ok(Kind::Pick { values, weights, total })
    }
}

fn range(what: &'static str, range: Option<[i64; 2]>) -> Result<(i64, i64), SourceError> {
    let [lo, hi] = range.unwrap_or_default();
    match hi.checked_sub(lo).and_then(|span| span.checked_add(1)) {
        Some(1..) => Ok((lo, hi)),
        Some(_) => Err(SourceError::Empty(what)),
        None if lo > hi => Err(SourceError::Empty(what)),
        None => Err(SourceError::Bounds {
            what,
            found: format!("{lo} to {hi}"),
            expected: "fewer than 2^63 numbers".to_owned(),
        }),
    }
}

fn within(what: &'static str, found: f64, min: f64, max: f64) -> Result<f64, SourceError> {
    match (min..=max).contains(&found) {
        true => Ok(found),
        false => Err(SourceError::Bounds {
            what,
            found: found.to_string(),
            expected: format!("a number from {min} to {max}"),
        }),
    }
}

impl Source {
    /// Draws a value; `number` counts how many were drawn before, for sequences.
    pub fn draw(&self, random: &mut Random, number: u64, value: &mut Drawn) {
        if self.nulls > 0.0 && random.next_f64() < self.nulls {
            *value = Drawn::Null;
            return;
        }
        match &self.kind {
            Kind::Sequence { first, step } => {
                *value = Drawn::Integer(first.wrapping_add((number as i64).wrapping_mul(*step)));
            }
            Kind::Uniform { lo, hi } => *value = Drawn::Integer(random.uniform(*lo, *hi)),
            Kind::Zipfian { lo, hi, skew, shuffle } => {
                let drawn = random.zipfian(*lo, *hi, *skew);
                let scatter = |seed: i64| lo + permute(drawn - lo, hi - lo + 1, seed);
                *value = Drawn::Integer(shuffle.map_or(drawn, scatter));
            }
            Kind::Gaussian { lo, hi, deviations } => *value = Drawn::Integer(random.gaussian(*lo, *hi, *deviations)),
            Kind::Exponential { lo, hi, steepness } => {
                *value = Drawn::Integer(random.exponential(*lo, *hi, *steepness));
            }
            Kind::Decimal { lo, hi, digits } => {
                let number = random.uniform(*lo, *hi);
                let text = cleared(value);
                let scale = 10_i64.pow(*digits);
                let sign = if number < 0 { "-" } else { "" };
                let (whole, rest) = ((number / scale).unsigned_abs(), (number % scale).unsigned_abs());
                let _ = match digits {
                    0 => write!(text, "{sign}{whole}"),
                    digits => write!(text, "{sign}{whole}.{rest:0width$}", width = *digits as usize),
                };
            }
            Kind::Text { lo, hi } => {
                let length = lo + random.up_to(hi - lo);
                push_words(random, length as usize, cleared(value));
            }
            Kind::Dates { lo, hi, unit } => unit.write(random.uniform(*lo, *hi), cleared(value)),
            Kind::Pick { values, weights, total } => {
                let mut left = random.up_to(total - 1);
                let mut picked = &values[0];
                for (one, weight) in values.iter().zip(weights) {
                    picked = one;
                    match left.checked_sub(u64::from(*weight)) {
                        Some(rest) => left = rest,
                        None => break,
                    }
                }
                match picked {
                    Constant::Integer(number) => *value = Drawn::Integer(*number),
                    Constant::Float(number) => *value = Drawn::Float(*number),
                    Constant::Text(text) => cleared(value).push_str(text),
                }
            }
        }
    }
}

/// The text of a value, emptied; its memory is used again.
fn cleared(value: &mut Drawn) -> &mut String {
    if !matches!(value, Drawn::Text(_)) {
        *value = Drawn::Text(String::new());
    }
    let Drawn::Text(text) = value else { unreachable!("it was made one") };
    text.clear();
    text
}

/// Words of letters with single spaces between, of so many letters and spaces together; frequent letters are frequent.
fn push_words(random: &mut Random, length: usize, text: &mut String) {
    let mut left_of_word = 0;
    for at in 0..length {
        if left_of_word == 0 && at > 0 && at + 1 < length {
            text.push(' ');
            left_of_word = 2 + random.up_to(7);
            continue;
        }
        // The smaller of two numbers prefers the letters in front.
        let (one, other) = (random.up_to(25), random.up_to(25));
        text.push(char::from(LETTERS[one.min(other) as usize]));
        left_of_word = left_of_word.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
