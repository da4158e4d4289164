//! What a load did, whatever it loaded.
//!
//! In: nothing. Out: [`LoadReport`].

/// What a load did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadReport {
    /// Rows of all tables.
    pub rows: u64,
    /// Seconds until all tables were filled and indexed.
    pub load_seconds: f64,
    /// Those of them in which only indexes were built, where these can be told apart.
    pub index_seconds: f64,
    /// Seconds of statistics and of writing back after that.
    pub settle_seconds: f64,
    /// What did not come to rest in the time allowed, such as pages that are still dirty.
    pub left: Option<String>,
    /// What the server gave where the user named nothing, such as a collation: what it is, and its value.
    pub given: Vec<(&'static str, String)>,
}
