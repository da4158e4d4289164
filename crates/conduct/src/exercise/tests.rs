//! Turns, rests and rows by hand.

use super::*;
use crate::testing::{insert_plan, plan, test};
use rqps_model::insert::Operations;

fn scheduled(interleave: Interleave, seconds: f64) -> Schedule {
    schedule(&plan(&["a"], 0), &test("scan", interleave, seconds))
}

#[test]
fn turns_make_up_the_tests_seconds() {
    for (seconds, turns) in [(0.3, 1.0), (1.0, 1.0), (1.5, 2.0), (10.0, 4.0), (200.0, 4.0), (600.0, 10.0)] {
        let schedule = scheduled(Interleave::Turns, seconds);
        let counted = (schedule.slice - schedule.lead_in).as_secs_f64() * turns;
        assert!((counted - seconds).abs() < 1e-6 && counted + 1e-6 >= seconds, "{seconds} s: {counted}");
        assert_eq!(visits(&schedule), turns);
    }
    assert_eq!(scheduled(Interleave::Slices, 5.0).slice, Duration::from_millis(10));
}

#[test]
fn only_the_test_after_the_small_churn_has_a_rest_before_it() {
    let resting = |plan: &Plan| -> Vec<String> {
        let tests = plan.tests();
        tests.into_iter().filter(|test| rest_before(plan, test).is_some()).map(|test| test.name.clone()).collect()
    };
    assert_eq!(resting(&insert_plan(&["a"], &["17.11"])), ["qr100"]);
    assert!(resting(&plan(&["a"], 0)).is_empty());
}

/// What a step says of its inserts and deletes: rows acknowledged and rows of unknown fate.
fn record(inserted: u64, insert_unknown: u64, deleted: u64, delete_unknown: u64) -> StepRecord {
    let operations = |rows, rows_unknown| Operations { rows, rows_unknown, ..Operations::default() };
    StepRecord {
        step: "l.i2".to_owned(),
        clients: 1,
        threads: 1,
        seconds: 1.0,
        planned_seconds: None,
        inserts: operations(inserted, insert_unknown),
        deletes: operations(deleted, delete_unknown),
        ..StepRecord::default()
    }
}

#[test]
fn rows_of_unknown_fate_leave_it_open_how_many_there_are() {
    let rows = rows_after(&(1000..=1010), &record(50, 5, 20, 10));
    assert_eq!(rows, 1020..=1045);
    assert!(miscount(&rows, 7).contains("hold 7 rows, but 1020 to 1045 by"));
    assert!(miscount(&(3..=3), 7).contains("but 3 by"));
}
