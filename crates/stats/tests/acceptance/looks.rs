//! A5 and A6: intervals that are looked at after every round, by whoever stops when they show something.
//!
//! In: simulated rounds, and whole rounds of a real A/A campaign. Out: how often a look shows a change that is not
//! there, how soon a cell is decided, and how often the interval that it ended with contains the truth.

use crate::document;
use crate::noise::{Noise, Shape, excludes_zero};
use crate::pooled::{Measure, RealTest, floors, log_ratios, real_tests};
use rqps_stats::{Decision, Estimate, Levels, Look, Margin, Paired, decide};

/// Rounds that fit in the time.
const ROUNDS: usize = 24;
/// Campaigns drawn for a row, and from real rounds.
const CELLS: usize = 4_000;
const CAMPAIGNS: usize = 1000;
/// CV of a run and true change, by row.
const CASES: [(f64, f64); 8] =
    [(0.005, 0.0), (0.01, 0.0), (0.01, -0.02), (0.02, 0.0), (0.02, -0.02), (0.02, -0.03), (0.05, 0.0), (0.05, -0.05)];
/// Rounds of a real campaign.
const REAL_ROUNDS: usize = 12;

/// The levels after each number of rounds, if there is a look after each of them; rounds take equal parts of the time.
fn levels(rounds: usize) -> Vec<Levels> {
    let look = |rounds_then: usize| Look { spent: rounds_then as f64 / rounds as f64, rounds: rounds_then };
    let looks: Vec<Look> = (2..=rounds).map(look).collect();
    let once = [Levels::ONCE; 2];
    once.into_iter().chain((1..=looks.len()).map(|count| Levels::at_last(&looks[..count]))).collect()
}

/// The estimate with which a cell ends, decided or at the end of the time.
fn ended(levels: &[Levels], mut estimate: impl FnMut(usize) -> Estimate) -> (Estimate, Decision) {
    let last = levels.len() - 1;
    let at = |rounds: usize| {
        let seen = estimate(rounds).seen_at(levels[rounds]);
        (seen, decide(&seen, Margin::default()).decision)
    };
    let mut all = (2..=last).map(at);
    let first = all.find(|(seen, decision)| *decision != Decision::Undecided || seen.n == last);
    first.expect("the last look ends it")
}

#[test]
fn who_stops_at_the_first_look_that_shows_something_errs_no_more_often() {
    let levels = levels(ROUNDS);
    let mut rows = Vec::new();
    for (stream, (cv, change)) in CASES.into_iter().enumerate() {
        let mut noise = Noise::new(1200 + stream as u64);
        let (mut counts, mut rounds, mut held, mut bias) = ([0.0; 4], 0.0, 0.0, 0.0);
        let truth = f64::ln_1p(change);
        for _ in 0..CELLS {
            let floor = noise.floor(cv, 1.0);
            let cell_cv = noise.cell_cv(cv);
            let values = noise.rounds(ROUNDS, cell_cv, truth, Shape::Normal);
            let (seen, decision) = ended(&levels, |n| Paired::new(&values[..n]).unwrap().moderated(&floor).unwrap());
            counts[decision as usize] += 1.0 / CELLS as f64;
            rounds += seen.n as f64 / CELLS as f64;
            bias += 100.0 * (seen.mean - truth) / CELLS as f64;
            held += f64::from(u8::from(seen.low95 <= truth && truth <= seen.high95)) / CELLS as f64;
        }
        let [equal, regressed, improved, undecided] = counts;
        if change == 0.0 {
            assert!(regressed + improved <= 0.05, "CV {cv}: {counts:?}");
        }
        if change == -0.02 {
            // The margin itself is not equal.
            assert!(equal <= 0.05, "CV {cv}: {counts:?}");
        }
        assert!(held >= 0.94, "CV {cv}, change {change}: {held}");
        match (cv, change) {
            (0.01, 0.0) => assert!(rounds <= 6.6, "{rounds}"),
            (0.02, 0.0) => assert!(equal >= 0.93 && rounds <= 14.0, "{equal} {rounds}"),
            (0.02, -0.03) => assert!(regressed >= 0.99 && rounds <= 8.8, "{regressed} {rounds}"),
            _ => {}
        }
        let percent = |fraction: f64| format!("{} %", 100.0 * fraction);
        let rates = [equal, regressed, improved, undecided, held].map(document::cell);
        let row = [percent(cv), percent(change), format!("{rounds:.2}")].into_iter().chain(rates);
        rows.push(row.chain([format!("{bias:.2}")]).collect());
    }
    let verdicts = ["equal", "regressed", "improved", "undecided"];
    let header = [&["CV of a run", "true change", "rounds"][..], &verdicts, &["coverage", "bias, %"]].concat();
    document::check("looks", &document::table(&header, &rows), 0.015);
}

/// A7: tests as noisy as real ones, with effects as releases have them, in a campaign of up to 24 rounds.
#[test]
fn a_campaign_of_many_tests_is_decided_early_and_rarely_wrong() {
    const EFFECTS: [f64; 12] = [0.0, 0.0, 0.0, 0.0, -0.01, -0.02, -0.03, -0.05, -0.10, -0.20, 0.03, 0.10];
    let levels = levels(ROUNDS);
    let mut noise = Noise::new(1250);
    let (mut rounds, mut wrong, mut large, mut found, mut undecided) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for _ in 0..CELLS {
        let effect = noise.choice(&EFFECTS);
        let cv = 0.01 * (0.6 * noise.normal()).exp();
        let floor = noise.floor(cv, 1.0);
        let values = noise.rounds(ROUNDS, cv, effect.ln_1p(), Shape::Normal);
        let (seen, decision) = ended(&levels, |n| Paired::new(&values[..n]).unwrap().moderated(&floor).unwrap());
        let claimed = match decision {
            Decision::Regressed => -1.0,
            Decision::Improved => 1.0,
            Decision::Equal | Decision::Undecided => 0.0,
        };
        rounds += seen.n as f64;
        wrong += f64::from(u8::from(claimed != 0.0 && claimed * effect <= 0.0));
        undecided += f64::from(u8::from(decision == Decision::Undecided));
        // 2 % is the margin itself: equal is then no error either.
        if effect.abs() > 0.02 {
            large += 1.0;
            found += f64::from(u8::from(claimed * effect > 0.0));
        }
    }
    let cells = CELLS as f64;
    println!(
        "A7: {} rounds, {} wrong, {} found, {} undecided",
        rounds / cells,
        wrong / cells,
        found / large,
        undecided / cells
    );
    assert!(rounds / cells * 60.0 <= 400.0 && wrong / cells <= 0.005, "{} {}", rounds / cells, wrong / cells);
    assert!(found / large >= 0.99 && undecided / cells <= 0.02, "{} {}", found / large, undecided / cells);
}

#[test]
fn intervals_that_hold_whenever_one_looks_miss_no_more_often_than_stated() {
    const LOOKS: usize = 60;
    let levels: Vec<Levels> = (0..=LOOKS).map(Levels::always_valid).collect();
    let mut noise = Noise::new(1300);
    let missed = crate::noise::rate(CELLS, || {
        let values = noise.rounds(LOOKS, 0.02, 0.0, Shape::Normal);
        (2..=LOOKS).any(|n| excludes_zero(&Paired::new(&values[..n]).unwrap().plain().unwrap().seen_at(levels[n])))
    });
    assert!((0.005..=0.05).contains(&missed), "{missed}");
}

/// The same on rounds of real tests, whatever the shape of their noise.
#[test]
fn real_rounds_are_missed_no_more_often_whenever_one_looks() {
    const LOOKS: usize = 60;
    const DRAWS: usize = 200;
    let levels: Vec<Levels> = (0..=LOOKS).map(Levels::always_valid).collect();
    let mut noise = Noise::new(1350);
    let real = real_tests(Measure::Throughput);
    let mut missed = Vec::new();
    for test in &real {
        missed.push(crate::noise::rate(DRAWS, || {
            let values: Vec<f64> = (0..LOOKS).map(|_| test[noise.below(test.len())].0).collect();
            (2..=LOOKS).any(|n| excludes_zero(&Paired::new(&values[..n]).unwrap().plain().unwrap().seen_at(levels[n])))
        }));
    }
    let all = missed.iter().sum::<f64>() / missed.len() as f64;
    let worst = missed.iter().copied().fold(0.0, f64::max);
    println!("A6 on real rounds: {all} of all tests, {worst} of the worst");
    // Of 32 tests with 200 draws each, one is as far from the rest.
    assert!(all <= 0.05 && worst <= 0.12, "{all} {worst}");
}

/// A campaign of real rounds in which nothing changed, each test stopped at the first look that decides it.
#[test]
fn real_rounds_are_decided_without_finding_what_is_not_there() {
    let real: Vec<RealTest> = real_tests(Measure::Throughput);
    let levels = levels(REAL_ROUNDS);
    let mut noise = Noise::new(1400);
    let (mut held, mut changed, mut equal, mut rounds) = (vec![0usize; real.len()], 0.0, 0.0, 0.0);
    for _ in 0..CAMPAIGNS {
        let drawn: Vec<usize> = (0..REAL_ROUNDS).map(|_| noise.below(real[0].len())).collect();
        let cells: Vec<RealTest> = real.iter().map(|test| drawn.iter().map(|&round| test[round]).collect()).collect();
        let by_rounds: Vec<_> = (0..=REAL_ROUNDS).map(|n| if n < 2 { Vec::new() } else { floors(&cells, n) }).collect();
        for (test, cell) in cells.iter().enumerate() {
            let estimate = |n: usize| {
                let paired = Paired::new(&log_ratios(&cell[..n])).unwrap();
                paired.estimate(by_rounds[n][test].as_ref()).unwrap()
            };
            let (seen, decision) = ended(&levels, estimate);
            held[test] += usize::from(!excludes_zero(&seen));
            rounds += seen.n as f64;
            equal += f64::from(u8::from(decision == Decision::Equal));
            changed += f64::from(u8::from(matches!(decision, Decision::Regressed | Decision::Improved)));
        }
    }
    let cells = (CAMPAIGNS * real.len()) as f64;
    let worst = *held.iter().min().unwrap() as f64 / CAMPAIGNS as f64;
    let all = held.iter().sum::<usize>() as f64 / cells;
    let row = [all, worst, equal / cells, changed / cells].map(document::cell);
    let row = row.into_iter().chain([format!("{:.2}", rounds / cells)]).collect();
    let header = ["coverage: all", "the worst test", "equal", "changed", "rounds of 12"];
    document::check("looks-real", &document::table(&header, &[row]), 0.015);
    assert!(all >= 0.95 && worst >= 0.88 && changed / cells <= 0.05, "{all} {worst} {changed}");
}
