//! `rqps bench-client`: what the client costs per statement, against sysbench, pgbench and a bare socket, on any engine.
//!
//! In: a build. Out: client CPU microseconds per statement of each client, and the median of the ratios of clients that
//! ran next to each other. Every client is a process of its own, charged by the kernel; server and clients are pinned to
//! one CPU, and the clients take turns in an order that changes from round to round.

mod child;
mod part;
mod rival;
mod table;

pub(crate) use part::part;

use crate::args::BenchClientArgs;
use crate::lab::{Lab, this_machine};
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::{Context, Result, bail};
use part::Told;
use rival::{Place, Rival};
use rqps_campaign::vocabulary::default_profile;
use rqps_load::prepare_data::prepare_data;
use rqps_model::StorageEngine;
use rqps_model::plan::DataShape;
use rqps_model::settings::MachineClass;
use rqps_server::{Account, Launch, Lease, Listen, Server, Sizing, Workspace, cluster, placement};
use rqps_wire::{Endpoint, Transport};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};
use table::Row;

/// Memory that the server is sized for: the table is small.
const SERVER_MEMORY_BYTES: u64 = 2 << 30;

/// A client that got less CPU time than this is measured again: the kernel tells it in hundredths of a second.
const CPU_SECONDS_MIN: f64 = 0.1;

/// How often a client is given the chance to get enough of it.
const ATTEMPTS: u32 = 3;

/// What the clients send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Workload {
    /// One session, one row by primary key.
    Point,
    /// One session, the read-only transaction of sysbench, 16 statements.
    ReadOnly,
    /// One session, a hundred rows by primary key.
    Points100,
    /// Forty sessions, one row by primary key.
    Sessions40,
}

impl Workload {
    const ALL: [Workload; 4] = [Workload::Point, Workload::ReadOnly, Workload::Points100, Workload::Sessions40];

    const fn name(self) -> &'static str {
        match self {
            Workload::Point => "point",
            Workload::ReadOnly => "read-only",
            Workload::Points100 => "points-100",
            Workload::Sessions40 => "sessions-40",
        }
    }

    fn parse(word: &str) -> Result<Workload> {
        let known = Workload::ALL.map(Workload::name).join(", ");
        let found = Workload::ALL.into_iter().find(|workload| workload.name() == word);
        found.with_context(|| format!("unknown workload `{word}`; expected one of: {known}"))
    }

    const fn clients(self) -> u32 {
        if matches!(self, Workload::Sessions40) { 40 } else { 1 }
    }

    /// The test of the suite that sends it.
    const fn test(self) -> &'static str {
        match self {
            Workload::Point | Workload::Sessions40 => "point-query",
            Workload::ReadOnly => "read-only_range=100",
            Workload::Points100 => "random-points_range=100",
        }
    }
}

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

pub(crate) fn bench_client(args: &BenchClientArgs, screen: Screen) -> Result<Ending> {
    let workloads: Vec<Workload> = args.workloads.iter().map(|word| Workload::parse(word)).collect::<Result<_>>()?;
    // Asked for before this process is pinned to one of them.
    let cpus = placement::available()?;
    placement::pin_current(&cpus[..1])?;
    let stand = Stand::start(args, cpus, screen)?;
    let mut rows = Vec::new();
    for workload in workloads {
        rows.extend(stand.compare(workload, args, screen)?);
    }
    if let Some(load_rows) = args.load {
        rows.push(stand.load(load_rows, args.rounds, screen)?);
    }
    let memory = args.memory.map(|seconds| stand.memory(seconds, screen)).transpose()?;
    screen.print(&if args.json { table::json(&rows, memory)? } else { table::text(&rows, memory) });
    Ok(Ending::Clean)
}

/// A server to measure against, on one CPU.
struct Stand {
    /// All that this process may use.
    cpus: Vec<usize>,
    place: Place,
    storage: Option<StorageEngine>,
    server: Server,
    workspace: Workspace,
}

impl Stand {
    fn start(args: &BenchClientArgs, cpus: Vec<usize>, screen: Screen) -> Result<Stand> {
        let lab = Lab::open(screen)?;
        let build = lab.install(&args.build.parse()?, screen)?;
        let lease = Lease::open(&lab.cache)?;
        let workspace = Workspace::create(&lease, &lab.cache, None)?;
        let data = workspace.join("data");
        let account = Account::choose();
        cluster::initialise(&build, &data, account, true)?;
        let machine = MachineClass { memory_bytes: SERVER_MEMORY_BYTES, ..this_machine()? };
        let sizing = Sizing { machine, disk_free_bytes: None, data_bytes: None, clients: 64 };
        let storage = build.engine.storage_engines().contains(&StorageEngine::Innodb).then_some(StorageEngine::Innodb);
        let profile = default_profile(build.engine);
        let configuration =
            lab.profiles.render(build.engine, profile, &build.version, storage, &sizing, &BTreeMap::new())?;
        let launch = Launch {
            build: &build,
            data_dir: &data,
            configuration: &configuration,
            storage,
            account,
            cpus: &cpus[..1],
            listen: Listen::Socket,
            log: &workspace.join("server.log"),
            timeout: Duration::from_secs(60),
        };
        let server = Server::start(&launch, &lease)?;
        let endpoint = server.endpoint();
        let Transport::Unix { path: socket } = endpoint.transport.clone() else {
            bail!("the server listens on no Unix socket");
        };
        prepare_data(&endpoint, DataShape { tables: 1, rows: args.rows }, storage, 1, 1)?;
        let Endpoint { user, database, .. } = endpoint;
        let place = Place { engine: build.engine, socket, user, database, rows: args.rows };
        Ok(Stand { cpus, place, storage, server, workspace })
    }

    /// All clients on one workload.
    fn compare(&self, workload: Workload, args: &BenchClientArgs, screen: Screen) -> Result<Vec<Row>> {
        let mut clients = vec![Client::Rqps];
        for rival in [Rival::Sysbench, Rival::Pgbench] {
            let command = rival.command(workload, &self.place, args.seconds, self.workspace.path())?;
            match (command, rival.is_installed()) {
                (Some(_), true) => clients.push(Client::Other(rival)),
                (Some(_), false) => screen.say(&format!("{} is not installed; left out", rival.name())),
                (None, _) => {}
            }
        }
        if workload == Workload::Point {
            clients.push(Client::PingPong);
        }
        let mut costs: Vec<Vec<f64>> = vec![Vec::new(); clients.len()];
        for round in 0..args.rounds as usize {
            screen.say(&format!("{}: round {}/{}", workload.name(), round + 1, args.rounds));
            // Every client stands at every place, so that none always follows the same other.
            for turn in 0..clients.len() {
                let client = (turn + round) % clients.len();
                costs[client].push(self.cost_us(clients[client], workload, args.seconds)?);
            }
        }
        let rqps = costs[0].clone();
        let rows = clients.iter().zip(costs);
        Ok(rows.map(|(client, cost)| Row::new(workload.name(), client.name(), "us/statement", cost, &rqps)).collect())
    }

    /// Client CPU microseconds per statement.
    fn cost_us(&self, client: Client, workload: Workload, seconds: f64) -> Result<f64> {
        for _ in 0..ATTEMPTS {
            let (cpu_s, statements) = self.cost(client, workload, seconds)?;
            if cpu_s >= CPU_SECONDS_MIN {
                return Ok(cpu_s * 1e6 / statements as f64);
            }
        }
        bail!(
            "{} got less than {CPU_SECONDS_MIN} s of CPU time in {seconds} s, too little to tell its cost: wait until the \
             machine is idle, or give more --seconds",
            client.name()
        )
    }

    /// Client CPU seconds and statements.
    fn cost(&self, client: Client, workload: Workload, seconds: f64) -> Result<(f64, u64)> {
        match client {
            Client::Rqps => {
                let finished = child::run(&mut self.part(workload.name(), seconds)?)?;
                let told: Told = serde_json::from_str(&finished.stdout).context("our own part printed no figures")?;
                Ok((finished.cpu_s, told.statements))
            }
            Client::PingPong => {
                let finished = child::run(&mut self.part(part::PING_PONG, seconds)?)?;
                let told: Told = serde_json::from_str(&finished.stdout).context("our own part printed no figures")?;
                Ok((told.cpu_s, told.statements))
            }
            Client::Other(rival) => {
                let command = rival.command(workload, &self.place, seconds, self.workspace.path())?;
                let finished = child::run(&mut command.context("this client has no such workload")?)?;
                Ok((finished.cpu_s, rival.statements(&finished.stdout)?))
            }
        }
    }

    /// This program again, as one measured process.
    fn part(&self, part: &str, seconds: f64) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
        command.args(["bench-client-part", part]);
        command.arg(format!("--engine={}", self.place.engine.name()));
        command.arg("--socket").arg(&self.place.socket);
        command.arg(format!("--rows={}", self.place.rows));
        command.arg(format!("--seconds={seconds}"));
        Ok(command)
    }

    /// Seconds to load a table of so many rows, against `sysbench oltp_read_only prepare`.
    fn load(&self, rows: u64, rounds: u32, screen: Screen) -> Result<Row> {
        if !Rival::Sysbench.is_installed() {
            bail!("--load compares with sysbench, which is not installed");
        }
        // Loading is no ping-pong: server and loader have all CPUs, as in a campaign.
        placement::pin_current(&self.cpus)?;
        self.server.set_cpus(&self.cpus)?;
        let place = Place { rows, ..self.place.clone() };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..rounds.min(3) {
            screen.say(&format!("load of {rows} rows: round {}", round + 1));
            let report =
                prepare_data(&self.server.endpoint(), DataShape { tables: 1, rows }, self.storage, 1, self.cpus.len())?;
            ours.push(report.load_seconds);
            child::run(rival::connect(&place).args(["oltp_read_only", "cleanup"]))?;
            let begun = Instant::now();
            child::run(rival::connect(&place).args(["oltp_read_only", "prepare"]))?;
            theirs.push(begun.elapsed().as_secs_f64());
        }
        Ok(Row::new("load", Rival::Sysbench.name(), "s", theirs, &ours))
    }

    /// Peak memory in KB of 40 sessions after a tenth of the time and at its end.
    fn memory(&self, seconds: f64, screen: Screen) -> Result<(u64, u64)> {
        let mut peaks = Vec::new();
        for seconds in [seconds / 10.0, seconds] {
            screen.say(&format!("memory of 40 sessions over {seconds:.0} s"));
            let finished = child::run(&mut self.part(Workload::Sessions40.name(), seconds)?)?;
            let told: Told = serde_json::from_str(&finished.stdout).context("our own part printed no figures")?;
            peaks.push(told.peak_kb);
        }
        Ok((peaks[0], peaks[1]))
    }
}
