//! How statements are explained as they are sent, and what stands in the place of a plan.
//!
//! In: a session, a statement, its values. Out: its plan as the server tells it.

use crate::error::LoadError;
use crate::plan_capture::{Explainer, Told};
use rqps_model::own::{OwnTest, Protocol as Sending};
use rqps_wire::{Protocol, Session, Target};

/// How a test's statements are explained: EXPLAIN of MySQL takes no values beside its text.
pub(super) fn sending(test: &OwnTest, target: &Target) -> Sending {
    if target.endpoint.protocol() == Protocol::Postgres { test.protocol } else { Sending::Simple }
}

/// The plan of a statement whose values are sent beside it, on PostgreSQL: its text with markers, and how many.
pub(super) fn with_values(
    session: &mut Session,
    target: &Target,
    test: &OwnTest,
    number: usize,
    (sql, markers): (&str, usize),
    values: &dyn Fn(u64) -> Vec<String>,
) -> Result<Told, LoadError> {
    let name = format!("rqps_plan_{number}");
    // The server takes the types that it infers, as in the timed part.
    let types = vec!["unknown"; markers];
    let mut explainer = Explainer::new(session, target);
    match test.protocol {
        Sending::Extended => explainer.parsed_each_time(&name, sql, &types, values),
        Sending::Prepared | Sending::Simple => explainer.prepared(&name, sql, &types, values),
    }
}

/// What stands in the place of a plan.
pub(super) fn untold(why: impl std::fmt::Display) -> Told {
    format!("not told: {why}").into()
}
