//! The steps of a pass, one after the other on each server: what each leaves to the next, and its numbers as a sample.
//!
//! In: servers and a step. Out: a [`Ran`] for each, and the rows that its tables must hold by what was acknowledged so
//! far. A server that cannot be connected to, or will not make the tables, is a failed sample.

use super::roles::{INSERT, KINDS};
use super::run::{StepRun, run_side_by_side};
use super::shared::Bench;
use super::table::{State, count_rows};
use crate::error::LoadError;
use crate::test_run::{Moment, Ran};
use rqps_model::insert::{Kind, Shape, Step, StepRecord};
use rqps_model::sample::{Accounting, Resources, Score, SecondRow, SuiteRecord, per_second};
use rqps_model::{Part, Sample, part};
use rqps_stats::stalls;
use rqps_wire::Endpoint;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;

/// What the steps of a pass on one server leave with the client.
#[derive(Debug, Clone)]
pub struct Chain {
    state: State,
    /// Rows that the tables must hold by what was acknowledged.
    rows: RangeInclusive<u64>,
    clients: u32,
    /// Seconds in which next to nothing was written, in the step that ran last.
    pub stalled_seconds: u32,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { state: State::new(), rows: 0..=0, clients: 1, stalled_seconds: 0 }
    }
}

impl Chain {
    /// Runs a step on all servers, each with its chain.
    pub(crate) fn run_all(
        chains: &mut [&mut Chain],
        benches: &[Bench<'_>],
        step: &Step,
        stop: &AtomicBool,
        hook: &mut dyn FnMut(Moment),
    ) -> Result<Vec<Ran>, LoadError> {
        let mut states: Vec<&mut State> = chains.iter_mut().map(|chain| &mut chain.state).collect();
        let runs = run_side_by_side(benches, step, &mut states, stop, hook)?;
        let noted = chains.iter_mut().zip(benches).zip(runs);
        noted.map(|((chain, bench), run)| chain.note(bench, step, run)).collect()
    }

    fn note(&mut self, bench: &Bench<'_>, step: &Step, run: Result<StepRun, LoadError>) -> Result<Ran, LoadError> {
        (self.clients, self.stalled_seconds) = (bench.shape.clients, 0);
        match run {
            Ok(run) => {
                self.rows = rows_after(&self.rows, &run.record);
                self.stalled_seconds = stalled_seconds(&run);
                Ok(ran(run, step.kind))
            }
            Err(LoadError::Interrupted) => Err(LoadError::Interrupted),
            Err(error) => {
                let failure = Some(format!("{}: {error}", step.name));
                Ok(Ran { sample: Sample { failure, ..Sample::default() }, ..Ran::default() })
            }
        }
    }

    /// The warning for the last step if the tables do not hold the rows that were acknowledged.
    pub(crate) fn check_rows(&self, endpoint: &Endpoint, shape: &Shape) -> Option<String> {
        match count_rows(endpoint, &shape.at(self.clients)) {
            Ok(rows) if self.rows.contains(&rows) => None,
            Ok(rows) => Some(miscount(&self.rows, rows)),
            Err(error) => Some(format!("could not verify the row count: {error}")),
        }
    }
}

/// For progress lines. While indexes are built nothing is meant to be inserted.
fn stalled_seconds(run: &StepRun) -> u32 {
    let rows = |row: &SecondRow| if row.kind == KINDS[INSERT] { row.rows } else { 0 };
    match run.record.rows_indexed {
        Some(_) => 0,
        None => {
            stalls(&per_second(&run.seconds, run.record.seconds, rows)).iter().map(|stall| stall.len() as u32).sum()
        }
    }
}

fn ran(run: StepRun, kind: Kind) -> Ran {
    let StepRun { record, seconds, latency, placement, counted } = run;
    let (count, rows) = done(kind, &record);
    let of_kinds = [record.inserts, record.deletes, record.queries];
    let sample = Sample {
        score: Score { count, ..Score::default() },
        rows,
        busy_ns: (record.seconds * 1e9).round() as u64 * u64::from(record.clients),
        seconds: record.seconds,
        sessions: 1,
        placement,
        accounting: of_kinds.iter().fold(Accounting::default(), |sum, one| sum + one.accounting),
        errors: record.errors.clone(),
        resources: Resources { operations: count, ..Resources::default() },
        failure: record.failure.clone(),
        record: Some(SuiteRecord::Insert(Box::new(record))),
        ..Sample::default()
    };
    Ran { sample, latency, parts: vec![Part::lines(part::SECONDS, &seconds)], counted, ..Ran::default() }
}

/// What counts as done in a step, and is its throughput: operations and rows.
fn done(kind: Kind, record: &StepRecord) -> (u64, u64) {
    let (inserted, indexed) = (record.inserts.rows, record.rows_indexed.unwrap_or(0));
    match kind {
        Kind::Load | Kind::Churn => (inserted, inserted),
        Kind::Index => (indexed, indexed),
        Kind::RangeQueries | Kind::PointQueries => (record.queries.accounting.succeeded, record.queries.rows),
    }
}

/// The rows that there may be after a step: an answer that never came leaves it open whether a statement took effect.
fn rows_after(before: &RangeInclusive<u64>, record: &StepRecord) -> RangeInclusive<u64> {
    let (inserts, deletes) = (record.inserts, record.deletes);
    let after = |rows: u64| (rows + inserts.rows).saturating_sub(deletes.rows);
    after(*before.start()).saturating_sub(deletes.rows_unknown)..=after(*before.end()) + inserts.rows_unknown
}

fn miscount(expected: &RangeInclusive<u64>, found: u64) -> String {
    let (least, most) = (expected.start(), expected.end());
    let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
    format!(
        "after this pass the tables hold {found} rows, but {expected} by what the server acknowledged: it lost or invented \
         rows, or the client counts wrong"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::insert::Operations;

    /// What a step says of its inserts and deletes: rows acknowledged and rows of unknown fate.
    fn record(inserted: u64, insert_unknown: u64, deleted: u64, delete_unknown: u64) -> StepRecord {
        let operations = |rows, rows_unknown| Operations { rows, rows_unknown, ..Operations::default() };
        StepRecord {
            inserts: operations(inserted, insert_unknown),
            deletes: operations(deleted, delete_unknown),
            ..StepRecord::default()
        }
    }

    #[test]
    fn rows_of_unknown_fate_leave_it_open_how_many_there_are() {
        let rows = rows_after(&(1000..=1010), &record(50, 5, 20, 10));
        assert_eq!(rows, 1020..=1045);
        assert!(miscount(&rows, 7).contains("hold 7 rows, but 1020 to 1045 by"));
        assert!(miscount(&(3..=3), 7).contains("but 3 by"));
    }
}
