//! What a client's variables hold.
//!
//! In: values of expressions, text from outside (definitions, answers of the server). Out: values for expressions, text
//! for statements. Text stays text until an expression asks what it means. Buffers are kept, so that setting a variable
//! again allocates nothing once they are large enough.

use crate::names::Names;
use crate::number::{self, Digits};
use crate::value::{EvalError, Value, is_space};
use std::sync::Arc;

/// What is in a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// Nothing has set it.
    Undefined,
    /// Text from outside, in the slot's buffer.
    Text,
    /// What an expression gave.
    Value(Value),
}

#[derive(Debug, Clone)]
struct Slot {
    form: Form,
    text: String,
}

/// The variables of a client. They outlive its transactions.
#[derive(Debug, Clone)]
pub struct Variables {
    slots: Vec<Slot>,
    names: Arc<[Arc<str>]>,
}

impl Variables {
    /// A slot for each name, all undefined. To be made when all scripts of the test are parsed.
    pub fn new(names: &Names) -> Variables {
        let slots = vec![Slot { form: Form::Undefined, text: String::new() }; names.all().len()];
        Variables { slots, names: names.all().into() }
    }

    /// Sets what every client has from the start, except what a definition has set already.
    pub fn start(&mut self, client_id: i64, scale: i64, random_seed: i64, default_seed: i64) {
        let automatic = [
            (Names::CLIENT_ID, client_id),
            (Names::SCALE, scale),
            (Names::RANDOM_SEED, random_seed),
            (Names::DEFAULT_SEED, default_seed),
        ];
        for (slot, value) in automatic {
            if !self.is_defined(slot) {
                self.set(slot, Value::Int(value));
            }
        }
    }

    /// Whether anything has set the variable.
    pub fn is_defined(&self, slot: usize) -> bool {
        self.slots[slot].form != Form::Undefined
    }

    /// Sets a variable to what an expression gave.
    pub fn set(&mut self, slot: usize, value: Value) {
        self.slots[slot].form = Form::Value(value);
    }

    /// Sets a variable to text: a definition, or a column of an answer, where NULL is the empty text.
    pub fn set_text(&mut self, slot: usize, text: &str) {
        let slot = &mut self.slots[slot];
        slot.form = Form::Text;
        slot.text.clear();
        slot.text.push_str(text);
    }

    /// The value for an expression.
    pub fn value(&self, slot: usize) -> Result<Value, EvalError> {
        match self.slots[slot].form {
            Form::Value(value) => Ok(value),
            Form::Undefined => Err(EvalError::Undefined { name: self.names[slot].to_string() }),
            Form::Text => {
                let text = &self.slots[slot].text;
                let malformed = || EvalError::Malformed { name: self.names[slot].to_string(), text: text.clone() };
                Value::from_text(text).ok_or_else(malformed)
            }
        }
    }

    /// Appends the text for a statement. False if the variable is undefined, and then nothing is written: a parameter
    /// is SQL's NULL, a name in the text stays.
    pub fn write(&self, slot: usize, out: &mut Vec<u8>) -> bool {
        let Slot { form, text } = &self.slots[slot];
        match form {
            Form::Undefined => return false,
            Form::Text => out.extend_from_slice(text.as_bytes()),
            Form::Value(value) => value.write(out),
        }
        true
    }

    /// The whole number that the text of a variable begins with, as `\sleep` reads it.
    pub(crate) fn leading_int(&self, slot: usize) -> Result<i64, EvalError> {
        let digits: Digits;
        let text: &[u8] = match self.slots[slot].form {
            Form::Undefined => return Err(EvalError::Undefined { name: self.names[slot].to_string() }),
            Form::Value(Value::Int(value)) => return Ok(value),
            Form::Value(Value::Double(value)) => {
                digits = number::general(value);
                digits.as_bytes()
            }
            Form::Value(_) => b"",
            Form::Text => self.slots[slot].text.as_bytes(),
        };
        let number = leading_int(text);
        if number == 0 && !text.first().is_some_and(u8::is_ascii_digit) {
            let mut shown = Vec::new();
            self.write(slot, &mut shown);
            let text = String::from_utf8_lossy(&shown).into_owned();
            return Err(EvalError::SleepTime { name: self.names[slot].to_string(), text });
        }
        Ok(number)
    }
}

/// What C's `atoi` makes of a text, but without its overflow.
pub(crate) fn leading_int(text: &[u8]) -> i64 {
    let start = text.iter().position(|byte| !is_space(char::from(*byte))).unwrap_or(text.len());
    let text = &text[start..];
    let (is_negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let size = digits.fold(0i64, |size, digit| size.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if is_negative { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(variables: &Variables, slot: usize) -> Option<String> {
        let mut out = Vec::new();
        variables.write(slot, &mut out).then(|| String::from_utf8(out).expect("text"))
    }

    #[test]
    fn values_keep_their_type_and_text_its_letters() {
        let mut names = Names::new();
        let slot = names.intern("x");
        let mut variables = Variables::new(&names);
        assert_eq!(text(&variables, slot), None);
        assert_eq!(variables.value(slot), Err(EvalError::Undefined { name: "x".to_owned() }));
        for (value, expected) in [
            (Value::Null, "NULL"),
            (Value::Boolean(true), "true"),
            (Value::Boolean(false), "false"),
            (Value::Int(-7), "-7"),
            (Value::Double(0.1), "0.1"),
        ] {
            variables.set(slot, value);
            assert_eq!((text(&variables, slot).as_deref(), variables.value(slot)), (Some(expected), Ok(value)));
        }
        variables.set_text(slot, "007");
        assert_eq!((text(&variables, slot).as_deref(), variables.value(slot)), (Some("007"), Ok(Value::Int(7))));
        variables.set_text(slot, "");
        assert_eq!(text(&variables, slot).as_deref(), Some(""));
        assert!(matches!(variables.value(slot), Err(EvalError::Malformed { .. })));
    }

    #[test]
    fn a_definition_takes_the_place_of_an_automatic_variable() {
        let mut variables = Variables::new(&Names::new());
        variables.set_text(Names::SCALE, "30");
        variables.start(2, 10, 42, -5);
        assert_eq!(variables.value(Names::CLIENT_ID), Ok(Value::Int(2)));
        assert_eq!(variables.value(Names::SCALE), Ok(Value::Int(30)));
        assert_eq!(variables.value(Names::RANDOM_SEED), Ok(Value::Int(42)));
        assert_eq!(variables.value(Names::DEFAULT_SEED), Ok(Value::Int(-5)));
    }

    #[test]
    fn a_time_to_sleep_begins_with_a_number() {
        let mut variables = Variables::new(&Names::new());
        let slot = Names::SCALE;
        for (text, expected) in [("12", 12), ("12ms", 12), ("0.9", 0), (" 7", 7), ("-3", -3), ("+4", 4)] {
            variables.set_text(slot, text);
            assert_eq!(variables.leading_int(slot), Ok(expected), "{text}");
        }
        for text in ["", "x", "-0", "+"] {
            variables.set_text(slot, text);
            assert!(matches!(variables.leading_int(slot), Err(EvalError::SleepTime { .. })), "{text}");
        }
        variables.set(slot, Value::Double(2.75));
        assert_eq!(variables.leading_int(slot), Ok(2));
        variables.set(slot, Value::Boolean(true));
        assert!(variables.leading_int(slot).is_err());
    }
}
