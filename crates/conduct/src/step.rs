//! One step of a pass: everything that is read before, during and after it, and its sample.
//!
//! In: a pass with a running server. Out: the sample's parts, also where the step failed: then with the reason, and with what
//! had happened until then. It publishes nothing.

use crate::ConductError;
use crate::counted::{self, Counted};
use crate::measure::{blank_sample, failed, kept_beside};
use crate::pass::Pass;
use crate::sitting::Ledger;
use crate::supervise::supervised;
use rqps_load::insert::{Bench, Moment, StepRun, run_step, statement_plans};
use rqps_load::random::derive_seed;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::{Kind, Step, StepRecord};
use rqps_model::plan::TestPlan;
use rqps_model::sample::{Accounting, DiskUse, Growth, Resources, WatchRow};
use rqps_model::{Part, Sample, part};
use rqps_observe::client::ClientMeter;
use rqps_observe::clock::rfc3339;
use rqps_observe::counters::Counters;
use rqps_observe::host::{HostMeter, HostReading};
use rqps_observe::process::{ProcessMeter, ProcessReading};
use rqps_observe::{Watcher, disk_use};
use rqps_server::Server;
use rqps_store::{SampleParts, StoreError, latency_part};
use rqps_wire::Endpoint;
use std::cell::RefCell;
use std::time::SystemTime;

/// What is read before a step, to be compared with afterwards.
struct Before {
    counters: Option<Counters>,
    disk: Option<DiskUse>,
}

/// What host, server and client did between a step's begin and its end; nothing if it never began.
#[derive(Default)]
struct Seen {
    resources: Resources,
    watch: Vec<WatchRow>,
}

/// The meters of a step. What a connection costs, and what the client asks about the tables afterwards, is not the step's: in a
/// short one it would be a good part of it.
struct StepMeters<'m> {
    host: &'m mut HostMeter,
    client: &'m mut ClientMeter,
    server: &'m mut ProcessMeter,
    processes: &'m Server,
    begin: Option<Begin>,
    seen: Seen,
}

/// The readings of a step's begin, from which its seconds count.
struct Begin {
    host: HostReading,
    client: ProcessReading,
    server: ProcessReading,
    watcher: Watcher,
}

impl StepMeters<'_> {
    fn begin(&mut self, watcher: Watcher) {
        let server = self.server.read(&self.processes.pids_with_ended());
        self.begin = Some(Begin { client: self.client.read(), server, watcher, host: self.host.read_full() });
    }

    fn end(&mut self) {
        let Some(Begin { host, client, server, watcher }) = self.begin.take() else { return };
        let resources = Resources {
            host: self.host.read_full().since(&host),
            client: self.client.read_full().since(&client),
            server: self.server.read_full(&self.processes.pids_with_ended()).since(&server),
            operations: 0,
        };
        self.seen = Seen { resources, watch: watcher.end() };
    }
}

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
        let before =
            Before { counters: counted::read(&endpoint), disk: disk_use(&endpoint, storage, &self.arm.data).ok() };
        let bench = Bench {
            endpoint: &endpoint,
            storage,
            shape: &self.shape,
            // The same for all treatments of a round, so that they get the same rows and keys.
            seed: derive_seed(self.round.seed, &format!("insert.c{}", self.shape.clients)),
            threads: self.client_cpus.len().min(self.shape.clients as usize),
            client_cpus: &self.client_cpus,
        };
        let meters = StepMeters {
            host: &mut self.host,
            client: &mut self.client,
            server: &mut self.arm.meter,
            processes: server,
            begin: None,
            seen: Seen::default(),
        };
        let (meters, progress, stop) = (RefCell::new(meters), RefCell::new(progress), self.sitting.stop);
        let doing = format!("{} on {}", step.name, self.arm.contestant.plan.name);
        let tell = |moment| match moment {
            Moment::Begins => meters.borrow_mut().begin(Watcher::begin(&endpoint, storage, &self.arm.data)),
            Moment::Advances(come) => (progress.borrow_mut())(come.done),
            Moment::Ended => meters.borrow_mut().end(),
        };
        let ran = supervised(server, stop, || {
            run_step(&bench, step, &mut self.state, stop, &tell).map_err(ConductError::load(doing))
        });
        let seen = meters.into_inner().seen;
        match ran {
            Err(ConductError::Interrupted) => Err(ConductError::Interrupted),
            // Nothing was measured: the server could not even be connected to, or would not make the tables.
            Err(error) => {
                self.arm.notice_death();
                let failure = Some(self.arm.fail(error.to_string()));
                let sample = Sample { resources: seen.resources, failure, ..base };
                Ok(SampleParts { sample, parts: vec![Part::lines(part::WATCH, &seen.watch)] })
            }
            Ok(run) => Ok(self.finish(base, step, run, before, seen, &endpoint)?),
        }
    }

    /// The sample of a step that ran, with everything that is read afterwards.
    fn finish(
        &mut self,
        base: Sample,
        step: &Step,
        run: StepRun,
        before: Before,
        seen: Seen,
        endpoint: &Endpoint,
    ) -> Result<SampleParts, StoreError> {
        let StepRun { record, seconds, latency } = run;
        let Seen { resources, watch } = seen;
        self.arm.notice_death();
        let mut warnings = std::mem::take(&mut self.arm.undone);
        let (mut counted, mut growth) = (Counted::default(), None);
        if self.arm.server.is_some() {
            match counted::since(before.counters, endpoint) {
                Some(read) => counted = read,
                None => warnings.push(counted::UNREADABLE.to_owned()),
            }
            let after = disk_use(endpoint, self.arm.contestant.plan.storage, &self.arm.data);
            growth = before.disk.zip(after.ok()).map(|(before, after)| Growth { before, after });
            if growth.is_none() {
                warnings.push("what the data takes on disk could not be read".to_owned());
            }
        }
        let failure = record.failure.clone().or_else(|| self.stored_otherwise(step, endpoint));
        let failure = failure.map(|failure| self.arm.fail(failure));
        let done = Done::of(step, &record);
        let sample = Sample {
            operations: done.operations,
            rows: done.rows,
            busy_ns: (record.seconds * 1e9).round() as u64 * u64::from(record.clients),
            seconds: record.seconds,
            sessions: 1,
            accounting: accounting(&record),
            errors: record.errors.clone(),
            resources: Resources { operations: done.operations, ..resources },
            counters: counted.changes,
            step: Some(record),
            growth,
            warnings,
            failure,
            ..base
        };
        let parts = vec![
            latency_part(&latency.into_iter().collect(), sample.seconds)?,
            Part::lines(part::COUNTERS, &counted.readings),
            Part::lines(part::SECONDS, &seconds),
            Part::lines(part::WATCH, &watch),
        ];
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
        blank_sample(&self.piece(test), 1.0, &self.arm, &rfc3339(SystemTime::now()))
    }
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

/// What became of all statements of a step.
fn accounting(record: &StepRecord) -> Accounting {
    let mut sum = record.inserts;
    sum.add(&record.deletes);
    sum.add(&record.queries);
    sum.accounting
}
