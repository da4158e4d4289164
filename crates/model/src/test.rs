//! What the tests of a suite have in common: the group they are reported in and the unit of their throughput.

use crate::words;
use serde::{Deserialize, Serialize};

words! {
    /// The kind of work a test does; tables are grouped by it, in this order.
    Group {
        /// Point queries.
        Point = "point",
        /// Range queries without aggregation.
        Range = "range",
        /// Range queries with aggregation.
        RangeAgg = "range-agg",
        /// Writes.
        Write = "write",
    }
}

impl Group {
    /// The heading used in tables.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Point => "Point queries",
            Group::Range => "Range queries without aggregation",
            Group::RangeAgg => "Range queries with aggregation",
            Group::Write => "Writes",
        }
    }
}

/// The unit of a test's throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Statements per second, BEGIN and COMMIT included.
    QueriesPerSecond,
    /// Thousands of table rows read per second and client (`scan`).
    KiloRowsPerSecond,
    /// Table rows inserted, or indexed, per second.
    RowsPerSecond,
}

impl Unit {
    /// The short form shown beside numbers.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::QueriesPerSecond => "q/s",
            Unit::KiloRowsPerSecond => "Krows/s",
            Unit::RowsPerSecond => "rows/s",
        }
    }
}
