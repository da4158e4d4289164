//! A node of a plan, as all engines' plans are compared: how deep it stands, and its name without numbers.
//!
//! In: names as servers print them. Out: [`Node`]s that are equal when they do the same work.

/// One node of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(super) depth: usize,
    pub(super) name: String,
}

/// Each run of digits becomes `#`: which of several equal tables was explained is no structure.
pub(super) fn without_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            _ => plain.push(c),
        }
    }
    plain
}
