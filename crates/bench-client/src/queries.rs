//! Queries of the sysbench suite from rqps, sysbench and pgbench, beside the bare ping-pong; loading its table; memory.
//!
//! In: a server and a workload. Out: client CPU microseconds per statement. The seconds that are asked for are the
//! least: where the server takes nearly all of the CPU they share, a client runs until it has used enough to be told
//! exactly.

use crate::args::Args;
use crate::child;
use crate::other_client::{OtherClient, connect};
use crate::output::say;
use crate::own_client::{OwnClient, PING_PONG};
use crate::place::Place;
use crate::rounds::{Measured, alternate};
use crate::table::Row;
use crate::test_server::TestServer;
use crate::workload::{Queries, SESSIONS_40};
use anyhow::{Context, Result, bail};
use rqps_load::prepare_data::prepare_data;
use rqps_model::plan::DataShape;
use rqps_server::placement;
use std::time::Instant;

/// A client that got less CPU time than this is measured again: the kernel tells it in hundredths of a second, so less
/// could be a tenth off.
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
#[derive(Debug, Clone, PartialEq)]
enum Client {
    /// A client of rqps. Beside clients that are not, it is compared by what the kernel charged for it, as they are;
    /// several of rqps are by their own clocks, which are finer.
    Own {
        client: OwnClient,
        is_clocked: bool,
    },
    Other(OtherClient),
    /// The bare socket: what any client must pay.
    PingPong,
}

impl Client {
    fn name(&self) -> &str {
        match self {
            Client::Own { client, .. } => &client.name,
            Client::Other(other) => other.name(),
            Client::PingPong => PING_PONG,
        }
    }
}

/// All clients on one workload.
pub(crate) fn compare(server: &TestServer, queries: &Queries, args: &Args, own: Vec<OwnClient>) -> Result<Measured> {
    let clients = match <[OwnClient; 1]>::try_from(own) {
        Ok([alone]) => beside_others(alone, server, queries, args)?,
        Err(several) => several.into_iter().map(|client| Client::Own { client, is_clocked: true }).collect(),
    };
    let (_, trial) = OwnClient::this()?.run(queries.name, &server.place, TRIAL_SECONDS)?;
    let seconds = seconds_for(args.seconds, trial.cpu_s / TRIAL_SECONDS);
    if seconds > args.seconds {
        say(&format!("{}: {seconds:.0} s a client, since the server takes most of the CPU", queries.name));
    }
    let rounds = alternate(queries.name, clients.len(), args.rounds, |client| {
        cost_us(server, &clients[client], queries, seconds)
    });
    let names: Vec<&str> = clients.iter().map(Client::name).collect();
    Ok(rounds.rows(queries.name, &names, "us/statement"))
}

/// This client and all that are not of rqps and installed.
fn beside_others(own: OwnClient, server: &TestServer, queries: &Queries, args: &Args) -> Result<Vec<Client>> {
    let mut clients = vec![Client::Own { client: own, is_clocked: false }];
    for other in [OtherClient::Sysbench, OtherClient::Pgbench] {
        let command = other.command(queries, &server.place, args.seconds, server.folder())?;
        match (command, other.is_installed()) {
            (Some(_), true) => clients.push(Client::Other(other)),
            (Some(_), false) => say(&format!("{} is not installed; left out", other.name())),
            (None, _) => {}
        }
    }
    if queries.name == "point" {
        clients.push(Client::PingPong);
    }
    Ok(clients)
}

/// How long every client runs when rqps, the cheapest of them, gets this part of the CPU; whole seconds, as sysbench
/// wants them.
fn seconds_for(least: f64, part_of_cpu: f64) -> f64 {
    let needed = CPU_SECONDS_WANTED / part_of_cpu.max(f64::EPSILON);
    if needed <= least { least } else { needed.ceil().min(SECONDS_MAX).max(least) }
}

/// Client CPU microseconds per statement.
fn cost_us(server: &TestServer, client: &Client, queries: &Queries, seconds: f64) -> Result<f64> {
    let mut longer = seconds;
    for _ in 0..ATTEMPTS {
        let (cpu_s, statements) = cost(server, client, queries, longer)?;
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
fn cost(server: &TestServer, client: &Client, queries: &Queries, seconds: f64) -> Result<(f64, u64)> {
    match client {
        Client::Own { client, is_clocked } => {
            let (charged_s, result) = client.run(queries.name, &server.place, seconds)?;
            Ok((if *is_clocked { result.cpu_s } else { charged_s }, result.operations))
        }
        // Its other side is a process of its own, waited for and so charged with it.
        Client::PingPong => {
            let (_, result) = OwnClient::this()?.run(PING_PONG, &server.place, seconds)?;
            Ok((result.cpu_s, result.operations))
        }
        Client::Other(other) => {
            let command = other.command(queries, &server.place, seconds, server.folder())?;
            let finished = child::run(&mut command.context("this client has no such workload")?)?;
            Ok((finished.cpu_s, other.statements(&finished.stdout)?))
        }
    }
}

/// Seconds to load a table of so many rows, against `sysbench oltp_read_only prepare`.
pub(crate) fn load(server: &TestServer, rows: u64, rounds: u32) -> Result<Measured> {
    if !OtherClient::Sysbench.is_installed() {
        bail!("--load compares with sysbench, which is not installed");
    }
    // Loading is no ping-pong: server and loader have all CPUs, as in a campaign.
    placement::pin_current(server.cpus())?;
    server.process.set_cpus(server.cpus())?;
    let place = Place { rows, ..server.place.clone() };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds.min(3) {
        say(&format!("load of {rows} rows: round {}", round + 1));
        let data = DataShape { tables: 1, rows };
        let report = prepare_data(server.process.target(), data, 1, server.cpus().len())?;
        ours.push(report.load_seconds);
        child::run(connect(&place).args(["oltp_read_only", "cleanup"]))?;
        let begun = Instant::now();
        child::run(connect(&place).args(["oltp_read_only", "prepare"]))?;
        theirs.push(begun.elapsed().as_secs_f64());
    }
    let row = Row::new("load", OtherClient::Sysbench.name(), "s", theirs, &ours);
    Ok(Measured { rows: vec![row], failure: None })
}

/// Peak memory in KB of 40 sessions after a tenth of the time and at its end.
pub(crate) fn memory(server: &TestServer, seconds: f64) -> Result<(u64, u64)> {
    let this = OwnClient::this()?;
    let peak_kb = |seconds: f64| {
        say(&format!("memory of 40 sessions over {seconds:.0} s"));
        anyhow::Ok(this.run(SESSIONS_40, &server.place, seconds)?.1.peak_kb)
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
