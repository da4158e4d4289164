//! One step of a pass: everything that is read before, during and after it, and its sample.
//!
//! In: a pass with a running server. Out: the sample's parts, also where the step failed: then with the reason, and with what
//! had happened until then. It publishes nothing.

use crate::ConductError;
use crate::arm::observed;
use crate::measure::{blank_sample, failed, kept_beside};
use crate::pass::Pass;
use crate::sitting::Ledger;
use crate::supervise::supervised;
use rqps_load::insert::{Bench, Moment, StepRun, run_step, statement_plans};
use rqps_load::random::derive_seed;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::{Kind, Operations, Step, StepRecord};
use rqps_model::plan::TestPlan;
use rqps_model::sample::{Accounting, KindCounts, Resources, Score, SuiteRecord};
use rqps_model::{Part, Sample, part};
use rqps_observe::clock::rfc3339;
use rqps_observe::{ClientProbe, CountersProbe, GrowthProbe, HostProbe, MonitorProbe, ObserveError};
use rqps_observe::{Probes, ProcessProbe, Subject};
use rqps_store::{SampleParts, StoreError, latency_part};
use rqps_wire::Endpoint;
use std::cell::RefCell;
use std::path::Path;
use std::time::SystemTime;

impl Pass<'_> {
    /// Keeps the plans of a step's queries the first time that the treatment comes to it; afterwards, those that differ.
    pub(crate) fn keep_plans(
        &mut self,
        test: &TestPlan,
        step: &Step,
        ledger: &Ledger<'_, '_>,
    ) -> Result<Vec<StatementPlan>, ConductError> {
        let name = self.arm.name();
        let Some(server) = self.arm.server.as_ref().filter(|_| step.queries()) else { return Ok(Vec::new()) };
        let about = format!("keeping the plans of {name}");
        let kept = supervised(server, self.sitting.stop, || {
            statement_plans(server.target(), &self.shape, step).map_err(ConductError::load(about))
        });
        match kept {
            Ok(plans) => Ok(kept_beside(ledger.store, name, &test.name, plans)?),
            Err(ConductError::Interrupted) => Err(ConductError::Interrupted),
            // A number without its plan is still a number.
            Err(error) => {
                self.arm.undone.push(error.to_string());
                Ok(Vec::new())
            }
        }
    }

    /// Runs a step between two readings of everything.
    pub(crate) fn measure(
        &mut self,
        test: &TestPlan,
        step: &Step,
        progress: &mut dyn FnMut(f64),
    ) -> Result<SampleParts, ConductError> {
        let base = self.blank(test);
        let Some(server) = &self.arm.server else { return Ok(failed(base, &self.arm)) };
        let endpoint = server.endpoint();
        let storage = self.arm.contestant.plan.storage;
        let probes = RefCell::new(probes(&self.arm.data)?);
        let observed = |act: &dyn Fn(&Subject<'_>)| observed(server, storage, &self.arm.data, act);
        observed(&|it| probes.borrow_mut().begin(it));
        let bench = Bench {
            endpoint: &endpoint,
            storage,
            shape: &self.shape,
            // The same for all treatments of a round, so that they get the same rows and keys.
            seed: derive_seed(self.round.seed, &format!("insert.c{}", self.shape.clients)),
            threads: self.client_cpus.len().min(self.shape.clients as usize),
            client_cpus: &self.client_cpus,
        };
        let (progress, stop) = (RefCell::new(progress), self.sitting.stop);
        let doing = format!("{} on {}", step.name, self.arm.contestant.plan.name);
        let tell = |moment| match moment {
            Moment::Begins => {
                observed(&|it| probes.borrow_mut().start(it));
                probes.borrow_mut().enter();
            }
            Moment::Advances(come) => (progress.borrow_mut())(come.done),
            Moment::Ended => {
                probes.borrow_mut().leave();
                observed(&|it| probes.borrow_mut().stop(it));
            }
        };
        let ran = supervised(server, stop, || {
            run_step(&bench, step, &mut self.state, stop, &tell).map_err(ConductError::load(doing))
        });
        let probes = probes.into_inner();
        match ran {
            Err(ConductError::Interrupted) => Err(ConductError::Interrupted),
            // Nothing was measured: the server could not even be connected to, or would not make the tables.
            Err(error) => {
                self.arm.notice_death();
                let failure = Some(self.arm.fail(error.to_string()));
                let mut sample = Sample { failure, ..base };
                let parts = probes.end(None, &mut sample);
                Ok(SampleParts { sample, parts })
            }
            Ok(run) => Ok(self.finish(base, step, run, probes, &endpoint)?),
        }
    }

    /// The sample of a step that ran, with everything that is read afterwards.
    fn finish(
        &mut self,
        base: Sample,
        step: &Step,
        run: StepRun,
        probes: Probes,
        endpoint: &Endpoint,
    ) -> Result<SampleParts, StoreError> {
        let StepRun { record, seconds, latency } = run;
        self.arm.notice_death();
        let done = Done::of(step, &record);
        let mut sample = Sample {
            score: Score { count: done.operations, ..base.score },
            kinds: kinds(&record),
            rows: done.rows,
            busy_ns: (record.seconds * 1e9).round() as u64 * u64::from(record.clients),
            seconds: record.seconds,
            sessions: 1,
            accounting: accounting(&record),
            errors: record.errors.clone(),
            resources: Resources { operations: done.operations, ..Resources::default() },
            warnings: std::mem::take(&mut self.arm.undone),
            ..base
        };
        let mut parts = self.arm.end(probes, &mut sample);
        let failure = record.failure.clone().or_else(|| self.stored_otherwise(step, endpoint));
        sample.failure = failure.map(|failure| self.arm.fail(failure));
        self.stalled_seconds = record.stalls(&seconds).iter().map(|stall| stall.seconds).sum();
        sample.record = Some(SuiteRecord::Insert(record));
        parts.push(latency_part(&latency.into_iter().collect(), sample.seconds)?);
        parts.push(Part::lines(part::SECONDS, &seconds));
        Ok(SampleParts { sample, parts })
    }

    /// After the tables were made: whether they are not stored as planned.
    fn stored_otherwise(&self, step: &Step, endpoint: &Endpoint) -> Option<String> {
        if step.kind != Kind::Load || self.arm.server.is_none() {
            return None;
        }
        self.arm.contestant.connection(endpoint).err().map(|error| error.to_string())
    }

    /// The sample of a step that is not done.
    pub(crate) fn skipped(&self, test: &TestPlan, why: String) -> SampleParts {
        SampleParts::of(Sample { failure: Some(why), ..self.blank(test) })
    }

    fn blank(&self, test: &TestPlan) -> Sample {
        blank_sample(&self.piece(test), 1.0, &self.arm, &self.host_id, &rfc3339(SystemTime::now()))
    }
}

/// What is observed of a step. What a connection costs, and what the client asks about the tables afterwards, is not the
/// step's: in a short one it would be a good part of it.
fn probes(data_folder: &Path) -> Result<Probes, ObserveError> {
    Ok(Probes(vec![
        Box::new(CountersProbe::default()),
        Box::new(GrowthProbe::default()),
        Box::new(MonitorProbe::default()),
        Box::new(ProcessProbe::from_start()),
        Box::new(HostProbe::open(data_folder)?),
        Box::new(ClientProbe::open()?),
    ]))
}

/// What counts as done in a step, and is its throughput.
struct Done {
    operations: u64,
    rows: u64,
}

impl Done {
    fn of(step: &Step, record: &StepRecord) -> Done {
        let (inserted, queries) = (record.inserts.rows, record.queries);
        match step.kind {
            Kind::Load | Kind::Churn => Done { operations: inserted, rows: inserted },
            Kind::Index => {
                let indexed = record.rows_indexed.unwrap_or(0);
                Done { operations: indexed, rows: indexed }
            }
            Kind::RangeQueries | Kind::PointQueries => {
                Done { operations: queries.accounting.succeeded, rows: queries.rows }
            }
        }
    }
}

/// What became of the statements of a step, by role.
fn kinds(record: &StepRecord) -> Vec<KindCounts> {
    let roles = [("insert", &record.inserts), ("delete", &record.deletes), ("query", &record.queries)];
    let of = |(name, operations): (&str, &Operations)| {
        let Accounting { succeeded, failed, retried, .. } = operations.accounting;
        KindCounts { name: name.to_owned(), done: succeeded, failed, retried: Some(retried) }
    };
    roles.into_iter().filter(|(_, operations)| operations.accounting.scheduled > 0).map(of).collect()
}

/// What became of all statements of a step.
fn accounting(record: &StepRecord) -> Accounting {
    let mut sum = record.inserts;
    sum.add(&record.deletes);
    sum.add(&record.queries);
    sum.accounting
}
