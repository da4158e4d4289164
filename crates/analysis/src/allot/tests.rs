//! What the next round measures, on comparisons made by hand.

use super::*;
use crate::findings::RoundFindings;
use crate::warnings::campaign::tests as campaign;
use rqps_model::own::OwnData;
use rqps_model::plan::{DataSet, Renew, TimeLimit, TreatmentPlan};

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
    let need = |comparison: &Comparison| wants(comparison, 0.02).0;
    for (verdict, mean) in [(Verdict::Equal, 0.0), (Verdict::Regressed, -0.3)] {
        let narrow = comparison(verdict, mean, 0.0105, (8, 0.012));
        assert_eq!(need(&narrow), Need::Narrow, "{verdict:?}");
        let wide = Comparison { low: Some((mean - 0.03f64).exp()), high: Some((mean + 0.03).exp()), ..narrow };
        assert_eq!(need(&wide), Need::Wide, "{verdict:?}");
    }
    assert_eq!(need(&comparison(Verdict::Improved, 0.6, 0.03, (3, 0.01))), Need::Wide);
    // The interval reaches from 1.000 to 1.021: neither a change nor within the margin.
    let between = comparison(Verdict::Undecided, 0.0103, 0.0107, (16, 0.0116));
    assert!(matches!(wants(&between, 0.02), (Need::Open, rounds) if rounds < 45.0), "narrow, and time would decide it");
}

#[test]
fn rounds_to_decide_leave_the_mean_a_standard_error() {
    let rounds =
        |mean: f64, sd: f64, n: u32| rounds_to_decide(&comparison(Verdict::Undecided, mean, 0.2, (n, sd)), 0.02);
    // Rounds that differ by 10 % leave an interval of 6 % or so after twelve of them.
    assert!((9.0..800.0).contains(&rounds(0.02, 0.10, 4)), "{}", rounds(0.02, 0.10, 4));
    assert!(rounds(0.15, 0.10, 4) <= 8.0, "a change so large may still show");
    for (mean, sd) in [(0.0, 0.04), (0.004, 0.04), (0.015, 0.03), (0.03, 0.06)] {
        let more = rounds(mean, sd, 4);
        let decides = |more: f64| {
            let error = sd / (4.0 + more).sqrt();
            let equal = (mean - error).max(0.0) + HALF_OF_EQUAL_AT_THE_END * error < 0.02f64.ln_1p();
            mean + error > HALF_AT_THE_END * error || equal
        };
        assert!(decides(1.01 * more) && !decides(0.99 * more), "{mean} {sd}: {more}");
    }
}

/// Of a test that planned seconds take 36.3 s of, alone in a round, and 27 s more for each other test.
fn ahead(plan: &Plan, begun: u32, spent: f64) -> Ahead<'_> {
    Ahead { pace: pace::tests::pace(plan, 0.5), begun, spent }
}

#[test]
fn tests_are_given_up_after_a_third_by_what_rounds_of_the_others_take() {
    let plan = plan(&[false; 3], false);
    let needs = |spent: f64, rounds: [f64; 3]| {
        let mut wants = rounds.map(|rounds| (Need::Open, rounds));
        ahead(&plan, 4, spent).give_up(&mut wants);
        wants.map(|(need, _)| need)
    };
    use Need::{GivenUp, Open};
    // 307 s are left: 8.5 rounds of one test, 4.9 of two, 3.4 of three.
    assert_eq!(needs(0.5, [30.0, 4.0, 8.0]), [GivenUp, Open, GivenUp]);
    assert_eq!(needs(0.5, [30.0, 4.0, 4.5]), [GivenUp, Open, Open]);
    assert_eq!(needs(0.5, [3.0, 3.0, 3.3]), [Open; 3]);
    assert_eq!(needs(0.5, [9.0, f64::INFINITY, 9.0]), [GivenUp; 3]);
}

#[test]
fn a_round_has_the_most_urgent_tests_that_fit() {
    let plan = plan(&[false; 3], false);
    let next = |spent: f64, wants: [Wants; 3]| ahead(&plan, 4, spent).next(&wants);
    let open = [(Need::Open, 5.0), (Need::Open, 1.0), (Need::Wide, 0.0)];
    let measures = |spent: f64, wants: [Wants; 3]| match next(spent, wants) {
        NextRound::Measures(it) => (it.seconds.into_iter().collect::<Vec<_>>(), it.given_up),
        other => panic!("{other:?}"),
    };
    let all = |seconds: &[(&str, f64)]| seconds.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect::<Vec<_>>();
    // Two of 10 s take 63.3 s.
    assert_eq!(measures(0.5, open), (all(&[("t0", 10.0), ("t1", 10.0)]), vec![]));
    let (shorter, _) = measures(0.9, open);
    assert!(shorter.len() == 2 && (9.6..9.7).contains(&shorter[0].1), "{shorter:?} in 61.5 s");
    // 31 s are left: both would have to be shorter than half.
    let (one, given_up) = measures(0.95, open);
    assert!(one.len() == 1 && one[0].0 == "t1" && given_up == ["t0"], "{one:?} {given_up:?}");
    assert_eq!(next(0.98, open), NextRound::NoTimeLeft);
    // What comes next fits where what is most urgent does not.
    let mut slow = ahead(&plan, 4, 0.95);
    slow.pace.took.tests.insert(("t0".to_owned(), 1), crate::read::took::TestTook { seconds: 90.0, counted: 0.5 });
    let wants = [(Need::Open, 1.0), (Need::Wide, 0.0), (Need::Nothing, 0.0)];
    assert!(matches!(slow.next(&wants), NextRound::Measures(it) if it.seconds.keys().eq(["t1"])));
    assert_eq!(next(0.5, [(Need::Nothing, 0.0); 3]), NextRound::NothingLeft);
}

#[test]
fn the_first_rounds_have_every_test_or_none_begins() {
    let plan = plan(&[false; 3], false);
    let seconds = |begun: u32, spent: f64| match ahead(&plan, begun, spent).next(&[(Need::Nothing, 0.0); 3]) {
        NextRound::Measures(it) => Some(it.seconds.into_values().collect::<Vec<_>>()),
        _ => None,
    };
    assert_eq!(seconds(1, 0.1), Some(vec![10.0; 3]));
    // Two rounds have to fit in 92 s.
    let shorter = seconds(1, 0.85).expect("it fits");
    assert!(shorter.len() == 3 && (4.4..4.6).contains(&shorter[0]), "{shorter:?}");
    assert_eq!(seconds(1, 0.99), None);
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

pub(super) fn plan(writes: &[bool], until_decided: bool) -> Plan {
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
fn where_each_test_has_data_of_its_own_no_write_runs_for_another() {
    let mut plan = plan(&[false, true, true], false);
    let names = |plan: &Plan| round_of(plan, &[2]).iter().map(|test| test.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&plan), ["t1", "t2"]);
    plan.stages[0].renew = Renew::PerTest;
    assert_eq!(names(&plan), ["t2"]);
}

#[test]
fn open_tests_come_first_with_the_writes_before_them() {
    let next = |needs: &[Need], until_decided: bool| {
        let plan = plan(&[false, true, false, true, false], until_decided);
        let wants: Vec<Wants> = needs.iter().map(|need| (*need, 0.0)).collect();
        match ahead(&plan, 4, 0.4).next(&wants) {
            NextRound::Measures(it) => (it.seconds.into_keys().collect::<Vec<_>>(), it.given_up),
            other => (Vec::new(), vec![format!("{other:?}")]),
        }
    };
    let names = |needs: &[Need], until_decided: bool| next(needs, until_decided).0;
    use Need::{GivenUp, Narrow, Nothing, Open, Wide};
    assert_eq!(names(&[Narrow, Wide, Open, Wide, Narrow], false), ["t1", "t2"]);
    assert_eq!(names(&[Open, Wide, Narrow, Wide, Narrow], false), ["t0"], "no write comes before it");
    assert_eq!(names(&[Wide, Narrow, Narrow, Narrow, GivenUp], false), ["t0", "t1", "t3", "t4"]);
    assert_eq!(names(&[Narrow, Narrow, Nothing, Narrow, Narrow], false), ["t0", "t1", "t3", "t4"], "time is left");
    assert_eq!(next(&[Nothing; 5], false).1, ["NothingLeft"]);
    assert_eq!(next(&[Wide, Wide, Narrow, Wide, Narrow], true).1, ["NothingLeft"], "decided is enough");
    assert_eq!(names(&[Wide, Wide, GivenUp, Wide, Narrow], true), ["t1", "t2"]);
    // What is left out undecided has a name, unless it is measured for what comes after it.
    assert_eq!(next(&[GivenUp, GivenUp, Open, Wide, Wide], false).1, ["t0"]);
    assert_eq!(next(&[GivenUp, Wide, Narrow, Wide, Wide], false).1, [""; 0], "it comes back when no other is open");
}
