//! Warnings of a cell that was recorded by the second: rates not held, stalls, plans deferred, unequal work and
//! maintenance, too short a time.
//!
//! In: a cell's samples and the base's. Out: warnings; none without such records. Thresholds are named here with
//! their reason.

use super::cell::Cell;
use super::{advised, warning};
use crate::compare::sla::missed_rounds;
use crate::digits::{percent, plain};
use crate::findings::Warning;
use crate::read::measured::Measured;
use crate::words::rounds_in_words;
use rqps_model::insert::{Stall, StepRecord};
use rqps_model::{WarningKind, plural};
use std::collections::BTreeSet;

/// Start and end of a step, a checkpoint more or less: in a shorter one they are all there is.
const SHORTEST_SECONDS: f64 = 10.0;

/// Where flushes took this share of the stalled time or more, the disk is named: a flush may have begun before a stall
/// and one in another build's slice is not seen here.
const FLUSH_SHARE: f64 = 0.5;

/// What a timer of the server starts, by the counter of how often it was done.
const MAINTENANCE: [(&str, &str); 2] =
    [("pg_stat_user_tables.autovacuum_count", "vacuumed"), ("pg_stat_user_tables.autoanalyze_count", "analyzed")];

/// Sides that differ by more in a round, while one has less than one, differ by the luck of a timer. What is done again
/// and again follows from how long the step takes.
const MAINTENANCE_DIFFERENCE: f64 = 0.5;

/// Warnings from the steps of a cell.
pub(super) fn observed(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    sla(cell, found);
    stalls(cell, found);
    deferred(cell, found);
    short(cell, found);
    unequal(cell, found);
    maintenance(cell, found);
}

fn sla(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let missed = missed_rounds(cell.rounds);
    let Some((_, worst)) = missed.iter().min_by(|a, b| a.1.reached_per_s.total_cmp(&b.1.reached_per_s)) else { return };
    let message = format!(
        "the background writers inserted {} of {} rows/s ({} of the rate) in {}: the queries ran alongside fewer \
         writes than planned",
        plain(worst.reached_per_s),
        plain(worst.target_per_s),
        percent(worst.reached_per_s / worst.target_per_s),
        rounds_in_words(missed.iter().map(|(round, _)| *round))
    );
    found.push(warning(WarningKind::SlaMissed, message));
}

fn stalls(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let stalls: Vec<(u32, Stall)> = cell
        .recorded()
        .flat_map(|(measured, _)| measured.stalls.iter().map(|stall| (measured.sample.round, *stall)))
        .collect();
    // Of equally long ones the first.
    let Some((round, longest)) = stalls.iter().rev().max_by_key(|(_, stall)| stall.seconds) else { return };
    let total: u32 = stalls.iter().map(|(_, stall)| stall.seconds).sum();
    let begin = format!("from second {} of {}", longest.from_second, rounds_in_words([*round]));
    let message = if stalls.len() == 1 {
        format!("almost no rows were inserted for {total} s, {begin}")
    } else {
        let rounds = rounds_in_words(stalls.iter().map(|(round, _)| *round));
        let count = plural(stalls.len(), "stall");
        let longest = longest.seconds;
        format!("almost no rows were inserted for {total} s in {count} in {rounds}, the longest {longest} s {begin}")
    };
    let with_stalls = || cell.recorded().filter(|(measured, _)| !measured.stalls.is_empty());
    let flush_s: f64 = with_stalls().map(|(measured, _)| measured.sample.resources.host.disk_flush_wait_s).sum();
    found.push(if flush_s >= FLUSH_SHARE * f64::from(total) {
        let message = format!("{message}; flushes of the data device took {} s there", plain(flush_s));
        advised(
            WarningKind::WriteStalls,
            message,
            "look at what else writes to that disk: commits wait for its flushes",
        )
    } else {
        warning(WarningKind::WriteStalls, message)
    });
}

fn deferred(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let is_deferred = |m: &Measured| m.sample.step().is_some_and(|record| record.deferred_seconds > 0.0);
    if let Some(rounds) = cell.rounds_where(is_deferred) {
        let most = plain(cell.recorded().map(|(_, record)| record.deferred_seconds).fold(0.0, f64::max));
        let message =
            format!("writers fell so far behind their plan that up to {most} s of it were deferred in {rounds}");
        found.push(warning(WarningKind::Deferred, message));
    }
}

fn short(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let shortest = cell.recorded_with_number().map(|(_, record)| record.seconds).fold(f64::INFINITY, f64::min);
    if shortest < SHORTEST_SECONDS {
        let message = format!("the step took {} s: too short a time to trust its rate", plain(shortest));
        found.push(warning(WarningKind::Short, message));
    }
}

/// In a round all treatments write the same rows, unless one does not hold its rate, which has a warning of its own.
fn unequal(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    let missed: BTreeSet<u32> =
        [cell.rounds, cell.base_rounds].iter().flat_map(|side| missed_rounds(side)).map(|(round, _)| round).collect();
    let of_base = |round: u32| {
        let base = cell.base_rounds.iter().flatten().find(|base| base.sample.round == round)?;
        base.sample.step().filter(|_| base.has_number())
    };
    let work = |record: &StepRecord| (record.inserts.rows, record.deletes.rows);
    let unequal: Vec<(u32, &StepRecord, &StepRecord)> = cell
        .recorded_with_number()
        .filter_map(|(measured, own)| Some((measured.sample.round, own, of_base(measured.sample.round)?)))
        .filter(|(round, own, base)| !missed.contains(round) && work(own) != work(base))
        .collect();
    if let Some((_, own, base)) = unequal.first() {
        let ((inserted, deleted), (base_inserted, base_deleted)) = (work(own), work(base));
        let rounds = rounds_in_words(unequal.iter().map(|(round, ..)| *round));
        let message = format!(
            "{inserted} rows were inserted and {deleted} deleted, on the base {base_inserted} and {base_deleted}, in \
             {rounds}"
        );
        found.push(warning(WarningKind::UnequalWork, message));
    }
}

/// A vacuum in a step of a second or two is most of what happens there, and a timer of ten seconds decides whose it is.
fn maintenance(cell: &Cell<'_>, found: &mut Vec<Warning>) {
    if cell.recorded().next().is_none() {
        return;
    }
    for (counter, done) in MAINTENANCE {
        let count = |measured: &Measured| measured.sample.counters.get(counter).copied().unwrap_or(0.0);
        let mean = |side: &[Option<Measured>]| {
            let rounds = side.iter().flatten().count().max(1);
            side.iter().flatten().map(count).sum::<f64>() / rounds as f64
        };
        let (own, base) = (mean(cell.rounds), mean(cell.base_rounds));
        if (own - base).abs() <= MAINTENANCE_DIFFERENCE || own.min(base) >= 1.0 {
            continue;
        }
        let in_rounds = |side: &[Option<Measured>]| {
            let rounds = side.iter().flatten().filter(|measured| count(measured) > 0.0);
            let rounds: Vec<u32> = rounds.map(|measured| measured.sample.round).collect();
            if rounds.is_empty() { "no round".to_owned() } else { rounds_in_words(rounds) }
        };
        let (own, base) = (in_rounds(cell.rounds), in_rounds(cell.base_rounds));
        let message = format!("a table was {done} in this step in {own}, on the base in {base}");
        found.push(warning(WarningKind::Maintenance, message));
    }
}

#[cfg(test)]
mod tests;
