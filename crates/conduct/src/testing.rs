//! A plan as the tests of this crate need it: few treatments, one test, one round.

use rqps_model::plan::{Arrival, DataShape, Plan, RoundPlan, TestPlan, TreatmentPlan};
use rqps_model::{FORMAT, Group, Interleave, Placement, Unit};
use std::collections::BTreeMap;

/// A plan of treatments by name, with the base at an index.
pub(crate) fn plan(treatments: &[&str], base: usize) -> Plan {
    let treatment = |name: &&str| TreatmentPlan {
        name: (*name).to_owned(),
        build: "postgres:17.11".parse().expect("a build"),
        storage: None,
        profile: "x10a".to_owned(),
        set: BTreeMap::new(),
    };
    Plan {
        format: FORMAT,
        name: "x".to_owned(),
        suite: "sysbench".to_owned(),
        seed: 1,
        treatments: treatments.iter().map(treatment).collect(),
        base,
        tests: vec![test("scan", Interleave::Slices, 1.0)],
        clients: vec![1],
        data: DataShape { tables: 1, rows: 1 },
        insert: None,
        warmup_seconds: 0.5,
        slice_ms: 10.0,
        arrival: Arrival::Closed,
        placement: Placement::Same,
        machine: None,
        margin: 0.02,
        forced: Vec::new(),
        rounds: vec![RoundPlan { number: 1, order: (0..treatments.len()).collect(), seed: 1 }],
    }
}

/// A test of so many seconds.
pub(crate) fn test(name: &str, interleave: Interleave, seconds: f64) -> TestPlan {
    TestPlan {
        name: name.to_owned(),
        label: name.to_owned(),
        group: Group::Range,
        unit: Unit::KiloRowsPerSecond,
        writes: false,
        rank: 1,
        interleave,
        seconds,
        before: Vec::new(),
    }
}
