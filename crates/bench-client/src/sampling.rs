//! What it costs a server to be sampled: point queries in slices in which its functions are sampled, slices in which it
//! is asked for waits, slices in which events of its threads are counted, and slices in which nothing is done, in turn.
//! The events are those of the kernel, which any machine counts; those of a CPU also take the time to load and to save
//! its counters.
//!
//! In: a server. Out: statements a second of each, by round. All arms of the exercise are the same server, so that
//! nothing but the sampling differs. What comes after a test, such as following the stacks, is in no
//! slice, as in a campaign.

use crate::args::Args;
use crate::own_client::RQPS;
use crate::rounds::Measured;
use crate::table::Row;
use crate::test_server::TestServer;
use anyhow::{Context, Result, bail, ensure};
use rqps_load::drive::{self, ArmRun, ClientCpus, Exercise, Schedule, ServerSide, Switch};
use rqps_load::program::sysbench::Statements;
use rqps_model::plan::DataShape;
use rqps_observe::WaitSampler;
use rqps_observe::cpu_events::{EventCounters, KERNEL_EVENTS};
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

/// The arm whose functions are sampled, that which is asked for waits, and that whose events are counted; the first one
/// is left alone.
const SAMPLED: usize = 1;
const ASKED: usize = 2;
const COUNTED: usize = 3;

/// How long a connection may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Places the sessions of all arms, which have one server.
#[derive(Debug)]
struct Placer(SessionPlacer);

impl ServerSide for Placer {
    fn opened(&self, _: usize, _: usize, (session, _): (&mut Session, &str), cpu: Option<usize>) -> Result<(), String> {
        let Some(cpu) = cpu else { return Ok(()) };
        self.0.place(session, cpu).map(|_| ()).map_err(|refused| refused.to_string())
    }

    fn closing(&self, _: usize, _: usize) {}
}

/// Statements a second of the same server: left alone, with functions sampled, asked for waits, with events counted.
pub(crate) fn compare(server: &TestServer, args: &Args) -> Result<Measured> {
    rqps_profile::check()?;
    let mut speeds = [const { Vec::new() }; 4];
    let mut failure = None;
    for round in 0..args.rounds {
        // The sampler empties its buffers on any CPU, as in a campaign.
        match server.on_all_cpus(|| measure(server, args.seconds, u64::from(round) + 1)) {
            Ok(all) => speeds.iter_mut().zip(all).for_each(|(speeds, speed)| speeds.push(speed)),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let [plain, sampled, asked, counted] = speeds;
    let row = |name, values: Vec<f64>| Row::new(SAMPLING, name, "statements/s", values, &plain);
    let rows = match plain.is_empty() {
        true => Vec::new(),
        false => vec![
            row(RQPS, plain.clone()),
            row("sampled", sampled),
            row("asked for waits", asked),
            row("events counted", counted),
        ],
    };
    Ok(Measured { rows, failure })
}

/// One round: so many seconds of each arm.
fn measure(server: &TestServer, seconds: f64, seed: u64) -> Result<[f64; 4]> {
    let suite = Suite::sysbench();
    let test = suite.test(TEST).context("the suite has lost a test")?;
    let arms = [(); 4].map(|()| server.process.endpoint());
    let session = Session::connect(&arms[ASKED], CONNECT_PATIENCE)?;
    let waits = WaitSampler::start(session, arms[ASKED].protocol())?;
    let statements = Statements::compile(test, DataShape { tables: 1, rows: server.place.rows }, &arms)?;
    let placer = Placer(server.process.session_placer());
    let schedule =
        Schedule { seconds, warmup_seconds: 0.5, slice: SLICE, lead_in: LEAD_IN, session_life: SESSION_LIFE };
    let cpus = ClientCpus { set: server.cpus(), by_session: true, server_side: Some(&placer) };
    let exercise = Exercise { cpus, keeps_spans: true, ..Exercise::new(&arms, 1, schedule, seed) };
    let mut sampling = None;
    let mut refused = None;
    let mut counters = None;
    let mut hook = |switch| {
        match switch {
            Switch::Enter { arm: SAMPLED, .. } => match Profiler::start(server.cpus(), &[server.process.pids()], &[]) {
                Ok(profiler) => sampling = Some(profiler),
                Err(error) => refused = Some(error),
            },
            // What it saw is of no interest, and its stacks are not followed.
            Switch::Leave { arm: SAMPLED, .. } => sampling = None,
            Switch::Enter { arm: ASKED, .. } => waits.enter(),
            Switch::Leave { arm: ASKED, .. } => waits.leave(),
            Switch::Enter { arm: COUNTED, .. } => {
                counters = Some(EventCounters::start(KERNEL_EVENTS, &server.process.pids()));
            }
            Switch::Leave { arm: COUNTED, .. } => counters = None,
            _ => {}
        }
        Ok(())
    };
    let runs = drive::run(&exercise, &statements, &mut hook, &AtomicBool::new(false), &|_| ())?;
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    let (facts, failure) = waits.end(&runs[ASKED].counted);
    if let Some(failure) = failure {
        bail!("the server could not be asked for waits: {failure}");
    }
    ensure!(facts.moments > 0, "the server was never asked for waits");
    let [plain, sampled, asked, counted] = &runs[..] else { bail!("an arm was lost") };
    ensure!(runs.iter().all(|run| run.failure.is_none()), "an arm failed");
    Ok([plain, sampled, asked, counted].map(per_s))
}

fn per_s(run: &ArmRun) -> f64 {
    run.operations as f64 / (run.busy_ns as f64 / 1e9)
}
