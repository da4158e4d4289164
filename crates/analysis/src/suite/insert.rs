//! The 21 columns of the published one-line summary, for one treatment in one step.
//!
//! In: the samples that have a number, with their records and seconds. Out: [`InsertColumns`]. Rates are of all rounds'
//! time together, the main one is the cell's throughput, so that no two tables differ. What is given per operation is
//! one rate over another, as published. Percentiles are of all clients' seconds together, sorted from the highest down.

use crate::evidence::cost::{Used, host_cpu_s, machine_s};
use crate::findings::InsertColumns;
use crate::read::main_operation::Main;
use crate::read::measured::Measured;
use crate::read::seconds::rate_held_in;
use rqps_model::insert::StepRecord;
use rqps_model::sample::{Resources, per_second};

const KB: f64 = 1024.0;
const MB: f64 = 1_048_576.0;
const GB: f64 = 1_073_741_824.0;

/// The columns over all rounds with a number, zeros without one; `None` where the step never ran.
pub(crate) fn columns(rounds: &[Option<Measured>], throughput: Option<f64>) -> Option<InsertColumns> {
    let ran: Vec<(&Measured, &StepRecord)> =
        rounds.iter().flatten().filter_map(|m| Some((m, m.sample.step()?))).collect();
    let with_number: Vec<(&Measured, &StepRecord)> =
        ran.iter().copied().filter(|(measured, _)| measured.has_number()).collect();
    (!ran.is_empty()).then(|| of_rounds(&with_number, throughput))
}

fn of_rounds(rounds: &[(&Measured, &StepRecord)], throughput: Option<f64>) -> InsertColumns {
    let (Some((_, first)), Some(throughput)) = (rounds.first(), throughput) else { return InsertColumns::default() };
    let main = Main::of(first);
    let used = Used::of(rounds.iter().map(|(measured, _)| *measured));
    let mean = |number: fn(&Measured, &StepRecord) -> f64| {
        rounds.iter().map(|(m, r)| number(m, r)).sum::<f64>() / rounds.len() as f64
    };
    let (ips, qps) = match main {
        Main::Queries => (mean(|_, record| record.inserts_per_s()), throughput),
        Main::Rows | Main::IndexedRows => (throughput, 0.0),
    };
    let per_s = |of: fn(&Resources) -> f64| over(used.sum(of), used.sum(|r| r.host.seconds));
    let (rps, read_bps) = (per_s(|r| r.host.disk_reads as f64), per_s(|r| r.host.disk_read_bytes as f64));
    let (wps, write_bps) = (per_s(|r| r.host.disk_writes as f64), per_s(|r| r.host.disk_write_bytes as f64));
    let csps = per_s(|r| r.host.context_switches as f64);
    let per_second = main_by_second(rounds, main);
    let held = |share: f64| rate_held_in(share, &per_second);
    let growth = |m: &Measured| m.sample.growth.unwrap_or_default().after;
    InsertColumns {
        ips,
        qps,
        rps,
        rmbps: read_bps / MB,
        wps,
        wmbps: write_bps / MB,
        rpq: over(rps, throughput),
        rkbpq: over(read_bps / KB, throughput),
        wpi: over(wps, ips),
        wkbpi: over(write_bps / KB, ips),
        csps,
        cpups: 100.0 * over(used.sum(host_cpu_s), used.sum(machine_s)),
        cspq: over(csps, throughput),
        cpupq: over(per_s(host_cpu_s) * 1e6, throughput),
        dbgb1: rounds.iter().map(|(m, _)| growth(m).database_bytes as f64).sum::<f64>() / rounds.len() as f64 / GB,
        dbgb2: rounds.iter().map(|(m, _)| growth(m).folder_bytes as f64).sum::<f64>() / rounds.len() as f64 / GB,
        rss: mean(|measured, _| measured.sample.resources.server.memory_bytes as f64) / GB,
        maxop: rounds.iter().map(|(_, record)| longest_ns(record, main)).max().unwrap_or(0) as f64 / 1e9,
        p50: held(0.5),
        p99: held(0.99),
    }
}

fn over(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn longest_ns(record: &StepRecord, main: Main) -> u64 {
    let operations = if main == Main::Queries { &record.queries } else { &record.inserts };
    operations.response.longest_ns
}

/// Each whole second of all rounds, all clients together.
fn main_by_second(rounds: &[(&Measured, &StepRecord)], main: Main) -> Vec<f64> {
    let Some(number) = main.by_second() else { return Vec::new() };
    rounds.iter().flat_map(|(measured, record)| per_second(&measured.seconds, record.seconds, number)).collect()
}

#[cfg(test)]
mod tests;
