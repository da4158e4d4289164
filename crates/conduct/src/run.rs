//! A run of a campaign, from its masters on, one round at a time.
//!
//! In: a plan whose builds are on this machine, and an open results folder. Out: samples in the folder and events for
//! whoever watches. [`Run::begin`] makes the data; [`Run::next_round`] measures the next round of which something is
//! missing. The caller has the loop, and so may stop it by a rule of its own; resuming a campaign is another run on the
//! same folder.

use crate::ConductError;
use crate::bench::Bench;
use crate::eta::Eta;
use crate::job::{Job, Output, Watch};
use crate::missing::{Failed, Missing};
use crate::rounds::rounds;
use crate::servers::Servers;
use crate::supervise::check;
use crate::walk::Setup;
use rqps_machine::Workspace;
use rqps_model::plan::{Alternate, Round};
use rqps_store::{Campaign, Writer};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

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
    /// What is measured again although it is there.
    again: Failed,
    eta: Eta,
    /// The last round that was looked at.
    last: u32,
}

impl<'a> Run<'a> {
    /// Makes the data folders that all copies are taken from.
    ///
    /// Call it from a thread that lives as long as the servers may: they are ended with it.
    pub fn begin(
        job: Job<'a>,
        store: &mut Writer,
        watch: &mut Watch<'_>,
        stop: &'a AtomicBool,
    ) -> Result<Run<'a>, ConductError> {
        let workspace = Workspace::create(job.lease, job.cache, job.data_parent)
            .map_err(ConductError::server("making the folder for data"))?;
        let mut output = Output { store, watch, eta: &mut Eta::default() };
        let bench = Bench::prepare(job, workspace, &mut output, stop)?;
        // A failed trial is a result of the run that made it; a resumed campaign tries again.
        let again = if job.resumed == 0 { Failed::default() } else { Failed::found(store) };
        Ok(Run { bench, again, eta: Eta::default(), last: 0 })
    }

    /// Measures what is missing of the next round of which something is.
    pub fn next_round(&mut self, store: &mut Writer, watch: &mut Watch<'_>) -> Result<Outcome, ConductError> {
        let Run { bench, again, eta, last } = self;
        let rounds = rounds(store, Some(SystemTime::now()));
        let of_round = |number| setups(bench.job, store, again, &bench.job.plan.round(number));
        eta.expect(bench.job.plan, rounds, &(*last + 1..=rounds).flat_map(of_round).collect::<Vec<_>>());
        while *last < rounds {
            *last += 1;
            let round = bench.job.plan.round(*last);
            let setups = setups(bench.job, store, again, &round);
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

/// What is still to be measured of a round.
fn setups<'a>(job: Job<'a>, store: &Campaign, again: &Failed, round: &Round) -> Vec<Setup<'a>> {
    Missing { plan: job.plan, store, again }.setups(round)
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
        match servers.start_failure() {
            None => started += 1,
            Some(failure) if setup.stage.is_chain() || setup.stage.alternate == Alternate::OneByOne => {
                failed.extend(failure);
            }
            Some(_) => {}
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
