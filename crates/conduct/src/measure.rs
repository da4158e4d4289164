//! One test at one number of clients on the servers of a setup: everything that is read before, during and after it,
//! and what becomes of it as samples.
//!
//! In: arms with running servers. Out: a sample with its parts for each arm, also where it failed. It publishes
//! nothing. In turns the idle servers are frozen.

use crate::ConductError;
use crate::arm::{Arm, observed};
use crate::ask::{Answered, ask};
use crate::piece::Piece;
use crate::profiling::Profiling;
use crate::programs::shortfall;
use crate::server_side::ServerSides;
use crate::supervise::{Quit, supervised, supervised_by};
use crate::treatment::{Connection, ResolvedTreatment};
use crate::watched::{WatchedServer, WatchedServers};
use rqps_load::drive::{ClientCpus, RowSink};
use rqps_load::suite::{Clients, Compiled, PlannedTest, Ran, TestServer};
use rqps_model::facts::SettingsFacts;
use rqps_model::plan::{DataSet, TreatmentPlan};
use rqps_model::sample::SecondRow;
use rqps_model::settings::CpuSet;
use rqps_model::{Placement, RoundSeconds, part};
use rqps_observe::{
    ClientProbe, CountersProbe, CpuEventProbe, GrowthProbe, HostProbe, MonitorProbe, MonitorSink, Probe, Probes,
    ProcessProbe,
};
use rqps_server::{Server, placement};
use rqps_store::{RowsPart, SampleParts, Writer, latency_part};
use rqps_wire::Protocol;
use std::path::Path;
use std::time::Instant;

/// What came of a test.
#[derive(Default)]
pub(crate) struct MeasuredTest {
    /// In the order of arms.
    pub(crate) samples: Vec<SampleParts>,
    /// Seconds for which it ran.
    pub(crate) driven: f64,
    /// What is known of them.
    pub(crate) seconds: RoundSeconds,
}

/// What is read of an arm besides the run itself.
struct Reading {
    probes: Probes,
    /// Written while the test runs: what was done in each second.
    seconds: RowsPart,
    /// And host and server meanwhile.
    monitor: Option<RowsPart>,
    /// The test, as it was compiled for the server.
    compiled: Compiled,
    /// What the server said of the test's statements.
    answered: Answered,
}

/// Measures a test on all arms but those that are skipped, with the reason, and those whose servers refuse it.
pub(crate) fn measure(
    piece: &Piece<'_>,
    arms: &mut [Arm<'_>],
    skipped: &[Option<String>],
    store: &Writer,
    advance: &mut dyn FnMut(f64),
) -> Result<MeasuredTest, ConductError> {
    let Piece { bench, clients, stage, .. } = *piece;
    // A CPU for each connection: on one CPU with a session that never stops asking, what InnoDB does behind the writes
    // got none for minutes (docs/measurement.md).
    let (server_cpus, client_cpus) =
        placement::choose(bench.job.plan.placement, piece.cpus, clients * stage.connections)
            .map_err(ConductError::server("choosing CPUs"))?;
    let mut readings = Vec::new();
    let mut skipped = skipped.to_vec();
    for (arm, why_skipped) in arms.iter_mut().zip(&mut skipped) {
        readings.push(unless_refused(piece, arm, why_skipped, (&server_cpus, &client_cpus), store)?);
    }
    let begun = Instant::now();
    let ran = drive(piece, arms, &mut readings, &client_cpus, advance)?;
    let mut measured =
        MeasuredTest { samples: Vec::new(), driven: begun.elapsed().as_secs_f64(), seconds: seconds_of(&ran) };
    let mut ran = ran.into_iter();
    for ((arm, why_skipped), reading) in arms.iter_mut().zip(skipped).zip(readings) {
        let ran = if reading.is_some() { ran.next() } else { None };
        measured.samples.push(match reading.zip(ran) {
            Some((reading, ran)) => finish(piece, arm, reading, ran)?,
            None => {
                let why = why_skipped.or_else(|| arm.failure.clone());
                piece.failed(arm, why.unwrap_or_else(|| "the server did not answer".to_owned()))
            }
        });
    }
    Ok(measured)
}

/// What entering an arm gave; nothing where the test is skipped there, or its server did not answer or refused it.
fn unless_refused(
    piece: &Piece<'_>,
    arm: &mut Arm<'_>,
    why_skipped: &mut Option<String>,
    cpus: (&CpuSet, &CpuSet),
    store: &Writer,
) -> Result<Option<Reading>, ConductError> {
    arm.notice_death();
    if arm.server.is_none() || why_skipped.is_some() {
        return Ok(None);
    }
    match enter(piece, arm, cpus, store) {
        Err(error @ (ConductError::Store(_) | ConductError::Interrupted)) => Err(error),
        // The next test needs no other server.
        Err(error) if error.is_refusal() && !piece.stage.is_chain() => {
            *why_skipped = Some(error.to_string());
            Ok(None)
        }
        // A server that does not even answer fails this test, and the others go on.
        Err(error) => {
            arm.failure = Some(error.to_string());
            Ok(None)
        }
        entered => entered,
    }
}

/// What the time of the arms went to.
fn seconds_of(ran: &[Ran]) -> RoundSeconds {
    let sum = |part: fn(&Ran) -> f64| ran.iter().map(part).sum();
    RoundSeconds {
        counted: sum(|ran| ran.sample.seconds),
        connects: sum(|ran| ran.connect_seconds),
        warmups: sum(|ran| ran.warmup_seconds),
        ..RoundSeconds::default()
    }
}

/// Places the server, keeps its settings the first time, and reads what will be compared afterwards. Plans are read
/// each time: the planner may decide otherwise in another round.
fn enter(
    piece: &Piece<'_>,
    arm: &mut Arm<'_>,
    (server_cpus, client_cpus): (&CpuSet, &CpuSet),
    store: &Writer,
) -> Result<Option<Reading>, ConductError> {
    let name = arm.name().to_owned();
    let Some(server) = &arm.server else { return Ok(None) };
    let placed = server.set_cpus(server_cpus).map_err(ConductError::server(format!("placing {name}")))?;
    if store.settings(&name)?.is_none() {
        let facts = settings_as_run(piece, arm.treatment, server)?;
        let facts = SettingsFacts { server_cpus: placed, client_cpus: client_cpus.clone(), ..facts };
        store.write_settings(&name, &facts)?;
    }
    let compiled = supervised(server, piece.bench.stop, || {
        let compiled = piece.planned.compile(server.target());
        compiled.map_err(ConductError::load(format!("compiling {} for {name}", piece.test.name)))
    })?;
    let (answered, warnings) = ask(piece, server, &name, store)?;
    arm.pending_warnings.extend(warnings);
    let seconds = store.rows(part::SECONDS)?;
    let (mut probes, monitor) = probes(piece, server.endpoint().protocol(), &arm.data, store)?;
    observed(server, arm.treatment.plan.storage, &arm.data, |subject| probes.begin(subject));
    Ok(Some(Reading { probes, seconds, monitor, compiled, answered }))
}

/// The settings of a server, and how clients connect to it: where no data was loaded, as a table of its own tells.
fn settings_as_run(
    piece: &Piece<'_>,
    treatment: &ResolvedTreatment<'_>,
    server: &Server,
) -> Result<SettingsFacts, ConductError> {
    let facts = treatment.settings(server)?;
    let endpoint = server.endpoint();
    let connection = match (&piece.stage.data, piece.bench.masters.connection(treatment)) {
        (DataSet::Empty, Some(connection)) => connection.clone(),
        (DataSet::Empty, None) => treatment.probe(&endpoint)?,
        (DataSet::Loaded(_) | DataSet::Warehouses(_) | DataSet::Own(_), _) => treatment.connection(&endpoint)?,
    };
    let Connection { storage_engine, transport } = connection;
    Ok(SettingsFacts { storage_engine, transport, ..facts })
}

/// What is observed in a test; of one that writes, also what that does to the data and to the server second by second.
/// What a connection costs is not the test's where it can be told apart: in a short one it would be a good part of it.
/// In rounds that explain, no other session than those of clients is to be seen in the server. Returns also where the
/// monitor's rows are written, if there is one.
fn probes(
    piece: &Piece<'_>,
    protocol: Protocol,
    data_folder: &Path,
    store: &Writer,
) -> Result<(Probes, Option<RowsPart>), ConductError> {
    let mut monitor = None;
    let mut probes: Vec<Box<dyn Probe>> = vec![Box::new(CountersProbe::default())];
    if piece.test.writes {
        probes.push(Box::new(GrowthProbe::default()));
        if !piece.bench.job.plan.profiled {
            let rows = store.rows(part::MONITOR)?;
            monitor = Some(rows.clone());
            let sink = MonitorSink::to(move |row| rows.add(row));
            probes.push(Box::new(MonitorProbe::new(piece.planned.planned_meanwhile(protocol), sink)));
        }
    }
    if piece.bench.job.plan.cpu_events {
        probes.push(Box::new(CpuEventProbe::default()));
    }
    probes.push(Box::new(ProcessProbe::default()));
    probes.push(Box::new(HostProbe::open(data_folder)?));
    probes.push(Box::new(ClientProbe::open()?));
    Ok((Probes(probes), monitor))
}

/// Runs the test with probes at every moment. What came of the arms that have a reading, in their order.
fn drive(
    piece: &Piece<'_>,
    arms: &mut [Arm<'_>],
    readings: &mut [Option<Reading>],
    client_cpus: &CpuSet,
    advance: &mut dyn FnMut(f64),
) -> Result<Vec<Ran>, ConductError> {
    let watched = arms.iter_mut().zip(readings).filter_map(|(arm, reading)| {
        let TreatmentPlan { storage, planted, .. } = *arm.treatment.plan;
        let (server, reading) = arm.server.as_mut().zip(reading.as_mut())?;
        let compiled = std::mem::take(&mut reading.compiled);
        let run =
            TestServer { target: server.target().clone(), chain: &mut arm.chain, held: arm.held, compiled, planted };
        let Reading { probes, seconds, .. } = reading;
        Some((run, WatchedServer { server, probes, seconds: seconds.clone(), storage, data: &arm.data }))
    });
    let (mut servers, watched): (Vec<TestServer<'_>>, Vec<WatchedServer<'_>>) = watched.unzip();
    if watched.is_empty() {
        return Ok(Vec::new());
    }
    let sides = ServerSides::of(watched.iter().map(|one| &*one.server), piece.bench.job.plan.profiled);
    let seconds: Vec<RowsPart> = watched.iter().map(|one| one.seconds.clone()).collect();
    let keep_second = |arm: usize, row: &SecondRow| seconds[arm].add(row);
    let quits: Vec<Quit> = watched.iter().filter_map(|one| Quit::of(one.server)).collect();
    let profiling = Profiling::new(piece.bench.job.plan.profiled, piece.cpus);
    let mut watched = WatchedServers::new(watched, &sides, profiling, piece.stage.freezes(piece.test));
    let mut hook = |moment| watched.at(moment, advance);
    let stop = piece.bench.stop;
    let is_shared = piece.bench.job.plan.placement == Placement::Same;
    // On a single CPU there is nothing to choose.
    let by_session = is_shared && client_cpus.len() > 1;
    let cpus = ClientCpus { set: client_cpus, by_session, server_side: Some(&sides) };
    let ran = supervised_by(&quits, stop, || {
        let clients = Clients { cpus, stop, rows: RowSink::to(&keep_second) };
        let ran = piece.planned.run(&mut servers, clients, &mut hook);
        ran.map_err(ConductError::load(format!("driving {}", piece.test.name)))
    });
    watched.end(ran)
}

/// The sample of an arm that ran, with everything that is read afterwards.
fn finish(piece: &Piece<'_>, arm: &mut Arm<'_>, reading: Reading, ran: Ran) -> Result<SampleParts, ConductError> {
    arm.notice_death();
    let Ran { sample: counted, is_refusal, latency, mut parts, .. } = ran;
    let mut sample = piece.sample(arm, counted);
    parts.push(latency_part(&latency.into_iter().collect(), sample.seconds)?);
    sample.planning_us = reading.answered.planning_us;
    sample.warnings.append(&mut arm.pending_warnings);
    parts.extend(arm.end(reading.probes, &mut sample));
    if arm.was_restarted {
        let again = "the server was started again on the same data, since it had died, or a test had failed on it, earlier \
                     in the round";
        sample.warnings.push(again.to_owned());
    }
    if let Some(refused) = sample.placement.as_ref().and_then(|placement| placement.refused.as_ref()) {
        sample.warnings.push(format!("sessions were left to the scheduler: {refused}"));
    }
    sample.warnings.extend(shortfall(piece.bench.job.plan, sample.program_text));
    let failure = sample.failure.take().or_else(|| stored_otherwise(&piece.planned, arm));
    // Where only a statement was refused, the next test needs no other server.
    let is_sound = is_refusal && arm.failure.is_none() && !piece.stage.is_chain();
    sample.failure = failure.map(|failure| if is_sound { failure } else { arm.fail(failure) });
    parts.extend(reading.answered.parts());
    let rows = std::iter::once(reading.seconds).chain(reading.monitor).collect();
    Ok(SampleParts { sample, parts, rows })
}

/// After tables were made: whether they are not stored as planned.
fn stored_otherwise(planned: &PlannedTest<'_>, arm: &Arm<'_>) -> Option<String> {
    let server = arm.server.as_ref().filter(|_| planned.makes_tables())?;
    arm.treatment.connection(&server.endpoint()).err().map(|error| error.to_string())
}
