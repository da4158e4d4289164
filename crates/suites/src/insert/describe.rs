//! The Insert Benchmark in words, for `rqps plan`.

use rqps_model::insert::{Kind, Shape, steps};
use rqps_model::plural;

/// What each client does, a row a fact.
pub(crate) fn size(shape: &Shape, clients: &str) -> Vec<(&'static str, String)> {
    let tables = if shape.shared_table { "one table for all" } else { "a table each" };
    let loaded = plural(shape.rows_initial, "row");
    let rates: Vec<String> = shape.rates_per_s.iter().map(u32::to_string).collect();
    let (rates, late) = (rates.join(", "), shape.catch_up_seconds);
    let mut rows = vec![
        ("clients", format!("{clients}; {tables}")),
        ("of each", format!("{loaded} loaded, {} inserted and as many deleted in l.i1 and l.i2", shape.rows_written)),
        ("", format!("{rates} rows/s inserted and deleted behind queries, up to {late} s late")),
    ];
    if shape.rest_seconds > 0.0 {
        rows.push(("rest", format!("at least {} s after l.i2", shape.rest_seconds)));
    }
    rows
}

/// What a step does.
pub(crate) fn work_of(shape: &Shape, name: &str) -> String {
    let Some(step) = steps(shape).into_iter().find(|step| step.name == name) else { return String::new() };
    let rows = step.rows * if step.kind == Kind::Index { 1 } else { u64::from(shape.clients) };
    match (step.kind, step.rate_per_s) {
        (Kind::Load, _) => format!("{rows} rows inserted, {} a transaction", step.batch),
        (Kind::Index, _) => format!("{rows} rows inserted, then three indexes on each table"),
        (_, None) => format!("{rows} rows inserted and as many deleted, {} a transaction", step.batch),
        (_, Some(rate)) => format!("queries beside {rate} rows/s inserted and deleted by each client"),
    }
}
