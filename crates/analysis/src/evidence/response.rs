//! Response times in the published buckets, by kind of statement.
//!
//! In: the samples that have a number and a record, and the latency findings, whose histograms give the quantiles. Out:
//! [`ResponseFindings`] of each kind that was sent.

use crate::findings::{LatencyFindings, ResponseFindings};
use crate::read::measured::Measured;
use rqps_model::insert::{Buckets, Operations, StepRecord};

type Part = (&'static str, fn(&StepRecord) -> &Operations);

/// Kinds of statements, in display order.
const KINDS: [Part; 3] =
    [("insert", |record| &record.inserts), ("delete", |record| &record.deletes), ("query", |record| &record.queries)];

/// Of each kind, all rounds with a number together.
pub(crate) fn responses(rounds: &[Option<Measured>], latency: &[LatencyFindings]) -> Vec<ResponseFindings> {
    let with_number = rounds.iter().flatten().filter(|measured| measured.has_number());
    let records: Vec<&StepRecord> = with_number.filter_map(|measured| measured.sample.step()).collect();
    let of_kind = |(kind, of): Part| of_kind(kind, records.iter().map(|record| of(record)), latency);
    KINDS.into_iter().filter_map(of_kind).collect()
}

/// Response times of one kind of statement; `None` where there was none.
fn of_kind<'a>(
    kind: &str,
    rounds: impl Iterator<Item = &'a Operations>,
    latency: &[LatencyFindings],
) -> Option<ResponseFindings> {
    let mut all = Operations::default();
    rounds.for_each(|operations| all.add(operations));
    let quantiles_ms = |kind: &str, longest_ns: u64| {
        let [p50, _, p95, p99, p999, _] = latency.iter().find(|found| found.kind == kind)?.quantiles_us;
        // The bucket of a quantile reaches a little beyond the values in it; nothing took longer than the longest.
        Some([p50, p95, p99, p999].map(|us| (us / 1e3).min(longest_ns as f64 / 1e6)))
    };
    let is_planned = all.from_plan != Buckets::default();
    (all.response.total() > 0).then(|| ResponseFindings {
        kind: kind.to_owned(),
        rows: all.rows,
        response: all.response,
        from_plan: is_planned.then_some(all.from_plan),
        quantiles_ms: quantiles_ms(kind, all.response.longest_ns).unwrap_or_default(),
        from_plan_quantiles_ms: quantiles_ms(&format!("{kind}-from-plan"), all.from_plan.longest_ns)
            .filter(|_| is_planned),
    })
}
