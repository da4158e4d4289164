//! What the next round measures, on comparisons made by hand.

use super::*;
use crate::findings::RoundFindings;
use crate::warnings::campaign::tests as campaign;
use rqps_model::own::OwnData;
use rqps_model::plan::{DataSet, TimeLimit, TreatmentPlan};

/// A comparison with a mean, an interval of so wide a half, and rounds of so large a standard deviation.
fn comparison(verdict: Verdict, mean: f64, half: f64, (rounds, sd): (u32, f64)) -> Comparison {
    Comparison {
        low: Some((mean - half).exp()),
        high: Some((mean + half).exp()),
        verdict,
        sd: Some(sd),
        ..Comparison::undecided(mean.exp(), rounds)
    }
}

#[test]
fn what_is_decided_and_narrow_comes_last() {
    for (verdict, mean) in [(Verdict::Equal, 0.0), (Verdict::Regressed, -0.3)] {
        let narrow = comparison(verdict, mean, 0.0105, (8, 0.012));
        assert_eq!(need(&narrow, 0.02, 0.5, 4.0), Need::Narrow, "{verdict:?}");
        let wide = Comparison { low: Some((mean - 0.03f64).exp()), high: Some((mean + 0.03).exp()), ..narrow };
        assert_eq!(need(&wide, 0.02, 0.5, 4.0), Need::Wide, "{verdict:?}");
    }
    assert_eq!(need(&comparison(Verdict::Improved, 0.6, 0.03, (3, 0.01)), 0.02, 0.2, 9.0), Need::Wide);
    // The interval reaches from 1.000 to 1.021: neither a change nor within the margin.
    let between = comparison(Verdict::Undecided, 0.0103, 0.0107, (16, 0.0116));
    assert_eq!(need(&between, 0.02, 0.28, 45.0), Need::Open, "narrow, and yet time would decide it");
}

#[test]
fn a_test_is_given_up_where_the_time_left_will_not_do_and_no_earlier_than_after_a_third() {
    // Rounds that differ by 10 % leave an interval of 6 % or so after twelve of them.
    let noisy = comparison(Verdict::Undecided, 0.02, 0.2, (4, 0.10));
    assert_eq!(need(&noisy, 0.02, 0.30, 8.0), Need::Open);
    assert_eq!(need(&noisy, 0.02, 0.35, 8.0), Need::GivenUp);
    assert_eq!(need(&noisy, 0.02, 0.35, 800.0), Need::Open);
    let plain = comparison(Verdict::Undecided, 0.15, 0.2, (4, 0.10));
    assert_eq!(need(&plain, 0.02, 0.35, 8.0), Need::Open, "a change so large may still show");
    // What has no interval yet is no reason to give up early.
    let lone = Comparison { low: None, high: None, ..plain };
    assert_eq!([0.1, 0.4].map(|spent| need(&lone, 0.02, spent, 8.0)), [Need::Open, Need::GivenUp]);
}

#[test]
fn a_cell_that_no_round_can_decide_needs_nothing() {
    let rounds = [1, 2, 3, 4].map(|number| plan(&[false], false).round(number));
    let with_ratios = |numbers: &[u32], (low, high): (Option<f64>, Option<f64>)| {
        let of = |round: &u32| RoundFindings { round: *round, rqps: 0.9, cycle_se: None };
        let by_round = numbers.iter().map(of).collect();
        Comparison { by_round, low, high, ..Comparison::undecided(0.9, numbers.len() as u32) }
    };
    let wide = (Some(0.8), Some(1.01));
    let may = |comparison: &Comparison| may_be_decided(comparison, rounds.iter());
    assert!(may(&with_ratios(&[1, 2, 3, 4], wide)) && may(&with_ratios(&[1, 2, 3], wide)), "one failure is chance");
    assert!(!may(&with_ratios(&[1, 2], wide)), "it failed in the last two rounds");
    assert!(!may(&with_ratios(&[1, 2, 3, 4], (None, None))), "other answers: it has ratios and no interval");
    assert!(may(&with_ratios(&[4], (None, None))), "one round has none yet");
}

fn plan(writes: &[bool], until_decided: bool) -> Plan {
    let mut plan = campaign::plan(3);
    plan.stages[0].tests = (0..).zip(writes).map(|(at, writes)| campaign::test(&format!("t{at}"), *writes)).collect();
    let division = Division { read_seconds: true, write_seconds: true, until_decided };
    plan.time = Some(TimeLimit { seconds: 600.0, rounds_max: 1000, division: Some(division) });
    plan
}

#[test]
fn the_base_measured_again_takes_no_time_from_what_is_asked() {
    let mut plan = plan(&[false], false);
    let twin = plan.treatments[1].clone();
    assert_eq!(asked(&plan, 0), [1], "an A/A is all there is");
    plan.treatments[1].build = "postgres:18.6".parse().unwrap();
    plan.treatments.extend([twin.clone(), TreatmentPlan { planted: Some(0.01), ..twin }]);
    assert_eq!((asked(&plan, 0), asked(&plan, 1)), (vec![1], vec![0, 2]));
    // With data of its own it is no longer the base.
    let name = plan.treatments[2].name.clone();
    let only = [(name, BTreeMap::new())].into_iter().collect();
    plan.stages[0].data = DataSet::Own(Box::new(OwnData { only, ..OwnData::default() }));
    assert_eq!(asked(&plan, 0), [1, 2]);
}

#[test]
fn open_tests_come_first_with_the_writes_before_them() {
    let names = |needs: &[Need], until_decided: bool| -> Vec<String> {
        let plan = plan(&[false, true, false, true, false], until_decided);
        choose(&plan, needs).iter().map(|test| test.name.clone()).collect()
    };
    use Need::{GivenUp, Narrow, Nothing, Open, Wide};
    assert_eq!(names(&[Narrow, Wide, Open, Wide, Narrow], false), ["t1", "t2"]);
    assert_eq!(names(&[Open, Wide, Narrow, Wide, Narrow], false), ["t0"], "no write comes before it");
    assert_eq!(names(&[Wide, Narrow, Narrow, Narrow, GivenUp], false), ["t0", "t1", "t3", "t4"]);
    assert_eq!(names(&[Narrow, Narrow, Nothing, Narrow, Narrow], false), ["t0", "t1", "t3", "t4"], "time is left");
    assert_eq!(names(&[Nothing; 5], false), [""; 0]);
    assert_eq!(names(&[Wide, Wide, Narrow, Wide, Narrow], true), [""; 0], "decided is enough");
    assert_eq!(names(&[Wide, Wide, GivenUp, Wide, Narrow], true), ["t1", "t2"]);
    // What is left out undecided has a name, unless it is measured for what comes after it.
    let plan = plan(&[false, true, false], false);
    let left_out = |needs: &[Need]| {
        let seconds = choose(&plan, needs).iter().map(|test| (test.name.clone(), 1.0)).collect();
        given_up(&plan, needs, &seconds)
    };
    assert_eq!(left_out(&[GivenUp, GivenUp, Open]), ["t0"]);
    assert_eq!(left_out(&[GivenUp, Wide, Narrow]), [""; 0], "it comes back when no other is open");
}
