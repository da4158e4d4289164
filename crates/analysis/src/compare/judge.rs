//! Log ratios of all rounds → comparisons with interval and verdict, corrected over the whole campaign.
//!
//! In: one [`Row`] per test (or per group) with every treatment's rounds against the base. Out: a [`Comparison`] per
//! row and treatment. The mathematics is `stats`'; this room chooses the floor, carries the q-values across cells and
//! puts into words why a verdict reads as it does. Tests and groups are judged apart, each with their own correction.

use crate::compare::floor::{self, Pair, slice_variance};
use crate::compare::round::RoundRatio;
use crate::compare::row::{Row, log_ratios};
use crate::findings::{Comparison, RoundFindings};
use rqps_model::Verdict;
use rqps_stats::{
    DEFAULT_FALSE_DISCOVERY_RATE, Decision, Estimate, Floor, Judgement, Kept, Looking, Margin, Paired, Prior, decide,
    q_values, rounds_needed, rounds_needed_in_all,
};
use std::collections::BTreeSet;

/// A comparison with what the correction needs.
struct Draft {
    row: usize,
    treatment: usize,
    estimate: Option<Estimate>,
    judgement: Judgement,
    comparison: Comparison,
}

/// Compares every treatment with the base in every row, by row and treatment.
///
/// One in which a change was planted is judged as if it were the only one, and the others as if it were not there: a
/// change that is there for sure would let theirs pass the correction more easily.
pub(crate) fn compare(rows: &[Row], base: usize, margin: Margin) -> Vec<Vec<Option<Comparison>>> {
    let planted: BTreeSet<usize> = rows.iter().flat_map(|row| row.planted.iter().copied()).collect();
    let of = |is_kept: &dyn Fn(usize) -> bool| {
        let kept: Vec<Row> = rows.iter().map(|row| row.of(is_kept)).collect();
        compare_together(&kept, base, margin)
    };
    if planted.is_empty() {
        return compare_together(rows, base, margin);
    }
    let mut found = of(&|treatment| !planted.contains(&treatment));
    for &only in &planted {
        let alone = of(&|treatment| treatment == only);
        found.iter_mut().zip(alone).for_each(|(row, mut alone)| row[only] = alone[only].take());
    }
    found
}

fn compare_together(rows: &[Row], base: usize, margin: Margin) -> Vec<Vec<Option<Comparison>>> {
    let spreads = floor::spreads(rows);
    let mut drafts: Vec<Draft> = rows
        .iter()
        .enumerate()
        .flat_map(|(at, row)| {
            let known = (floor::prior(at, &spreads), floor::of_host(at, rows, &spreads));
            drafts_of_row(at, row, base, known, margin)
        })
        .collect();
    correct(&mut drafts);
    let mut found: Vec<Vec<Option<Comparison>>> = rows.iter().map(|row| vec![None; row.cells.len()]).collect();
    for draft in drafts {
        let (row, treatment) = (draft.row, draft.treatment);
        found[row][treatment] = Some(finish(draft, margin, rows[row].looking));
    }
    found
}

/// The comparisons of a row, by what other rows and this host say of its noise.
fn drafts_of_row(
    at: usize,
    row: &Row,
    base: usize,
    (prior, kept): (Option<Prior>, Option<Kept>),
    margin: Margin,
) -> Vec<Draft> {
    let cells: Vec<Vec<f64>> = (0..row.cells.len()).map(|at| log_ratios(row.comparable(at))).collect();
    let slices: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
    let pair_ratios: Vec<Vec<f64>> = row.pairs.iter().map(|(_, rounds)| log_ratios(rounds)).collect();
    let pairs: Vec<Pair<'_>> = row
        .pairs
        .iter()
        .zip(&pair_ratios)
        .map(|(&(treatments, _), log_ratios)| Pair { treatments, log_ratios })
        .collect();
    let others = (0..cells.len()).filter(|&treatment| treatment != base);
    others
        .filter_map(|treatment| {
            if let Some(reason) = row.reason(treatment) {
                return held_back(at, treatment, &row.cells[treatment], reason);
            }
            let paired = Paired::new(slices[treatment]).ok()?;
            let in_rounds = slice_variance(&row.cells[treatment]);
            let of_campaign = prior.and_then(|prior| prior.floor(in_rounds));
            let of_host = kept.and_then(|kept| kept.floor(in_rounds));
            let of_test = floor::of_test(treatment, base, &slices, &pairs);
            let floor = of_campaign.into_iter().chain(of_host).chain(of_test).reduce(Floor::joined);
            let estimate = paired.estimate(floor.as_ref());
            let estimate = estimate.map(|estimate| estimate.seen_at(row.looking.levels(estimate.n)));
            let judgement = estimate.as_ref().map_or(Judgement::UNDECIDED, |estimate| decide(estimate, margin));
            let comparison = describe(&row.cells[treatment], &paired, estimate.as_ref(), floor);
            Some(Draft { row: at, treatment, estimate, judgement, comparison })
        })
        .collect()
}

/// What is shown of rounds that are no comparison: their ratio, and why nothing follows from it. Without a p-value it
/// has no part in the correction of the others.
fn held_back(row: usize, treatment: usize, rounds: &[RoundRatio], reason: &str) -> Option<Draft> {
    let paired = Paired::new(&log_ratios(rounds)).ok()?;
    let comparison = Comparison { remark: Some(reason.to_owned()), ..describe(rounds, &paired, None, None) };
    Some(Draft { row, treatment, estimate: None, judgement: Judgement::UNDECIDED, comparison })
}

/// The numbers of a comparison; verdict and remark are put in when all cells are known.
fn describe(rounds: &[RoundRatio], paired: &Paired, estimate: Option<&Estimate>, floor: Option<Floor>) -> Comparison {
    let has_slices = rounds.iter().any(|round| round.cycle_se.is_some());
    Comparison {
        low: estimate.map(|estimate| estimate.low95.exp()),
        high: estimate.map(|estimate| estimate.high95.exp()),
        median: paired.median.exp(),
        by_round: rounds.iter().map(of_round).collect(),
        mde: estimate.map(|estimate| estimate.mde80().fraction()),
        p: estimate.map(|estimate| estimate.p_value),
        floor: floor.map(|floor| floor.sd()),
        floor_weight: floor.map(|floor| floor.degrees_of_freedom()),
        sd: paired.sd,
        cycle_se: has_slices.then(|| slice_variance(rounds).sqrt()),
        ..Comparison::undecided(paired.mean.exp(), paired.n as u32)
    }
}

fn of_round(ratio: &RoundRatio) -> RoundFindings {
    RoundFindings { round: ratio.round, rqps: ratio.log_ratio.exp(), cycle_se: ratio.cycle_se }
}

/// Benjamini-Hochberg over all cells that have a p-value.
fn correct(drafts: &mut [Draft]) {
    let p_values: Vec<f64> = drafts.iter().filter_map(|draft| draft.comparison.p).collect();
    let q_values = q_values(&p_values).expect("p-values of estimates lie between 0 and 1");
    let with_p = drafts.iter_mut().filter(|draft| draft.comparison.p.is_some());
    for (draft, q) in with_p.zip(q_values) {
        draft.comparison.q = Some(q);
    }
}

fn finish(draft: Draft, margin: Margin, looking: Looking) -> Comparison {
    let Draft { estimate, judgement, mut comparison, .. } = draft;
    let q = comparison.q.unwrap_or(1.0);
    let corrected = judgement.corrected(q, DEFAULT_FALSE_DISCOVERY_RATE);
    let taken_back = corrected != judgement;
    comparison.verdict = match corrected.decision {
        Decision::Regressed => Verdict::Regressed,
        Decision::Improved => Verdict::Improved,
        Decision::Equal => Verdict::Equal,
        Decision::Undecided => Verdict::Undecided,
    };
    comparison.beyond_margin = corrected.beyond_margin;
    // "Real" is a claim of change, so it needs the corrected level as any other.
    let real = corrected.real_but_below_margin && q <= DEFAULT_FALSE_DISCOVERY_RATE;
    comparison.remark = match (&estimate, taken_back, real) {
        (None, ..) if comparison.remark.is_some() => comparison.remark,
        (None, ..) => Some("one round only".to_owned()),
        // Just above the level two digits would read as the level itself.
        (_, true, _) if q < 0.055 => Some(format!("q = {q:.3}")),
        (_, true, _) => Some(format!("q = {q:.2}")),
        (_, _, true) => Some("real but below the margin".to_owned()),
        _ => None,
    };
    if comparison.verdict == Verdict::Undecided {
        let rounds = |needed: RoundsNeeded| rounds_to_settle(estimate.as_ref()?, margin, needed);
        comparison.rounds_needed_in_all = rounds(rounds_needed_in_all);
        comparison.rounds_needed = match looking {
            Looking::AtAnyTime => comparison.rounds_needed_in_all,
            Looking::AsPlanned(_) => rounds(rounds_needed),
        };
    }
    comparison
}

/// How many rounds of a standard deviation, with the degrees of freedom of a floor, show a change.
type RoundsNeeded = fn(f64, f64, f64) -> Option<usize>;

/// Rounds, those there are included, that would show a change of the size seen, or of the margin if that is larger.
fn rounds_to_settle(estimate: &Estimate, margin: Margin, needed: RoundsNeeded) -> Option<u32> {
    let target = estimate.mean.abs().max(margin.high());
    let prior = estimate.degrees_of_freedom - (estimate.n - 1) as f64;
    let needed = needed(estimate.sd, prior, target)?;
    u32::try_from(needed.max(estimate.n + 1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(log_ratios: &[f64]) -> Vec<RoundRatio> {
        let round = |(n, &log_ratio): (usize, &f64)| RoundRatio {
            round: n as u32 + 1,
            log_ratio,
            cycle_se: Some(0.003),
            cycles: 100,
            cycles_lost: 0,
        };
        log_ratios.iter().enumerate().map(round).collect()
    }

    fn two(log_ratios: &[f64]) -> Row {
        Row { cells: vec![Vec::new(), rounds(log_ratios)], ..Row::default() }
    }

    fn verdict_of(log_ratios: &[f64]) -> Comparison {
        compare(&[two(log_ratios)], 0, Margin::default())[0][1].clone().unwrap()
    }

    #[test]
    fn four_verdicts() {
        let check = |log_ratios: &[f64], verdict: Verdict, remark: Option<&str>| {
            let found = verdict_of(log_ratios);
            assert_eq!((found.verdict, found.remark.as_deref()), (verdict, remark), "{log_ratios:?}");
        };
        check(&[-0.031, -0.027, -0.035, -0.029], Verdict::Regressed, None);
        check(&[0.63, 0.62, 0.64, 0.63], Verdict::Improved, None);
        check(&[0.001, -0.001, 0.002, -0.002], Verdict::Equal, None);
        check(&[-0.009, -0.008, -0.010, -0.009], Verdict::Equal, Some("real but below the margin"));
        check(&[-0.09, 0.06, -0.05, 0.08], Verdict::Undecided, None);
        check(&[-0.30], Verdict::Undecided, Some("one round only"));
    }

    #[test]
    fn noise_that_this_host_showed_before_counts_where_other_tests_agree() {
        let judged = |sd: f64| {
            let kept = Some(Kept::of_rounds(sd, 0.003, 12));
            let row = |n: u32| Row { kept, ..two(&[0.011, -0.012, 0.008, -0.009 + 1e-4 * f64::from(n)]) };
            let rows: Vec<Row> = (0..8).map(row).collect();
            let found = compare(&rows, 0, Margin::default())[0][1].clone().unwrap();
            (found, floor::kept_noise(&rows).unwrap())
        };
        let (agrees, all) = judged(0.012);
        assert_eq!((agrees.floor_weight, all.known, all.counted), (Some(3.0), 8, 8));
        for other_day in [0.003, 0.03] {
            let (differs, none) = judged(other_day);
            assert_eq!((differs.floor_weight, none.known, none.counted), (Some(1.0), 8, 0), "{other_day}");
            assert!(differs.low < agrees.low && agrees.high < differs.high, "{differs:?}");
        }
        assert_eq!(floor::kept_noise(&[two(&[0.1, 0.2])]), None);
    }

    #[test]
    fn a_single_round_has_no_interval() {
        let found = verdict_of(&[-0.30]);
        assert_eq!(
            (found.low, found.high, found.p, found.q, found.mde, found.sd),
            (None, None, None, None, None, None)
        );
        assert_eq!((found.n, found.rounds_needed), (1, None));
        assert!((found.rqps - 0.740_818).abs() < 1e-6);
    }

    #[test]
    fn undecided_says_how_many_rounds_would_do() {
        let found = verdict_of(&[-0.04, 0.03, -0.01, 0.01]);
        assert_eq!(found.verdict, Verdict::Undecided);
        let anew = found.rounds_needed.unwrap();
        assert!(anew > 4 && found.rounds_needed_in_all.unwrap() > anew);
        assert!(found.mde.unwrap() > 0.02);
        // Of a campaign that was given more rounds there are no others.
        let row = Row { looking: Looking::AtAnyTime, ..two(&[-0.04, 0.03, -0.01, 0.01]) };
        let extended = compare(&[row], 0, Margin::default())[0][1].clone().unwrap();
        assert_eq!(extended.rounds_needed, found.rounds_needed_in_all);
    }

    #[test]
    fn a_build_that_failed_in_most_rounds_of_an_extended_campaign_costs_the_others_nothing() {
        let lost: Vec<f64> = (0..20).map(|round| -0.30 + 0.002 * f64::from(round % 3)).collect();
        let row = |rounds_of_other: usize| Row {
            cells: vec![Vec::new(), rounds(&lost), rounds(&lost[..rounds_of_other])],
            looking: Looking::AtAnyTime,
            ..Row::default()
        };
        let found = compare(&[row(3)], 0, Margin::default()).remove(0);
        let [whole, few] = [1, 2].map(|at| found[at].clone().unwrap());
        assert_eq!((whole.verdict, few.verdict), (Verdict::Regressed, Verdict::Undecided));
        let both = compare(&[row(20)], 0, Margin::default()).remove(0);
        assert_eq!(both[2].clone().unwrap().verdict, Verdict::Regressed);
    }

    #[test]
    fn a_cell_that_chance_explains_is_taken_back() {
        // On its own this cell is regressed; among others that show nothing it is what chance brings.
        let lone = [-0.05, -0.02, -0.09, -0.04, -0.015];
        assert_eq!(verdict_of(&lone).verdict, Verdict::Regressed);
        let mut rows: Vec<Row> = (0..3).map(|n| two(&[0.03, -0.03, 0.02 + 1e-4 * f64::from(n), -0.02, 0.0])).collect();
        rows.push(two(&lone));
        let found = compare(&rows, 0, Margin::default())[3][1].clone().unwrap();
        assert_eq!(found.verdict, Verdict::Undecided);
        assert!(found.remark.as_deref().unwrap().starts_with("q = 0."), "{:?}", found.remark);
        assert!(found.q.unwrap() > 0.05 && found.p.unwrap() < 0.05);
        assert!(!found.beyond_margin && found.rounds_needed.unwrap() > 5);
    }

    #[test]
    fn a_planted_change_has_no_part_in_the_verdicts_of_others() {
        let chance = [-0.05, -0.02, -0.09, -0.04, -0.015];
        let quiet = |n: u32| [0.03, -0.03, 0.02 + 1e-4 * f64::from(n), -0.02, 0.0];
        let others: Vec<Row> = (0..3).map(|n| two(&quiet(n))).chain([two(&chance)]).collect();
        let sure = |n: usize| rounds(&[-0.011, -0.010, -0.0105 - 1e-5 * n as f64, -0.0095, -0.01]);
        let with_control = |(n, row): (usize, &Row)| {
            let cells = vec![Vec::new(), row.cells[1].clone(), sure(n)];
            Row { cells, planted: vec![2], ..Row::default() }
        };
        let both: Vec<Row> = others.iter().enumerate().map(with_control).collect();
        let alone: Vec<Row> = (0..4).map(|n| Row { cells: vec![Vec::new(), sure(n)], ..Row::default() }).collect();
        let (found, without) = (compare(&both, 0, Margin::default()), compare(&others, 0, Margin::default()));
        let control = compare(&alone, 0, Margin::default());
        for row in 0..4 {
            assert_eq!((&found[row][1], &found[row][2]), (&without[row][1], &control[row][1]));
        }
        assert!(found[0][2].as_ref().unwrap().high.unwrap() < 1.0);
        // Were it a treatment like others, what chance brings would pass.
        let unmarked: Vec<Row> = both.iter().map(|row| Row { planted: Vec::new(), ..row.clone() }).collect();
        let q = |rows: &[Row]| compare(rows, 0, Margin::default())[3][1].as_ref().unwrap().q.unwrap();
        assert!(q(&unmarked) < q(&both));
    }

    #[test]
    fn what_is_held_back_has_a_ratio_and_no_verdict() {
        let lone = [-0.05, -0.02, -0.09, -0.04, -0.015];
        let reason = "a wrote 412 of 1000 rows/s";
        let changed: Vec<f64> = (0..5).map(|n| -0.3 + 0.001 * f64::from(n)).collect();
        let spoilt = Row { held_back: vec![None, Some(reason.to_owned())], ..two(&changed) };
        let found = compare(&[two(&lone), spoilt], 0, Margin::default());
        let spoilt = found[1][1].as_ref().unwrap();
        assert_eq!((spoilt.verdict, spoilt.remark.as_deref()), (Verdict::Undecided, Some(reason)));
        assert_eq!((spoilt.p, spoilt.low, spoilt.rounds_needed, spoilt.n), (None, None, None, 5));
        assert!((spoilt.rqps.ln() + 0.298).abs() < 1e-9);
        let alone = verdict_of(&lone);
        assert_eq!(found[0][1].as_ref().unwrap().q, alone.q, "the others are corrected without it");
    }

    #[test]
    fn cells_without_rounds_stay_absent() {
        let row = Row { cells: vec![Vec::new(), Vec::new(), rounds(&[0.1, 0.1])], ..Row::default() };
        let found = compare(&[row], 0, Margin::default());
        assert_eq!((found[0][0].is_none(), found[0][1].is_none(), found[0][2].is_some()), (true, true, true));
    }

    #[test]
    fn quality_inside_rounds_is_a_root_mean_square() {
        let mut cells = rounds(&[0.0, 0.001]);
        cells[0].cycle_se = Some(0.003);
        cells[1].cycle_se = Some(0.004);
        let found = compare(&[Row { cells: vec![Vec::new(), cells], ..Row::default() }], 0, Margin::default());
        let cycle_se = found[0][1].as_ref().unwrap().cycle_se.unwrap();
        assert!((cycle_se - (12.5e-6f64).sqrt()).abs() < 1e-15);
    }
}
