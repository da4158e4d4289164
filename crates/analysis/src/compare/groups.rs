//! Tests of a group → the group against the base: how its tests spread, and a verdict for the group as a whole.
//!
//! In: the tests' findings with their comparisons, and the same rows that the tests were judged by. Out:
//! [`GroupFindings`]. Tests of one round share a server's life, so they are averaged within the round and the rounds
//! are the replicates; ratios of a group are never pooled as if independent.

use crate::compare::judge::compare;
use crate::compare::round::RoundRatio;
use crate::compare::row::{Row, log_ratios};
use crate::findings::{Comparison, GroupFindings, TestFindings};
use rqps_model::{Group, Verdict};
use rqps_stats::{Decision, Floor, Looking, Margin, Paired, decide, mean, median};

/// A test that has fewer than this share of the group's rounds would take the others' rounds away and is left out of
/// the interval.
const FEWEST_ROUNDS_SHARE: f64 = 0.5;

/// All groups of all concurrency levels against the base, in published order. `rows` runs along with `tests`.
pub(crate) fn groups(
    tests: &[TestFindings],
    rows: &[Row],
    clients: &[u32],
    base: usize,
    margin: Margin,
) -> Vec<GroupFindings> {
    let mut keys = Vec::new();
    let mut group_rows = Vec::new();
    for &clients in clients {
        for group in Group::ALL {
            let members: Vec<usize> =
                (0..tests.len()).filter(|&at| tests[at].group == group && tests[at].clients == clients).collect();
            if !members.is_empty() {
                group_rows.push(average(&members.iter().map(|&at| &rows[at]).collect::<Vec<_>>()));
                keys.push((group, clients, members));
            }
        }
    }
    let mut comparisons = compare(&group_rows, base, margin);
    let mut found = Vec::new();
    for ((group, clients, members), comparisons) in keys.into_iter().zip(&mut comparisons) {
        for (treatment, comparison) in comparisons.iter_mut().enumerate() {
            let comparable = members.iter().filter(|&&at| rows[at].reason(treatment).is_none());
            let compared = comparable.filter_map(|&at| tests[at].cells[treatment].comparison.as_ref());
            let rqps: Vec<f64> = compared.map(|comparison| comparison.rqps).collect();
            let (Ok(mean), Ok(median)) = (mean(&rqps), median(&rqps)) else { continue };
            if let Some(comparison) = comparison.as_mut() {
                let carried = carried_by(&members, tests, rows, treatment, comparison, margin);
                comparison.remark = carried.or(comparison.remark.take());
            }
            found.push(GroupFindings {
                group,
                clients,
                treatment,
                tests: rqps.len() as u32,
                min: rqps.iter().copied().fold(f64::INFINITY, f64::min),
                max: rqps.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                median,
                mean,
                comparison: comparison.take(),
            });
        }
    }
    found
}

/// Words for a change of the group that one test brings about: without it there would be another verdict.
fn carried_by(
    members: &[usize],
    tests: &[TestFindings],
    rows: &[Row],
    treatment: usize,
    comparison: &Comparison,
    margin: Margin,
) -> Option<String> {
    let verdict = comparison.verdict;
    let sign = match verdict {
        Verdict::Improved => 1.0,
        Verdict::Regressed => -1.0,
        Verdict::Equal | Verdict::Undecided => return None,
    };
    let change = |at: usize| {
        let comparison = tests[at].cells[treatment].comparison.as_ref();
        comparison.filter(|_| rows[at].reason(treatment).is_none()).map(|comparison| comparison.rqps.ln() * sign)
    };
    let compared: Vec<(usize, f64)> = members.iter().filter_map(|&at| Some((at, change(at)?))).collect();
    let (most, _) = *compared.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let rest = compared.iter().filter(|(at, _)| *at != most).map(|(at, _)| rows[*at].comparable(treatment));
    let floor = comparison.floor.zip(comparison.floor_weight);
    let floor = floor.and_then(|(sd, weight)| Floor::with_degrees_of_freedom(sd, weight).ok());
    let looking = looking_of(&members.iter().map(|&at| &rows[at]).collect::<Vec<_>>());
    let estimate = Paired::new(&log_ratios(&average_rounds(rest, looking))).ok()?.estimate(floor.as_ref())?;
    let estimate = estimate.seen_at(looking.levels(estimate.n));
    let stays = match decide(&estimate, margin).decision {
        Decision::Improved => verdict == Verdict::Improved,
        Decision::Regressed => verdict == Verdict::Regressed,
        Decision::Equal | Decision::Undecided => false,
    };
    (!stays).then(|| format!("carried by {} alone", tests[most].name))
}

/// The group as one row: in each round the mean log ratio of its tests.
fn average(rows: &[&Row]) -> Row {
    let treatments = rows.first().map_or(0, |row| row.cells.len());
    let looking = looking_of(rows);
    let of = |treatment: usize| average_rounds(rows.iter().map(|row| row.comparable(treatment)), looking);
    let pairs = rows.first().map_or(&[][..], |row| row.pairs.as_slice());
    let of_pair =
        |at: usize| average_rounds(rows.iter().filter_map(|row| Some(row.pairs.get(at)?.1.as_slice())), looking);
    Row {
        cells: (0..treatments).map(of).collect(),
        pairs: pairs.iter().enumerate().map(|(at, &(pair, _))| (pair, of_pair(at))).collect(),
        looking,
        planted: rows.first().map_or_else(Vec::new, |row| row.planted.clone()),
        ..Row::default()
    }
}

/// A group is over when the first of its tests is.
fn looking_of(rows: &[&Row]) -> Looking {
    let level = |looking: Looking| match looking {
        Looking::AsPlanned(levels) => levels.change,
        Looking::AtAnyTime => 0.0,
    };
    rows.iter().map(|row| row.looking).min_by(|a, b| level(*a).total_cmp(&level(*b))).unwrap_or_default()
}

/// Mean log ratio by round over the tests, for the rounds that all of them have. Where tests are left out once they are
/// decided, every one of them counts: the others would be another group.
fn average_rounds<'a>(tests: impl Iterator<Item = &'a [RoundRatio]>, looking: Looking) -> Vec<RoundRatio> {
    let mut tests: Vec<&[RoundRatio]> = tests.filter(|rounds| !rounds.is_empty()).collect();
    let most = tests.iter().map(|rounds| rounds.len()).max().unwrap_or(0) as f64;
    if looking == Looking::default() {
        tests.retain(|rounds| rounds.len() as f64 >= FEWEST_ROUNDS_SHARE * most);
    }
    let Some((first, rest)) = tests.split_first() else {
        return Vec::new();
    };
    let at = |rounds: &[RoundRatio], round: u32| rounds.iter().find(|ratio| ratio.round == round).copied();
    first
        .iter()
        .filter_map(|ratio| {
            let others = rest.iter().map(|rounds| at(rounds, ratio.round));
            let all: Vec<RoundRatio> = std::iter::once(Some(*ratio)).chain(others).collect::<Option<_>>()?;
            let log_ratio = mean(&log_ratios(&all)).ok()?;
            // Slices of two tests have nothing in common but what a start gave them.
            let squares: Option<Vec<f64>> = all.iter().map(|ratio| Some(ratio.cycle_se?.powi(2))).collect();
            let cycle_se = squares.map(|squares| squares.iter().sum::<f64>().sqrt() / all.len() as f64);
            Some(RoundRatio { round: ratio.round, log_ratio, cycle_se, cycles: 0, cycles_lost: 0 })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(pairs: &[(u32, f64)]) -> Vec<RoundRatio> {
        let ratio = |&(round, log_ratio)| RoundRatio::whole(round, log_ratio);
        pairs.iter().map(ratio).collect()
    }

    fn averaged(tests: &[&[(u32, f64)]]) -> Vec<(u32, f64)> {
        let tests: Vec<Vec<RoundRatio>> = tests.iter().map(|pairs| rounds(pairs)).collect();
        let found = average_rounds(tests.iter().map(Vec::as_slice), Looking::default());
        found.iter().map(|ratio| (ratio.round, ratio.log_ratio)).collect()
    }

    #[test]
    fn rounds_are_averaged_over_tests() {
        assert_eq!(averaged(&[&[(1, 0.25), (2, 0.5)], &[(1, 0.75), (2, 0.0)]]), [(1, 0.5), (2, 0.25)]);
    }

    #[test]
    fn only_rounds_that_all_tests_have_count() {
        assert_eq!(averaged(&[&[(1, 0.25), (2, 0.5), (3, 1.0)], &[(2, 0.0), (3, 2.0)]]), [(2, 0.25), (3, 1.5)]);
    }

    #[test]
    fn a_test_with_hardly_any_round_does_not_silence_the_group() {
        let full: &[(u32, f64)] = &[(1, 0.1), (2, 0.1), (3, 0.1), (4, 0.1)];
        assert_eq!(averaged(&[full, &[(4, 9.0)], &[]]).len(), 4);
        assert!(averaged(&[&[], &[]]).is_empty());
    }
}
