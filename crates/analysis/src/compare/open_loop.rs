//! Where events come at a requested rate, throughput is that rate and says nothing about a build.
//!
//! In: the samples of one test in an open loop. Out: for each treatment whether it kept up, and the words that hold a
//! verdict back where both sides did. Where one fell behind, throughput is its own again and is judged as any other.
//! Latency is what an open loop measures; its quantiles have verdicts of their own (`compare::measures`).

use crate::read::measured::Measured;
use rqps_stats::Margin;

/// What stands where a verdict would be.
pub(crate) const REMARK: &str = "open loop: throughput is the requested rate; compare latency";

/// Whether in no round more events were skipped than the margin lets pass: a throughput so close to the rate can differ
/// from another such by less than counts.
pub(crate) fn kept_up(rounds: &[Option<Measured>], margin: Margin) -> bool {
    let mut with_number = rounds.iter().flatten().filter(|measured| measured.has_number()).peekable();
    let keeps_up = |measured: &Measured| {
        let accounting = &measured.sample.accounting;
        accounting.skipped as f64 <= margin.fraction() * accounting.scheduled as f64
    };
    with_number.peek().is_some() && with_number.all(keeps_up)
}

/// Adds what an open loop holds back to what is held back already.
pub(crate) fn held_back(mut known: Vec<Option<String>>, kept_up: &[bool], base: usize) -> Vec<Option<String>> {
    for at in (0..known.len()).filter(|&at| at != base && kept_up[at] && kept_up[base]) {
        known[at].get_or_insert_with(|| REMARK.to_owned());
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::sample::{Accounting, Slices};

    fn round(scheduled: u64, skipped: u64) -> Option<Measured> {
        let mut measured = measured(scheduled - skipped, 1_000_000_000, Slices::default());
        measured.sample.accounting =
            Accounting { scheduled, succeeded: scheduled - skipped, skipped, ..Accounting::default() };
        Some(measured)
    }

    #[test]
    fn who_skips_more_than_the_margin_fell_behind() {
        let check = |rounds: &[Option<Measured>], expected: bool| {
            assert_eq!(kept_up(rounds, Margin::default()), expected);
        };
        check(&[round(1000, 0), None, round(1000, 0)], true);
        check(&[round(1000, 20)], true);
        check(&[round(1000, 0), round(1000, 21)], false);
        check(&[None], false);
        let mut failed = round(1000, 0);
        failed.as_mut().unwrap().sample.failure = Some("server died".to_owned());
        check(&[failed], false);
    }

    #[test]
    fn a_verdict_is_held_back_where_both_sides_kept_up() {
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(held_back(vec![None; 3], &[true, true, false], 0), [None, told(REMARK), None]);
        assert_eq!(held_back(vec![None; 2], &[false, true], 0), [None, None], "the base fell behind");
        assert_eq!(held_back(vec![None, told("sla")], &[true, true], 0), [None, told("sla")]);
    }
}
