//! One pass: the Insert Benchmark on one treatment, from an empty data folder to its last step, with no other server up.
//!
//! In: a round's order. Out: a published sample for each step. A step that fails ends the pass: those after it say so, the
//! server is not started again, and the next pass goes on. The server is stopped when the pass is dropped, however it
//! ends; its folder is removed after it, or with the workspace if the campaign ends here.

use crate::ConductError;
use crate::arm::{Arm, Contestant};
use crate::cells::Bout;
use crate::event::Event;
use crate::master::FolderKind;
use crate::measure::{Piece, plans_part};
use crate::pace::{Chore, REST};
use crate::sitting::{Ledger, Sitting};
use crate::supervise::{check, supervised, supervised_on, unless_stopped};
use rqps_load::insert::{State, count_rows, rest};
use rqps_machine::copy;
use rqps_model::facts::SettingsFacts;
use rqps_model::insert::{Shape, Step, StepRecord, steps};
use rqps_model::plan::{Round as RoundPlan, Stage, SuitePlan, TestPlan};
use rqps_model::settings::CpuSet;
use rqps_server::{page_cache, placement};
use rqps_store::SampleParts;
use std::ops::RangeInclusive;
use std::time::Instant;

/// Runs the passes of a round that are not done yet, one after the other.
pub(crate) fn passes(
    sitting: &Sitting<'_>,
    round: &RoundPlan,
    stage: &Stage,
    ledger: &mut Ledger<'_, '_>,
) -> Result<(), ConductError> {
    let (mut begun, mut refused) = (0, Vec::new());
    for bout in Bout::of_stage(sitting.job.plan, stage, round) {
        if sitting.cells(ledger.store).is_done(&bout) {
            continue;
        }
        check(sitting.stop)?;
        let mut pass = Pass::begin(sitting, round, &bout, ledger)?;
        match (&pass.arm.server, &pass.arm.failure) {
            (None, Some(why)) if pass.arm.takes_part => refused.push(why.clone()),
            (None, _) => {}
            (Some(_), _) => begun += 1,
        }
        pass.run(ledger)?;
    }
    // One server that does not start is one failed pass; where none did, none would in the next round.
    match refused.pop() {
        Some(last) if begun == 0 && !refused.is_empty() => Err(ConductError::NobodyLeft { round: round.number, last }),
        _ => Ok(()),
    }
}

/// A pass under way.
pub(crate) struct Pass<'a> {
    pub(crate) sitting: &'a Sitting<'a>,
    pub(crate) round: &'a RoundPlan,
    bout: &'a Bout<'a>,
    pub(crate) shape: Shape,
    pub(crate) arm: Arm<'a>,
    /// CPUs that may be used, and of these the client's.
    pub(crate) cpus: CpuSet,
    pub(crate) client_cpus: CpuSet,
    pub(crate) state: State,
    /// Rows that the tables must hold by what was acknowledged.
    rows: RangeInclusive<u64>,
    /// The step that failed.
    failed: Option<String>,
    /// The machine.
    pub(crate) host_id: String,
    /// Of the last step that ran.
    pub(crate) stalled_seconds: u32,
}

impl<'a> Pass<'a> {
    /// Makes the data folder and starts the server. What an earlier sitting published of the pass is withdrawn.
    fn begin(
        sitting: &'a Sitting<'a>,
        round: &'a RoundPlan,
        bout: &'a Bout<'a>,
        ledger: &mut Ledger<'_, '_>,
    ) -> Result<Pass<'a>, ConductError> {
        let Sitting { job, workspace, masters, .. } = sitting;
        let begun = Instant::now();
        let (contestant, shape) = who(sitting, bout);
        for (treatment, test) in bout.samples() {
            ledger.store.withdraw(bout.round, &treatment.name, &test.name, bout.clients)?;
        }
        (ledger.watch)(Event::PassBegins {
            round: bout.round,
            rounds: job.plan.rounds,
            treatment: &contestant.plan.name,
            clients: bout.clients,
            steps: bout.tests.len() as u32,
        });
        let cpus = placement::available().map_err(ConductError::server("asking for the CPUs"))?;
        // A CPU for each connection: on one CPU with a session that never stops asking, what InnoDB does behind the writes got
        // none for minutes (docs/measurement.md).
        let connections = bout.clients * bout.stage.connections;
        let (server_cpus, client_cpus) =
            placement::choose(job.plan.placement, &cpus, connections).map_err(ConductError::server("choosing CPUs"))?;
        let mut pass = Pass {
            sitting,
            round,
            bout,
            shape,
            arm: Arm::idle(contestant, workspace, masters.refusal(contestant)),
            cpus,
            client_cpus,
            state: State::new(),
            rows: 0..=0,
            failed: None,
            host_id: ledger.store.host_id().to_owned(),
            stalled_seconds: 0,
        };
        if pass.arm.takes_part {
            pass.start(&server_cpus, ledger)?;
            if let Some(failure) = &pass.arm.failure {
                (ledger.watch)(Event::Warning { message: failure.clone() });
            }
        }
        ledger.pace.began(begun.elapsed());
        Ok(pass)
    }

    /// A fresh copy and a fresh server; what goes wrong there is the pass's failure.
    fn start(&mut self, server_cpus: &CpuSet, ledger: &Ledger<'_, '_>) -> Result<(), ConductError> {
        let Sitting { job, workspace, masters, stop, .. } = self.sitting;
        let contestant = self.arm.contestant;
        let kind = FolderKind::of(contestant);
        self.arm.copy = format!("{}#{}", kind.name(), self.place_among(&kind));
        self.arm.data = workspace.join(&format!("pass-{}", kind.name()));
        masters.copy(&kind, &self.arm.data, stop)?;
        // What the pass before left to be written must not be written during this one.
        let folder = workspace.path().to_owned();
        unless_stopped(stop, move || copy::flush(&folder))?
            .map_err(ConductError::server("writing the copy to disk"))?;
        _ = page_cache::renew(contestant.build);
        // Passes at other numbers of clients have starts of their own.
        let place = job.plan.clients().iter().position(|clients| *clients == self.bout.clients);
        self.arm.starts = place.unwrap_or(0) as u32;
        self.arm.start(job.lease, stop)?;
        match self.place_and_keep(server_cpus, ledger) {
            Err(ConductError::Store(error)) => Err(error.into()),
            Err(error) => {
                (self.arm.server, self.arm.failure) = (None, Some(error.to_string()));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Its place in the round among passes that begin with copies of the same master.
    fn place_among(&self, kind: &FolderKind) -> usize {
        let alike = |index: &&usize| FolderKind::of(&self.sitting.contestants[**index]) == *kind;
        let own = |index: &usize| self.sitting.contestants[*index].plan.name == self.arm.name();
        self.round.order.iter().filter(alike).position(own).map_or(1, |place| place + 1)
    }

    /// Places the server, and keeps its settings the first time.
    fn place_and_keep(&self, server_cpus: &CpuSet, ledger: &Ledger<'_, '_>) -> Result<(), ConductError> {
        let Some(server) = &self.arm.server else { return Ok(()) };
        let (contestant, name) = (self.arm.contestant, self.arm.name());
        let placed = server.set_cpus(server_cpus).map_err(ConductError::server(format!("placing {name}")))?;
        if ledger.store.settings(name)?.is_none() {
            let facts = contestant.settings(server)?;
            let connection = self.sitting.masters.connection(contestant).cloned();
            let connection = connection.map_or_else(|| contestant.probe(&server.endpoint()), Ok)?;
            let facts = SettingsFacts {
                server_cpus: placed,
                client_cpus: self.client_cpus.clone(),
                storage_engine: connection.storage_engine,
                transport: connection.transport,
                ..facts
            };
            ledger.store.write_settings(name, &facts)?;
        }
        Ok(())
    }

    /// Runs all steps and publishes each as it ends; then the server is stopped in order and its log kept.
    fn run(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        let ran = self.run_steps(ledger).and_then(|()| self.end(ledger));
        let clients = self.bout.clients;
        self.arm.keep_log(ledger.store, &format!("round {}, clients {clients}", self.round.number))?;
        ran?;
        // The next pass begins with a copy of its own. Where this one ended the campaign, it goes with the workspace.
        self.arm.clear(ledger.watch);
        Ok(())
    }

    fn run_steps(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        let all = steps(&self.shape);
        for (at, step) in all.iter().enumerate() {
            check(self.sitting.stop)?;
            let test = self.bout.tests.iter().find(|test| test.name == step.name);
            let test = test.ok_or_else(|| ConductError::UnknownTest(step.name.clone()))?;
            let parts = self.run_step(test, step, at + 1 == all.len(), ledger)?;
            ledger.store.publish(&parts)?;
            let sample = &parts.sample;
            (ledger.watch)(Event::StepEnded {
                round: self.round.number,
                treatment: self.arm.name(),
                step: &step.name,
                clients: self.bout.clients,
                unit: test.unit,
                result: sample.throughput(),
                sla: sample.step().and_then(|record| record.sla),
                stalled_seconds: self.stalled_seconds,
                left: ledger.pace.left(None),
            });
            if step.is_followed_by_rest() && at + 1 < all.len() {
                self.rest(ledger)?;
            }
        }
        Ok(())
    }

    /// One step, or the reason why it is not done.
    fn run_step(
        &mut self,
        test: &TestPlan,
        step: &Step,
        is_last: bool,
        ledger: &mut Ledger<'_, '_>,
    ) -> Result<SampleParts, ConductError> {
        let chore = Chore::of(self.bout, &test.name);
        if let Some(failed) = &self.failed {
            ledger.pace.skipped(&chore);
            let why = format!("{failed} failed before it in this pass: {}", first_line(self.arm.failure.as_deref()));
            return Ok(self.skipped(test, why));
        }
        if self.arm.server.is_none() {
            ledger.pace.skipped(&chore);
            let why = self.arm.failure.clone().unwrap_or_else(|| "its server could not be started".to_owned());
            return Ok(self.skipped(test, why));
        }
        let plans = self.keep_plans(test, step, ledger)?;
        self.tell_begin(&step.name, ledger);
        let begun = Instant::now();
        let Ledger { watch, pace, .. } = ledger;
        let mut parts = self.measure(test, step, &mut |fraction| {
            let under_way = Some((&chore, fraction));
            let (campaign, left) = (pace.share(under_way), pace.left(under_way));
            watch(Event::TestAdvances { fraction, campaign, left });
        })?;
        parts.parts.extend(plans_part(&plans));
        ledger.pace.ended(&chore, begun.elapsed());
        if let Some(record) = parts.sample.step() {
            self.rows = rows_after(&self.rows, record);
        }
        match &parts.sample.failure {
            Some(failure) => {
                self.failed = Some(step.name.clone());
                (ledger.watch)(Event::Warning {
                    message: format!("{} failed in {}: {failure}", step.name, self.arm.name()),
                });
            }
            None if is_last => {
                let begun = Instant::now();
                parts.sample.warnings.extend(self.miscounted()?);
                ledger.pace.add_overhead(begun.elapsed());
            }
            None => {}
        }
        Ok(parts)
    }

    fn tell_begin(&self, step: &str, ledger: &mut Ledger<'_, '_>) {
        (ledger.watch)(Event::StepBegins {
            round: self.round.number,
            rounds: self.sitting.job.plan.rounds,
            treatment: self.arm.name(),
            step,
            clients: self.bout.clients,
        });
    }

    /// What follows l.i2. What fails there fails the step after it.
    fn rest(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        let chore = Chore::of(self.bout, REST);
        let Some(server) = self.arm.server.as_ref().filter(|_| self.failed.is_none()) else {
            ledger.pace.skipped(&chore);
            return Ok(());
        };
        self.tell_begin(REST, ledger);
        let begun = Instant::now();
        let stop = self.sitting.stop;
        let doing = format!("the rest of {} after l.i2", self.arm.name());
        let rested =
            supervised(server, stop, || rest(server.target(), &self.shape, stop).map_err(ConductError::load(&doing)));
        match rested {
            Err(ConductError::Interrupted) => return Err(ConductError::Interrupted),
            Err(error) => {
                self.arm.notice_death();
                let failure = self.arm.fail(error.to_string());
                self.failed = Some("the rest after l.i2".to_owned());
                (ledger.watch)(Event::Warning { message: failure });
            }
            Ok(worked) => self.arm.undone.extend(worked.left.map(|left| format!("{doing}: {left}"))),
        }
        ledger.pace.ended(&chore, begun.elapsed());
        Ok(())
    }

    /// What must stand beside the last step if the tables hold other rows than were acknowledged.
    fn miscounted(&mut self) -> Result<Option<String>, ConductError> {
        let Some(server) = &self.arm.server else { return Ok(None) };
        let doing = format!("counting the rows of {}", self.arm.name());
        let counted = supervised(server, self.sitting.stop, || {
            count_rows(&server.endpoint(), &self.shape).map_err(ConductError::load(doing))
        });
        match counted {
            Ok(rows) if self.rows.contains(&rows) => Ok(None),
            Ok(rows) => Ok(Some(miscount(&self.rows, rows))),
            Err(ConductError::Interrupted) => Err(ConductError::Interrupted),
            Err(error) => Ok(Some(format!("whether all rows are there could not be told: {error}"))),
        }
    }

    /// Stops the server in order, which shows faults of its own. Its folder is not used again.
    fn end(&mut self, ledger: &mut Ledger<'_, '_>) -> Result<(), ConductError> {
        self.arm.notice_death();
        let (name, begun) = (self.arm.name().to_owned(), Instant::now());
        let Some(mut server) = self.arm.server.take() else { return Ok(()) };
        let engine = self.arm.contestant.build.engine;
        let stopped = supervised_on(engine, &self.arm.data, self.sitting.stop, || {
            server.stop().map_err(ConductError::server(format!("stopping {name}")))
        });
        let fault = match stopped {
            Err(ConductError::Interrupted) => return Err(ConductError::Interrupted),
            Err(error) => Some(error.to_string()),
            Ok(stopped) => {
                (!stopped.clean).then(|| format!("the server of {name} did not stop in order after its pass"))
            }
        };
        if let Some(message) = fault {
            (ledger.watch)(Event::Warning { message });
        }
        ledger.pace.add_overhead(begun.elapsed());
        Ok(())
    }

    /// A step of this pass as what is measured.
    pub(crate) fn piece<'p>(&'p self, test: &'p TestPlan) -> Piece<'p> {
        let Pass { sitting, round, bout, cpus, .. } = self;
        Piece { job: sitting.job, round, test, clients: bout.clients, cpus }
    }
}

/// Whose pass a bout is, and how large.
fn who<'a>(sitting: &'a Sitting<'a>, bout: &Bout<'_>) -> (&'a Contestant<'a>, Shape) {
    let name = &bout.treatments[0].name;
    let contestant = sitting.contestants.iter().find(|contestant| contestant.plan.name == *name);
    let SuitePlan::Insert(shape) = &sitting.job.plan.suite else { unreachable!("only its stages are run one by one") };
    (contestant.expect("every treatment of the plan has one"), shape.at(bout.clients))
}

/// The rows that there may be after a step: an answer that never came leaves it open whether a statement took effect.
fn rows_after(before: &RangeInclusive<u64>, record: &StepRecord) -> RangeInclusive<u64> {
    let (inserts, deletes) = (record.inserts, record.deletes);
    let after = |rows: u64| (rows + inserts.rows).saturating_sub(deletes.rows);
    after(*before.start()).saturating_sub(deletes.rows_unknown)..=after(*before.end()) + inserts.rows_unknown
}

fn miscount(expected: &RangeInclusive<u64>, found: u64) -> String {
    let (least, most) = (expected.start(), expected.end());
    let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
    format!(
        "after this pass the tables hold {found} rows, but {expected} by what the server acknowledged: it lost or invented \
         rows, or the client counts wrong"
    )
}

/// Enough of a failure for those that only follow from it.
fn first_line(failure: Option<&str>) -> &str {
    failure.and_then(|failure| failure.lines().next()).unwrap_or("its sample says why")
}

#[cfg(test)]
mod tests;
