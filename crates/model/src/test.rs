//! What the tests of a suite have in common: the group they are reported in and the unit of their throughput.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of work a test does; tables are grouped by it, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Point queries.
    Point,
    /// Range queries without aggregation.
    Range,
    /// Range queries with aggregation.
    RangeAgg,
    /// Writes.
    Write,
}

impl Group {
    /// All groups, in the order in which they are published.
    pub const ALL: [Group; 4] = [Group::Point, Group::Range, Group::RangeAgg, Group::Write];

    /// The word used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Point => "point",
            Group::Range => "range",
            Group::RangeAgg => "range-agg",
            Group::Write => "write",
        }
    }

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

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
