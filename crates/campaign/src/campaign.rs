//! A checked campaign, and its expansion to a plan once the builds are known.
//!
//! In: what `check` found right, and what the caller found out about builds and machine. Out: a `Plan` in which nothing
//! is open. The same campaign and facts give the same plan; no clock, no randomness but the seed's.

use crate::budget::{Budget, undivided};
use crate::diagnostic::{Diagnostic, Fault, Faults};
use crate::engine::costs;
use crate::place::{Place, Source, Spanned};
use crate::room::make_room;
use crate::together::{Together, why_one_by_one};
use crate::vocabulary::nearest;
use rqps_model::plan::{Alternate, Arrival, ForcedForm, SuitePlan, TestPlan, TreatmentPlan};
use rqps_model::settings::MachineClass;
use rqps_model::{BuildSource, BuildSpec, Engine, FORMAT, Interleave, Placement, Plan, ProgramPages, StorageEngine};
use rqps_suites::{Aging, Pace, SuiteName};
use std::collections::{BTreeMap, BTreeSet};

/// A treatment as asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreatmentRequest {
    /// Index of its build.
    pub(crate) build: usize,
    pub(crate) spec: BuildSpec,
    /// Where the build was named.
    pub(crate) place: Place,
    /// The build's name, where user or catalog tell it.
    pub(crate) build_name: Option<String>,
    pub(crate) profile: String,
    /// What stores the tables, where the engine leaves a choice.
    pub(crate) storage: Option<StorageEngine>,
    pub(crate) set: BTreeMap<String, String>,
    /// The change that is planted in it, as a share of a statement's time.
    pub(crate) planted: Option<f64>,
}

impl TreatmentRequest {
    /// The configuration's name without the machine: the profile, and what stores the tables unless that is usual.
    fn configuration(&self) -> String {
        match self.storage {
            Some(storage) if self.spec.engine.storage_engines().first() != Some(&storage) => {
                format!("{}_{storage}", self.profile)
            }
            _ => self.profile.clone(),
        }
    }
}

/// A campaign in which every word is known to be right.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    pub(crate) name: Option<String>,
    /// What is run; the steps of a size become tests at expansion, when the machine is known.
    pub(crate) suite: SuitePlan,
    pub(crate) builds: Vec<BuildSpec>,
    pub(crate) treatments: Vec<TreatmentRequest>,
    pub(crate) base: Option<Spanned<String>>,
    /// Whether the base is also compared with itself.
    pub(crate) measures_base_twice: bool,
    /// Whether a change is planted in the base measured again: the share of a statement's time.
    pub(crate) control: Option<Spanned<f64>>,
    pub(crate) tests: Vec<TestPlan>,
    /// Which of them begin with aged data, in a suite that has such tests.
    pub(crate) aging: Option<Aging>,
    /// How builds alternate, where that was said or follows for all tests alike.
    pub(crate) interleave: Option<Interleave>,
    pub(crate) clients: Vec<u32>,
    pub(crate) warmup_seconds: f64,
    pub(crate) slice_ms: f64,
    pub(crate) turn_seconds: Option<f64>,
    pub(crate) arrival: Arrival,
    pub(crate) placement: Placement,
    pub(crate) program_pages: ProgramPages,
    pub(crate) cpu_events: bool,
    pub(crate) machine: Option<MachineClass>,
    pub(crate) margin: f64,
    pub(crate) rounds: u32,
    /// What is left open for the time to decide, where one is given.
    pub(crate) budget: Option<Budget>,
    pub(crate) seed: u64,
    pub(crate) forced: Vec<ForcedForm>,
    /// Releases known to store tables by what some treatment asks for, to name as a remedy.
    pub(crate) builds_with: BTreeMap<StorageEngine, Vec<String>>,
    pub(crate) source: Option<Source>,
}

/// What the base is called where it is measured a second time.
const BASE_AGAIN: &str = "aa";

/// What it is called where a change is planted in it.
const CONTROL: &str = "control";

/// What the caller found out before a campaign is expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Each build of `Campaign::builds`.
    pub builds: Vec<ResolvedBuild>,
    /// Cores and memory of this machine.
    pub host: MachineClass,
    /// Bytes free where data folders are made, if that is known.
    pub disk_free_bytes: Option<u64>,
    /// Whether copies made there share blocks with what they are copies of.
    pub copies_share_blocks: bool,
}

/// What the caller found out about a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedBuild {
    /// Its name, such as `pg1711_zonky`, as catalog or binary tell it.
    pub name: String,
    /// What its tables can be stored by; `None` where it is not installed and nothing else tells.
    pub storage: Option<Vec<StorageEngine>>,
}

impl Campaign {
    /// The builds in the order in which they were named; the caller resolves each.
    pub fn builds(&self) -> &[BuildSpec] {
        &self.builds
    }

    /// The plan: every name settled, every round ordered.
    ///
    /// # Errors
    /// Where builds come from folders, the base may turn out to be no treatment, and a build to lack a storage engine.
    pub fn expand(&self, resolved: &Resolved) -> Result<Plan, Vec<Diagnostic>> {
        self.storage_is_brought(resolved)?;
        self.control_fits(resolved)?;
        let mut plan = self.with_treatments(self.treatments.clone(), resolved, None)?;
        let base = plan.base;
        let again = self.base_again(base);
        if !again.is_empty() {
            // What else there is changes with their number, such as the memory that each has.
            plan = self.with_treatments([&self.treatments[..], &again[..]].concat(), resolved, Some(base))?;
        }
        if let Some(budget) = &self.budget {
            budget.spend(&mut plan).map_err(|fault| self.faults_at(&budget.time.place, fault))?;
        }
        // Copies that share blocks take no room.
        make_room(&mut plan, resolved.disk_free_bytes.filter(|_| !resolved.copies_share_blocks));
        self.divide(&mut plan)?;
        Ok(plan)
    }

    /// Divides the time among tests where that can be done, now that it is known how the plan goes.
    fn divide(&self, plan: &mut Plan) -> Result<(), Vec<Diagnostic>> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let division = budget.division(plan);
        if let (None, Some(until)) = (division, &budget.until_decided) {
            return Err(self.faults_at(&until.place, undivided(plan)));
        }
        // One build against itself is to show the noise of every test.
        let is_wanted = self.treatments.len() > 1 || budget.until_decided.is_some();
        plan.time.iter_mut().for_each(|time| time.division = division.filter(|_| is_wanted));
        Ok(())
    }

    /// The base as often as it is measured again, as it is or with a change planted in it.
    fn base_again(&self, base: usize) -> Vec<TreatmentRequest> {
        let again = |name: &str, planted: Option<f64>| {
            let mut again = TreatmentRequest { planted, ..self.treatments[base].clone() };
            again.spec.name = Some(name.to_owned());
            again
        };
        let twin = self.measures_base_twice.then(|| again(BASE_AGAIN, None));
        let control = self.control.as_ref().map(|share| again(CONTROL, Some(share.value)));
        twin.into_iter().chain(control).collect()
    }

    /// The plan of some treatments, but for what follows from time and disk.
    fn with_treatments(
        &self,
        mut requested: Vec<TreatmentRequest>,
        resolved: &Resolved,
        base: Option<usize>,
    ) -> Result<Plan, Vec<Diagnostic>> {
        for treatment in &mut requested {
            let own = treatment.spec.name.clone();
            treatment.build_name = own.or_else(|| resolved.builds.get(treatment.build).map(|build| build.name.clone()));
        }
        let pace = |requested: &TreatmentRequest| &costs((requested.spec.engine, requested.storage)).insert;
        let paces: Vec<&Pace> = requested.iter().map(pace).collect();
        let cores = self.machine.unwrap_or(resolved.host).cores;
        let stages = |how| {
            let stages = rqps_suites::stages(&self.suite, &self.clients, &self.tests, &paces, cores, how);
            match &self.aging {
                Some(aging) => stages.into_iter().flat_map(|stage| aging.split(stage)).collect(),
                None => stages,
            }
        };
        let together = stages(Alternate::SideBySide);
        let why_one_by_one = why_one_by_one(&Together {
            suite: &self.suite,
            stages: &together,
            interleave: self.interleave,
            clients: self.clients.iter().copied().max().unwrap_or(1),
            paces: &paces,
            host: resolved.host,
            disk_free_bytes: resolved.disk_free_bytes,
        });
        let stages = if why_one_by_one.is_some() { stages(Alternate::OneByOne) } else { together };
        // Where it is up alone, and where tests build on each other, each server has the buffers that it has alone.
        let is_alone = why_one_by_one.is_some() || rqps_suites::is_chain(&self.suite);
        let machine = self.machine.unwrap_or_else(|| shared(resolved.host, if is_alone { 1 } else { requested.len() }));
        let names = treatment_names(&requested, machine);
        let base = match (&self.base, base) {
            (_, Some(known)) => known,
            (None, None) => 0,
            (Some(base), None) => find_base(&base.value, &requested, Names::All(&names))
                .map_err(|fault| self.faults_at(&base.place, fault))?,
        };
        let name = self.name.clone().unwrap_or_else(|| default_name(SuiteName::of(&self.suite), &requested, base));
        let treatment = |(requested, name): (TreatmentRequest, String)| TreatmentPlan {
            name,
            build: requested.spec,
            storage: requested.storage,
            profile: requested.profile,
            set: requested.set,
            planted: requested.planted,
        };
        Ok(Plan {
            format: FORMAT,
            name,
            suite: self.suite.clone(),
            seed: self.seed,
            rounds: self.rounds,
            treatments: requested.into_iter().zip(names).map(treatment).collect(),
            base,
            stages,
            why_one_by_one,
            why_continued: None,
            time: None,
            profiled: false,
            warmup_seconds: self.warmup_seconds,
            slice_ms: self.slice_ms,
            turn_seconds: self.turn_seconds,
            arrival: self.arrival,
            placement: self.placement,
            program_pages: self.program_pages,
            kept_floors: Vec::new(),
            cpu_events: self.cpu_events,
            machine: Some(machine),
            margin: self.margin,
            forced: self.forced.clone(),
        })
    }

    fn faults_at(&self, place: &Place, fault: Fault) -> Vec<Diagnostic> {
        let mut faults = Faults::new(self.source.clone());
        faults.add(place, fault);
        faults.sorted()
    }

    /// Finds fault with a planted change where threads of the client have several sessions each: a burn holds up all of
    /// them, and by how much is not known (docs/measurement.md).
    fn control_fits(&self, resolved: &Resolved) -> Result<(), Vec<Diagnostic>> {
        let (most, cpus) = (self.clients.iter().copied().max().unwrap_or(1), resolved.host.cores);
        let Some(control) = self.control.as_ref().filter(|_| most > cpus) else { return Ok(()) };
        let fault =
            Fault::error(format!("with {most} clients on {cpus} CPUs the size of a planted change is not known"));
        Err(self
            .faults_at(&control.place, fault.expected("at most as many clients as there are CPUs, or no `control`")))
    }

    /// Finds fault with builds that lack what shall store their tables, as only they themselves can tell.
    fn storage_is_brought(&self, resolved: &Resolved) -> Result<(), Vec<Diagnostic>> {
        let mut faults = Faults::new(self.source.clone());
        let mut told = Vec::new();
        for requested in &self.treatments {
            let build = resolved.builds.get(requested.build);
            let (Some(storage), Some(ResolvedBuild { name, storage: Some(brought) })) = (requested.storage, build)
            else {
                continue;
            };
            if !brought.contains(&storage) && !told.contains(&(requested.build, storage)) {
                told.push((requested.build, storage));
                let having = self.builds_with.get(&storage).map_or(&[][..], Vec::as_slice);
                faults.add(&requested.place, lacks(name, storage, having));
            }
        }
        if told.is_empty() { Ok(()) } else { Err(faults.sorted()) }
    }
}

/// What to tell about a build that brings no plugin for the tables that are requested of it.
pub(crate) fn lacks(build: &str, storage: StorageEngine, having: &[String]) -> Fault {
    let fault = Fault::error(format!("build {build} has no {storage} tables: it comes without their plugin"));
    let fault = match having {
        [] => fault,
        having => fault.expected(format!("a build that has them, such as {}", having.join(", "))),
    };
    fault.help(format!("or leave `{storage}` out of `storage-engine`; `rqps builds show BUILD` tells what a build has"))
}

/// The share of a machine that each of some servers has: they run one at a time but are in memory together.
fn shared(host: MachineClass, servers: usize) -> MachineClass {
    MachineClass { memory_bytes: host.memory_bytes / servers.max(1) as u64, ..host }
}

/// `<build>.<profile>_<machine class>`, `<build>.<profile>_rocksdb_<machine class>`, with `.2`, `.3` behind where that
/// alone would name two treatments.
fn treatment_names(requested: &[TreatmentRequest], machine: MachineClass) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for treatment in requested {
        let build = treatment.build_name.as_deref().unwrap_or_else(|| treatment.spec.engine.prefix());
        let plain = format!("{build}.{}_{}", treatment.configuration(), machine.suffix());
        let numbered = (2..).map(|number| format!("{plain}.{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

/// Suite and builds: `sysbench.pg1615_zonky-vs-pg1711_zonky`.
fn default_name(suite: SuiteName, requested: &[TreatmentRequest], base: usize) -> String {
    /// A campaign's name becomes a folder name.
    const LONGEST: usize = 64;
    let build = |index: usize| requested[index].build_name.as_deref().unwrap_or_default();
    let mut builds: Vec<&str> = (0..requested.len()).filter(|index| *index != base).map(build).collect();
    // With several profiles each build stands there several times, and not side by side.
    let mut known = BTreeSet::new();
    builds.retain(|build| known.insert(*build));
    let others = match builds.as_slice() {
        [one] => (*one).to_owned(),
        many => format!("{}-others", many.len()),
    };
    let name = format!("{suite}.{}-vs-{others}", build(base));
    name.chars().take(LONGEST).collect()
}

/// Which names of treatments are known when a base is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Names<'a> {
    /// Builds of folders have no name yet, and the machine is not known.
    SomeKnown,
    /// All of them.
    All(&'a [String]),
}

/// The treatment that a word names as base.
pub(crate) fn find_base(word: &str, treatments: &[TreatmentRequest], names: Names<'_>) -> Result<usize, Fault> {
    if let Names::All(names) = names
        && let Some(exact) = names.iter().position(|name| name == word)
    {
        return Ok(exact);
    }
    let named: Vec<usize> = (0..treatments.len()).filter(|index| answers(&treatments[*index], word)).collect();
    // A build that has a name of its own is meant by that; its version then means the one without.
    let unnamed: Vec<usize> = named.iter().copied().filter(|index| treatments[*index].spec.name.is_none()).collect();
    if let ([only], _) | (_, [only]) = (named.as_slice(), unnamed.as_slice()) {
        return Ok(*only);
    }
    // A treatment's full name with its number, and names that only a binary can tell, are for later to find.
    if let Names::SomeKnown = names
        && (treatments.iter().any(|treatment| treatment.build_name.is_none())
            || treatments.iter().any(|treatment| answers(treatment, without_number(word)))
                && without_number(word) != word)
    {
        return Ok(0);
    }
    let words: Vec<String> = match names {
        Names::All(names) => names.to_vec(),
        Names::SomeKnown => treatments.iter().map(short_name).collect(),
    };
    let fault = if named.is_empty() {
        Fault::error(format!("the base `{word}` is none of the builds"))
            .expected(format!("one of {}", words.join(", ")))
    } else {
        let told: Vec<&str> = named.iter().map(|index| words[*index].as_str()).collect();
        Fault::error(format!("the base `{word}` names {} treatments", named.len()))
            .expected(format!("one of {}", told.join(", ")))
    };
    let known: Vec<String> = treatments.iter().flat_map(build_words).chain(words).collect();
    let near = nearest(word, known.iter().map(String::as_str)).filter(|_| named.is_empty());
    let twins = named.len() > 1 && told_alike(treatments, &named);
    let help = near.map(|near| format!("did you mean `{near}`?"));
    Err(fault.help_if(help.or_else(|| twins.then(|| "give one of them a name: NAME=ENGINE:VERSION".to_owned()))))
}

fn told_alike(treatments: &[TreatmentRequest], named: &[usize]) -> bool {
    named.iter().all(|index| short_name(&treatments[*index]) == short_name(&treatments[named[0]]))
}

/// A treatment's name without the machine.
fn short_name(treatment: &TreatmentRequest) -> String {
    let build = treatment.build_name.clone().unwrap_or_else(|| treatment.spec.to_string());
    format!("{build}.{}", treatment.configuration())
}

/// The words by which a treatment's build can be meant.
fn build_words(treatment: &TreatmentRequest) -> Vec<String> {
    let spec = &treatment.spec;
    let plain = BuildSpec { name: None, ..spec.clone() };
    let short = match &spec.source {
        BuildSource::Catalog(version) => Some(version.compact(spec.engine)),
        _ => None,
    };
    let words = [spec.to_string(), plain.to_string(), spec.source.to_string()];
    words.into_iter().chain(short).chain(treatment.build_name.clone()).collect()
}

/// The engine of the base that a word names, or of the first treatment; `None` where that is not known yet.
pub(crate) fn base_engine(word: Option<&str>, treatments: &[TreatmentRequest]) -> Option<Engine> {
    let Some(word) = word else { return treatments.first().map(|first| first.spec.engine) };
    let is_meant = |treatment: &&TreatmentRequest| answers(treatment, word) || answers(treatment, without_number(word));
    let meant: Vec<&TreatmentRequest> = treatments.iter().filter(is_meant).collect();
    let meant = if meant.is_empty() { treatments.iter().collect() } else { meant };
    let engine = meant.first()?.spec.engine;
    meant.iter().all(|treatment| treatment.spec.engine == engine).then_some(engine)
}

/// Whether a word means a treatment: by its build, its build and configuration, or its name with the machine class.
fn answers(treatment: &TreatmentRequest, word: &str) -> bool {
    build_words(treatment).iter().any(|build| match word.strip_prefix(build.as_str()) {
        None => false,
        Some("") => true,
        Some(rest) => rest
            .strip_prefix('.')
            .and_then(|rest| rest.strip_prefix(treatment.configuration().as_str()))
            .is_some_and(|rest| rest.is_empty() || rest.strip_prefix('_').is_some_and(is_machine_class)),
    })
}

fn is_machine_class(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    text.strip_prefix('c').and_then(|rest| rest.split_once('r')).is_some_and(|(c, r)| digits(c) && digits(r))
}

/// A name without the number that tells it from an equal one.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((front, number)) if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => front,
        _ => name,
    }
}

#[cfg(test)]
mod tests;
