//! From how many clients on a build is ahead of the base, in words.
//!
//! In: findings. Out: a phrase for each test in which that changes. Where the interval goes on beyond the numbers of
//! clients that were measured, nothing is said.

use crate::{number, text};
use rqps_analysis::findings::{CrossingFindings, Findings};

/// The phrases of a treatment.
pub(crate) fn of(findings: &Findings, treatment: usize) -> Vec<String> {
    let own = findings.crossings.iter().filter(|crossing| crossing.treatment == treatment);
    own.filter_map(told).collect()
}

fn told(crossing: &CrossingFindings) -> Option<String> {
    let clients = |value: f64| number::significant(value, 2);
    let (from, to) = (clients(crossing.from?), clients(crossing.to?));
    let side = if crossing.is_ahead_above { "from" } else { "up to" };
    let (test, at) = (text::plain(&crossing.test), clients(crossing.clients));
    Some(format!("ahead in {test} {side} {at} clients (95 % interval {from}–{to})"))
}
