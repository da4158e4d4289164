//! One test at one number of clients, as it is measured on all arms of a setup.
//!
//! In: the campaign, and where in it the test stands. Out: samples that say so.

use crate::arm::Arm;
use crate::bench::Bench;
use crate::missing::server_start;
use rqps_load::suite::PlannedTest;
use rqps_model::Sample;
use rqps_model::plan::{Round, Stage, TestPlan};
use rqps_store::SampleParts;

/// What is measured.
pub(crate) struct Piece<'a> {
    pub(crate) bench: &'a Bench<'a>,
    pub(crate) round: &'a Round,
    pub(crate) stage: &'a Stage,
    pub(crate) test: &'a TestPlan,
    /// The test as its suite has it.
    pub(crate) planned: PlannedTest<'a>,
    pub(crate) clients: u32,
    /// CPUs that may be used.
    pub(crate) cpus: &'a [usize],
    /// The name of this machine.
    pub(crate) host: String,
    pub(crate) started_at: String,
}

impl Piece<'_> {
    /// The sample of an arm, with what was counted there.
    pub(crate) fn sample(&self, arm: &Arm<'_>, counted: Sample) -> Sample {
        let Piece { bench, round, test, clients, .. } = *self;
        Sample {
            round: round.number,
            treatment: arm.name().to_owned(),
            suite: bench.job.plan.suite.name().to_owned(),
            test: test.name.clone(),
            clients,
            started_at: self.started_at.clone(),
            interleave: test.interleave,
            server_start: server_start(round.number, arm.starts, bench.job.resumed),
            data_copy: arm.copy.clone(),
            program_text: arm.program_text,
            host: self.host.clone(),
            score: self.planned.score(counted.score.count),
            ..counted
        }
    }

    /// The sample of an arm on which nothing was measured.
    pub(crate) fn failed(&self, arm: &Arm<'_>, why: String) -> SampleParts {
        SampleParts::of(self.sample(arm, Sample { failure: Some(why), ..Sample::default() }))
    }
}
