//! A statement of a script, and how it is sent.
//!
//! In: its text as written and the names in it. Out: in simple mode the text with values in the place of names; in the
//! other modes the text with `$1`, `$2` and what fills them. Both are blind, as in pgbench: a name counts within quotes
//! and comments too.

use crate::names::{Names, variable_length};
use crate::value::EvalError;
use crate::variables::Variables;
use std::ops::Range;

/// What becomes of the columns of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// What stands before a column's name in the name of its variable.
    pub prefix: String,
    /// `\aset`: of every statement of the command, the last row, if there is one. Else `\gset`: of the last statement,
    /// whose answer must be one row.
    pub all: bool,
}

impl Store {
    /// The slot for a column; `None` if nothing uses it. A column whose name is none for a variable, such as
    /// `?column?`, ends the client.
    pub fn slot(&self, column: &str, names: &Names) -> Result<Option<usize>, EvalError> {
        let name = format!("{}{column}", self.prefix);
        if Names::is_valid(&name) { Ok(names.find(&name)) } else { Err(EvalError::ColumnName { name }) }
    }
}

/// A name in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reference {
    /// Where it stands, with its colon.
    range: Range<usize>,
    slot: usize,
}

/// One or more statements that are sent in one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sql {
    text: String,
    references: Vec<Reference>,
    numbered: String,
    slots: Vec<usize>,
    /// What becomes of the answer.
    pub store: Option<Store>,
}

impl Sql {
    /// Finds the names in a text.
    pub(crate) fn new(text: String, names: &mut Names) -> Sql {
        let mut references = Vec::new();
        let mut numbered = String::with_capacity(text.len());
        let mut copied = 0;
        let mut at = 0;
        while let Some(colon) = text[at..].find(':').map(|found| at + found) {
            let length = variable_length(&text.as_bytes()[colon + 1..]);
            if length == 0 {
                // Of a run of colons none begins a name, so that a cast is left alone.
                at = colon + text[colon..].bytes().take_while(|byte| *byte == b':').count();
                continue;
            }
            at = colon + 1 + length;
            let slot = names.intern(&text[colon + 1..at]);
            references.push(Reference { range: colon..at, slot });
            numbered.push_str(&text[copied..colon]);
            numbered.push_str(&format!("${}", references.len()));
            copied = at;
        }
        numbered.push_str(&text[copied..]);
        let slots = references.iter().map(|reference| reference.slot).collect();
        Sql { text, references, numbered, slots, store: None }
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Simple mode: appends the text with values in the place of names. A name that is undefined stays as written.
    pub fn write(&self, variables: &Variables, out: &mut Vec<u8>) {
        let text = self.text.as_bytes();
        let mut copied = 0;
        for Reference { range, slot } in &self.references {
            out.extend_from_slice(&text[copied..range.start]);
            if !variables.write(*slot, out) {
                out.extend_from_slice(&text[range.clone()]);
            }
            copied = range.end;
        }
        out.extend_from_slice(&text[copied..]);
    }

    /// Extended and prepared mode: the text with a parameter for each name, the same name twice being two.
    pub fn numbered(&self) -> &str {
        &self.numbered
    }

    /// Extended and prepared mode: what fills the parameters, in order. [`Variables::write`] has their text; what is
    /// undefined is SQL's NULL.
    pub fn slots(&self) -> &[usize] {
        &self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    /// Both forms of a text, where x is 5, y is a text, and nothing else is defined.
    fn forms(text: &str) -> (String, String, usize) {
        let mut names = Names::new();
        let (x, y) = (names.intern("x"), names.intern("y"));
        let sql = Sql::new(text.to_owned(), &mut names);
        let mut variables = Variables::new(&names);
        variables.set(x, Value::Int(5));
        variables.set_text(y, "a:x b");
        let mut out = Vec::new();
        sql.write(&variables, &mut out);
        (String::from_utf8(out).expect("text"), sql.numbered().to_owned(), sql.slots().len())
    }

    #[test]
    fn names_are_found_blindly() {
        let golden = [
            ("SELECT :x", "SELECT 5", "SELECT $1", 1),
            ("SELECT :x, :x", "SELECT 5, 5", "SELECT $1, $2", 2),
            ("SELECT ':x' /* :x */ -- :x", "SELECT '5' /* 5 */ -- 5", "SELECT '$1' /* $2 */ -- $3", 3),
            ("SELECT 1::int, :x::int", "SELECT 1::int, 5::int", "SELECT 1::int, $1::int", 1),
            ("SELECT :nothing", "SELECT :nothing", "SELECT $1", 1),
            // What a value holds is not looked at again.
            ("SELECT ':y'", "SELECT 'a:x b'", "SELECT '$1'", 1),
            ("SELECT '12:34:56', a[1:2], :'x', :\"x\"", "SELECT '12:34:56', a[1:2], :'x', :\"x\"", "", 0),
            ("SELECT '{\"a\":true}'", "SELECT '{\"a\":true}'", "SELECT '{\"a\"$1}'", 1),
            (":::x:x", ":::x5", ":::x$1", 1),
            ("a:", "a:", "a:", 0),
        ];
        for (text, simple, numbered, slots) in golden {
            let numbered = if numbered.is_empty() { text } else { numbered };
            assert_eq!(forms(text), (simple.to_owned(), numbered.to_owned(), slots), "{text}");
        }
    }

    #[test]
    fn a_column_has_a_slot_if_something_uses_it() {
        let mut names = Names::new();
        let slot = names.intern("p_balance");
        let store = Store { prefix: "p_".to_owned(), all: false };
        assert_eq!(store.slot("balance", &names), Ok(Some(slot)));
        assert_eq!(store.slot("other", &names), Ok(None));
        assert!(store.slot("?column?", &names).is_err());
    }
}
