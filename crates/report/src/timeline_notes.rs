//! What must be said of a test over time in words: targets that were missed, stalls, failures.
//!
//! In: findings of one test on one treatment. Out: sentences without the names of test and treatment, which stand
//! before them wherever they are shown.

use crate::number;
use rqps_analysis::findings::{CellFindings, SlaFindings, TimelineFindings};
use rqps_model::{WarningKind, counted};

/// Kinds of warnings that say no more than these notes.
pub(crate) const KINDS: [WarningKind; 3] = [WarningKind::Failed, WarningKind::SlaMissed, WarningKind::WriteStalls];

/// Stalls of a round that are dated one by one; more are counted.
const DATED: usize = 4;

/// Everything that must be said, the worst first.
pub(crate) fn notes(cell: &CellFindings) -> Vec<String> {
    let failures = cell.timelines.iter().filter_map(|round| {
        let failure = round.failure.as_ref()?;
        Some(format!("failed in round {}: {failure}", round.round))
    });
    let stalls: Vec<String> = cell.timelines.iter().filter_map(stalls).collect();
    let stalls = (!stalls.is_empty()).then(|| stalls.join("; "));
    failures.chain(sla(cell)).chain(stalls).collect()
}

/// The target that was missed, and by how much.
fn sla(cell: &CellFindings) -> Option<String> {
    let sla = cell.sla.filter(|sla| !sla.is_held())?;
    let SlaFindings { target_per_s, least_per_s, rounds_held, rounds, .. } = sla;
    let worst = if rounds > 1 { ", in the worst" } else { "" };
    Some(format!(
        "SLA missed in {} of {}: {} of {} rows/s inserted behind the queries ({}{worst}). Its queries ran \
         alongside fewer writes and don't compare.",
        rounds - rounds_held,
        counted(rounds, "round"),
        number::throughput(least_per_s),
        number::throughput(target_per_s),
        number::percent(least_per_s / target_per_s),
    ))
}

/// The stalls of a round, dated.
fn stalls(round: &TimelineFindings) -> Option<String> {
    let all: u32 = round.stalls.iter().map(|stall| stall.seconds).sum();
    if let [only] = round.stalls[..] {
        return Some(format!("stalled for {all} s at second {} of round {}", only.from_second, round.round));
    }
    let dated =
        round.stalls.iter().take(DATED).map(|stall| format!("{} s at second {}", stall.seconds, stall.from_second));
    let dated: Vec<String> = dated.collect();
    let more = match round.stalls.len().saturating_sub(DATED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let count = round.stalls.len();
    (count > 0).then(|| format!("{count} stalls of {all} s in round {}: {}{more}", round.round, dated.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::insert::Stall;

    #[test]
    fn what_went_wrong_is_told_in_order() {
        let stall = |from_second, seconds| Stall { from_second, seconds };
        let cell = CellFindings {
            sla: Some(SlaFindings {
                target_per_s: 1000.0,
                reached_per_s: 806.0,
                least_per_s: 612.0,
                rounds_held: 1,
                rounds: 2,
            }),
            timelines: vec![
                TimelineFindings { round: 1, stalls: vec![stall(3, 1), stall(20, 4)], ..TimelineFindings::default() },
                TimelineFindings { round: 2, failure: Some("gone".into()), ..TimelineFindings::default() },
                TimelineFindings { round: 3, stalls: vec![stall(7, 2)], ..TimelineFindings::default() },
            ],
            ..CellFindings::default()
        };
        assert_eq!(
            notes(&cell),
            [
                "failed in round 2: gone",
                "SLA missed in 1 of 2 rounds: 612 of 1000 rows/s inserted behind the queries (61 %, in the worst). Its \
                 queries ran alongside fewer writes and don't compare.",
                "2 stalls of 5 s in round 1: 1 s at second 3, 4 s at second 20; stalled for 2 s at second 7 of round 3",
            ]
        );
        assert!(notes(&CellFindings::default()).is_empty());
    }
}
