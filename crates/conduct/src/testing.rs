//! Plans as the tests of this crate need them: few treatments, one test or one short pass, one round; and what runs
//! them.
//!
//! In: treatments, tests, builds. Out: a plan, and a [`Scene`] with folders and installed builds that measures it on
//! real servers. It checks no sample.

use crate::{ConductError, Job, Run};
use rqps_builds::{Catalog, installation};
use rqps_machine::{Cache, Lease};
use rqps_model::facts::{BuildFacts, HostFacts};
use rqps_model::insert::{CONNECTIONS, Shape, steps};
use rqps_model::plan::{Alternate, Arrival, DataShape, Plan, Stage, SuitePlan, TestPlan, TreatmentPlan};
use rqps_model::settings::MachineClass;
use rqps_model::{Event, FORMAT, Group, Interleave, Placement, ProgramPages, Unit};
use rqps_server::Profiles;
use rqps_store::{Campaign, Start, Writer};
use rqps_suites::Suite;
use rqps_testkit::data_parent;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

const DATA: DataShape = DataShape { tables: 1, rows: 1 };

/// A plan of treatments by name, with the base at an index.
pub(crate) fn plan(treatments: &[&str], base: usize) -> Plan {
    let treatment = |name: &&str| TreatmentPlan {
        name: (*name).to_owned(),
        build: "postgres:17.11".parse().expect("a build"),
        storage: None,
        profile: "x10a".to_owned(),
        set: BTreeMap::new(),
        planted: None,
    };
    Plan {
        format: FORMAT,
        name: "x".to_owned(),
        suite: SuitePlan::Sysbench(DATA),
        seed: 1,
        treatments: treatments.iter().map(treatment).collect(),
        base,
        why_one_by_one: None,
        why_continued: None,
        time: None,
        profiled: false,
        stages: vec![Stage::side_by_side(DATA, vec![1], vec![test("scan", Interleave::Slices, 1.0)])],
        warmup_seconds: 0.5,
        slice_ms: 10.0,
        turn_seconds: None,
        arrival: Arrival::Closed,
        placement: Placement::Same,
        program_pages: ProgramPages::Small,
        kept_floors: Vec::new(),
        cpu_events: false,
        machine: None,
        margin: 0.02,
        forced: Vec::new(),
        rounds: 1,
    }
}

/// A test of so many seconds.
pub(crate) fn test(name: &str, interleave: Interleave, seconds: f64) -> TestPlan {
    TestPlan {
        name: name.to_owned(),
        label: name.to_owned(),
        group: Group::Range,
        unit: Unit::KiloRowsPerSecond,
        writes: false,
        rank: 1,
        interleave: Some(interleave),
        seconds,
        timed: true,
        before: Vec::new(),
    }
}

/// The same passes with all builds up.
pub(crate) fn alternating(mut plan: Plan) -> Plan {
    for stage in &mut plan.stages {
        stage.alternate = Alternate::SideBySide;
        stage.tests.iter_mut().for_each(|test| test.interleave = Some(Interleave::Slices));
    }
    plan
}

/// A pass of seconds, for treatments with these builds: a version of PostgreSQL, or whatever a build can be. One build
/// passes after the other.
pub(crate) fn insert_plan(treatments: &[&str], builds: &[&str]) -> Plan {
    let shape = Shape {
        clients: 1,
        shared_table: false,
        rows_initial: 2000,
        rows_written: 1000,
        rates_per_s: vec![100],
        seconds: 2.5,
        rest_seconds: 0.0,
        catch_up_seconds: 10.0,
    };
    let step = |step: rqps_model::insert::Step| TestPlan {
        label: step.folder.clone(),
        group: step.kind.group(),
        unit: if step.queries() { Unit::QueriesPerSecond } else { Unit::RowsPerSecond },
        writes: true,
        interleave: None,
        timed: step.queries(),
        ..test(&step.name, Interleave::Slices, 1.0)
    };
    let mut plan = plan(treatments, 0);
    for (treatment, build) in plan.treatments.iter_mut().zip(builds) {
        let build = if build.contains(':') { (*build).to_owned() } else { format!("postgres:{build}") };
        treatment.build = build.parse().expect("a build");
    }
    let tests = steps(&shape).into_iter().map(step).collect();
    plan.stages = vec![Stage::chain(Alternate::OneByOne, shape.rows_loaded(), 1, CONNECTIONS, tests)];
    plan.warmup_seconds = 0.0;
    plan.suite = SuitePlan::Insert(shape);
    plan
}

/// A campaign's folders and builds.
pub(crate) struct Scene {
    pub(crate) plan: Plan,
    pub(crate) results: TempDir,
    pub(crate) data: TempDir,
    builds: Vec<BuildFacts>,
    cache: Cache,
}

/// When rqps was started, as far as the tests care.
pub(crate) fn start() -> Start {
    Start { at: "2026-11-21T08:00:00Z".to_owned(), rqps_version: "0".to_owned(), ..Start::default() }
}

impl Scene {
    /// Installs the builds.
    pub(crate) fn new(mut plan: Plan) -> Scene {
        plan.machine = Some(MachineClass { cores: 2, memory_bytes: 1 << 30 });
        let cache = Cache::open().expect("a cache");
        let catalog = Catalog::built_in();
        let install = |treatment: &rqps_model::plan::TreatmentPlan| {
            installation::install(&treatment.build, &catalog, &cache, &mut |_| ()).expect("installed")
        };
        let builds = plan.treatments.iter().map(install).collect();
        // The servers' account must be able to enter, and a socket's path is short.
        let data = tempfile::Builder::new().prefix("rqps-conduct-").tempdir_in(data_parent()).expect("a folder");
        fs::set_permissions(data.path(), Permissions::from_mode(0o711)).expect("opened");
        Scene { plan, results: tempfile::tempdir_in(data_parent()).expect("a folder"), data, builds, cache }
    }

    /// An empty results folder.
    pub(crate) fn create(&self) -> Writer {
        Campaign::create(self.results.path(), "x", &self.plan, &HostFacts::default(), "", start()).expect("created")
    }

    /// Measures what is missing; nothing of the data is left.
    pub(crate) fn run(
        &self,
        store: &mut Writer,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(&Event),
    ) -> Result<(), ConductError> {
        let lease = Lease::open(&self.cache).expect("a lease");
        let job = Job {
            plan: &self.plan,
            suites: &[Suite::sysbench()],
            builds: &self.builds,
            profiles: &Profiles::load().expect("profiles"),
            cache: &self.cache,
            lease: &lease,
            data_parent: Some(self.data.path()),
            resumed: store.status().starts.len() - 1,
        };
        let mut measure = |store: &mut Writer| {
            let mut run = Run::begin(job, store, watch, stop)?;
            while let Some(number) = run.next_round(store) {
                run.measure(number, None, store, watch)?;
            }
            store.finish("2026-11-21T09:00:00Z")?;
            Ok(())
        };
        let ran = measure(store);
        assert_eq!(fs::read_dir(self.data.path()).expect("listed").count(), 0, "folders are left");
        ran
    }
}
