//! What would settle a comparison that is undecided: more rounds, longer tests, or another machine.
//!
//! In: a comparison and what kind of test it is of. Out: one short line. A number of rounds is advice only as long as
//! somebody would run them; beyond that the numbers say what the noise is made of. A round's ratio scatters by what its
//! slices explain and by what makes one server start unlike the next; longer tests lower the first part only.

use crate::digits::plain;
use crate::findings::{Comparison, TestFindings};
use rqps_model::{Group, Interleave};

/// From this share of the rounds' variance on, the slices inside rounds are the noise.
const SHARE_OF_SLICES: f64 = 0.5;

/// What kind of test a comparison is of, as far as advice depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) group: Group,
    pub(crate) interleave: Option<Interleave>,
}

impl Kind {
    pub(crate) fn of(test: &TestFindings) -> Kind {
        Kind { group: test.group, interleave: test.interleave }
    }
}

/// What helps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Advice {
    /// So many rounds, those that were run included.
    Rounds(u32),
    /// Server starts differ this many times as much as the slices inside one explain.
    QuieterMachine { times: f64, rounds: Option<u32> },
    /// Slices are the noise; the flag that makes these tests longer.
    LongerTests { flag: &'static str, rounds: Option<u32> },
    /// A step cannot be cut into slices: what makes passes alike is their length.
    LongerSteps { rounds: Option<u32> },
    /// What the noise is made of is unknown.
    LessNoise { rounds: Option<u32> },
}

impl Advice {
    pub(crate) fn of(comparison: &Comparison, kind: Kind) -> Advice {
        if let Some(rounds) = comparison.rounds_within_reach() {
            return Advice::Rounds(rounds);
        }
        let rounds = comparison.rounds_needed;
        if kind.interleave.is_none() && kind.group != Group::Transaction {
            return Advice::LongerSteps { rounds };
        }
        let (Some(sd), Some(inside)) = (comparison.sd, comparison.cycle_se.filter(|se| *se > 0.0)) else {
            return Advice::LessNoise { rounds };
        };
        if inside * inside >= SHARE_OF_SLICES * sd * sd {
            let flag = if kind.group == Group::Write { "--write-seconds" } else { "--read-seconds" };
            return Advice::LongerTests { flag, rounds };
        }
        Advice::QuieterMachine { times: sd / inside, rounds }
    }

    /// As a remedy.
    pub(crate) fn words(self) -> String {
        let about = |rounds: Option<u32>, before: &str| {
            rounds.map_or_else(String::new, |rounds| format!("{before}about {rounds} rounds"))
        };
        match self {
            Advice::Rounds(rounds) => format!("about {rounds} rounds would do"),
            Advice::QuieterMachine { times, rounds } => {
                let (times, or) = (plain(times), about(rounds, ", or "));
                format!("server starts differ {times} times as much as slices explain: it takes a quieter machine{or}")
            }
            Advice::LongerTests { flag, rounds } => {
                let instead = about(rounds, " instead of ");
                format!("the slices inside a round are the noise: take longer `{flag}`{instead}")
            }
            Advice::LongerSteps { rounds } => {
                format!("passes of longer steps help most (a larger `--scale`){}", about(rounds, ", else it takes "))
            }
            Advice::LessNoise { rounds } => {
                format!("it takes longer tests or a quieter machine{}", about(rounds, ", or "))
            }
        }
    }

    /// As one of several in a sentence.
    fn in_short(self) -> String {
        match self {
            Advice::Rounds(rounds) => format!("about {rounds} rounds"),
            Advice::QuieterMachine { .. } => "a quieter machine".to_owned(),
            Advice::LongerTests { flag, .. } => format!("longer `{flag}`"),
            Advice::LongerSteps { .. } => "passes of longer steps (a larger `--scale`)".to_owned(),
            Advice::LessNoise { .. } => "longer tests or a quieter machine".to_owned(),
        }
    }
}

/// One line for many comparisons: how many rounds would do for those that they would do for, and what most others need.
pub(crate) fn for_all(all: &[Advice]) -> String {
    let most_rounds = |advice: &Advice| if let Advice::Rounds(rounds) = advice { Some(*rounds) } else { None };
    let within_reach: Vec<u32> = all.iter().filter_map(most_rounds).collect();
    let mut others: Vec<(String, usize)> = Vec::new();
    for words in all.iter().filter(|advice| most_rounds(advice).is_none()).map(|advice| advice.in_short()) {
        match others.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => others.push((words, 1)),
        }
    }
    // Of equally frequent ones the first.
    let commonest = others.iter().rev().max_by_key(|(_, count)| *count).map(|(words, _)| words);
    match (within_reach.iter().max(), commonest) {
        (Some(rounds), None) => Advice::Rounds(*rounds).words(),
        (Some(rounds), Some(others)) => {
            format!("about {rounds} rounds would do for {}; most others need {others}", within_reach.len())
        }
        (None, Some(others)) => format!("more rounds alone would hardly do: most need {others}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests;
