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
        /// Transactions of several kinds, most of which write.
        Transaction = "transaction",
        /// Queries of the user.
        Own = "own",
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
            Group::Transaction => "Transactions",
            Group::Own => "Own queries",
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
    /// Committed new orders per minute, stalls included (TPROC-C); never called tpmC.
    NewOrdersPerMinute,
}

impl Unit {
    /// The short form shown beside numbers.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::QueriesPerSecond => "q/s",
            Unit::KiloRowsPerSecond => "Krows/s",
            Unit::RowsPerSecond => "rows/s",
            Unit::NewOrdersPerMinute => "NOPM",
        }
    }

    /// The seconds that it is per.
    pub const fn seconds(self) -> f64 {
        match self {
            Unit::QueriesPerSecond | Unit::KiloRowsPerSecond | Unit::RowsPerSecond => 1.0,
            Unit::NewOrdersPerMinute => 60.0,
        }
    }
}
