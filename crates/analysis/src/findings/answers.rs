//! What the comparison of answers found.

use serde::{Deserialize, Serialize};

/// How answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerKind {
    /// Another error, or one where the other has none.
    Error,
    /// Another number of rows.
    Rows,
    /// As many rows, with other values.
    Values,
    /// The same rows in another order, where the statement asks for one.
    Order,
    /// The base itself answers differently when asked again: nothing can be compared.
    Unstable,
}

/// A statement whose answers are not the base's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerFindings {
    /// The statement's kind.
    pub statement: String,
    /// How they differ, in the first that does.
    pub kind: AnswerKind,
    /// In how many sets of values.
    pub sets: u32,
    /// Of so many.
    pub of_sets: u32,
    /// The first row that differs, as far as it is among those that were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<RowDifference>,
    /// The errors, where there are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AnswerFindings {
    /// Whether it says that two builds answer differently.
    pub fn is_difference(&self) -> bool {
        self.kind != AnswerKind::Unstable
    }
}

/// A row that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowDifference {
    /// Its place in the answer, from 1; without an order of its own, in that of the rows' text.
    pub row: u64,
    /// The columns that differ, where both have the row.
    pub columns: Vec<String>,
    /// The row here; hidden unless literals are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Vec<Option<String>>>,
    /// The row on the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Vec<Option<String>>>,
}
