//! What suites differ in when their results are compared: size and form, and what is published of a test.
//!
//! In: a plan, samples. Out: what findings say of the suite. The only file of this crate that asks for the suite;
//! everything else follows from stages, units and records.

mod insert;

use crate::findings::InsertColumns;
use crate::read::measured::Measured;
use rqps_model::insert::Shape;
use rqps_model::plan::{DataShape, Plan, SuitePlan};

/// Size and form of the Insert Benchmark, where that is the suite.
pub(crate) const fn shape(plan: &Plan) -> Option<&Shape> {
    match &plan.suite {
        SuitePlan::Insert(shape) => Some(shape),
        SuitePlan::Sysbench(_) => None,
    }
}

/// Tables, and rows of each once they are loaded.
pub(crate) fn data(plan: &Plan) -> DataShape {
    match &plan.suite {
        SuitePlan::Insert(shape) => {
            DataShape { tables: shape.tables(), rows: shape.rows_loaded() / u64::from(shape.tables()) }
        }
        SuitePlan::Sysbench(data) => *data,
    }
}

/// The columns that are published of a test, where the suite has such.
pub(crate) fn columns(plan: &Plan, rounds: &[Option<Measured>], throughput: Option<f64>) -> Option<InsertColumns> {
    match &plan.suite {
        SuitePlan::Insert(_) => insert::columns(rounds, throughput),
        SuitePlan::Sysbench(_) => None,
    }
}
