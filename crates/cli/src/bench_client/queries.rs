//! Queries of the sysbench suite from rqps, sysbench and pgbench, beside the bare ping-pong; loading its table; memory.
//!
//! In: a stand and a workload. Out: client CPU microseconds per statement. The seconds that are asked for are the least: where
//! the server takes nearly all of the CPU they share, a client runs until it has used enough to be told exactly.

use super::child;
use super::place::Place;
use super::process::{PING_PONG, part_command, told_by};
use super::rival::{Rival, connect};
use super::rounds::{Measured, alternate};
use super::stand::Stand;
use super::table::Row;
use super::workload::Queries;
use crate::args::BenchClientArgs;
use crate::screen::Screen;
use anyhow::{Context, Result, bail};
use rqps_load::prepare_data::prepare_data;
use rqps_model::plan::DataShape;
use rqps_server::placement;
use std::time::Instant;

/// A client that got less CPU time than this is measured again: the kernel tells it in hundredths of a second, so less could
/// be a tenth off.
const CPU_SECONDS_MIN: f64 = 0.1;

/// What a client is given the time for, so that it is not below that on a day that is a little slower.
const CPU_SECONDS_WANTED: f64 = 0.2;

/// How often a client is given the chance to get enough of it, each time for twice as long.
const ATTEMPTS: u32 = 3;

/// How long it is tried out what a client gets.
const TRIAL_SECONDS: f64 = 0.5;

/// No client runs longer, whatever it gets.
const SECONDS_MAX: f64 = 30.0;

/// One client of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    Rqps,
    Other(Rival),
    /// The bare socket: what any client must pay.
    PingPong,
}

impl Client {
    const fn name(self) -> &'static str {
        match self {
            Client::Rqps => "rqps",
            Client::Other(rival) => rival.name(),
            Client::PingPong => "ping-pong",
        }
    }
}

/// All clients on one workload.
pub(super) fn compare(stand: &Stand, queries: Queries, args: &BenchClientArgs, screen: Screen) -> Result<Measured> {
    let mut clients = vec![Client::Rqps];
    for rival in [Rival::Sysbench, Rival::Pgbench] {
        let command = rival.command(queries, &stand.place, args.seconds, stand.folder())?;
        match (command, rival.is_installed()) {
            (Some(_), true) => clients.push(Client::Other(rival)),
            (Some(_), false) => screen.say(&format!("{} is not installed; left out", rival.name())),
            (None, _) => {}
        }
    }
    if queries == Queries::Point {
        clients.push(Client::PingPong);
    }
    let (_, trial) = told_by(&mut part_command(queries.name(), &stand.place, TRIAL_SECONDS)?)?;
    let seconds = seconds_for(args.seconds, trial.cpu_s / TRIAL_SECONDS);
    if seconds > args.seconds {
        screen.say(&format!("{}: {seconds:.0} s a client, since the server takes most of the CPU", queries.name()));
    }
    let rounds = alternate(queries.name(), clients.len(), args.rounds, screen, |client| {
        cost_us(stand, clients[client], queries, seconds)
    });
    let names: Vec<&str> = clients.iter().map(|client| client.name()).collect();
    Ok(rounds.rows(queries.name(), &names, "us/statement"))
}

/// How long every client runs when rqps, the cheapest of them, gets this part of the CPU; whole seconds, as sysbench wants them.
fn seconds_for(least: f64, part_of_cpu: f64) -> f64 {
    let needed = CPU_SECONDS_WANTED / part_of_cpu.max(f64::EPSILON);
    if needed <= least { least } else { needed.ceil().min(SECONDS_MAX).max(least) }
}

/// Client CPU microseconds per statement.
fn cost_us(stand: &Stand, client: Client, queries: Queries, seconds: f64) -> Result<f64> {
    let mut longer = seconds;
    for _ in 0..ATTEMPTS {
        let (cpu_s, statements) = cost(stand, client, queries, longer)?;
        if cpu_s >= CPU_SECONDS_MIN {
            return Ok(cpu_s * 1e6 / statements as f64);
        }
        // Something else has taken the CPU since it was tried out.
        longer *= 2.0;
    }
    bail!(
        "{} got less than {CPU_SECONDS_MIN} s of CPU time in {} s, too little to tell its cost: wait until the \
         machine is idle, or give more --seconds",
        client.name(),
        longer / 2.0
    )
}

/// Client CPU seconds and statements.
fn cost(stand: &Stand, client: Client, queries: Queries, seconds: f64) -> Result<(f64, u64)> {
    match client {
        Client::Rqps => {
            let (cpu_s, told) = told_by(&mut part_command(queries.name(), &stand.place, seconds)?)?;
            Ok((cpu_s, told.operations))
        }
        // Its other side is a process of its own, waited for and so charged with it.
        Client::PingPong => {
            let (_, told) = told_by(&mut part_command(PING_PONG, &stand.place, seconds)?)?;
            Ok((told.cpu_s, told.operations))
        }
        Client::Other(rival) => {
            let command = rival.command(queries, &stand.place, seconds, stand.folder())?;
            let finished = child::run(&mut command.context("this client has no such workload")?)?;
            Ok((finished.cpu_s, rival.statements(&finished.stdout)?))
        }
    }
}

/// Seconds to load a table of so many rows, against `sysbench oltp_read_only prepare`.
pub(super) fn load(stand: &Stand, rows: u64, rounds: u32, screen: Screen) -> Result<Measured> {
    if !Rival::Sysbench.is_installed() {
        bail!("--load compares with sysbench, which is not installed");
    }
    // Loading is no ping-pong: server and loader have all CPUs, as in a campaign.
    placement::pin_current(&stand.cpus)?;
    stand.server.set_cpus(&stand.cpus)?;
    let place = Place { rows, ..stand.place.clone() };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds.min(3) {
        screen.say(&format!("load of {rows} rows: round {}", round + 1));
        let data = DataShape { tables: 1, rows };
        let report = prepare_data(stand.server.target(), data, 1, stand.cpus.len())?;
        ours.push(report.load_seconds);
        child::run(connect(&place).args(["oltp_read_only", "cleanup"]))?;
        let begun = Instant::now();
        child::run(connect(&place).args(["oltp_read_only", "prepare"]))?;
        theirs.push(begun.elapsed().as_secs_f64());
    }
    let row = Row::new("load", Rival::Sysbench.name(), "s", theirs, &ours);
    Ok(Measured { rows: vec![row], failure: None })
}

/// Peak memory in KB of 40 sessions after a tenth of the time and at its end.
pub(super) fn memory(stand: &Stand, seconds: f64, screen: Screen) -> Result<(u64, u64)> {
    let peak_kb = |seconds: f64| {
        screen.say(&format!("memory of 40 sessions over {seconds:.0} s"));
        let (_, told) = told_by(&mut part_command(Queries::Sessions40.name(), &stand.place, seconds)?)?;
        anyhow::Ok(told.peak_kb)
    };
    Ok((peak_kb(seconds / 10.0)?, peak_kb(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_gets_little_runs_longer() {
        let check = |least, part_of_cpu, seconds| assert_eq!(seconds_for(least, part_of_cpu), seconds);
        check(3.0, 0.5, 3.0);
        check(3.0, 0.03, 7.0);
        check(3.0, 1e-9, SECONDS_MAX);
        check(3.0, 0.0, SECONDS_MAX);
        check(100.0, 1e-9, 100.0);
        check(0.3, 1.0, 0.3);
    }
}
