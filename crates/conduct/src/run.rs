//! A run of a campaign, from its masters on, one round at a time.
//!
//! In: a plan whose builds are on this machine, and an open results folder. Out: samples in the folder and events for
//! whoever watches. [`Run::begin`] makes the data; [`Run::next_round`] names the next round of which something is
//! missing, and [`Run::measure`] measures it. The caller has the loop, and so may stop it by a rule of its own, and say
//! what a round measures; resuming a campaign is another run on the same folder.

use crate::ConductError;
use crate::bench::Bench;
use crate::eta::Eta;
use crate::job::{Job, Output, Watch};
use crate::missing::{Failed, Missing, round_of};
use crate::programs;
use crate::rounds::{rounds_due, rounds_in_all, share_spent, time_spent};
use crate::servers::Servers;
use crate::supervise::check;
use crate::walk::Setup;
use rqps_machine::Workspace;
use rqps_model::plan::{Allotment, Alternate, Round};
use rqps_store::{Campaign, Writer};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

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
        programs::check(job.plan)?;
        let workspace = Workspace::create(job.lease, job.cache, job.data_parent)
            .map_err(ConductError::server("making the folder for data"))?;
        let mut output = Output { store, watch, eta: &mut Eta::default() };
        let bench = Bench::prepare(job, workspace, &mut output, stop)?;
        // A failed trial is a result of the run that made it; a resumed campaign tries again.
        let again = if job.resumed == 0 { Failed::default() } else { Failed::found(store) };
        Ok(Run { bench, again, eta: Eta::default(), last: 0 })
    }

    /// The next round of which something is missing; `None` once every round was measured, in this run or before. Where
    /// results decide what rounds measure, one that has not begun is there to be begun as long as there may be more.
    pub fn next_round(&mut self, store: &Campaign) -> Option<u32> {
        let rounds = rounds_due(store, Some(SystemTime::now()));
        let plan = self.bench.job.plan;
        let missing = Missing { plan, store, again: &self.again };
        (self.last + 1..=rounds).find(|number| !missing.setups(&round_of(store, *number)).is_empty())
    }

    /// Measures what is missing of a round. One that begins measures what `allotment` says, or every test; one that
    /// began before goes on as it began.
    pub fn measure(
        &mut self,
        number: u32,
        allotment: Option<Allotment>,
        store: &mut Writer,
        watch: &mut Watch<'_>,
    ) -> Result<(), ConductError> {
        let Run { bench, again, eta, last } = self;
        let round = match store.round(number)? {
            Some(begun) => begun,
            None => Round { allotment, ..bench.job.plan.round(number) },
        };
        let plan = bench.job.plan.allotted(&round);
        let missing = Missing { plan: &plan, store, again };
        let setups = missing.setups(&round);
        let now = Some(SystemTime::now());
        let (rounds, time) = (rounds_in_all(store, now), time_spent(store, now));
        // Those to come are taken to be like this one. Where results decide how many there are, the time says what is
        // left; before it can, as many as are wanted.
        let last_round = rounds.unwrap_or(if time.is_none() { plan.rounds_max() } else { number });
        let later = (number + 1..=last_round).flat_map(|number| missing.setups(&Round { number, ..round.clone() }));
        eta.expect(&plan, rounds, &setups.iter().cloned().chain(later).collect::<Vec<_>>(), time);
        store.write_round(&round)?;
        let mut output = Output { store, watch, eta };
        let measured = measure(bench, &round, &setups, &mut output);
        output.pass(measured)?;
        *last = number;
        if let Some(share) = share_spent(store, Some(SystemTime::now())) {
            store.set_spent(share)?;
        }
        Ok(())
    }
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
