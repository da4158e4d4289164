//! One measured process, from inside: our own client with queries or as an inserter, or one side of the bare ping-pong.
//!
//! In: what to run and where. Out: one line of JSON. Started by this program again, which reads from the kernel what it
//! cost.

use crate::engine::kind;
use crate::other_client::PGBENCH_POINT;
use crate::output;
use crate::own_client::{ECHO, PING_PONG, PartResult};
use crate::request::PartRequest;
use crate::transactions;
use crate::workload::{INSERT, Queries, Users};
use anyhow::{Context, Result, bail};
use rqps_load::drive::{self, ClientCpus, Exercise, Schedule, Slices, Span};
use rqps_load::insert::{Bench, State, run_step};
use rqps_load::program::own::ScriptWorkload;
use rqps_load::program::sysbench::Statements;
use rqps_load::program::tproc_c::Transactions;
use rqps_model::insert::{Shape, steps};
use rqps_model::own::{AnswersCheck, Own, OwnData, OwnTest, Protocol, ScriptText, Scripts, Work};
use rqps_model::plan::DataShape;
use rqps_server::login;
use rqps_suites::Suite;
use rqps_wire::{Endpoint, Target, Transport};
use rqps_wire::{ask, echo};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Round trips between two looks at the clock.
const ROUND_TRIPS: u64 = 10_000;

/// Runs it and prints its figures.
pub(crate) fn run(request: &PartRequest) -> Result<()> {
    let result = match request.part.as_str() {
        ECHO => {
            let (request_bytes, reply_bytes) = kind(request.engine).point_bytes;
            echo(std::io::stdin(), request_bytes, reply_bytes)?;
            return Ok(());
        }
        PING_PONG => ping_pong(request)?,
        INSERT => insert(request)?,
        word => match Users::find(word) {
            Some(users) => transact(users, request)?,
            None => query(Queries::find(word).with_context(|| format!("no part is called `{word}`"))?, request)?,
        },
    };
    output::print(&serde_json::to_string(&result)?);
    Ok(())
}

/// Asks a process of its own, as a server is one.
fn ping_pong(request: &PartRequest) -> Result<PartResult> {
    let (request_bytes, reply_bytes) = kind(request.engine).point_bytes;
    let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let mut answering = Command::new(std::env::current_exe()?)
        .args(PartRequest { part: ECHO.to_owned(), ..request.clone() }.arguments()?)
        .stdin(Stdio::from(far))
        .spawn()
        .context("cannot start the answering side")?;
    let start = Instant::now();
    let (mut statements, mut cpu) = (0, Duration::ZERO);
    while start.elapsed().as_secs_f64() < request.seconds {
        let answered = ask(&near, ROUND_TRIPS, request_bytes, reply_bytes)?;
        statements += answered.round_trips;
        cpu += answered.client_cpu;
    }
    drop(near);
    answering.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(PartResult { operations: statements, seconds, cpu_s: cpu.as_secs_f64(), peak_kb: peak_kb()? })
}

fn endpoint(request: &PartRequest) -> Endpoint {
    login::endpoint(request.engine, Transport::Unix { path: request.socket.clone() })
}

/// Our own client as it loads in the Insert Benchmark: one client, one thread.
fn insert(request: &PartRequest) -> Result<PartResult> {
    let preset = Suite::insert().scales.into_values().next().context("there are no presets")?;
    let shape = Shape { clients: 1, shared_table: false, rows_initial: request.rows, ..preset };
    let endpoint = endpoint(request);
    // One server takes no turns.
    let (cpus, slice) = (ClientCpus::default(), Duration::ZERO);
    let endpoint = &endpoint;
    let bench = Bench { endpoint, storage: None, shape: &shape, seed: 1, threads: 1, cpus, slice, keeps_spans: false };
    let steps = steps(&shape);
    let load = steps.first().context("the benchmark has lost its steps")?;
    let record = run_step(&bench, load, &mut State::new(), &AtomicBool::new(false), &mut |_| ())?.record;
    if let Some(failure) = record.failure {
        bail!("{failure}");
    }
    let cpu_s = rqps_load::drive::process_cpu_ns() as f64 / 1e9;
    Ok(PartResult { operations: record.inserts.rows, seconds: record.seconds, cpu_s, peak_kb: peak_kb()? })
}

/// Our own client on one arm.
fn query(queries: &Queries, request: &PartRequest) -> Result<PartResult> {
    let suite = Suite::sysbench();
    let test = suite.test(queries.test).context("the suite has lost a test")?;
    let endpoint = endpoint(request);
    let arms = [endpoint];
    let exercise = exercise(&arms, queries.clients, request);
    let stop = AtomicBool::new(false);
    let runs = match queries.script {
        Some(protocol) => {
            let programs = script(protocol, request, &arms[0], queries.clients)?;
            drive::run(&exercise, &programs, &mut |_| Ok(()), &stop, &|_| ())?
        }
        None => {
            let statements = Statements::compile(test, DataShape { tables: 1, rows: request.rows }, &arms)?;
            drive::run(&exercise, &statements, &mut |_| Ok(()), &stop, &|_| ())?
        }
    };
    let run = &runs[0];
    if let Some(failure) = &run.failure {
        bail!("{failure}");
    }
    let cpu_s = rqps_load::drive::process_cpu_ns() as f64 / 1e9;
    Ok(PartResult { operations: run.operations_total, seconds: request.seconds, cpu_s, peak_kb: peak_kb()? })
}

/// The script that pgbench gets, as the suite `own` runs it.
fn script(protocol: Protocol, request: &PartRequest, server: &Endpoint, clients: u32) -> Result<ScriptWorkload> {
    let script = ScriptText { name: "point".to_owned(), weight: 1, text: PGBENCH_POINT.to_owned() };
    let define = BTreeMap::from([("rows".to_owned(), request.rows.to_string())]);
    let scripts = Scripts { scripts: vec![script], scale: 1, define, pauses: false, allow_shell: false };
    let test = OwnTest::new("point", Work::Pgbench(scripts.clone()), protocol);
    let own = Own {
        name: "point".to_owned(),
        data: OwnData::default(),
        values: BTreeMap::new(),
        tests: vec![test.clone()],
        answers: AnswersCheck::OFF,
    };
    // Of the version only MySQL's matters here, which has no pgbench.
    let target = Target { endpoint: server.clone(), version: "17.11".parse()?, storage: None };
    Ok(ScriptWorkload::compile(&own, &test, &scripts, &[target], (request.seed, clients))?)
}

/// Our own virtual users on one server.
fn transact(users: &Users, request: &PartRequest) -> Result<PartResult> {
    let shape = transactions::shape(request.engine);
    let arms = [endpoint(request)];
    let programs = Transactions::compile(&shape, u32::try_from(request.rows)?, users.count, &arms)?;
    let exercise = exercise(&arms, users.count, request);
    let span = Span { from: Duration::ZERO, until: Some(Duration::from_secs_f64(request.seconds)) };
    let stop = AtomicBool::new(false);
    let ended =
        drive::run_to_end(&exercise, &programs, true, (span, Slices::Whole), &mut |_| Ok(()), &stop, &|_, _| ())?;
    if let Some(failure) = &ended[0].0.failure {
        bail!("{failure}");
    }
    let cpu_s = rqps_load::drive::process_cpu_ns() as f64 / 1e9;
    let operations = programs.acknowledged(0).new_orders;
    Ok(PartResult { operations, seconds: request.seconds, cpu_s, peak_kb: peak_kb()? })
}

/// One thread against one server for all of the time.
fn exercise<'a>(arms: &'a [Endpoint], clients: u32, request: &PartRequest) -> Exercise<'a> {
    let whole = Duration::from_secs_f64(request.seconds);
    let schedule = Schedule {
        seconds: request.seconds,
        warmup_seconds: 0.0,
        slice: whole,
        lead_in: Duration::ZERO,
        session_life: whole,
    };
    Exercise::new(arms, clients, schedule, request.seed.max(1))
}

fn peak_kb() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the kernel reports no peak memory")?;
    line.trim().trim_end_matches("kB").trim().parse().context("the kernel reports no peak memory")
}
