//! A plan with what else a server tells of it.
//!
//! In: the words of a server, as its reader took them apart. Out: a [`StatementPlan`].

use rqps_model::facts::StatementPlan;

/// A plan as a server told it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) plan: String,
    /// Microseconds of planning, where they are told.
    pub(super) planning_us: Option<f64>,
    /// Whether it is a plan for all values, where it shows.
    pub(super) is_generic: Option<bool>,
}

impl From<String> for Told {
    /// A plan of which nothing else is known.
    fn from(plan: String) -> Told {
        Told { plan, ..Told::default() }
    }
}

impl Told {
    /// The plan of this statement.
    pub(crate) fn of(self, statement: String, sql: String) -> StatementPlan {
        let Told { plan, planning_us, is_generic } = self;
        StatementPlan { statement, sql, plan, planning_us, is_generic }
    }
}
