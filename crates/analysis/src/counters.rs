//! Server counters of all rounds → the few that moved most against the base, per thousand operations.
//!
//! In: the counters that samples keep (after minus before) and the operations counted in that time. Out:
//! [`CounterFindings`], ranked. A counter's rank is how much it moved (|log ratio|) times how much of it there is, so
//! that a handful of rare events doubling does not hide a tenth more buffer reads. Ranks are hints, not verdicts.

use crate::findings::CounterFindings;
use crate::measured::Measured;
use std::collections::BTreeMap;

/// Most counters told of a cell.
const MOST: usize = 25;
/// Added to both sides of a ratio, events per thousand operations: below it a counter is background.
const BACKGROUND: f64 = 0.5;

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

/// The counters that moved most against the base; for the base itself (`base` is `None`) the largest.
pub(crate) fn ranked(own: &BTreeMap<String, f64>, base: Option<&BTreeMap<String, f64>>) -> Vec<CounterFindings> {
    let mut counters: Vec<(f64, CounterFindings)> = own
        .iter()
        .filter(|(_, value)| value.is_finite())
        .map(|(name, &value)| {
            let before = base.and_then(|base| base.get(name)).copied();
            let relative = before.filter(|&before| before != 0.0).map(|before| value / before);
            let rank = match base {
                Some(_) => rank(value, before.unwrap_or(0.0)),
                None => value.abs(),
            };
            (rank, CounterFindings { name: name.clone(), per_kilo_op: value, relative })
        })
        .collect();
    counters.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    counters.into_iter().take(MOST).map(|(_, counter)| counter).collect()
}

fn rank(value: f64, base: f64) -> f64 {
    let (value, base) = (value.abs(), base.abs());
    ((value + BACKGROUND) / (base + BACKGROUND)).ln().abs() * value.max(base).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::tests::measured;
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

    #[test]
    fn what_moved_and_matters_comes_first() {
        let of = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
        };
        let base = of(&[("hit", 4000.0), ("read", 10.0), ("rare", 0.001), ("steady", 90_000.0)]);
        let this = of(&[("hit", 6000.0), ("read", 40.0), ("rare", 0.008), ("steady", 90_010.0), ("new", 5.0)]);
        let found = ranked(&this, Some(&base));
        assert_eq!(found.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["read", "new", "hit", "steady", "rare"]);
        assert_eq!(found[0].relative, Some(4.0));
        assert_eq!(found[1].relative, None);
        assert_eq!(ranked(&base, None)[0].name, "steady");
    }

    #[test]
    fn no_more_than_a_reader_looks_at() {
        let many: BTreeMap<String, f64> = (0..300).map(|n| (format!("view.c{n:03}"), f64::from(n))).collect();
        assert_eq!(ranked(&many, Some(&many)).len(), MOST);
        assert_eq!(ranked(&many, None)[0].name, "view.c299");
    }
}
