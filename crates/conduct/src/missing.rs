//! What the results folder lacks of a plan.
//!
//! In: plan, results folder, and in a resumed campaign the failed samples that it found. Out: which blocks are done. A
//! failed sample is a result, and the run that made it does not try again; `rqps resume` does, unless the treatment was
//! excluded: then it would only be excluded again, at the price of the others' samples.

use crate::walk::{Block, Setup, setups};
use rqps_model::plan::{Round, TestPlan, TreatmentPlan};
use rqps_model::{Plan, Sample};
use rqps_store::Campaign;
use std::collections::BTreeSet;

/// Whether the results folder has every sample of so many rounds, and none that `rqps resume` would measure again.
pub fn is_measured(campaign: &Campaign, rounds: u32) -> bool {
    let again = Failed::found(campaign);
    let plan = campaign.plan();
    let missing = Missing { plan, store: campaign, again: &again };
    (1..=rounds).all(|number| missing.setups(&round_of(campaign, number)).is_empty())
}

/// A round as it began, or as planned if it did not.
pub(crate) fn round_of(campaign: &Campaign, number: u32) -> Round {
    campaign.round(number).ok().flatten().unwrap_or_else(|| campaign.plan().round(number))
}

/// Names a start of a server, also apart from those of the same round before the campaign was resumed.
pub(crate) fn server_start(round: u32, start: u32, resumed: usize) -> String {
    if resumed == 0 { format!("{round}.{start}") } else { format!("{round}.{start}+{resumed}") }
}

/// Whether a sample's treatment had a server, or tried to: the others count starts from 0.
fn had_server(sample: &Sample) -> bool {
    let start = sample.server_start.split_once('.').map_or("", |(_, start)| start);
    start.split('+').next() != Some("0")
}

/// Samples that failed, to be measured again: round, treatment, test, clients.
#[derive(Debug, Default)]
pub(crate) struct Failed(BTreeSet<(u32, String, String, u32)>);

impl Failed {
    /// Those of a results folder. Damaged samples are not looked at here: whoever reads them for the report tells.
    pub(crate) fn found(campaign: &Campaign) -> Failed {
        let plan = campaign.plan();
        let mut found = BTreeSet::new();
        for block in (1..=campaign.rounds()).flat_map(|number| Block::all(plan, &plan.round(number))) {
            for (treatment, test) in block.samples() {
                let read = campaign.sample(block.round, &treatment.name, &test.name, block.clients);
                let failed = |sample: &Sample| sample.failure.is_some() && had_server(sample);
                if read.is_ok_and(|read| read.is_some_and(|it| failed(&it.sample))) {
                    found.insert((block.round, treatment.name.clone(), test.name.clone(), block.clients));
                }
            }
        }
        Failed(found)
    }

    fn has(&self, block: &Block<'_>, treatment: &TreatmentPlan, test: &TestPlan) -> bool {
        self.0.contains(&(block.round, treatment.name.clone(), test.name.clone(), block.clients))
    }
}

/// What is still to be measured of a plan.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'p, 's> {
    pub(crate) plan: &'p Plan,
    pub(crate) store: &'s Campaign,
    /// Published, but to be measured again.
    pub(crate) again: &'s Failed,
}

impl<'p> Missing<'p, '_> {
    /// Whether every sample of a block is there to stay.
    fn is_done(&self, block: &Block<'_>) -> bool {
        block.samples().all(|(treatment, test)| {
            !self.again.has(block, treatment, test)
                && self.store.is_complete(block.round, &treatment.name, &test.name, block.clients)
        })
    }

    /// What is due in a round. What it leaves out counts as done, so a test that writes runs all the same if something
    /// comes after it: what a test finds does not depend on which others were left out.
    pub(crate) fn setups(&self, round: &Round) -> Vec<Setup<'p>> {
        let is_left_out = |block: &Block<'_>| !block.tests.iter().any(|test| round.measures(&test.name));
        setups(self.plan, round, &|block| is_left_out(block) || self.is_done(block))
    }
}

#[cfg(test)]
mod tests;
