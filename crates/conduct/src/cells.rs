//! Which bouts of a plan are measured and which are still to come, by what the results folder has.
//!
//! In: plan, results folder, and in a resumed campaign the failed samples that it found. Out: what is done. A failed sample
//! is a result, and the sitting that made it does not try again; `rqps resume` does, unless the treatment took no part at
//! all: then it would only be left out again, at the price of the others' samples. And what a resumed round must run once
//! more without record: it begins with fresh data, and what one test writes the next finds.

use rqps_model::plan::{Alternate, Round, Stage, TestPlan, TreatmentPlan};
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

/// What is measured together, and again as a whole: one test on all treatments, or a pass, all tests on one treatment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bout<'a> {
    pub(crate) round: u32,
    pub(crate) stage: &'a Stage,
    pub(crate) clients: u32,
    pub(crate) tests: &'a [TestPlan],
    pub(crate) treatments: &'a [TreatmentPlan],
}

impl<'a> Bout<'a> {
    /// The bouts of a round, in the order in which they are measured.
    pub(crate) fn all(plan: &'a Plan, round: &Round) -> Vec<Bout<'a>> {
        plan.stages.iter().flat_map(|stage| Bout::of_stage(plan, stage, round)).collect()
    }

    /// Those of a stage: a test on all treatments side by side, or a pass of one treatment, whose steps build on each other.
    pub(crate) fn of_stage(plan: &'a Plan, stage: &'a Stage, round: &Round) -> Vec<Bout<'a>> {
        let round_number = round.number;
        let bout = |tests, treatments, clients| Bout { round: round_number, stage, clients, tests, treatments };
        match stage.alternate {
            Alternate::SideBySide => {
                let at = |test| {
                    let tests = std::slice::from_ref(test);
                    stage.clients.iter().map(move |clients| bout(tests, &plan.treatments[..], *clients))
                };
                stage.tests.iter().flat_map(at).collect()
            }
            Alternate::OneByOne => {
                let of = |index: &usize| std::slice::from_ref(&plan.treatments[*index]);
                let at = |clients: &u32| {
                    let clients = *clients;
                    round.order.iter().map(move |index| bout(&stage.tests[..], of(index), clients))
                };
                stage.clients.iter().flat_map(at).collect()
            }
        }
    }

    /// Its samples: treatment and test.
    pub(crate) fn samples(self) -> impl Iterator<Item = (&'a TreatmentPlan, &'a TestPlan)> {
        self.treatments.iter().flat_map(move |treatment| self.tests.iter().map(move |test| (treatment, test)))
    }
}

/// A bout that is due in a round: to be recorded, or only to be run for what it leaves behind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due<'a> {
    pub(crate) bout: Bout<'a>,
    pub(crate) is_recorded: bool,
}

/// Samples that failed, to be measured again: round, treatment, test, clients.
#[derive(Debug, Default)]
pub(crate) struct Failed(BTreeSet<(u32, String, String, u32)>);

impl Failed {
    /// Those of a results folder. Damaged samples are not looked at here: whoever reads them for the report tells.
    pub(crate) fn found(campaign: &Campaign) -> Failed {
        let plan = campaign.plan();
        let mut found = BTreeSet::new();
        for bout in (1..=plan.rounds).flat_map(|number| Bout::all(plan, &plan.round(number))) {
            for (treatment, test) in bout.samples() {
                let read = campaign.sample(bout.round, &treatment.name, &test.name, bout.clients);
                if read.is_ok_and(|read| read.is_some_and(|it| it.sample.failure.is_some() && took_part(&it.sample))) {
                    found.insert((bout.round, treatment.name.clone(), test.name.clone(), bout.clients));
                }
            }
        }
        Failed(found)
    }

    fn has(&self, bout: &Bout<'_>, treatment: &TreatmentPlan, test: &TestPlan) -> bool {
        self.0.contains(&(bout.round, treatment.name.clone(), test.name.clone(), bout.clients))
    }
}

/// Which cells of a plan are published.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'p, 's> {
    pub(crate) plan: &'p Plan,
    pub(crate) store: &'s Campaign,
    /// Published, but to be measured again.
    pub(crate) again: &'s Failed,
}

impl<'p> Cells<'p, '_> {
    /// Whether every sample of a bout is there to stay.
    pub(crate) fn is_done(&self, bout: &Bout<'_>) -> bool {
        bout.samples().all(|(treatment, test)| {
            !self.again.has(bout, treatment, test)
                && self.store.is_complete(bout.round, &treatment.name, &test.name, bout.clients)
        })
    }

    /// Whether every bout of a round is done.
    pub(crate) fn round_done(&self, round: &Round) -> bool {
        Bout::all(self.plan, round).iter().all(|bout| self.is_done(bout))
    }

    fn all_done(&self) -> bool {
        (1..=self.plan.rounds).all(|number| self.round_done(&self.plan.round(number)))
    }

    /// What is due in a round, in order: all that is not done, and of what is done the tests that write and have something
    /// after them that is not. A pass begins with an empty folder, and needs nothing of another.
    pub(crate) fn due(&self, round: &Round) -> Vec<Due<'p>> {
        let bouts = Bout::all(self.plan, round).into_iter();
        let mut dues: Vec<Due<'p>> = bouts.map(|bout| Due { bout, is_recorded: !self.is_done(&bout) }).collect();
        dues.truncate(dues.iter().rposition(|due| due.is_recorded).map_or(0, |last| last + 1));
        let leaves_data = |bout: &Bout<'_>| {
            bout.stage.alternate == Alternate::SideBySide && bout.tests.iter().any(|test| test.writes)
        };
        dues.retain(|due| due.is_recorded || leaves_data(&due.bout));
        dues
    }

    /// All that is due in all rounds.
    pub(crate) fn left(&self) -> Vec<Bout<'p>> {
        (1..=self.plan.rounds).flat_map(|number| self.due(&self.plan.round(number))).map(|due| due.bout).collect()
    }
}

#[cfg(test)]
mod tests;
