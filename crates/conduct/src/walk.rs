//! The walk through a round, as a pure function: which servers are up together on which data, which tests they run at
//! which numbers of clients, and what is repeated for its data only.
//!
//! In: the plan, a round, and what is done. Out: a [`Setup`] for each start of servers, in order. It touches no server
//! and no folder. A stage says all: how builds alternate, and when data are renewed; nothing here asks for the suite.

use rqps_model::Plan;
use rqps_model::plan::{Alternate, Renew, Round, Stage, TestPlan, TreatmentPlan};

/// What is measured together, and again as a whole: one test, or where tests build on each other all of them; on all
/// treatments, or where these go one by one on one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) round: u32,
    pub(crate) clients: u32,
    pub(crate) tests: &'a [TestPlan],
    pub(crate) treatments: &'a [TreatmentPlan],
}

impl<'a> Block<'a> {
    /// The blocks of a round, in the order in which they are measured.
    pub(crate) fn all(plan: &'a Plan, round: &Round) -> Vec<Block<'a>> {
        plan.stages.iter().flat_map(|stage| Block::of_stage(plan, stage, round)).collect()
    }

    fn of_stage(plan: &'a Plan, stage: &'a Stage, round: &Round) -> Vec<Block<'a>> {
        let number = round.number;
        let block = |tests, treatments, clients: &u32| Block { round: number, clients: *clients, tests, treatments };
        match stage.alternate {
            Alternate::SideBySide if stage.is_chain() => {
                stage.clients.iter().map(|clients| block(&stage.tests[..], &plan.treatments[..], clients)).collect()
            }
            Alternate::SideBySide => {
                let at = |test| {
                    let tests = std::slice::from_ref(test);
                    stage.clients.iter().map(move |clients| block(tests, &plan.treatments[..], clients))
                };
                stage.tests.iter().flat_map(at).collect()
            }
            Alternate::OneByOne => {
                let of = |index: &usize| std::slice::from_ref(&plan.treatments[*index]);
                let together = if stage.has_servers_per_test() { 1 } else { stage.tests.len().max(1) };
                let on =
                    |index, clients| stage.tests.chunks(together).map(move |tests| block(tests, of(index), clients));
                let at = |clients| round.order.iter().flat_map(move |index| on(index, clients));
                stage.clients.iter().flat_map(at).collect()
            }
        }
    }

    /// Its samples: treatment and test.
    pub(crate) fn samples(self) -> impl Iterator<Item = (&'a TreatmentPlan, &'a TestPlan)> {
        self.treatments.iter().flat_map(move |treatment| self.tests.iter().map(move |test| (treatment, test)))
    }
}

/// A block that is due: to be recorded, or only to be run for what it leaves behind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due<'a> {
    pub(crate) block: Block<'a>,
    pub(crate) is_recorded: bool,
}

/// A test of a setup, and the numbers of clients at which it is due, each with whether it is recorded. What is done
/// before the test is done in any case, for what comes after it.
#[derive(Debug, Clone)]
pub(crate) struct Visit<'a> {
    pub(crate) test: &'a TestPlan,
    pub(crate) levels: Vec<(u32, bool)>,
}

/// Servers that are started together on fresh data, and what they run.
#[derive(Debug, Clone)]
pub(crate) struct Setup<'a> {
    pub(crate) stage: &'a Stage,
    /// Indices of the treatments, in the order of the round.
    pub(crate) order: Vec<usize>,
    /// Earlier setups of these treatments in the round, whether due or not: so starts of servers have numbers of their
    /// own.
    pub(crate) earlier: u32,
    pub(crate) dues: Vec<Due<'a>>,
    pub(crate) visits: Vec<Visit<'a>>,
}

impl Setup<'_> {
    /// The numbers of clients for which its servers are started.
    pub(crate) fn clients(&self) -> Vec<u32> {
        match self.dues.first() {
            Some(due) if self.stage.has_servers_per_test() => vec![due.block.clients],
            _ => self.stage.clients.clone(),
        }
    }
}

/// What is due in a round, in order: all that is not done, and of what is done the tests that write and have something
/// after them that is not, as long as they share data.
pub(crate) fn setups<'a>(plan: &'a Plan, round: &Round, is_done: &dyn Fn(&Block<'a>) -> bool) -> Vec<Setup<'a>> {
    let mut found = Vec::new();
    let mut earlier = vec![0; plan.treatments.len()];
    for stage in &plan.stages {
        let blocks = Block::of_stage(plan, stage, round);
        let together = match (stage.alternate, stage.renew) {
            (Alternate::SideBySide, Renew::PerStage) if !stage.is_chain() => blocks.len().max(1),
            _ => 1,
        };
        for blocks in blocks.chunks(together) {
            let is_up = |index: &usize| blocks[0].treatments.iter().any(|it| it.name == plan.treatments[*index].name);
            let order: Vec<usize> = round.order.iter().copied().filter(is_up).collect();
            let before = order.first().map_or(0, |first| earlier[*first]);
            order.iter().for_each(|index| earlier[*index] += 1);
            let dues = due(blocks, is_done);
            if !dues.is_empty() {
                let visits = visits(stage, blocks, &dues);
                found.push(Setup { stage, order, earlier: before, dues, visits });
            }
        }
    }
    found
}

fn due<'a>(blocks: &[Block<'a>], is_done: &dyn Fn(&Block<'a>) -> bool) -> Vec<Due<'a>> {
    let mut dues: Vec<Due<'a>> =
        blocks.iter().map(|block| Due { block: *block, is_recorded: !is_done(block) }).collect();
    dues.truncate(dues.iter().rposition(|due| due.is_recorded).map_or(0, |last| last + 1));
    dues.retain(|due| due.is_recorded || due.block.tests.iter().any(|test| test.writes));
    dues
}

/// The tests up to the last that is due; side by side, also those that are not, for the work before them.
fn visits<'a>(stage: &'a Stage, blocks: &[Block<'a>], dues: &[Due<'a>]) -> Vec<Visit<'a>> {
    let has = |block: &Block<'_>, test: &TestPlan| block.tests.iter().any(|other| other.name == test.name);
    let visit = |test: &'a TestPlan| {
        let own = dues.iter().filter(|due| has(&due.block, test));
        Visit { test, levels: own.map(|due| (due.block.clients, due.is_recorded)).collect() }
    };
    let tests = stage.tests.iter().filter(|test| blocks.iter().any(|block| has(block, test)));
    let mut visits: Vec<Visit<'a>> = tests.map(visit).collect();
    visits.truncate(visits.iter().rposition(|visit| !visit.levels.is_empty()).map_or(0, |last| last + 1));
    visits
}

#[cfg(test)]
mod tests;
