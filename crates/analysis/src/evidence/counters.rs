//! Server counters of all rounds → the few that moved most against the base, per thousand statements.
//!
//! In: the counters that samples keep (after minus before) and the operations counted in that time. Out:
//! [`CounterFindings`], ranked. A counter's rank is how much it moved (|log ratio|) times how much of it there is, so
//! that a handful of rare events doubling does not hide a tenth more buffer reads. Ranks are hints, not verdicts. All
//! treatments that share a peer list the same counters, so that each of them has a number where one of them stands out.

use crate::findings::CounterFindings;
use crate::read::measured::Measured;
use std::collections::BTreeMap;

/// Most counters listed for a test and engine.
const MOST: usize = 25;
/// Added to both sides of a ratio, events per thousand operations: below it a counter is background.
const BACKGROUND: f64 = 0.5;

/// Counters that only show how often rqps reconnects.
const RECONNECTING: [&str; 3] = ["pg_stat_database.sessions", "pg_stat_database.session_time", "status.Connections"];

/// A cell's counters per thousand operations: mean over the rounds that have a number and the counter.
pub(crate) fn per_kilo_op<'a>(rounds: impl Iterator<Item = &'a Measured>) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for measured in rounds {
        let operations = measured.sample.resources.operations as f64;
        if !measured.has_number() || operations <= 0.0 {
            continue;
        }
        for (name, value) in &measured.sample.counters {
            let (sum, rounds) = sums.entry(name).or_default();
            *sum += value * 1000.0 / operations;
            *rounds += 1.0;
        }
    }
    sums.into_iter().map(|(name, (sum, rounds))| (name.to_owned(), sum / rounds)).collect()
}

/// By treatment, the counters that moved most against the peer on any of those that share it; of one alone the largest.
/// `peers` are the treatments' peers.
pub(crate) fn ranked(counters: &[BTreeMap<String, f64>], peers: &[usize]) -> Vec<Vec<CounterFindings>> {
    let chosen: BTreeMap<usize, Vec<String>> =
        peers.iter().map(|&peer| (peer, chosen(counters, peers, peer))).collect();
    let of_treatment = |(own, &peer): (&BTreeMap<String, f64>, &usize)| {
        let is_peer = std::ptr::eq(own, &counters[peer]);
        let found = chosen[&peer].iter().filter_map(|name| {
            let value = *own.get(name).filter(|value| value.is_finite())?;
            let before = counters[peer].get(name).copied().filter(|&before| before != 0.0 && !is_peer);
            let relative = before.map(|before| value / before);
            Some(CounterFindings { name: name.clone(), per_kilo_op: value, relative })
        });
        found.collect()
    };
    counters.iter().zip(peers).map(of_treatment).collect()
}

/// The names listed for the treatments with this peer, the first ones first.
fn chosen(counters: &[BTreeMap<String, f64>], peers: &[usize], peer: usize) -> Vec<String> {
    let sharing: Vec<usize> = (0..counters.len()).filter(|&at| peers[at] == peer).collect();
    let mut ranks: BTreeMap<&str, f64> = BTreeMap::new();
    for &at in sharing.iter().filter(|&&at| at != peer || sharing.len() == 1) {
        for (name, &value) in counters[at].iter().filter(|(_, value)| value.is_finite()) {
            let moved = rank(value, counters[peer].get(name).copied().unwrap_or(0.0));
            let rank = if at == peer { value.abs() } else { moved };
            let largest = ranks.entry(name).or_insert(rank);
            *largest = largest.max(rank);
        }
    }
    let mut ranks: Vec<(&str, f64)> = ranks.into_iter().filter(|(name, _)| !RECONNECTING.contains(name)).collect();
    ranks.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranks.into_iter().take(MOST).map(|(name, _)| name.to_owned()).collect()
}

fn rank(value: f64, base: f64) -> f64 {
    let (value, base) = (value.abs(), base.abs());
    ((value + BACKGROUND) / (base + BACKGROUND)).ln().abs() * value.max(base).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::sample::Slices;

    fn counted(operations: u64, counters: &[(&str, f64)]) -> Measured {
        let mut measured = measured(operations.max(1), 1_000_000, Slices::default());
        measured.sample.resources.operations = operations;
        measured.sample.counters = counters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        measured
    }

    #[test]
    fn means_are_over_the_rounds_that_have_the_counter() {
        let rounds = [
            counted(1000, &[("pg_stat_database.blks_hit", 3000.0)]),
            counted(2000, &[("pg_stat_database.blks_hit", 2000.0), ("pg_stat_wal.wal_bytes", 8.0)]),
            counted(0, &[("pg_stat_database.blks_hit", 99.0)]),
        ];
        let found = per_kilo_op(rounds.iter());
        assert_eq!(found["pg_stat_database.blks_hit"], 2000.0);
        assert_eq!(found["pg_stat_wal.wal_bytes"], 4.0);
    }

    fn of(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    fn names(found: &[CounterFindings]) -> Vec<&str> {
        found.iter().map(|counter| counter.name.as_str()).collect()
    }

    #[test]
    fn what_moved_and_matters_comes_first() {
        let base = of(&[("hit", 4000.0), ("read", 10.0), ("rare", 0.001), ("steady", 90_000.0)]);
        let this = of(&[("hit", 6000.0), ("read", 40.0), ("rare", 0.008), ("steady", 90_010.0), ("new", 5.0)]);
        let found = ranked(&[base.clone(), this], &[0, 0]);
        assert_eq!(names(&found[1]), ["read", "new", "hit", "steady", "rare"]);
        assert_eq!((found[1][0].relative, found[1][1].relative), (Some(4.0), None));
        assert_eq!(names(&ranked(&[base], &[0])[0]), ["steady", "hit", "read", "rare"], "alone the largest");
    }

    #[test]
    fn every_treatment_has_a_number_where_one_stands_out() {
        let mut base: BTreeMap<String, f64> = (0..40).map(|n| (format!("view.large{n:02}"), 1e6)).collect();
        base.insert("pg_stat_database.blks_read".to_owned(), 4.83);
        let mut this = base.clone();
        this.insert("pg_stat_database.blks_read".to_owned(), 3.0);
        let found = ranked(&[base.clone(), this, base.clone()], &[0, 0, 0]);
        for (treatment, expected) in [(0, (4.83, None)), (1, (3.0, Some(3.0 / 4.83))), (2, (4.83, Some(1.0)))] {
            let first = &found[treatment][0];
            assert_eq!(first.name, "pg_stat_database.blks_read");
            assert_eq!((first.per_kilo_op, first.relative), expected);
        }
        let found = ranked(&[base.clone(), base], &[0, 1]);
        assert!(found[1].iter().all(|counter| counter.relative.is_none()), "engines of their own have no peer");
    }

    #[test]
    fn how_often_rqps_connects_is_no_news() {
        let base = of(&[("pg_stat_database.sessions", 0.1), ("pg_stat_database.session_time", 900.0), ("hit", 1.0)]);
        let this = of(&[("pg_stat_database.sessions", 2.0), ("pg_stat_database.session_time", 90.0), ("hit", 1.0)]);
        assert_eq!(names(&ranked(&[base, this], &[0, 0])[1]), ["hit"]);
    }

    #[test]
    fn no_more_than_a_reader_looks_at() {
        let many: BTreeMap<String, f64> = (0..300).map(|n| (format!("view.c{n:03}"), f64::from(n))).collect();
        assert_eq!(ranked(&[many.clone(), many.clone()], &[0, 0])[1].len(), MOST);
        assert_eq!(ranked(&[many], &[0])[0][0].name, "view.c299");
    }
}
