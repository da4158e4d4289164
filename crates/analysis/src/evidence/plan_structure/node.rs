//! A node of a plan, as all engines' plans are compared: how deep it stands, its name without numbers, and which
//! columns its conditions and keys are of.
//!
//! In: names as servers print them. Out: [`Node`]s that are equal when they do the same work, whatever was estimated.

/// One node of a plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    pub(super) depth: usize,
    pub(super) name: String,
    /// Conditions and keys with the columns in them, such as `Index Cond: id`.
    pub(super) conditions: Vec<String>,
    /// Columns of the index that are used, where the server tells them apart; what is not told differs from nothing.
    pub(super) key_columns: Option<Vec<String>>,
    /// Rows that were estimated, where they are told.
    pub(super) rows: Option<f64>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        let columns_differ =
            matches!((&self.key_columns, &other.key_columns), (Some(own), Some(other)) if own != other);
        (self.depth, &self.name, &self.conditions) == (other.depth, &other.name, &other.conditions) && !columns_differ
    }
}

impl Node {
    /// Columns that are used and conditions, a line each.
    fn details(&self) -> impl Iterator<Item = String> {
        let columns = self.key_columns.iter().map(|columns| format!("columns {}", columns.join(", ")));
        columns.chain(self.conditions.iter().cloned())
    }

    /// In one line, with its conditions.
    pub(super) fn whole(&self) -> String {
        let details: Vec<String> = self.details().collect();
        match details.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, details.join("; ")),
        }
    }

    /// A line for the node and one for each condition, indented.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let indent = "  ".repeat(self.depth);
        let details = self.details().map(|detail| format!("  {detail}"));
        std::iter::once(self.name.clone()).chain(details).map(move |line| format!("{indent}{line}"))
    }
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

/// What the columns of an index are compared with, one for each column that is used: `by const, id`.
pub(super) fn looked_up_by<'a>(told: impl Iterator<Item = &'a str>) -> String {
    let of_column = |one: &str| without_numbers(one.rsplit('.').next().unwrap_or(one));
    format!("by {}", told.map(of_column).collect::<Vec<_>>().join(", "))
}

/// The number behind `rows=`.
pub(super) fn rows(text: &str) -> Option<f64> {
    let number = text.split("rows=").nth(1)?;
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
    number[..end].parse().ok()
}
