//! Plans as the tests of this crate need them: few treatments, one test or one short pass, one round.

use rqps_model::insert::{Shape, steps};
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

/// A pass of seconds, for treatments with these builds: a version of PostgreSQL, or whatever a build can be.
pub(crate) fn insert_plan(treatments: &[&str], builds: &[&str]) -> Plan {
    let shape = Shape {
        clients: 1,
        shared_table: false,
        rows_initial: 2000,
        rows_written: 1000,
        rates_per_s: vec![100],
        seconds: 1.5,
        rest_seconds: 0.0,
        catch_up_seconds: 10.0,
    };
    let step = |step: rqps_model::insert::Step| TestPlan {
        label: step.folder.clone(),
        group: step.kind.group(),
        unit: if step.queries() { Unit::QueriesPerSecond } else { Unit::RowsPerSecond },
        writes: true,
        ..test(&step.name, Interleave::Passes, 1.0)
    };
    let mut plan = plan(treatments, 0);
    for (treatment, build) in plan.treatments.iter_mut().zip(builds) {
        let build = if build.contains(':') { (*build).to_owned() } else { format!("postgres:{build}") };
        treatment.build = build.parse().expect("a build");
    }
    plan.suite = "insert".to_owned();
    plan.data = DataShape { tables: 1, rows: shape.rows_initial };
    plan.tests = steps(&shape).into_iter().map(step).collect();
    plan.warmup_seconds = 0.0;
    plan.insert = Some(shape);
    plan
}
