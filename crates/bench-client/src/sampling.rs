//! What sampling of functions costs a server: point queries in slices in which it is sampled, and slices in which it is
//! not, in turn.
//!
//! In: a server. Out: statements a second without and with sampling, by round. Both arms of the exercise are the same
//! server, so that nothing but the clock differs. What comes after a test, such as following the stacks, is in no
//! slice, as in a campaign.

use crate::args::Args;
use crate::own_client::RQPS;
use crate::rounds::Measured;
use crate::table::Row;
use crate::test_server::TestServer;
use anyhow::{Context, Result, bail, ensure};
use rqps_load::drive::{self, ArmRun, ClientCpus, Exercise, Schedule, ServerSide, Switch};
use rqps_load::program::sysbench::Statements;
use rqps_model::plan::{Arrival, DataShape};
use rqps_profile::Profiler;
use rqps_server::process::SessionPlacer;
use rqps_suites::Suite;
use rqps_wire::Session;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The word for it.
pub(crate) const SAMPLING: &str = "sampling";

/// What is sampled.
const TEST: &str = "point-query";

/// Long enough that a clock which was just set has worn off its start.
const SLICE: Duration = Duration::from_millis(200);

/// Not counted after a clock was set or stopped.
const LEAD_IN: Duration = Duration::from_millis(20);

/// A session has a speed of its own.
const SESSION_LIFE: Duration = Duration::from_millis(500);

/// The arm that is sampled; the other one is not.
const SAMPLED: usize = 1;

/// Places the sessions of both arms, which have one server.
#[derive(Debug)]
struct Placer(SessionPlacer);

impl ServerSide for Placer {
    fn opened(&self, _: usize, _: usize, (session, _): (&mut Session, &str), cpu: Option<usize>) -> Result<(), String> {
        let Some(cpu) = cpu else { return Ok(()) };
        self.0.place(session, cpu).map(|_| ()).map_err(|refused| refused.to_string())
    }

    fn closing(&self, _: usize, _: usize) {}
}

/// Statements a second of the same server, without and with sampling.
pub(crate) fn compare(server: &TestServer, args: &Args) -> Result<Measured> {
    rqps_profile::check()?;
    let mut speeds = [Vec::new(), Vec::new()];
    let mut failure = None;
    for round in 0..args.rounds {
        // The sampler empties its buffers on any CPU, as in a campaign.
        match server.on_all_cpus(|| measure(server, args.seconds, u64::from(round) + 1)) {
            Ok(both) => speeds.iter_mut().zip(both).for_each(|(speeds, speed)| speeds.push(speed)),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let [plain, sampled] = speeds;
    let row = |name, values: Vec<f64>| Row::new(SAMPLING, name, "statements/s", values, &plain);
    let rows = if plain.is_empty() { Vec::new() } else { vec![row(RQPS, plain.clone()), row("sampled", sampled)] };
    Ok(Measured { rows, failure })
}

/// One round: so many seconds of each arm.
fn measure(server: &TestServer, seconds: f64, seed: u64) -> Result<[f64; 2]> {
    let suite = Suite::sysbench();
    let test = suite.test(TEST).context("the suite has lost a test")?;
    let arms = [server.process.endpoint(), server.process.endpoint()];
    let statements = Statements::compile(test, DataShape { tables: 1, rows: server.place.rows }, &arms)?;
    let placer = Placer(server.process.session_placer());
    let exercise = Exercise {
        arms: &arms,
        clients: 1,
        threads: 1,
        cpus: ClientCpus { set: &server.cpus, by_session: true, server_side: Some(&placer) },
        schedule: Schedule { seconds, warmup_seconds: 0.5, slice: SLICE, lead_in: LEAD_IN, session_life: SESSION_LIFE },
        arrival: Arrival::Closed,
        seed,
        planted: &[],
    };
    let mut sampling = None;
    let mut refused = None;
    let mut hook = |switch| {
        match switch {
            Switch::Enter { arm: SAMPLED, .. } => match Profiler::start(&server.cpus, &[server.process.pids()], &[]) {
                Ok(profiler) => sampling = Some(profiler),
                Err(error) => refused = Some(error),
            },
            // What it saw is of no interest, and its stacks are not followed.
            Switch::Leave { arm: SAMPLED, .. } => sampling = None,
            _ => {}
        }
        Ok(())
    };
    let runs = drive::run(&exercise, &statements, &mut hook, &AtomicBool::new(false), &|_| ())?;
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    let [plain, sampled] = &runs[..] else { bail!("an arm was lost") };
    ensure!(plain.failure.is_none() && sampled.failure.is_none(), "an arm failed");
    Ok([plain, sampled].map(per_s))
}

fn per_s(run: &ArmRun) -> f64 {
    run.operations as f64 / (run.busy_ns as f64 / 1e9)
}
