//! Response times of a test's statements in the published buckets: percent of each, shaded; from sending, and from the
//! plan.

use super::scene::Scene;
use crate::number;
use rqps_analysis::findings::{ResponseFindings, TestFindings};
use rqps_model::insert::Buckets;
use serde::Serialize;

/// One kind of statement.
#[derive(Serialize)]
pub(super) struct Responses {
    title: &'static str,
    /// Upper bounds.
    buckets: Vec<String>,
    /// From sending to the answer, then from the planned moment, where there is one.
    blocks: Vec<Block>,
}

#[derive(Serialize)]
struct Block {
    title: &'static str,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    /// Shades and texts.
    shares: Vec<(&'static str, String)>,
    /// p50, p95, p99, p99.9 and the longest.
    times: Vec<String>,
}

/// Kinds of statements with their headings.
const KINDS: [(&str, &str); 3] = [
    ("insert", "Response time of inserts"),
    ("delete", "Response time of deletes"),
    ("query", "Response time of queries"),
];

pub(super) fn responses(scene: &Scene<'_>, test: &TestFindings) -> Vec<Responses> {
    KINDS.into_iter().filter_map(|(kind, title)| of_kind(scene, test, kind, title)).collect()
}

fn of_kind(scene: &Scene<'_>, test: &TestFindings, kind: &str, title: &'static str) -> Option<Responses> {
    let response = |index: usize| test.cells[index].responses.iter().find(|found| found.kind == kind);
    let found: Vec<(usize, &ResponseFindings)> =
        scene.base_first().into_iter().filter_map(|index| Some((index, response(index)?))).collect();
    let name = |index: usize| scene.names[index].clone();
    let sent = found.iter().map(|(index, r)| row(name(*index), &r.response, &r.quantiles_ms));
    let planned = found
        .iter()
        .filter_map(|(index, r)| Some(row(name(*index), r.from_plan.as_ref()?, &r.from_plan_quantiles_ms?)));
    let blocks = [
        Block { title: "from sending to the answer", rows: sent.collect() },
        Block { title: "from the planned moment to the answer", rows: planned.collect() },
    ];
    let blocks: Vec<Block> = blocks.into_iter().filter(|block| !block.rows.is_empty()).collect();
    let buckets = Buckets::NAMES.iter().map(|name| bound(name)).collect();
    (!blocks.is_empty()).then_some(Responses { title, buckets, blocks })
}

/// `64ms` → `64 ms`; what lies above all bounds has no number.
fn bound(name: &str) -> String {
    match name.split_at(name.find(char::is_alphabetic).unwrap_or(name.len())) {
        ("", _) => "more".to_owned(),
        (number, unit) => format!("{number} {}", unit.replace("us", "µs")),
    }
}

fn row(name: String, buckets: &Buckets, quantiles_ms: &[f64; 4]) -> Row {
    let total = buckets.total().max(1) as f64;
    let longest_ms = buckets.longest_ns as f64 / 1e6;
    let times = quantiles_ms.iter().chain([&longest_ms]).map(|ms| match *ms {
        0.0 => number::NONE.to_owned(),
        ms => number::duration_us(ms * 1e3),
    });
    Row {
        name,
        shares: buckets.counts.iter().map(|count| share(*count as f64 / total * 100.0)).collect(),
        times: times.collect(),
    }
}

/// The shade, one of the five that a reader can distinguish, and the text.
fn share(percent: f64) -> (&'static str, String) {
    let class = match percent {
        p if p >= 50.0 => "h5",
        p if p >= 20.0 => "h4",
        p if p >= 5.0 => "h3",
        p if p >= 1.0 => "h2",
        p if p > 0.0 => "h1",
        _ => "h0",
    };
    let text = match percent {
        p if (99.95..100.0).contains(&p) => format!("{p:.3}"),
        p if p >= 10.0 => format!("{p:.1}"),
        p if p >= 1.0 => format!("{p:.2}"),
        p if p >= 0.0005 => format!("{p:.3}"),
        p if p > 0.0 => "<0.001".to_owned(),
        _ => "·".to_owned(),
    };
    (class, text)
}

#[cfg(test)]
mod tests {
    use super::{bound, share};

    #[test]
    fn bounds_are_numbers_with_units() {
        assert_eq!(["256us", "64ms", "4s", "gt"].map(bound), ["256 µs", "64 ms", "4 s", "more"]);
    }

    #[test]
    fn rare_is_told_from_never() {
        for (percent, expected) in
            [(0.0, "·"), (0.0001, "<0.001"), (0.5, "0.500"), (12.34, "12.3"), (99.996, "99.996"), (100.0, "100.0")]
        {
            assert_eq!(share(percent).1, expected);
        }
    }
}
