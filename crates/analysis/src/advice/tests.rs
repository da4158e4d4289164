//! Each kind of advice, from the numbers that call for it.

use super::*;

const READ: Kind = Kind { group: Group::Range, interleave: Some(Interleave::Slices) };
const WRITE: Kind = Kind { group: Group::Write, interleave: Some(Interleave::Slices) };
const STEP: Kind = Kind { group: Group::Write, interleave: None };

fn undecided(needed: Option<u32>, sd: f64, cycle_se: Option<f64>) -> Comparison {
    Comparison {
        low: Some(0.9),
        high: Some(1.1),
        mde: Some(0.1),
        p: Some(0.4),
        q: Some(0.5),
        sd: Some(sd),
        cycle_se,
        rounds_needed: needed,
        ..Comparison::undecided(0.99, 4)
    }
}

fn check(comparison: &Comparison, kind: Kind, expected: &str) {
    let words = Advice::of(comparison, kind).words();
    assert_eq!(words, expected);
    assert!(words.len() <= 120, "{} letters are no short line: {words}", words.len());
}

#[test]
fn rounds_are_advice_up_to_three_times_those_run() {
    for kind in [READ, WRITE, STEP] {
        check(&undecided(Some(12), 0.05, Some(0.01)), kind, "about 12 rounds would do");
    }
    let far = Advice::of(&undecided(Some(13), 0.05, Some(0.01)), READ);
    assert_eq!(far, Advice::QuieterMachine { times: 5.0, rounds: Some(13) });
}

#[test]
fn beyond_that_the_numbers_say_what_the_noise_is() {
    let starts = "server starts differ 5 times as much as slices explain: it takes a quieter machine";
    check(&undecided(Some(241), 0.05, Some(0.01)), READ, &format!("{starts}, or about 241 rounds"));
    check(&undecided(None, 0.05, Some(0.01)), WRITE, starts);
    let slices = "the slices inside a round are the noise: take longer";
    check(
        &undecided(Some(241), 0.05, Some(0.04)),
        READ,
        &format!("{slices} `--read-seconds` instead of about 241 rounds"),
    );
    check(
        &undecided(Some(90), 0.05, Some(0.09)),
        WRITE,
        &format!("{slices} `--write-seconds` instead of about 90 rounds"),
    );
    for cycle_se in [None, Some(0.0)] {
        let unknown = "it takes longer tests or a quieter machine, or about 241 rounds";
        check(&undecided(Some(241), 0.05, cycle_se), READ, unknown);
    }
}

#[test]
fn the_border_is_half_of_the_variance() {
    let at = |cycle_se: f64| Advice::of(&undecided(Some(99), 1.0, Some(cycle_se)), READ);
    assert!(matches!(at(0.70), Advice::QuieterMachine { .. }), "49 % of the variance");
    assert!(matches!(at(0.72), Advice::LongerTests { .. }), "52 % of the variance");
}

#[test]
fn passes_are_made_alike_by_longer_steps() {
    let words = "passes of longer steps help most (a larger `--scale`), else it takes about 40 rounds";
    check(&undecided(Some(40), 0.05, None), STEP, words);
}

#[test]
fn many_are_summed_up_in_one_line() {
    let (quiet, long) = (
        Advice::QuieterMachine { times: 4.0, rounds: Some(99) },
        Advice::LongerTests { flag: "--read-seconds", rounds: None },
    );
    let check = |all: &[Advice], expected: &str| assert_eq!(for_all(all), expected);
    check(&[Advice::Rounds(7), Advice::Rounds(14)], "about 14 rounds would do");
    check(
        &[long, Advice::Rounds(7), quiet, quiet, Advice::Rounds(9)],
        "about 9 rounds would do for 2; most others need a quieter machine",
    );
    check(&[long, quiet], "more rounds alone would hardly do: most need longer `--read-seconds`");
    check(&[], "");
}
