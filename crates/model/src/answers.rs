//! What a build answers to the user's statements (`answers.json` of a sample): enough to say whether another build
//! answers the same, and where the first difference is.
//!
//! In: answers as `load` got them. Out: a stored type. It compares nothing.

use serde::{Deserialize, Serialize};

/// The answers of a test's reading statements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestAnswers {
    /// Whether values were read, and not only numbers of rows and errors.
    pub has_values: bool,
    /// By statement.
    pub statements: Vec<StatementAnswers>,
}

/// The answers to a statement, each with another set of values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementAnswers {
    /// The statement's kind.
    pub statement: String,
    /// Whether it asks for an order of its rows.
    pub is_ordered: bool,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The answers, by set of values.
    pub answers: Vec<Answer>,
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// How many rows came.
    pub rows: u64,
    /// The server's error instead of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the build, asked twice, gave two answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unstable: bool,
    /// A sum over all rows that does not depend on their order.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sum: String,
    /// A sum that does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sum_in_order: String,
    /// The first rows, in the order in which they came; in that of their text where the statement asks for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_rows: Vec<Vec<Option<String>>>,
}
