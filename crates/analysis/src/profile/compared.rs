//! Functions and frames of two builds side by side.
//!
//! In: the stacks of all rounds. Out: findings without warnings and without what samples stand for. Many functions are
//! judged at once, so each is shown to differ only after a correction for the number of them; those with few samples
//! are judged together, as the rest. How much rounds differ is what functions have in common
//! (docs/statistics.md).

use super::estimate::{self, Estimate, Scatter};
use super::stacks::{Stacks, add};
use crate::findings::{Amount, FrameFindings, FunctionFindings, ProfileFindings};
use std::collections::BTreeMap;

/// Frames that are narrower than this part of all are left out of the flame graph: nobody would see them.
const WIDTH_MIN: f64 = 0.002;

/// By round, the base first.
type Counts = Vec<[u64; 2]>;

pub(super) fn compared(stacks: &Stacks) -> ProfileFindings {
    let (own, inclusive) = (stacks.own(), stacks.inclusive());
    let by_function = |of_frames: &[Counts], is_counted: &dyn Fn(usize) -> bool| {
        let mut sums = vec![vec![[0; 2]; stacks.rounds()]; stacks.names.len()];
        let frames = stacks.frames.iter().zip(of_frames).enumerate().filter(|(at, _)| is_counted(*at));
        frames.for_each(|(_, (frame, counts))| add(&mut sums[frame.name], counts));
        sums
    };
    let itself = by_function(&own, &|_| true);
    let judge = Judge { stacks, scatter: estimate::pooled(itself.iter().map(|counts| stacks.weighed(counts))) };
    let judged = judge.judged(&itself);
    let mut rest = vec![[0; 2]; stacks.rounds()];
    let is_sure = |name: usize| judged.iter().any(|(at, found)| *at == name && found.amount.is_sure);
    let unsure: Vec<usize> = (0..stacks.names.len()).filter(|name| !is_sure(*name)).collect();
    unsure.iter().for_each(|name| add(&mut rest, &itself[*name]));
    // A function that only calls others has no time of its own.
    let rest_count = unsure.iter().filter(|name| itself[**name].iter().any(|counts| *counts != [0; 2])).count();
    let mut all = vec![[0; 2]; stacks.rounds()];
    itself.iter().for_each(|counts| add(&mut all, counts));
    let samples = |build: usize| all.iter().map(|counts| counts[build]).sum::<u64>();
    let total = judge.alone(&all);
    let mdes = judged.iter().map(|(_, found)| found.mde);
    ProfileFindings {
        rounds: stacks.rounds() as u32,
        base_samples: samples(0),
        samples: samples(1),
        total,
        rest: judge.alone(&rest),
        rest_count: rest_count as u32,
        mde_us: mdes.reduce(f64::max),
        functions: functions(&stacks.names, judged),
        inclusive: functions(
            &stacks.names,
            judge.judged(&by_function(&inclusive, &|frame| !stacks.is_recursive(frame))),
        ),
        files: judge.summed(&itself, &|function| stacks.files.of(function)),
        sources: match stacks.files.has_sources() {
            true => judge.summed(&itself, &|function| stacks.files.source_of(function)),
            false => Vec::new(),
        },
        roles: {
            let (names, counts) = stacks.by_role();
            functions(&names, judge.judged(&counts))
        },
        sampled_part: None,
        uncounted_part: None,
        graph: judge.graph(&own, &inclusive, total),
        warnings: Vec::new(),
    }
}

/// What samples of a test are judged with.
struct Judge<'a> {
    stacks: &'a Stacks,
    scatter: Scatter,
}

impl Judge<'_> {
    /// Those of several that have enough samples, by index, judged together.
    fn judged(&self, counts: &[Counts]) -> Vec<(usize, Estimate)> {
        estimate::judged(counts.iter().map(|counts| self.stacks.weighed(counts)), self.scatter)
    }

    /// Judged by itself.
    fn alone(&self, counts: &[[u64; 2]]) -> Amount {
        estimate::alone(&self.stacks.weighed(counts), self.scatter).into()
    }

    /// Time in functions themselves, summed up by their files.
    fn summed(&self, itself: &[Counts], file: &dyn Fn(&str) -> String) -> Vec<FunctionFindings> {
        let stacks = self.stacks;
        let mut sums: BTreeMap<String, Counts> = BTreeMap::new();
        for (name, counts) in stacks.names.iter().zip(itself) {
            add(sums.entry(file(name)).or_insert_with(|| vec![[0; 2]; stacks.rounds()]), counts);
        }
        let (names, counts): (Vec<String>, Vec<Counts>) = sums.into_iter().unzip();
        functions(&names, self.judged(&counts))
    }

    /// The frames that are wide enough to be seen, each followed by what it called, in alphabetical order.
    fn graph(&self, own: &[Counts], inclusive: &[Counts], total: Amount) -> Vec<FrameFindings> {
        let stacks = self.stacks;
        let least = WIDTH_MIN * total.base_us.max(total.us);
        let amount =
            |counts: &[[u64; 2]]| Amount::from(estimate::estimate(&stacks.weighed(counts), self.scatter).amount);
        let mut amounts: Vec<Amount> = inclusive.iter().map(|counts| amount(counts)).collect();
        for (at, found) in self.judged(inclusive) {
            amounts[at] = found.amount.into();
        }
        let name = |at: usize| stacks.names[stacks.frames[at].name].as_str();
        let mut called: Vec<Vec<usize>> = vec![Vec::new(); stacks.frames.len()];
        let mut due = Vec::new();
        for (at, frame) in stacks.frames.iter().enumerate() {
            if amounts[at].base_us.max(amounts[at].us) >= least {
                match frame.parent {
                    Some(parent) => called[parent].push(at),
                    None => due.push(at),
                }
            }
        }
        // What is due next stands last.
        let sort = |frames: &mut Vec<usize>| frames.sort_by(|a, b| name(*b).cmp(name(*a)));
        sort(&mut due);
        let mut due: Vec<(usize, u32)> = due.into_iter().map(|at| (at, 0)).collect();
        let mut graph = Vec::new();
        while let Some((at, depth)) = due.pop() {
            let itself = amount(&own[at]);
            graph.push(FrameFindings {
                name: name(at).to_owned(),
                depth,
                amount: amounts[at],
                base_self_us: itself.base_us,
                self_us: itself.us,
            });
            sort(&mut called[at]);
            due.extend(called[at].iter().map(|&below| (below, depth + 1)));
        }
        graph
    }
}

fn functions(names: &[String], judged: Vec<(usize, Estimate)>) -> Vec<FunctionFindings> {
    let mut functions: Vec<FunctionFindings> = judged
        .into_iter()
        .map(|(name, Estimate { amount, samples, .. })| FunctionFindings {
            name: names[name].clone(),
            samples,
            amount: amount.into(),
            absent: None,
        })
        .collect();
    functions.sort_by(|a, b| {
        let size = |function: &FunctionFindings| function.amount.difference_us.abs();
        size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name))
    });
    functions
}
