//! All stacks of a treatment in a test, for other programs.
//!
//! In: the rounds that explain a campaign, as stored. Out: [`SampledStacks`]: every stack with its samples over all
//! rounds and the CPU time per operation that they stand for. Nothing is left out and nothing compared.

use super::Sampled;
use super::pairs::sample;
use crate::findings::TestFindings;
use rqps_model::plan::Arrival;
use rqps_store::{Campaign, StoreError};
use std::collections::BTreeMap;

/// What a treatment ran in a test, over all rounds in which it was sampled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampledStacks {
    /// CPU time that a sample stands for.
    pub period_ns: u64,
    /// Counted time of all rounds.
    pub counted_ns: u64,
    /// Stacks, in the order of their text.
    pub stacks: Vec<SampledStack>,
}

/// A stack with what was found in it.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledStack {
    /// Functions, the outermost first.
    pub functions: Vec<String>,
    /// Samples in which it was found.
    pub samples: u64,
    /// CPU time per operation in microseconds: mean over rounds.
    pub us_per_op: f64,
}

/// The stacks of a treatment in a test; `None` where it was not sampled.
pub fn sampled_stacks(
    campaign: &Campaign,
    test: &TestFindings,
    treatment: &str,
) -> Result<Option<SampledStacks>, StoreError> {
    let mut rounds: Vec<(Sampled, f64)> = Vec::new();
    for profile in super::open(campaign)? {
        let is_closed = profile.plan().arrival == Arrival::Closed;
        for round in 1..=profile.rounds() {
            let Some(folder) = sample(&profile, round, treatment, test)? else { continue };
            let Some(found) = Sampled::read(folder)? else { continue };
            let us = found.us_per_sample(test, is_closed);
            rounds.extend(us.map(|us| (found, us)));
        }
    }
    Ok((!rounds.is_empty()).then(|| together(&rounds)))
}

fn together(rounds: &[(Sampled, f64)]) -> SampledStacks {
    let mut by_stack: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    for (sampled, us) in rounds {
        let text = String::from_utf8_lossy(&sampled.stacks);
        let counted = text.lines().filter_map(|line| line.rsplit_once(' '));
        for (stack, count) in counted.filter_map(|(stack, count)| Some((stack, count.parse::<u64>().ok()?))) {
            let sum = by_stack.entry(stack.to_owned()).or_default();
            *sum = (sum.0 + count, sum.1 + count as f64 * us / rounds.len() as f64);
        }
    }
    let stack = |(stack, (samples, us_per_op)): (String, (u64, f64))| SampledStack {
        functions: stack.split(';').map(str::to_owned).collect(),
        samples,
        us_per_op,
    };
    SampledStacks {
        period_ns: rounds[0].0.facts.period_ns,
        counted_ns: rounds.iter().map(|(sampled, _)| sampled.facts.counted_ns).sum(),
        stacks: by_stack.into_iter().map(stack).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Sample;
    use rqps_model::profile::ProfileFacts;

    #[test]
    fn rounds_are_added_and_time_is_their_mean() {
        let round = |stacks: &str| Sampled {
            sample: Sample::default(),
            facts: ProfileFacts { period_ns: 1_000_000, counted_ns: 500, ..ProfileFacts::default() },
            stacks: stacks.as_bytes().to_vec(),
        };
        let found = together(&[(round("main;f 3\nmain 1\n"), 2.0), (round("main;f 5\nno count\n"), 4.0)]);
        let stack = |functions: &[&str], samples, us_per_op| SampledStack {
            functions: functions.iter().map(|name| (*name).to_owned()).collect(),
            samples,
            us_per_op,
        };
        assert_eq!(found.stacks, [stack(&["main"], 1, 1.0), stack(&["main", "f"], 8, 13.0)]);
        assert_eq!((found.period_ns, found.counted_ns), (1_000_000, 1000));
    }
}
