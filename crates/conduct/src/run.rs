//! A run of a campaign, from its masters on, one round at a time.
//!
//! In: a plan whose builds are on this machine, and an open results folder. Out: samples in the folder and events for
//! whoever watches. [`Run::begin`] makes the data; [`Run::next_round`] measures the next round of which something is
//! missing. The caller has the loop, and so may stop it by a rule of its own; resuming a campaign is another run on the
//! same folder.

use crate::ConductError;
use crate::eta::Eta;
use crate::master::Masters;
use crate::missing::{Failed, Missing};
use crate::servers::Servers;
use crate::supervise::check;
use crate::treatment::{ResolvedTreatment, resolve};
use crate::walk::Setup;
use rqps_machine::{Cache, Lease, Workspace};
use rqps_model::facts::BuildFacts;
use rqps_model::plan::{Alternate, Round};
use rqps_model::{Event, EventKind, Plan};
use rqps_observe::clock::rfc3339;
use rqps_server::Profiles;
use rqps_store::{Campaign, Writer};
use rqps_suites::Suite;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

/// Everything that a campaign needs: its plan, and what of this machine is used.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The statements that suites know.
    pub suites: &'a [Suite],
    /// The build of each treatment, in plan order.
    pub builds: &'a [BuildFacts],
    /// Configuration profiles.
    pub profiles: &'a Profiles,
    /// The cache, which also holds leases.
    pub cache: &'a Cache,
    /// Notes what is made.
    pub lease: &'a Lease,
    /// Where data folders are made; `None` = the usual place.
    pub data_parent: Option<&'a Path>,
    /// How often the campaign was resumed.
    pub resumed: usize,
}

/// Receives events in order.
pub type Watch<'a> = dyn FnMut(&Event) + 'a;

/// What came of asking for a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This round was measured, as far as something of it was missing.
    Measured(u32),
    /// Nothing is left: every round of the plan was measured, in this run or before.
    Complete,
}

/// One run of a campaign, or of the rest of it.
pub struct Run<'a> {
    bench: Bench<'a>,
    eta: Eta,
    /// The last round that was looked at.
    last: u32,
}

/// What rounds are made with. It does not change during a run.
pub(crate) struct Bench<'a> {
    pub(crate) job: Job<'a>,
    pub(crate) treatments: Vec<ResolvedTreatment<'a>>,
    pub(crate) masters: Masters,
    /// What is measured again although it is there.
    again: Failed,
    pub(crate) stop: &'a AtomicBool,
    /// Dropped last, and with it all data: thousands of files.
    pub(crate) workspace: Workspace,
}

/// Where rounds put what comes of them.
pub(crate) struct Output<'o, 'w> {
    pub(crate) store: &'o mut Writer,
    pub(crate) watch: &'o mut Watch<'w>,
    pub(crate) eta: &'o mut Eta,
}

impl Output<'_, '_> {
    /// An event goes to the results folder and to whoever watches. A disk that is full shows when a sample is written.
    pub(crate) fn emit(&mut self, kind: EventKind) {
        let event = Event { at: rfc3339(SystemTime::now()), kind };
        if event.kind.is_kept() {
            let _ = self.store.append_event(&event);
        }
        (self.watch)(&event);
    }

    /// Hands an error on; that the user asked to stop is told now, before folders are removed.
    fn pass<T>(&mut self, result: Result<T, ConductError>) -> Result<T, ConductError> {
        if let Err(ConductError::Interrupted) = result {
            self.emit(EventKind::Interrupted { folder: self.store.folder().to_owned() });
        }
        result
    }
}

impl<'a> Run<'a> {
    /// Makes the data folders that all copies are taken from.
    ///
    /// Call it from a thread that lives as long as the servers may: they are told to quit when it ends.
    pub fn begin(
        job: Job<'a>,
        store: &mut Writer,
        watch: &mut Watch<'_>,
        stop: &'a AtomicBool,
    ) -> Result<Run<'a>, ConductError> {
        let workspace = Workspace::create(job.lease, job.cache, job.data_parent)
            .map_err(ConductError::server("making the folder for data"))?;
        let mut output = Output { store, watch, eta: &mut Eta::default() };
        let prepared = prepare(&job, &workspace, &mut output, stop);
        let (treatments, masters) = output.pass(prepared)?;
        // A failed trial is a result of the run that made it; a resumed campaign tries again.
        let again = if job.resumed == 0 { Failed::default() } else { Failed::found(store) };
        let bench = Bench { job, treatments, masters, again, stop, workspace };
        let all = (1..=job.plan.rounds).flat_map(|number| bench.setups(store, &job.plan.round(number)));
        let eta = Eta::new(job.plan, &all.collect::<Vec<_>>());
        Ok(Run { bench, eta, last: 0 })
    }

    /// Measures what is missing of the next round of which something is.
    pub fn next_round(&mut self, store: &mut Writer, watch: &mut Watch<'_>) -> Result<Outcome, ConductError> {
        let Run { bench, eta, last } = self;
        while *last < bench.job.plan.rounds {
            *last += 1;
            let round = bench.job.plan.round(*last);
            let setups = bench.setups(store, &round);
            if !setups.is_empty() {
                store.write_round(&round)?;
                let mut output = Output { store, watch, eta };
                let measured = measure(bench, &round, &setups, &mut output);
                return output.pass(measured).map(|()| Outcome::Measured(round.number));
            }
        }
        Ok(Outcome::Complete)
    }
}

impl<'a> Bench<'a> {
    fn setups(&self, store: &Campaign, round: &Round) -> Vec<Setup<'a>> {
        Missing { plan: self.job.plan, store, again: &self.again }.setups(round)
    }
}

/// Every treatment with its configuration, and the masters.
fn prepare<'a>(
    job: &Job<'a>,
    workspace: &Workspace,
    output: &mut Output<'_, '_>,
    stop: &AtomicBool,
) -> Result<(Vec<ResolvedTreatment<'a>>, Masters), ConductError> {
    let treatments = resolve(job, workspace, output.store)?;
    for treatment in &treatments {
        output.store.write_build(&treatment.plan.name, treatment.build)?;
        for note in &treatment.configuration.notes {
            output.emit(EventKind::Warning { message: format!("{}: {note}", treatment.plan.name) });
        }
    }
    let masters = Masters::load(job, workspace, &treatments, output, stop)?;
    Ok((treatments, masters))
}

/// One setup of servers after the other.
fn measure(
    bench: &Bench<'_>,
    round: &Round,
    setups: &[Setup<'_>],
    output: &mut Output<'_, '_>,
) -> Result<(), ConductError> {
    let (mut started, mut failed) = (0, Vec::new());
    for setup in setups {
        check(bench.stop)?;
        let mut servers = Servers::begin(bench, round, setup, output)?;
        match (setup.stage.alternate, servers.start_failure()) {
            (_, None) => started += 1,
            (Alternate::OneByOne, Some(failure)) => failed.extend(failure),
            (Alternate::SideBySide, Some(_)) => {}
        }
        servers.run(output)?;
    }
    // One server that does not start fails its own tests; where none did, none would in the next round.
    match failed.pop() {
        Some(last) if started == 0 && !failed.is_empty() => {
            Err(ConductError::NoServerLeft { round: round.number, last })
        }
        _ => Ok(()),
    }
}
