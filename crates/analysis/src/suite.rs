//! What analysis must know of the suite itself: the one place here that asks which it is.
//!
//! In: a plan. Out: what findings tell of its suite. Everything else follows from stages, units and records.

use rqps_model::insert::Shape;
use rqps_model::plan::{Plan, SuitePlan};

/// Size and form of the Insert Benchmark, where that is the suite.
pub(crate) const fn shape(plan: &Plan) -> Option<&Shape> {
    match &plan.suite {
        SuitePlan::Insert(shape) => Some(shape),
        SuitePlan::Sysbench(_) => None,
    }
}
