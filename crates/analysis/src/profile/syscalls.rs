//! From recorded system calls to those that a server makes more or fewer of per operation.
//!
//! In: the rounds that explain a campaign. Out: [`SyscallFindings`]. Calls of all processes of the server count, those
//! behind the sessions included. One of many is recorded, so that no count is exact.

use super::estimate::{Scatter, Sums, alone, counted, judged};
use super::pairs::{Pair, pairs, per_operation};
use crate::findings::{CallFindings, SyscallFindings, TestFindings};
use rqps_model::syscalls::SyscallFacts;
use rqps_model::{Sample, part};
use rqps_store::{Campaign, SampleFolder, StoreError};
use std::collections::BTreeMap;

/// A server whose calls were recorded in a round.
struct Recorded {
    sample: Sample,
    facts: SyscallFacts,
}

impl Recorded {
    fn read(found: SampleFolder) -> Result<Option<Recorded>, StoreError> {
        let facts: Option<SyscallFacts> = found.json(part::SYSCALLS)?;
        Ok(facts.map(|facts| Recorded { sample: found.sample, facts }))
    }

    /// Calls per operation that a call in the recorded time stands for.
    fn per_call(&self, test: &TestFindings, is_closed: bool) -> Option<f64> {
        let SyscallFacts { counted_ns, recorded_ns, .. } = self.facts;
        let in_all_of_it = counted_ns as f64 / recorded_ns as f64;
        per_operation(in_all_of_it, &self.sample, counted_ns, test, is_closed)
    }
}

/// What the rounds say of two treatments, the base first.
pub(super) fn syscalls(
    profiles: &[Campaign],
    test: &TestFindings,
    names: [&str; 2],
) -> Result<Option<SyscallFindings>, StoreError> {
    let mut rounds: Vec<([f64; 2], [SyscallFacts; 2])> = Vec::new();
    for Pair { is_closed, base, own } in pairs(profiles, test, names, Recorded::read)? {
        let per_call = |recorded: &Recorded| recorded.per_call(test, is_closed);
        if let Some((of_base, of_own)) = per_call(&base).zip(per_call(&own)) {
            rounds.push(([of_base, of_own], [base.facts, own.facts]));
        }
    }
    Ok((!rounds.is_empty()).then(|| compared(&rounds, names)))
}

fn compared(rounds: &[([f64; 2], [SyscallFacts; 2])], names: [&str; 2]) -> SyscallFindings {
    let none = || -> Sums { vec![[(0, 0.0); 2]; rounds.len()] };
    let mut rows: BTreeMap<&str, Sums> = BTreeMap::new();
    let mut total = none();
    let mut samples = [0; 2];
    for (round, (per_call, facts)) in rounds.iter().enumerate() {
        for (build, facts) in facts.iter().enumerate() {
            for (name, count) in &facts.calls {
                let row = rows.entry(name).or_insert_with(none);
                for sum in [&mut row[round][build], &mut total[round][build]] {
                    *sum = (sum.0 + count.samples, sum.1 + count.calls as f64 * per_call[build]);
                }
                samples[build] += count.samples;
            }
        }
    }
    let (keys, sums): (Vec<&str>, Vec<Sums>) = rows.into_iter().unzip();
    let judged = judged(sums.iter().map(counted), Scatter::Poisson);
    let mde = judged.iter().map(|(_, found)| found.mde).reduce(f64::max);
    let call = |(at, found): (usize, super::estimate::Estimate)| CallFindings {
        name: keys[at].to_owned(),
        samples: found.samples,
        amount: found.amount,
    };
    let mut calls: Vec<CallFindings> = judged.into_iter().map(call).collect();
    let size = |call: &CallFindings| call.amount.difference.abs();
    calls.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    let lost = |build: usize| rounds.iter().map(|(_, facts)| facts[build].lost).sum::<u64>();
    let warning = |build: usize| {
        let lost = Some(lost(build)).filter(|lost| *lost > 0)?;
        Some(format!("the kernel lost {lost} records of system calls while {} was sampled", names[build]))
    };
    SyscallFindings {
        rounds: rounds.len() as u32,
        base_samples: samples[0],
        samples: samples[1],
        total: alone(&counted(&total), Scatter::Poisson),
        calls,
        mde,
        warnings: (0..2).filter_map(warning).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::syscalls::SyscallCount;
    use rqps_model::{Group, Unit};

    /// Calls of a hundred operations' time, of which one in ten was recorded.
    fn facts(calls: &[(&str, u64)]) -> SyscallFacts {
        let count = |&(name, samples): &(&str, u64)| (name.to_owned(), SyscallCount { samples, calls: samples * 10 });
        let calls = calls.iter().map(count).collect();
        SyscallFacts { counted_ns: 4_000_000, recorded_ns: 1_000_000, lost: 0, calls }
    }

    #[test]
    fn a_call_that_is_made_less_often_is_found() {
        let rounds: Vec<_> = [0, 2, 1, 3]
            .map(|more| {
                let base = facts(&[("fsync", 200 + more), ("recvfrom", 100 + more), ("brk", 1)]);
                let own = facts(&[("fsync", 100 - more), ("recvfrom", 101 - more)]);
                ([0.01; 2], [base, own])
            })
            .into();
        let found = compared(&rounds, ["a", "b"]);
        let moved: Vec<&str> = found.moved().map(|call| call.name.as_str()).collect();
        assert_eq!(moved, ["fsync"], "{found:#?}");
        let fsync = &found.calls[0].amount;
        assert!((fsync.base - 20.15).abs() < 1e-9 && (fsync.own - 9.85).abs() < 1e-9, "{fsync:?}");
        assert!(found.calls.iter().all(|call| call.name != "brk"), "too few to say anything");
        assert!((found.total.base - 30.4).abs() < 1e-9 && found.total.is_sure, "{:?}", found.total);
        assert_eq!(found.warnings, Vec::<String>::new());
    }

    #[test]
    fn a_recorded_call_stands_for_those_of_all_counted_time() {
        let mut sample = Sample { clients: 1, busy_ns: 3_000_000, ..Sample::default() };
        (sample.score.count, sample.score.factor) = (100, 1.0);
        let recorded = Recorded { sample, facts: facts(&[]) };
        // A quarter of the time was recorded, and three quarters were spent on operations.
        let test = TestFindings {
            name: "update".to_owned(),
            label: "update".to_owned(),
            group: Group::Write,
            unit: Unit::QueriesPerSecond,
            clients: 1,
            interleave: None,
            statements: Vec::new(),
            cells: Vec::new(),
        };
        assert!((recorded.per_call(&test, true).unwrap() - 0.03).abs() < 1e-12);
        assert!((recorded.per_call(&test, false).unwrap() - 0.04).abs() < 1e-12);
    }

    #[test]
    fn lost_records_are_told() {
        let lossy = SyscallFacts { lost: 3, ..facts(&[("write", 50)]) };
        let found = compared(&[([0.01; 2], [facts(&[("write", 50)]), lossy])], ["a", "b"]);
        assert_eq!(found.warnings, ["the kernel lost 3 records of system calls while b was sampled"]);
    }
}
