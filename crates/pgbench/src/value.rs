//! The values of expressions, and how one type becomes another.
//!
//! In: numbers, or text that came from outside. Out: values of the types that pgbench has, or the reason why there is
//! none. A boolean is never a number, and a number is never a boolean except as a condition.

use crate::number;
use std::io::Write;

/// What an expression gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Double(f64),
}

/// Why an expression has no value. It ends the client, as in pgbench.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// A variable that nothing has set yet.
    #[error("undefined variable \"{name}\"; set it before, or define it for the test")]
    Undefined {
        /// Its name.
        name: String,
    },
    /// Text from outside that is no value.
    #[error("malformed variable \"{name}\" value: \"{text}\"; an expression needs a number, a boolean or null")]
    Malformed {
        /// The name of the variable.
        name: String,
        /// What it holds.
        text: String,
    },
    /// A value of another type than the one that is needed.
    #[error("cannot coerce {from} to {to}")]
    Coerce {
        /// The type it has.
        from: &'static str,
        /// The type it should have.
        to: &'static str,
    },
    /// A double beyond the whole numbers.
    #[error("double to int overflow for {value:.6}")]
    TooLarge {
        /// The double.
        value: f64,
    },
    /// Whole numbers whose result is beyond 64 bits.
    #[error("bigint {operation} out of range")]
    OutOfRange {
        /// The operation: `add`, `sub`, `mul` or `div`.
        operation: &'static str,
    },
    /// A whole number by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A range that ends before it begins.
    #[error("empty range given to random")]
    EmptyRange,
    /// A range whose size is beyond 64 bits.
    #[error("random range is too large")]
    RangeTooLarge,
    /// A parameter that a distribution does not have.
    #[error("{distribution} parameter must be {allowed} (not {value:.6})")]
    Parameter {
        /// The distribution.
        distribution: &'static str,
        /// What it allows.
        allowed: &'static str,
        /// What it was given.
        value: f64,
    },
    /// A permutation of nothing.
    #[error("permute size parameter must be greater than zero")]
    PermuteSize,
    /// A column of an answer whose name cannot be a variable's.
    #[error("invalid variable name \"{name}\"; name the column with AS")]
    ColumnName {
        /// The name, with the prefix of `\gset`.
        name: String,
    },
    /// A variable that says how long to sleep, and is no number.
    #[error("invalid sleep time \"{text}\" for variable \"{name}\"; it must begin with a whole number")]
    SleepTime {
        /// The name of the variable.
        name: String,
        /// What it holds.
        text: String,
    },
}

impl Value {
    /// Whether a condition holds: a boolean that is true, or a number that is not 0.
    pub fn is_true(self) -> bool {
        match self {
            Value::Null => false,
            Value::Boolean(value) => value,
            Value::Int(value) => value != 0,
            Value::Double(value) => value != 0.0,
        }
    }

    /// A whole number; doubles are rounded to the nearest, halves to even.
    pub fn to_int(self) -> Result<i64, EvalError> {
        match self {
            Value::Int(value) => Ok(value),
            Value::Double(value) => {
                let rounded = value.round_ties_even();
                // Both limits are powers of two, so they are exact as doubles.
                let limit = 2f64.powi(63);
                if (-limit..limit).contains(&rounded) {
                    #[expect(clippy::cast_possible_truncation, reason = "the range was just checked")]
                    Ok(rounded as i64)
                } else {
                    Err(EvalError::TooLarge { value })
                }
            }
            _ => Err(EvalError::Coerce { from: self.type_name(), to: "int" }),
        }
    }

    /// A double.
    pub fn to_double(self) -> Result<f64, EvalError> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "what pgbench does")]
            Value::Int(value) => Ok(value as f64),
            Value::Double(value) => Ok(value),
            _ => Err(EvalError::Coerce { from: self.type_name(), to: "double" }),
        }
    }

    /// A boolean, which only a boolean is.
    pub fn to_boolean(self) -> Result<bool, EvalError> {
        match self {
            Value::Boolean(value) => Ok(value),
            _ => Err(EvalError::Coerce { from: self.type_name(), to: "boolean" }),
        }
    }

    /// The name that pgbench has for the type.
    pub fn type_name(self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Boolean(_) => "boolean",
            Value::Int(_) => "int",
            Value::Double(_) => "double",
        }
    }

    /// Appends the text that stands for the value in SQL.
    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::Boolean(true) => out.extend_from_slice(b"true"),
            Value::Boolean(false) => out.extend_from_slice(b"false"),
            Value::Int(value) => write!(out, "{value}").expect("memory takes all"),
            Value::Double(value) => out.extend_from_slice(number::general(value).as_bytes()),
        }
    }

    /// What text from outside means in an expression, tried in pgbench's order: null, true, false, whole number,
    /// double. So `n` and `t` are booleans. `None` if it means nothing.
    pub fn from_text(text: &str) -> Option<Value> {
        if text.is_empty() {
            return None;
        }
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        let begins = |word: &str| word.get(..text.len()).is_some_and(|start| text.eq_ignore_ascii_case(start));
        if is("null") {
            Some(Value::Null)
        } else if begins("true") || begins("yes") || is("on") {
            Some(Value::Boolean(true))
        } else if begins("false") || begins("no") || is("off") || is("of") {
            Some(Value::Boolean(false))
        } else if looks_whole(text) {
            text.trim_start_matches(is_space).parse().ok().map(Value::Int)
        } else {
            double_from_text(text.trim_start_matches(is_space)).map(Value::Double)
        }
    }
}

/// C's white space.
pub(crate) const fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// Whether a text has the form of a whole number, however large.
fn looks_whole(text: &str) -> bool {
    let unsigned = text.trim_start_matches(is_space);
    let digits = unsigned.strip_prefix(['+', '-']).unwrap_or(unsigned);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A double as C reads it; `None` where C reports that it is out of range, which it also does for numbers so small that
/// they lose digits.
pub(crate) fn double_from_text(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let has_digits = digits.bytes().any(|byte| byte.is_ascii_digit());
    let is_zero = !digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    let in_range = !has_digits || is_zero || value.is_normal();
    in_range.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_a_value_in_a_fixed_order() {
        let golden = [
            ("null", Some(Value::Null)),
            ("NULL", Some(Value::Null)),
            ("nul", None),
            ("t", Some(Value::Boolean(true))),
            ("Y", Some(Value::Boolean(true))),
            ("on", Some(Value::Boolean(true))),
            ("o", None),
            ("n", Some(Value::Boolean(false))),
            ("of", Some(Value::Boolean(false))),
            ("fal", Some(Value::Boolean(false))),
            ("falsey", None),
            ("12", Some(Value::Int(12))),
            (" +12", Some(Value::Int(12))),
            ("-9223372036854775808", Some(Value::Int(i64::MIN))),
            ("9223372036854775808", None),
            ("1.5", Some(Value::Double(1.5))),
            ("1e3", Some(Value::Double(1000.0))),
            ("1e400", None),
            ("1e-400", None),
            ("0e-400", Some(Value::Double(0.0))),
            ("inf", Some(Value::Double(f64::INFINITY))),
            ("1.5 ", None),
            ("-", None),
            ("", None),
            ("abc", None),
            ("é", None),
        ];
        for (text, expected) in golden {
            assert_eq!(Value::from_text(text), expected, "{text}");
        }
    }

    #[test]
    fn doubles_round_half_to_even_and_must_fit() {
        for (double, int) in [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (-2f64.powi(63), i64::MIN)] {
            assert_eq!(Value::Double(double).to_int(), Ok(int), "{double}");
        }
        for double in [2f64.powi(63), f64::NAN, f64::INFINITY] {
            let error = Value::Double(double).to_int();
            assert!(matches!(error, Err(EvalError::TooLarge { .. })), "{double}");
        }
    }

    #[test]
    fn booleans_are_no_numbers() {
        let error = EvalError::Coerce { from: "boolean", to: "int" };
        assert_eq!(error.to_string(), "cannot coerce boolean to int");
        assert_eq!(Value::Boolean(true).to_int(), Err(error));
        assert_eq!(Value::Int(1).to_boolean(), Err(EvalError::Coerce { from: "int", to: "boolean" }));
        assert_eq!(Value::Null.to_double(), Err(EvalError::Coerce { from: "null", to: "double" }));
    }

    #[test]
    fn conditions_take_numbers() {
        let truth = [Value::Boolean(true), Value::Int(-1), Value::Double(0.5)];
        assert!(truth.into_iter().all(Value::is_true));
        let falsehood = [Value::Null, Value::Boolean(false), Value::Int(0), Value::Double(-0.0)];
        assert!(!falsehood.into_iter().any(Value::is_true));
    }
}
