//! A step of the Insert Benchmark on one treatment: samples with their seconds and watch rows → all that is told beyond a number.
//!
//! In: one cell's samples by round, with what lies beside them. Out: [`StepFindings`], without what only two treatments
//! together tell ([`inside`]). Columns, points and marks have rooms of their own. It judges nothing: what was missed is stated
//! here and weighed by `sla` and `warnings`.

pub(crate) mod inside;
mod marks;
mod metrics;
mod points;

use crate::findings::{LatencyFindings, ResponseFindings, SlaFindings, StepFindings, StepRound};
use crate::measured::Measured;
use rqps_model::insert::{Buckets, Operations, SecondRow, StepRecord};

/// What the main operation of a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Main {
    /// Rows inserted.
    Rows,
    /// Rows that came into indexes; they have no rate by the second.
    IndexedRows,
    /// Queries answered.
    Queries,
}

impl Main {
    pub(crate) fn of(record: &StepRecord) -> Main {
        match (record.rows_indexed, record.queries.accounting.scheduled) {
            (Some(_), _) => Main::IndexedRows,
            (None, 0) => Main::Rows,
            _ => Main::Queries,
        }
    }

    /// What each second counts of it.
    fn by_second(self) -> Option<fn(&SecondRow) -> u32> {
        match self {
            Main::Rows => Some(|row| row.inserted),
            Main::IndexedRows => None,
            Main::Queries => Some(|row| row.queries),
        }
    }
}

/// All that one treatment's samples of a step tell; `None` where it never ran. Series have at most `points` points.
pub(crate) fn step(
    rounds: &[Option<Measured>],
    latency: &[LatencyFindings],
    throughput: Option<f64>,
    points: usize,
) -> Option<StepFindings> {
    let ran: Vec<(&Measured, &StepRecord)> =
        rounds.iter().flatten().filter_map(|m| Some((m, m.sample.step()?))).collect();
    let with_number: Vec<(&Measured, &StepRecord)> =
        ran.iter().copied().filter(|(measured, _)| measured.has_number()).collect();
    let told = if with_number.is_empty() { &ran } else { &with_number };
    let mean_seconds = told.iter().map(|(_, record)| record.seconds).sum::<f64>() / told.len() as f64;
    let response = |kind: &str, of: fn(&StepRecord) -> &Operations| {
        responses(kind, &with_number.iter().map(|(_, record)| of(record)).collect::<Vec<_>>(), latency)
    };
    (!ran.is_empty()).then(|| StepFindings {
        seconds: mean_seconds,
        metrics: metrics::metrics(&with_number, throughput),
        sla: sla(&with_number),
        inserts: response("insert", |record| &record.inserts),
        deletes: response("delete", |record| &record.deletes),
        queries: response("query", |record| &record.queries),
        rounds: ran.iter().map(|(measured, record)| round(measured, record, points)).collect(),
        inside: None,
    })
}

fn round(measured: &Measured, record: &StepRecord, points: usize) -> StepRound {
    StepRound {
        round: measured.sample.round,
        failure: measured.sample.failure.clone(),
        seconds: record.seconds,
        inserted: record.inserts.rows,
        deleted: record.deletes.rows,
        queries: record.queries.accounting.succeeded,
        sla_held: record.sla.map(|sla| sla.is_held()),
        stalls: measured.stalls.clone(),
        deferred_seconds: record.deferred_seconds,
        index_builds: record.index_builds.clone(),
        growth: measured.sample.growth,
        series: points::points(&measured.seconds, record.seconds, points),
        server: points::server(&measured.watch, points),
        marks: marks::marks(&measured.watch),
    }
}

fn sla(rounds: &[(&Measured, &StepRecord)]) -> Option<SlaFindings> {
    let told: Vec<_> = rounds.iter().filter_map(|(_, record)| record.sla).collect();
    let count = told.len() as f64;
    let mean = |number: fn(&rqps_model::insert::Sla) -> f64| told.iter().map(number).sum::<f64>() / count;
    (!told.is_empty()).then(|| SlaFindings {
        target_per_s: mean(|sla| sla.target_per_s),
        reached_per_s: mean(|sla| sla.reached_per_s),
        least_per_s: told.iter().map(|sla| sla.reached_per_s).fold(f64::INFINITY, f64::min),
        rounds_held: told.iter().filter(|sla| sla.is_held()).count() as u32,
        rounds: told.len() as u32,
    })
}

/// Response times of one kind of statement; `None` where there was none.
fn responses(kind: &str, rounds: &[&Operations], latency: &[LatencyFindings]) -> Option<ResponseFindings> {
    let mut all = Operations::default();
    rounds.iter().for_each(|operations| all.add(operations));
    let quantiles_ms = |kind: &str, longest_ns: u64| {
        let [p50, _, p95, p99, p999, _] = latency.iter().find(|found| found.kind == kind)?.quantiles_us;
        // The bucket of a quantile reaches a little beyond the values in it; nothing took longer than the longest.
        Some([p50, p95, p99, p999].map(|us| (us / 1e3).min(longest_ns as f64 / 1e6)))
    };
    let is_planned = all.from_plan != Buckets::default();
    (all.response.total() > 0).then(|| ResponseFindings {
        rows: all.rows,
        response: all.response,
        from_plan: is_planned.then_some(all.from_plan),
        quantiles_ms: quantiles_ms(kind, all.response.longest_ns).unwrap_or_default(),
        from_plan_quantiles_ms: quantiles_ms(&format!("{kind}-from-plan"), all.from_plan.longest_ns)
            .filter(|_| is_planned),
    })
}

#[cfg(test)]
pub(crate) mod tests;
