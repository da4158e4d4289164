//! Names of variables, and the slots that stand for them.
//!
//! In: names as scripts use them. Out: slots, so that nothing looks a name up while a script runs. All scripts of a
//! test share their names, since a client keeps its variables from one script to the next.

use std::collections::HashMap;
use std::sync::Arc;

/// The variables that every client has from the start, in the order of their slots.
const AUTOMATIC: [&str; 4] = ["client_id", "scale", "random_seed", "default_seed"];

/// The names of all variables of a test, each with a slot.
#[derive(Debug, Clone)]
pub struct Names {
    slots: HashMap<Arc<str>, usize>,
    names: Vec<Arc<str>>,
}

impl Names {
    /// Slot of the client's number, counted from 0.
    pub const CLIENT_ID: usize = 0;
    /// Slot of the scale.
    pub const SCALE: usize = 1;
    /// Slot of the seed that was asked for.
    pub const RANDOM_SEED: usize = 2;
    /// Slot of the seed of `hash` and `permute`, where a call names none.
    pub const DEFAULT_SEED: usize = 3;

    /// The automatic variables alone.
    pub fn new() -> Names {
        let mut names = Names { slots: HashMap::new(), names: Vec::new() };
        for name in AUTOMATIC {
            names.intern(name);
        }
        names
    }

    /// The slot of a name, a new one if it has none.
    pub fn intern(&mut self, name: &str) -> usize {
        if let Some(slot) = self.find(name) {
            return slot;
        }
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.slots.insert(name, self.names.len() - 1);
        self.names.len() - 1
    }

    /// The slot of a name, if anything uses it. A column of `\gset` without one need not be kept.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
    }

    /// All names, by slot.
    pub fn all(&self) -> &[Arc<str>] {
        &self.names
    }

    /// Whether a variable can have this name: letters, digits, `_` and whatever is beyond ASCII, no digit first.
    pub fn is_valid(name: &str) -> bool {
        !name.is_empty() && variable_length(name.as_bytes()) == name.len()
    }
}

impl Default for Names {
    fn default() -> Names {
        Names::new()
    }
}

/// Length of the name that a text begins with; 0 if it begins with none.
pub(crate) fn variable_length(text: &[u8]) -> usize {
    match text.first() {
        Some(first) if is_name_start(*first) => text.iter().position(|byte| !is_name_part(*byte)).unwrap_or(text.len()),
        _ => 0,
    }
}

/// Whether a name can begin with this byte.
pub(crate) const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Whether a name can go on with this byte.
pub(crate) const fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_slot() {
        let mut names = Names::new();
        assert_eq!(names.find("client_id"), Some(Names::CLIENT_ID));
        assert_eq!(names.find("scale"), Some(Names::SCALE));
        assert_eq!(names.find("random_seed"), Some(Names::RANDOM_SEED));
        assert_eq!(names.find("default_seed"), Some(Names::DEFAULT_SEED));
        let slot = names.intern("aid");
        assert_eq!((names.intern("aid"), names.find("bid")), (slot, None));
        assert_eq!(&*names.all()[slot], "aid");
    }

    #[test]
    fn a_name_does_not_begin_with_a_digit() {
        for name in ["a", "_1", "é2", "Z_9"] {
            assert!(Names::is_valid(name), "{name}");
        }
        for name in ["", "1a", "a-b", "a b", ":a"] {
            assert!(!Names::is_valid(name), "{name}");
        }
    }
}
