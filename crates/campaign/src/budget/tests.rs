//! How a given time is spent, on plans as users ask for them.

use super::*;
use crate::testing::NoFiles;
use crate::testing::{plan, refused, vocabulary};
use crate::{Command, Flag, read};

const TWO: [(&str, &str); 2] = [("build", "postgres:16.15"), ("build", "postgres:17.11")];

fn in_time(words: &[(&str, &str)]) -> Plan {
    plan(&[&TWO, words].concat(), false)
}

#[test]
fn a_time_is_filled_with_rounds_and_more_time_with_more() {
    for (time, seconds) in [("5m", 300.0), ("10m", 600.0), ("1h", 3600.0), ("1h30m", 5400.0)] {
        let plan = in_time(&[("time", time), ("rows", "100k")]);
        let division = Some(Division { read_seconds: true, write_seconds: true, until_decided: false });
        assert_eq!(plan.time, Some(TimeLimit { seconds, rounds_max: ROUNDS_MAX, division }), "{time}");
        let expected = estimate(&plan).duration().as_secs_f64();
        let round = costs(&plan).1;
        assert!(expected <= seconds && expected + round > seconds, "{time}: {expected} s of rounds of {round} s");
    }
    let [short, long] = ["10m", "1h"].map(|time| in_time(&[("time", time), ("rows", "100k")]));
    assert!(half_width(&long, long.rounds) < 0.5 * half_width(&short, short.rounds));
}

#[test]
fn short_tests_and_many_rounds_are_better_than_long_ones() {
    // 32 tests in ten minutes: the three rounds of 2 s that were used before give a half-width of 4.9 %.
    let plan = in_time(&[("time", "10m"), ("rows", "100k")]);
    assert!(
        plan.rounds >= 8 && plan.tests()[0].seconds <= 1.0,
        "{} rounds of {} s",
        plan.rounds,
        plan.tests()[0].seconds
    );
    assert!(half_width(&plan, plan.rounds) < 0.02);
    // The start of a server is worth more seconds of a test if there is only one.
    let one = in_time(&[("time", "10m"), ("rows", "100k"), ("tests", "point-query")]);
    assert!(one.tests()[0].seconds > plan.tests()[0].seconds, "{} s", one.tests()[0].seconds);
}

#[test]
fn what_is_said_stays() {
    let plan = in_time(&[("time", "20m"), ("rows", "100k"), ("read-seconds", "2"), ("warmup", "0.3"), ("rounds", "4")]);
    assert!(plan.tests().iter().filter(|test| !test.writes).all(|test| test.seconds == 2.0));
    assert!(plan.tests().iter().filter(|test| test.writes).all(|test| test.seconds <= 2.0));
    assert_eq!((plan.warmup_seconds, plan.rounds, plan.rounds_max()), (0.3, 4, 4));
    let division = plan.division().expect("tests can be left out");
    assert_eq!((division.read_seconds, division.write_seconds), (false, true));
    // A preset says less than a time.
    let quick = in_time(&[("time", "20m"), ("quick", "true")]);
    assert!(quick.rounds > 3 && quick.stages[0].rows == 100_000, "{}", quick.rounds);
}

#[test]
fn a_time_that_nobody_gave_is_as_long_as_three_rounds_at_least() {
    let usual = in_time(&[]);
    assert_eq!(usual.time.map(|time| time.seconds), Some(900.0));
    let large = in_time(&[("rows", "50m")]);
    let seconds = large.time.expect("a time").seconds;
    assert!(large.rounds >= 3 && seconds > 900.0 && estimate(&large).duration().as_secs_f64() <= seconds, "{seconds}");
}

#[test]
fn suites_with_steps_and_transactions_keep_their_seconds() {
    for (suite, time) in [("insert", "30m"), ("tproc-c", "30m")] {
        let plain = in_time(&[("suite", suite)]);
        let timed = in_time(&[("suite", suite), ("time", time)]);
        assert_eq!(timed.stages, plain.stages, "{suite}");
        assert_eq!(timed.division(), None, "{suite}: a pass is what it is");
        assert!(timed.rounds > plain.rounds && timed.warmup_seconds == plain.warmup_seconds, "{suite}");
    }
}

#[test]
fn a_long_slice_needs_long_tests() {
    let plan = in_time(&[("time", "1h"), ("slice", "1000"), ("tests", "point-query")]);
    assert_eq!(plan.tests()[0].seconds, 20.0);
}

#[test]
fn a_time_too_short_is_refused_with_one_that_is_not() {
    let words = |time| [&TWO[..], &[("rows", "100k"), ("time", time)]].concat();
    let told = refused(&words("30s"));
    let (_, rest) = told.split_once("expected ").expect("what to take instead");
    let enough = rest.split(' ').next().expect("a time");
    assert!(told.contains("--time 30s: error: 30 s is too short: 3 rounds of these tests take about"), "{told}");
    assert!(plan(&words(enough), false).rounds >= 3, "{enough}");
}

#[test]
fn an_end_by_decisions_needs_a_time_and_a_throughput_that_is_free() {
    let until = in_time(&[("time", "1h"), ("until-decided", "true")]);
    assert!(until.division().is_some_and(|division| division.until_decided));
    assert_eq!(in_time(&[("time", "1h"), ("rate", "500")]).division(), None, "throughput is the rate");
    for (words, expected) in
        [([("rounds", "5")], "no time at which to end"), ([("rate", "500")], "nothing is decided at a rate")]
    {
        let flags = [&TWO[..], &words, &[("until-decided", "true")]].concat();
        let flags: Vec<Flag> = flags.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
        let told = read(None, &flags, Command::Run, &vocabulary(), &NoFiles).diagnostics;
        assert!(told.iter().any(|fault| fault.to_string().contains(expected)), "{told:?}");
    }
}
