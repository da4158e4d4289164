//! One test at one number of clients on the servers of a setup: everything that is read before, during and after it,
//! and what becomes of it as samples.
//!
//! In: arms with running servers. Out: a sample with its parts for each arm, also where it failed. It publishes
//! nothing. In turns the idle servers are frozen.

use crate::ConductError;
use crate::arm::{Arm, observed};
use crate::exercise::{Exercise, Moment, Progress, Ran};
use crate::missing::server_start;
use crate::run::Bench;
use crate::supervise::{Quit, supervised, supervised_by};
use rqps_model::facts::{SettingsFacts, StatementPlan};
use rqps_model::plan::{DataSet, Round, Stage, TestPlan};
use rqps_model::sample::Score;
use rqps_model::settings::CpuSet;
use rqps_model::{Interleave, Part, Sample, StorageEngine, part};
use rqps_observe::clock::rfc3339;
use rqps_observe::{ClientProbe, CountersProbe, GrowthProbe, HostProbe, MonitorProbe, Probe, Probes, ProcessProbe};
use rqps_server::{Server, placement};
use rqps_store::{SampleParts, StoreError, Writer};
use std::path::Path;
use std::time::SystemTime;

/// What is measured.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) bench: &'a Bench<'a>,
    pub(crate) round: &'a Round,
    pub(crate) stage: &'a Stage,
    pub(crate) test: &'a TestPlan,
    pub(crate) clients: u32,
    /// CPUs that may be used.
    pub(crate) cpus: &'a [usize],
}

impl<'a> Piece<'a> {
    fn exercise(&self) -> Result<Exercise<'a>, ConductError> {
        Exercise::new(&self.bench.job, self.round, self.test, self.clients)
    }
}

/// What is read of an arm beside the run itself.
struct Reading {
    probes: Probes,
    /// This round's plans where they differ from those kept for the treatment.
    plans: Vec<StatementPlan>,
}

/// A server while the test runs.
struct Live<'a> {
    server: &'a mut Server,
    probes: &'a mut Probes,
    storage: Option<StorageEngine>,
    data: &'a Path,
}

impl Live<'_> {
    fn observed(&mut self, act: impl FnOnce(&mut Probes, &rqps_observe::Subject<'_>)) {
        let Live { server, probes, storage, data } = self;
        observed(server, *storage, data, |subject| act(probes, subject));
    }
}

/// Measures a test on all arms; the samples, in the order of arms.
pub(crate) fn measure(
    piece: &Piece<'_>,
    arms: &mut [Arm<'_>],
    progress: &mut Progress,
    store: &Writer,
    advance: &mut dyn FnMut(f64),
) -> Result<Vec<SampleParts>, ConductError> {
    let Piece { bench, clients, stage, .. } = *piece;
    let exercise = piece.exercise()?;
    let started_at = rfc3339(SystemTime::now());
    // A CPU for each connection: on one CPU with a session that never stops asking, what InnoDB does behind the writes
    // got none for minutes (docs/measurement.md).
    let (server_cpus, client_cpus) =
        placement::choose(bench.job.plan.placement, piece.cpus, clients * stage.connections)
            .map_err(ConductError::server("choosing CPUs"))?;
    let mut readings = Vec::new();
    for arm in arms.iter_mut() {
        arm.notice_death();
        let reading = match arm.server.is_some() {
            true => enter(piece, &exercise, arm, &server_cpus, &client_cpus, store),
            false => Ok(None),
        };
        readings.push(match reading {
            Ok(reading) => reading,
            Err(error @ (ConductError::Store(_) | ConductError::Interrupted)) => return Err(error),
            // A server that cannot even be asked fails this test, and the others go on.
            Err(error) => {
                arm.failure = Some(error.to_string());
                None
            }
        });
    }
    let mut ran = drive(piece, &exercise, arms, &mut readings, &client_cpus, progress, advance)?.into_iter();
    let mut samples = Vec::new();
    for (arm, reading) in arms.iter_mut().zip(readings) {
        let blank = blank_sample(piece, arm, store.host_id(), &started_at)?;
        let ran = if reading.is_some() { ran.next() } else { None };
        samples.push(match reading.zip(ran) {
            Some((reading, ran)) => finish(&exercise, blank, arm, reading, ran)?,
            None => {
                let failure = arm.failure.clone().unwrap_or_else(|| "the server could not be asked".to_owned());
                SampleParts::of(Sample { failure: Some(failure), ..blank })
            }
        });
    }
    Ok(samples)
}

/// Places the server, keeps its settings the first time, and reads what will be compared afterwards. Plans are read
/// each time: the planner may decide otherwise in another round.
fn enter(
    piece: &Piece<'_>,
    exercise: &Exercise<'_>,
    arm: &mut Arm<'_>,
    server_cpus: &CpuSet,
    client_cpus: &CpuSet,
    store: &Writer,
) -> Result<Option<Reading>, ConductError> {
    let name = arm.name().to_owned();
    let about = |doing: &str| format!("{doing} {name}");
    let Some(server) = &arm.server else { return Ok(None) };
    let placed = server.set_cpus(server_cpus).map_err(ConductError::server(about("placing")))?;
    let endpoint = server.endpoint();
    if store.settings(&name)?.is_none() {
        let facts = arm.treatment.settings(server)?;
        let connection = match (piece.stage.data, piece.bench.masters.connection(arm.treatment)) {
            (DataSet::Empty, Some(connection)) => connection.clone(),
            (DataSet::Empty, None) => arm.treatment.probe(&endpoint)?,
            (DataSet::Loaded(_), _) => arm.treatment.connection(&endpoint)?,
        };
        let facts = SettingsFacts {
            server_cpus: placed,
            client_cpus: client_cpus.clone(),
            storage_engine: connection.storage_engine,
            transport: connection.transport,
            ..facts
        };
        store.write_settings(&name, &facts)?;
    }
    let plans = supervised(server, piece.bench.stop, || {
        exercise.plans(server.target()).map_err(ConductError::load(about("keeping the plans of")))
    });
    let plans = match plans {
        Ok(plans) => kept_beside(store, &name, &piece.test.name, plans)?,
        Err(ConductError::Interrupted) => return Err(ConductError::Interrupted),
        // A number without its plan is still a number.
        Err(error) => {
            arm.pending_warnings.push(error.to_string());
            Vec::new()
        }
    };
    let mut probes = probes(piece.test, &arm.data)?;
    observed(server, arm.treatment.plan.storage, &arm.data, |subject| probes.begin(subject));
    Ok(Some(Reading { probes, plans }))
}

/// What is observed in a test; of one that writes, also what that does to the data and to the server second by second.
/// What a connection costs is not the test's where it can be told apart: in a short one it would be a good part of it.
fn probes(test: &TestPlan, data_folder: &Path) -> Result<Probes, ConductError> {
    let mut probes: Vec<Box<dyn Probe>> = vec![Box::new(CountersProbe::default())];
    if test.writes {
        probes.push(Box::new(GrowthProbe::default()));
        probes.push(Box::new(MonitorProbe::default()));
    }
    probes.push(Box::new(ProcessProbe::default()));
    probes.push(Box::new(HostProbe::open(data_folder)?));
    probes.push(Box::new(ClientProbe::open()?));
    Ok(Probes(probes))
}

/// Keeps a test's plans for its treatment the first time; of later ones, those that differ in any word and so belong
/// beside the sample.
fn kept_beside(
    store: &Writer,
    treatment: &str,
    test: &str,
    plans: Vec<StatementPlan>,
) -> Result<Vec<StatementPlan>, StoreError> {
    if plans.is_empty() {
        return Ok(plans);
    }
    match store.plans(treatment, test)? {
        Some(kept) if kept == plans => Ok(Vec::new()),
        Some(_) => Ok(plans),
        None => store.write_plans(treatment, test, &plans).map(|()| Vec::new()),
    }
}

/// Runs the test with probes at every moment; in turns, idle servers are frozen. What came of the arms that have a
/// reading, in their order.
fn drive(
    piece: &Piece<'_>,
    exercise: &Exercise<'_>,
    arms: &mut [Arm<'_>],
    readings: &mut [Option<Reading>],
    client_cpus: &CpuSet,
    progress: &mut Progress,
    advance: &mut dyn FnMut(f64),
) -> Result<Vec<Ran>, ConductError> {
    let live = arms.iter_mut().zip(readings).filter_map(|(arm, reading)| {
        let storage = arm.treatment.plan.storage;
        let (server, reading) = arm.server.as_mut().zip(reading.as_mut())?;
        Some(Live { server, probes: &mut reading.probes, storage, data: &arm.data })
    });
    let mut live: Vec<Live<'_>> = live.collect();
    if live.is_empty() {
        return Ok(Vec::new());
    }
    let targets: Vec<_> = live.iter().map(|live| (live.server.endpoint(), live.storage)).collect();
    let quits: Vec<Quit> = live.iter().filter_map(|live| Quit::of(live.server)).collect();
    // A server that died cannot be frozen; the run finds that out by itself and goes on with the rest.
    let freezes = piece.test.interleave == Some(Interleave::Turns);
    if freezes {
        live.iter_mut().for_each(|live| _ = live.server.freeze());
    }
    let mut hook = |moment| match moment {
        Moment::Start => live.iter_mut().for_each(|live| live.observed(|probes, subject| probes.start(subject))),
        Moment::Enter(arm) => {
            if freezes {
                let _ = live[arm].server.thaw();
            }
            live[arm].probes.enter();
        }
        Moment::Leave(arm) => {
            live[arm].probes.leave();
            if freezes {
                let _ = live[arm].server.freeze();
            }
        }
        Moment::Stop => live.iter_mut().for_each(|live| live.observed(|probes, subject| probes.stop(subject))),
        Moment::Advance(fraction) => advance(fraction),
    };
    let stop = piece.bench.stop;
    let ran = supervised_by(&quits, stop, || exercise.run(&targets, client_cpus, progress, &mut hook, stop));
    if freezes {
        live.iter_mut().for_each(|live| _ = live.server.thaw());
    }
    ran
}

/// A sample with all that is known before anything ran.
pub(crate) fn blank_sample(
    piece: &Piece<'_>,
    arm: &Arm<'_>,
    host: &str,
    started_at: &str,
) -> Result<Sample, ConductError> {
    let Piece { bench, round, test, clients, .. } = *piece;
    Ok(Sample {
        round: round.number,
        treatment: arm.name().to_owned(),
        suite: bench.job.plan.suite.name().to_owned(),
        test: test.name.clone(),
        clients,
        started_at: started_at.to_owned(),
        interleave: test.interleave,
        server_start: server_start(round.number, arm.starts, bench.job.resumed),
        data_copy: arm.copy.clone(),
        host: host.to_owned(),
        score: Score { unit: test.unit, count: 0, factor: piece.exercise()?.factor() },
        ..Sample::default()
    })
}

/// The sample of an arm that ran, with everything that is read afterwards.
fn finish(
    exercise: &Exercise<'_>,
    blank: Sample,
    arm: &mut Arm<'_>,
    reading: Reading,
    ran: Ran,
) -> Result<SampleParts, StoreError> {
    arm.notice_death();
    let is_measured = !matches!(ran, Ran::Failed(_));
    let (mut sample, mut parts, failure) = ran.fill(blank)?;
    if is_measured {
        sample.warnings = std::mem::take(&mut arm.pending_warnings);
    }
    parts.extend(arm.end(reading.probes, &mut sample));
    if arm.was_restarted {
        let again = "the server had died before in this round and was started again on the same data";
        sample.warnings.push(again.to_owned());
    }
    let failure = failure.or_else(|| stored_otherwise(exercise, arm));
    sample.failure = failure.map(|failure| arm.fail(failure));
    if !reading.plans.is_empty() {
        parts.push(Part::json(part::PLANS, &reading.plans));
    }
    Ok(SampleParts { sample, parts })
}

/// After tables were made: whether they are not stored as planned.
fn stored_otherwise(exercise: &Exercise<'_>, arm: &Arm<'_>) -> Option<String> {
    let server = arm.server.as_ref().filter(|_| exercise.makes_tables())?;
    arm.treatment.connection(&server.endpoint()).err().map(|error| error.to_string())
}
