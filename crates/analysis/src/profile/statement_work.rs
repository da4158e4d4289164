//! From what servers counted by kind of statement to what a build does more or less of in each execution.
//!
//! In: the rounds that explain a campaign. Out: [`StatementWorkFindings`]. Builds execute the same statements with the
//! same values, and each is counted, so that only rounds scatter: their data are as old as the tests before made them.

use super::estimate::{Estimate, Scatter, Sums, counted, judged};
use super::pairs::{Pair, pairs};
use crate::evidence::counts::COUNTS;
use crate::findings::{StatementCount, StatementWorkFindings, TestFindings};
use rqps_model::part;
use rqps_model::statement_work::StatementWork;
use rqps_store::{Campaign, SampleFolder, StoreError};
use std::collections::{BTreeMap, BTreeSet};

type Found = Vec<StatementWork>;

/// A count of a statement, by their names.
type Key<'f> = (&'f str, &'f str);

/// What the rounds say of two treatments, the base first.
pub(super) fn statement_work(
    profiles: &[Campaign],
    test: &TestFindings,
    names: [&str; 2],
) -> Result<Option<StatementWorkFindings>, StoreError> {
    let read = |found: SampleFolder| found.json::<Found>(part::STATEMENT_WORK);
    let rounds: Vec<[Found; 2]> =
        pairs(profiles, test, names, read)?.into_iter().map(|Pair { base, own, .. }| [base, own]).collect();
    Ok((!rounds.is_empty()).then(|| compared(&rounds, names)))
}

fn compared(rounds: &[[Found; 2]], names: [&str; 2]) -> StatementWorkFindings {
    let read: Vec<[BTreeMap<Key<'_>, (u64, f64)>; 2]> =
        rounds.iter().map(|pair| pair.each_ref().map(|found| amounts(found))).collect();
    let keys: BTreeSet<Key<'_>> = read.iter().flatten().flat_map(|found| found.keys().copied()).collect();
    // What one of the builds cannot count, such as WAL before PostgreSQL 13, is not compared. A count times what it
    // stands for is the amount of a round: here the mean of so many executions. What is nowhere done has no say in the
    // correction.
    let sums = |key: &Key<'_>| -> Option<Sums> {
        let sums: Option<Sums> = read.iter().map(|[base, own]| Some([*base.get(key)?, *own.get(key)?])).collect();
        sums.filter(|sums| sums.iter().flatten().any(|(_, amount)| *amount > 0.0))
    };
    let (keys, sums): (Vec<Key<'_>>, Vec<Sums>) = keys.into_iter().filter_map(|key| Some((key, sums(&key)?))).unzip();
    let count = |(at, found): (usize, Estimate)| {
        let (statement, count) = keys[at];
        StatementCount { statement: statement.to_owned(), count: count.to_owned(), amount: found.amount }
    };
    let counts = judged(sums.iter().map(counted), Scatter::Exact).into_iter().map(count).collect();
    StatementWorkFindings { rounds: rounds.len() as u32, counts, warnings: warnings(rounds, names) }
}

/// What a build refused in any of the rounds, as the last of them says why.
fn warnings(rounds: &[[Found; 2]], names: [&str; 2]) -> Vec<String> {
    let mut refused: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (name, work) in rounds.iter().flat_map(|pair| names.into_iter().zip(pair)) {
        let untold = work.iter().filter_map(|one| Some(((name, one.statement.as_str()), one.untold.as_deref()?)));
        refused.extend(untold);
    }
    let words = |((name, statement), why)| format!("what {statement} does could not be told apart on {name}: {why}");
    refused.into_iter().map(words).collect()
}

/// By statement and count: executions, and what each of them did on average.
fn amounts(found: &[StatementWork]) -> BTreeMap<Key<'_>, (u64, f64)> {
    let mut amounts = BTreeMap::new();
    for StatementWork { statement, executions, counts, .. } in found {
        for (name, sum) in COUNTS.iter().filter_map(|count| Some((count.name, count.of_statement(counts)?))) {
            amounts.insert((statement.as_str(), name), (u64::from(*executions), sum / f64::from(*executions)));
        }
    }
    amounts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(statement: &str, counts: &[(&str, f64)]) -> StatementWork {
        let counts = counts.iter().map(|&(name, amount)| (name.to_owned(), amount)).collect();
        StatementWork { statement: statement.to_owned(), executions: 20, counts, untold: None }
    }

    fn between(rounds: &[[Found; 2]]) -> StatementWorkFindings {
        compared(rounds, ["a", "b"])
    }

    #[test]
    fn the_statement_that_does_more_is_found() {
        let round = |more: f64, hits: f64| {
            let select = |hits| work("select", &[("Shared Hit Blocks", hits), ("Shared Read Blocks", 0.0)]);
            let update = |rows| work("update", &[("Rows Scanned", rows), ("WAL Bytes", 2000.0)]);
            [vec![select(80.0), update(20.0)], vec![select(80.0 + hits), update(20.0 + more)]]
        };
        let found = between(&[round(2000.0, 1.0), round(2000.0, -1.0)]);
        let moved: Vec<(&str, &str, f64)> = found
            .moved()
            .iter()
            .map(|one| (one.statement.as_str(), one.count.as_str(), one.amount.difference))
            .collect();
        assert_eq!(moved, [("update", "table_rows_read", 100.0)]);
        let names: Vec<&str> = found.counts.iter().map(|one| one.count.as_str()).collect();
        assert_eq!(names, ["buffer_hits", "table_rows_read", "wal_bytes"], "none were read");
    }

    #[test]
    fn status_variables_are_summed_as_those_of_whole_tests() {
        let of = |writes: f64| {
            let reads = [("status.Handler_read_key", 20.0), ("status.Handler_read_next", 180.0)];
            let writes = [("status.Handler_update", writes), ("status.Handler_commit", 7.0)];
            vec![work("update", &[reads, writes].concat())]
        };
        let found = between(&[[of(20.0), of(40.0)], [of(20.0), of(40.0)]]);
        let amounts: Vec<(&str, f64, f64, bool)> = found
            .counts
            .iter()
            .map(|one| (one.count.as_str(), one.amount.base, one.amount.own, one.amount.is_sure))
            .collect();
        assert_eq!(amounts, [("handler_reads", 10.0, 10.0, false), ("handler_writes", 1.0, 2.0, true)]);
    }

    #[test]
    fn what_one_build_does_not_count_is_not_compared() {
        let base = vec![work("insert", &[("Actual Rows", 0.0), ("Shared Hit Blocks", 100.0)])];
        let own = vec![work("insert", &[("Shared Hit Blocks", 100.0), ("WAL Records", 60.0)])];
        let found = between(&[[base, own]]);
        assert_eq!(found.counts.iter().map(|one| one.count.as_str()).collect::<Vec<_>>(), ["buffer_hits"]);
        assert_eq!(found.warnings, [""; 0]);
    }

    #[test]
    fn what_a_build_refused_is_said_with_its_reason() {
        let base = || vec![work("payment", &[("Actual Rows", 20.0)])];
        let refused = |why: &str| {
            vec![StatementWork { statement: "payment".to_owned(), untold: Some(why.to_owned()), ..Default::default() }]
        };
        let found = between(&[[base(), refused("no table")], [base(), refused("no right")], [base(), base()]]);
        assert_eq!(found.counts, [], "it is not compared where a round lacks it");
        assert_eq!(found.warnings, ["what payment does could not be told apart on b: no right"]);
    }
}
