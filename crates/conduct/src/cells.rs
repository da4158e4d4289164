//! Which pieces of a plan are measured and which are still to come, by what the results folder has.

use rqps_model::Plan;
use rqps_model::plan::TestPlan;
use rqps_store::Campaign;

/// Whether the results folder has every sample of its plan.
pub fn is_measured(campaign: &Campaign) -> bool {
    Cells { plan: campaign.plan(), store: campaign }.all_done()
}

/// Which cells of a plan are published.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) store: &'a Campaign,
}

impl Cells<'_> {
    /// Whether all treatments have a sample: builds are only ever measured side by side.
    pub(crate) fn test_done(&self, round: u32, test: &str, clients: u32) -> bool {
        self.plan.treatments.iter().all(|treatment| self.store.is_complete(round, &treatment.name, test, clients))
    }

    fn pieces(&self) -> impl Iterator<Item = (u32, &TestPlan, u32)> {
        let tests = |round: u32| self.plan.tests.iter().map(move |test| (round, test));
        let rounds = self.plan.rounds.iter().flat_map(move |round| tests(round.number));
        rounds.flat_map(|(round, test)| self.plan.clients.iter().map(move |clients| (round, test, *clients)))
    }

    /// Whether every test of a round has its samples.
    pub(crate) fn round_done(&self, number: u32) -> bool {
        self.pieces()
            .filter(|piece| piece.0 == number)
            .all(|(round, test, clients)| self.test_done(round, &test.name, clients))
    }

    fn all_done(&self) -> bool {
        self.plan.rounds.iter().all(|round| self.round_done(round.number))
    }

    /// Planned seconds of measurement that are still to come, over all treatments.
    pub(crate) fn seconds_left(&self) -> f64 {
        let missing = self.pieces().filter(|(round, test, clients)| !self.test_done(*round, &test.name, *clients));
        missing.map(|(_, test, _)| planned_seconds(self.plan, test)).sum()
    }
}

/// Planned seconds of a test in one round, over all treatments.
pub(crate) fn planned_seconds(plan: &Plan, test: &TestPlan) -> f64 {
    (test.seconds + plan.warmup_seconds) * plan.treatments.len() as f64
}
