//! Which pieces of a plan are measured and which are still to come, by what the results folder has.
//!
//! In: plan, results folder, and in a resumed campaign the failed samples that it found. Out: what is done. A failed sample
//! is a result, and the sitting that made it does not try again; `rqps resume` does, unless the treatment took no part at
//! all: then it would only be left out again, at the price of the others' samples.

use rqps_model::plan::TestPlan;
use rqps_model::{Plan, Sample};
use rqps_store::Campaign;
use std::collections::BTreeSet;

/// Whether the results folder has every sample of its plan, and none that `rqps resume` would measure again.
pub fn is_measured(campaign: &Campaign) -> bool {
    let again = Failed::found(campaign);
    Cells { plan: campaign.plan(), store: campaign, again: &again }.all_done()
}

/// Names a start of a server, also apart from those of the same round before the campaign was resumed.
pub(crate) fn server_start(round: u32, start: u32, resumed: usize) -> String {
    if resumed == 0 { format!("{round}.{start}") } else { format!("{round}.{start}+{resumed}") }
}

/// Whether a sample's treatment had a server, or tried to: the others count starts from 0.
fn took_part(sample: &Sample) -> bool {
    let start = sample.server_start.split_once('.').map_or("", |(_, start)| start);
    start.split('+').next() != Some("0")
}

/// Tests of which a sample failed, to be measured again: round, test, clients.
#[derive(Debug, Default)]
pub(crate) struct Failed(BTreeSet<(u32, String, u32)>);

impl Failed {
    /// Those of a results folder. Damaged samples are not looked at here: whoever reads them for the report tells.
    pub(crate) fn found(campaign: &Campaign) -> Failed {
        let plan = campaign.plan();
        let mut found = BTreeSet::new();
        for (round, test, clients) in pieces(plan) {
            let samples = plan.treatments.iter().filter_map(|treatment| {
                let read = campaign.sample(round, &treatment.name, &test.name, clients);
                Some(read.ok().flatten()?.sample)
            });
            if samples.into_iter().any(|sample| sample.failure.is_some() && took_part(&sample)) {
                found.insert((round, test.name.clone(), clients));
            }
        }
        Failed(found)
    }
}

/// Which cells of a plan are published.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) store: &'a Campaign,
    /// Published, but to be measured again.
    pub(crate) again: &'a Failed,
}

impl Cells<'_> {
    /// Whether all treatments have a sample: builds are only ever measured side by side.
    pub(crate) fn test_done(&self, round: u32, test: &str, clients: u32) -> bool {
        !self.again.0.contains(&(round, test.to_owned(), clients))
            && self
                .plan
                .treatments
                .iter()
                .all(|treatment| self.store.is_complete(round, &treatment.name, test, clients))
    }

    /// Whether every test of a round has its samples.
    pub(crate) fn round_done(&self, number: u32) -> bool {
        pieces(self.plan)
            .filter(|piece| piece.0 == number)
            .all(|(round, test, clients)| self.test_done(round, &test.name, clients))
    }

    fn all_done(&self) -> bool {
        self.plan.rounds.iter().all(|round| self.round_done(round.number))
    }

    /// Planned seconds of measurement that are still to come, over all treatments.
    pub(crate) fn seconds_left(&self) -> f64 {
        let missing = pieces(self.plan).filter(|(round, test, clients)| !self.test_done(*round, &test.name, *clients));
        missing.map(|(_, test, _)| planned_seconds(self.plan, test)).sum()
    }
}

/// Every test of every round at every number of clients.
fn pieces(plan: &Plan) -> impl Iterator<Item = (u32, &TestPlan, u32)> {
    let tests = |round: u32| plan.tests.iter().map(move |test| (round, test));
    let rounds = plan.rounds.iter().flat_map(move |round| tests(round.number));
    rounds.flat_map(|(round, test)| plan.clients.iter().map(move |clients| (round, test, *clients)))
}

/// Planned seconds of a test in one round, over all treatments.
pub(crate) fn planned_seconds(plan: &Plan, test: &TestPlan) -> f64 {
    (test.seconds + plan.warmup_seconds) * plan.treatments.len() as f64
}

#[cfg(test)]
mod tests;
