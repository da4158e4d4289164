//! Made-up campaigns of the Insert Benchmark with known truth: passes, stalls, rates that were not held, steps that
//! failed.
//!
//! In: numbers of treatments and rounds, a seed. Out: an [`InsertRecipe`] and its plan. What all suites share (names,
//! rounds, true changes, what is absent) is the [`Recipe`]'s.

use super::{Effect, Place, Recipe};
use rqps_model::insert::{Kind, Shape, Step, steps};
use rqps_model::plan::{Alternate, Stage, SuitePlan, TestPlan};
use rqps_model::{Plan, Unit};

/// Seconds in which a step inserts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallAt {
    /// The step of one pass; `test` counts the steps.
    pub place: Place,
    /// First second, counted from 0.
    pub from_second: u32,
    /// How many.
    pub seconds: u32,
}

/// What to make up.
#[derive(Debug, Clone, PartialEq)]
pub struct InsertRecipe {
    /// What all suites share; a test's index is its step's. Numbers of tests, cycles and seconds are not used.
    pub common: Recipe,
    /// Size and form; the number of clients is `common.clients`'.
    pub shape: Shape,
    /// Sd of one second's own noise, log scale.
    pub second_noise: f64,
    /// Stalls.
    pub stalls: Vec<StallAt>,
    /// Steps whose background writes reach 41.2 % of their rate.
    pub behind: Vec<Place>,
}

impl InsertRecipe {
    /// Two clients, three rates, steps of about a minute; nothing changed, stalled, behind, absent or failed.
    pub fn new(treatments: usize, rounds: u32, seed: u64) -> InsertRecipe {
        InsertRecipe {
            common: Recipe { clients: vec![2], ..Recipe::new(0, treatments, rounds, seed) },
            shape: Shape {
                clients: 2,
                shared_table: false,
                rows_initial: 1_500_000,
                rows_written: 400_000,
                rates_per_s: vec![100, 500, 1000],
                seconds: 60.0,
                rest_seconds: 0.0,
                catch_up_seconds: 10.0,
            },
            second_noise: 0.05,
            stalls: Vec::new(),
            behind: Vec::new(),
        }
    }

    /// With something of everything: changes, a stall, a rate not held by treatment 1, and a failed step in round 1 of
    /// the last treatment where there are three or more.
    pub fn eventful(treatments: usize, rounds: u32, seed: u64) -> InsertRecipe {
        let mut recipe = InsertRecipe::new(treatments, rounds, seed);
        let place = |round, treatment, test| Place { round, treatment, test };
        recipe.common.effects = vec![
            Effect { treatment: 1, test: 0, ratio: 0.8 },
            Effect { treatment: 1, test: 2, ratio: 1.25 },
            Effect { treatment: 1, test: 4, ratio: 1.1 },
        ];
        recipe.stalls = vec![StallAt { place: place(1, 1, 2), from_second: 12, seconds: 3 }];
        recipe.behind = (1..=rounds).map(|round| place(round, 1, 8)).collect();
        if treatments > 2 {
            recipe.common.failed = vec![place(1, treatments - 1, 3)];
        }
        recipe
    }

    /// The steps in their order at some number of clients.
    pub fn steps(&self, clients: u32) -> Vec<Step> {
        steps(&Shape { clients, ..self.shape.clone() })
    }

    /// The steps' names, by index.
    pub fn test_names(&self) -> Vec<String> {
        self.steps(1).into_iter().map(|step| step.name).collect()
    }

    /// The plan of the campaign.
    pub fn plan(&self) -> Plan {
        let most = self.common.clients.iter().copied().max().unwrap_or(1);
        let stage = |clients: &u32| {
            let tests = (0..).zip(self.steps(*clients)).map(|(rank, step)| self.test(rank, &step)).collect();
            Stage::chain(Alternate::OneByOne, self.shape.rows_initial * u64::from(*clients), *clients, 3, tests)
        };
        Plan {
            suite: SuitePlan::Insert(Shape { clients: most, ..self.shape.clone() }),
            stages: self.common.clients.iter().map(stage).collect(),
            warmup_seconds: 0.0,
            slice_ms: 0.0,
            turn_seconds: None,
            ..self.common.plan()
        }
    }

    fn test(&self, rank: u32, step: &Step) -> TestPlan {
        TestPlan {
            name: step.name.clone(),
            label: step.folder.clone(),
            group: step.kind.group(),
            unit: if step.queries() { Unit::QueriesPerSecond } else { Unit::RowsPerSecond },
            writes: true,
            rank,
            interleave: None,
            seconds: self.shape.seconds,
            timed: step.queries(),
            before: Vec::new(),
        }
    }
}

/// Rows or queries a second and client of the base.
pub(super) fn rate_per_s(kind: Kind) -> f64 {
    match kind {
        Kind::Load => 25_000.0,
        Kind::Index => 100_000.0,
        Kind::Churn => 6_000.0,
        Kind::RangeQueries => 3_000.0,
        Kind::PointQueries => 3_800.0,
    }
}
