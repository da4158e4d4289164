//! A test over time, round by round: samples with their seconds and monitor rows → what happened, second by second.
//!
//! In: one treatment's samples. Out: [`TimelineFindings`], none for samples without a record by the second. Points and
//! marks have files of their own. It judges nothing.

mod marks;
mod points;

use crate::compare::sla::is_held;
use crate::findings::TimelineFindings;
use crate::read::measured::Measured;
use rqps_model::insert::StepRecord;

/// Each round that was recorded, with or without success. Series have at most `points` points.
pub(crate) fn timelines(rounds: &[Option<Measured>], points: usize) -> Vec<TimelineFindings> {
    let of = |measured: &Measured| Some(timeline(measured, measured.sample.step()?, points));
    rounds.iter().flatten().filter_map(of).collect()
}

fn timeline(measured: &Measured, record: &StepRecord, points: usize) -> TimelineFindings {
    TimelineFindings {
        round: measured.sample.round,
        failure: measured.sample.failure.clone(),
        seconds: record.seconds,
        inserted: record.inserts.rows,
        deleted: record.deletes.rows,
        queries: record.queries.accounting.succeeded,
        sla_held: record.sla.as_ref().map(is_held),
        stalls: measured.stalls.clone(),
        index_builds: record.index_builds.clone(),
        growth: measured.sample.growth,
        series: points::points(&measured.seconds, record.seconds, points),
        server: points::server(&measured.watch, points),
        marks: marks::marks(&measured.watch),
    }
}

#[cfg(test)]
pub(crate) mod tests;
