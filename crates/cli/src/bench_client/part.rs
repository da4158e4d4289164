//! One measured process of `bench-client`, from inside: our own client with queries or as an inserter, or one side of the bare
//! ping-pong.
//!
//! In: what to run and where. Out: one line of JSON. Started by `bench-client`, which reads from the kernel what it cost.

use super::asked::Asked;
use super::process::{ECHO, PING_PONG, Told};
use super::workload::{INSERT, Queries};
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::{Context, Result, bail};
use rqps_load::insert::{Bench, State, run_step};
use rqps_load::timed::{Contest, Schedule, run};
use rqps_model::Engine;
use rqps_model::insert::{Shape, steps};
use rqps_model::plan::{Arrival, DataShape};
use rqps_server::cluster;
use rqps_suites::Suite;
use rqps_wire::{Endpoint, Transport};
use rqps_wire::{ask, echo};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Bytes of a point query and of its answer: Bind, Execute and Sync in PostgreSQL's protocol; COM_STMT_EXECUTE without types,
/// answered by the number of columns, the definition of one, a row of 119 characters and an OK, in MySQL's.
const fn point_bytes(engine: Engine) -> (usize, usize) {
    match engine {
        Engine::Postgres => (42, 156),
        Engine::Mysql | Engine::Mariadb => (20, 190),
    }
}

/// Round trips between two looks at the clock.
const ROUND_TRIPS: u64 = 10_000;

pub(crate) fn part(asked: &Asked, screen: Screen) -> Result<Ending> {
    let told = match asked.part.as_str() {
        ECHO => {
            let (request_bytes, reply_bytes) = point_bytes(asked.engine);
            echo(std::io::stdin(), request_bytes, reply_bytes)?;
            return Ok(Ending::Clean);
        }
        PING_PONG => ping_pong(asked)?,
        INSERT => insert(asked)?,
        word => query(Queries::find(word).with_context(|| format!("no part is called `{word}`"))?, asked)?,
    };
    screen.print(&serde_json::to_string(&told)?);
    Ok(Ending::Clean)
}

/// Asks a process of its own, as a server is one.
fn ping_pong(asked: &Asked) -> Result<Told> {
    let (request_bytes, reply_bytes) = point_bytes(asked.engine);
    let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let mut answering = Command::new(std::env::current_exe()?)
        .args(Asked { part: ECHO.to_owned(), ..asked.clone() }.arguments()?)
        .stdin(Stdio::from(far))
        .spawn()
        .context("cannot start the answering side")?;
    let begun = Instant::now();
    let (mut statements, mut cpu) = (0, Duration::ZERO);
    while begun.elapsed().as_secs_f64() < asked.seconds {
        let asked = ask(&near, ROUND_TRIPS, request_bytes, reply_bytes)?;
        statements += asked.round_trips;
        cpu += asked.client_cpu;
    }
    drop(near);
    answering.wait()?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Told { operations: statements, seconds, cpu_s: cpu.as_secs_f64(), peak_kb: peak_kb()? })
}

fn endpoint(asked: &Asked) -> Endpoint {
    Endpoint {
        engine: asked.engine,
        transport: Transport::Unix { path: asked.socket.clone() },
        user: cluster::USER.to_owned(),
        password: None,
        database: cluster::DATABASE.to_owned(),
        options: Vec::new(),
    }
}

/// Our own client as it loads in the Insert Benchmark: one client, one thread.
fn insert(asked: &Asked) -> Result<Told> {
    let preset = Suite::insert().scales.into_values().next().context("there are no presets")?;
    let shape = Shape { clients: 1, shared_table: false, rows_initial: asked.rows, ..preset };
    let endpoint = endpoint(asked);
    let bench = Bench { endpoint: &endpoint, storage: None, shape: &shape, seed: 1, threads: 1, client_cpus: &[] };
    let steps = steps(&shape);
    let load = steps.first().context("the benchmark has lost its steps")?;
    let record = run_step(&bench, load, &mut State::new(), &AtomicBool::new(false), &|_| ())?.record;
    if let Some(failure) = record.failure {
        bail!("{failure}");
    }
    let cpu_s = rqps_load::timed::process_cpu_ns() as f64 / 1e9;
    Ok(Told { operations: record.inserts.rows, seconds: record.seconds, cpu_s, peak_kb: peak_kb()? })
}

/// Our own client on one arm.
fn query(queries: Queries, asked: &Asked) -> Result<Told> {
    let suite = Suite::sysbench();
    let test = suite.test(queries.test()).context("the suite has lost a test")?;
    let endpoint = endpoint(asked);
    let whole = Duration::from_secs_f64(asked.seconds);
    let contest = Contest {
        test,
        data: DataShape { tables: 1, rows: asked.rows },
        arms: &[endpoint],
        clients: queries.clients(),
        threads: 1,
        client_cpus: &[],
        schedule: Schedule {
            seconds: asked.seconds,
            warmup_seconds: 0.0,
            slice: whole,
            lead_in: Duration::ZERO,
            session_life: whole,
        },
        arrival: Arrival::Closed,
        seed: 1,
    };
    let runs = run(&contest, &mut |_| Ok(()), &AtomicBool::new(false), &|_| ())?;
    let run = &runs[0];
    if let Some(failure) = &run.failure {
        bail!("{failure}");
    }
    let cpu_s = rqps_load::timed::process_cpu_ns() as f64 / 1e9;
    Ok(Told { operations: run.operations_total, seconds: asked.seconds, cpu_s, peak_kb: peak_kb()? })
}

fn peak_kb() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the kernel tells no peak memory")?;
    line.trim().trim_end_matches("kB").trim().parse().context("the kernel tells no peak memory")
}
