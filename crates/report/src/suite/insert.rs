//! The Insert Benchmark's part of a report: the published tables and columns, and words for its size and rates.
//!
//! In: findings of that suite. Out: files, tables and phrases; `suite` decides when they are shown.

mod column;
mod files;
pub(crate) mod sheet;

pub(crate) use column::{ALL as COLUMNS, Column};
pub(super) use files::files;

use rqps_model::insert::Shape;
use rqps_model::plural;

/// How much data there is: `1 table, 100000 rows loaded by each client, 50000 more written`.
pub(super) fn size(shape: &Shape, clients: u32, show: fn(f64) -> String) -> String {
    let tables = if shape.shared_table { 1 } else { clients };
    let (loaded, written) = (show(shape.rows_initial as f64), show(shape.rows_written as f64));
    let each = if clients > 1 { " by each client" } else { "" };
    format!("{}, {loaded} rows loaded{each}, {written} more written", plural(tables, "table"))
}

/// What writes behind the queries: `100, 500 and 1000 rows/s a client for 30 s`.
pub(super) fn rates(shape: &Shape) -> String {
    let rates: Vec<String> = shape.rates_per_s.iter().map(u32::to_string).collect();
    let seconds = shape.seconds;
    match &rates[..] {
        [] => "none".to_owned(),
        [only] => format!("{only} rows/s a client for {seconds} s"),
        [front @ .., last] => format!("{} and {last} rows/s a client for {seconds} s each", front.join(", ")),
    }
}
