//! Rounds with known records, and what is told of them; the makers of such rounds for other tests.

use super::*;
use crate::compare::sla::sla;
use crate::evidence::response::responses;
use crate::findings::LatencyFindings;
use crate::read::measured::tests::measured;
use crate::read::seconds::stalls;
use crate::read::seconds::tests::row;
use rqps_model::Sample;
use rqps_model::insert::{Operations, Sla};
use rqps_model::sample::{Accounting, Slices, SuiteRecord};

/// What a made-up step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Rows,
    Index,
    Queries,
}

/// A step of one client that did nothing yet.
pub(crate) fn ran(kind: Kind, seconds: u32) -> Measured {
    let mut step = measured(1000, u64::from(seconds) * 1_000_000_000, Slices::default());
    let operations = |count| Operations {
        accounting: Accounting { scheduled: count, succeeded: count, ..Accounting::default() },
        rows: 50 * count,
        ..Operations::default()
    };
    step.sample.suite = "insert".to_owned();
    step.sample.record = Some(SuiteRecord::Insert(Box::new(StepRecord {
        step: "qr1000".to_owned(),
        clients: 1,
        threads: 1,
        seconds: f64::from(seconds),
        planned_seconds: None,
        inserts: operations(20),
        deletes: operations(20),
        queries: if kind == Kind::Queries { operations(1000) } else { Operations::default() },
        rows_indexed: (kind == Kind::Index).then_some(1000),
        sla: (kind == Kind::Queries).then_some(Sla { target_per_s: 1000.0, reached_per_s: 1000.0 }),
        ..StepRecord::default()
    })));
    step
}

/// The record of a step, to be changed.
pub(crate) fn record(sample: &mut Sample) -> &mut StepRecord {
    let Some(SuiteRecord::Insert(record)) = &mut sample.record else { panic!("a step") };
    record
}

#[test]
fn while_indexes_are_built_nothing_stalls() {
    let mut round = ran(Kind::Index, 40);
    let inserted = |second| if second == 0 { 3000 } else { 0 };
    round.seconds = (0..40).map(|second| row(second, 0, "insert", inserted(second))).collect();
    assert!(stalls(round.sample.step().unwrap(), &round.seconds).is_empty());
    let rounds = [Some(round)];
    assert_eq!((responses(&rounds, &[]).len(), sla(&rounds)), (0, None));
}

#[test]
fn rounds_are_added_and_a_failed_one_is_shown_only() {
    let mut rounds =
        vec![Some(ran(Kind::Queries, 20)), None, Some(ran(Kind::Queries, 40)), Some(ran(Kind::Queries, 5))];
    for (round, number) in rounds.iter_mut().zip(1..) {
        let Some(round) = round else { continue };
        round.sample.round = number;
        let record = record(&mut round.sample);
        record.sla = Some(Sla { target_per_s: 1000.0, reached_per_s: if number == 3 { 500.0 } else { 1000.0 } });
        record.inserts.response.record(1_000_000 * u64::from(number));
        record.inserts.from_plan.record(2_000_000);
    }
    rounds[3].as_mut().unwrap().sample.failure = Some("the server ended".to_owned());
    let latency = LatencyFindings {
        kind: "insert".to_owned(),
        count: 2,
        quantiles_us: [1000.0, 0.0, 2000.0, 3000.0, 4000.0, 0.0],
        curve: Vec::new(),
    };
    let found = timelines(&rounds, 240);
    assert_eq!((found.len(), found[2].failure.as_deref()), (3, Some("the server ended")));
    let held = sla(&rounds).unwrap();
    assert_eq!((held.rounds_held, held.rounds, held.reached_per_s, held.is_held()), (1, 2, 750.0, false));
    let [inserts] = &responses(&rounds, &[latency])[..] else { panic!("no deletes or queries were recorded") };
    assert_eq!(inserts.kind, "insert");
    assert_eq!((inserts.rows, inserts.response.total(), inserts.response.longest_ns), (2000, 2, 3_000_000));
    // The histogram tells the end of the bucket: no more than the longest of all may be shown.
    assert_eq!(inserts.quantiles_ms, [1.0, 2.0, 3.0, 3.0]);
    assert_eq!((inserts.from_plan.as_ref().unwrap().total(), inserts.from_plan_quantiles_ms), (2, None));
    assert_eq!((timelines(&rounds[3..], 240).len(), sla(&rounds[3..])), (1, None));
    assert!(timelines(&[None, Some(measured(0, 0, Slices::default()))], 240).is_empty());
}
