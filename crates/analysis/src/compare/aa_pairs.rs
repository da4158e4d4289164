//! Which treatments are the same build with the same settings: the A/A pairs of a campaign, and whether they kept
//! quiet.
//!
//! In: treatments as they were found, and the pairs' rounds. Out: pairs of indices, and how often they differed though
//! nothing did. Two of a kind are what a campaign's noise is known from; when they seem to differ, no other verdict of
//! the campaign can be trusted.

use crate::compare::row::{Row, log_ratios};
use crate::evidence::settings;
use crate::findings::TreatmentFindings;
use rqps_model::BuildSource;
use rqps_model::Plan;
use rqps_model::facts::BuildFacts;
use rqps_stats::{DEFAULT_FALSE_DISCOVERY_RATE, Decision, Margin, Paired, decide, q_values};

/// The level of a single comparison.
const LEVEL: f64 = 0.05;
/// A number of false changes that chance exceeds no more often than this is chance.
const CHANCE: f64 = 0.025;

/// Pairs of treatments that are the same, each with the first of its kind. One in which a change was planted is not,
/// nor one that has data of its own.
pub(crate) fn pairs(plan: &Plan, treatments: &[TreatmentFindings]) -> Vec<(usize, usize)> {
    let plans = &plan.treatments;
    let same = |a: usize, b: usize| {
        plan.differ_in_build_only(a, b)
            && same_build(
                (&plans[a].build.source, &treatments[a].build),
                (&plans[b].build.source, &treatments[b].build),
            )
            && settings::diff(&treatments[a].settings, &treatments[b].settings).is_empty()
    };
    let twin_of = |at: usize| (0..at).find(|&earlier| same(earlier, at));
    (0..treatments.len()).filter_map(|at| Some((twin_of(at)?, at))).collect()
}

/// Whether two builds are one. The digest of a release is its package's, that of a folder its server binary's, that of
/// an archive its own: where one kind is compared with another, the two must agree in how they were made.
fn same_build((a_source, a): (&BuildSource, &BuildFacts), (b_source, b): (&BuildSource, &BuildFacts)) -> bool {
    let made = |build: &BuildFacts| {
        let BuildFacts { banner, compiler, flags, configure, symbols, extensions, .. } = build.clone();
        (banner, compiler, flags, configure, symbols, extensions)
    };
    let kind = std::mem::discriminant::<BuildSource>;
    let known = !a.sha256.is_empty() && !b.sha256.is_empty();
    let alike = if kind(a_source) == kind(b_source) { a.sha256 == b.sha256 } else { made(a) == made(b) };
    known && a.engine == b.engine && a.version == b.version && alike
}

/// How the tests of one A/A pair came out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gate {
    /// Tests that have an interval.
    pub(crate) tests: usize,
    /// Tests called regressed or improved after correction.
    pub(crate) changed: usize,
    /// Tests whose 95 % interval excludes "no change".
    pub(crate) excluding: usize,
}

impl Gate {
    /// Whether the pair differed more than chance allows.
    pub(crate) fn is_violated(&self) -> bool {
        self.changed > 0 || self.excluding > most_by_chance(self.tests)
    }
}

/// Judges one pair by its own rounds, over all rows.
pub(crate) fn gate(pair: usize, rows: &[Row], margin: Margin) -> Gate {
    let estimate = |row: &Row| {
        let (_, rounds) = row.pairs.get(pair)?;
        Some(Paired::new(&log_ratios(rounds)).ok()?.plain()?.seen_at(row.looking.levels(rounds.len())))
    };
    let estimates: Vec<_> = rows.iter().filter_map(estimate).collect();
    let p_values: Vec<f64> = estimates.iter().map(|estimate| estimate.p_value).collect();
    let q_values = q_values(&p_values).expect("p-values of estimates lie between 0 and 1");
    let changed = estimates.iter().zip(&q_values).filter(|&(estimate, &q)| {
        let judgement = decide(estimate, margin).corrected(q, DEFAULT_FALSE_DISCOVERY_RATE);
        matches!(judgement.decision, Decision::Regressed | Decision::Improved)
    });
    Gate {
        tests: estimates.len(),
        changed: changed.count(),
        excluding: p_values.iter().filter(|&&p| p < LEVEL).count(),
    }
}

/// The largest number of `tests` that exclude "no change" by chance, at 5 % each: the upper end of the binomial.
fn most_by_chance(tests: usize) -> usize {
    let mut probability = (1.0 - LEVEL).powf(tests as f64);
    let mut at_most = probability;
    let mut count = 0;
    while 1.0 - at_most > CHANCE && count < tests {
        probability *= (tests - count) as f64 / (count + 1) as f64 * LEVEL / (1.0 - LEVEL);
        count += 1;
        at_most += probability;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::round::RoundRatio;

    #[test]
    fn a_release_and_a_folder_with_it_are_one_build() {
        let facts = |sha256: &str, compiler: &str| BuildFacts {
            banner: "postgres (PostgreSQL) 17.11".to_owned(),
            sha256: sha256.to_owned(),
            compiler: compiler.to_owned(),
            ..BuildFacts::unknown(rqps_model::Engine::Postgres, "17.11".parse().unwrap())
        };
        let (release, folder) = (BuildSource::Catalog("17.11".parse().unwrap()), BuildSource::Folder("/opt/pg".into()));
        let check = |a: &BuildSource, b: &BuildSource, digests: (&str, &str), compilers: (&str, &str), expected| {
            let found = same_build((a, &facts(digests.0, compilers.0)), (b, &facts(digests.1, compilers.1)));
            assert_eq!(found, expected, "{digests:?} {compilers:?}");
        };
        check(&release, &release, ("aa", "aa"), ("gcc", "gcc"), true);
        check(&folder, &folder, ("aa", "bb"), ("gcc", "gcc"), false);
        check(&release, &folder, ("aa", "bb"), ("gcc", "gcc"), true);
        check(&release, &folder, ("aa", "bb"), ("gcc", "clang"), false);
        check(&release, &release, ("", ""), ("", ""), false);
    }

    #[test]
    fn chance_allows_five_of_forty_two() {
        for (tests, most) in [(0, 0), (1, 1), (10, 2), (42, 5), (100, 10)] {
            assert_eq!(most_by_chance(tests), most, "{tests} tests");
        }
    }

    #[test]
    fn a_pair_that_differs_is_found_out() {
        let row = |log_ratios: [f64; 4]| {
            let rounds = log_ratios.iter().enumerate().map(|(n, &log_ratio)| RoundRatio {
                round: n as u32 + 1,
                log_ratio,
                cycle_se: None,
                cycles: 0,
                cycles_lost: 0,
            });
            Row { pairs: vec![((0, 1), rounds.collect())], ..Row::default() }
        };
        let quiet: Vec<Row> = (0..42).map(|_| row([0.003, -0.002, 0.001, -0.002])).collect();
        assert_eq!(gate(0, &quiet, Margin::default()), Gate { tests: 42, changed: 0, excluding: 0 });
        assert!(!gate(0, &quiet, Margin::default()).is_violated());
        let mut one = quiet.clone();
        one[7] = row([0.0801, 0.0802, 0.0803, 0.0802]);
        assert_eq!(gate(0, &one, Margin::default()).changed, 1);
        assert!(gate(0, &one, Margin::default()).is_violated());
        let biased: Vec<Row> = (0..42).map(|_| row([0.003, 0.004, 0.003, 0.0035])).collect();
        let found = gate(0, &biased, Margin::default());
        assert_eq!((found.changed, found.excluding, found.is_violated()), (0, 42, true));
    }
}
