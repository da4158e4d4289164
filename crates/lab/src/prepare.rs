//! From file and flags to a plan whose builds are on this machine.
//!
//! In: a campaign file, flags. Out: the plan, the builds of its treatments, and the campaign file that says the same;
//! or all that is wrong, at once.

use crate::input_files::{InputFiles, why};
use crate::notice::{Notice, Notify};
use crate::open::{Lab, this_machine};
use anyhow::{Context, Result, anyhow};
use rqps_builds::installation::{self, Trust};
use rqps_builds::storage::storage_engines;
use rqps_campaign::diagnostic::Diagnostic;
use rqps_campaign::place::Place;
use rqps_campaign::{Command, Flag, Resolved, ResolvedBuild, Source, read, to_toml};
use rqps_machine::copy::{self, CopyMethod};
use rqps_machine::free_bytes;
use rqps_model::build::{SourcePlace, SourceSpec};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec, Engine, Plan};
use rqps_server::profile::parse_conf;
use std::path::Path;

/// A campaign that can run.
#[derive(Debug)]
pub struct Prepared {
    /// What is measured.
    pub plan: Plan,
    /// By treatment; empty when builds were not to be installed.
    pub builds: Vec<BuildFacts>,
    /// The campaign file that repeats it.
    pub campaign_toml: String,
    /// Whether the user gave the campaign its name.
    pub is_named: bool,
    /// What is no fault and should be known.
    pub notes: Vec<Diagnostic>,
}

/// What is wrong with a campaign as it is written, in the order of file and flags.
#[derive(Debug, thiserror::Error)]
#[error("the campaign cannot be run as it is written")]
pub struct Faults(pub Vec<Diagnostic>);

/// Whether builds are fetched, or only named from the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builds {
    /// They are fetched.
    Install,
    /// Those of the catalog are only named.
    OnlyName,
}

/// Reads, checks, resolves and expands. `data` is where data folders are to be made, if not in the usual place.
pub fn prepare(
    lab: &Lab,
    file: Option<&Path>,
    flags: &[Flag],
    data: Option<&Path>,
    command: Command,
    builds: Builds,
    notify: &mut Notify<'_>,
) -> Result<Prepared> {
    let source = file.map(read_source).transpose()?;
    let (flags, unread) = with_settings_files(flags);
    let files = InputFiles { builds: Some(lab.cache.root().join("builds")) };
    let reading = read(source.as_ref(), &flags, command, &lab.vocabulary()?, &files);
    let is_read = unread.is_empty();
    let mut notes = [unread, reading.diagnostics].concat();
    Diagnostic::sort(&mut notes);
    let Some(campaign) = reading.campaign.filter(|_| is_read) else { return Err(Faults(notes).into()) };

    if builds == Builds::Install {
        check_sources(lab, campaign.builds())?;
    }
    let mut found: Vec<Option<BuildFacts>> = Vec::new();
    let mut resolved = Vec::new();
    for spec in campaign.builds() {
        match (&spec.source, builds) {
            (BuildSource::Catalog(version), Builds::OnlyName) => {
                // What is known of its storage engines was in the vocabulary.
                let name = lab.catalog.find(spec.engine, version)?.build_name();
                resolved.push(ResolvedBuild { name, storage: None });
                found.push(None);
            }
            (BuildSource::Source(source), Builds::OnlyName) => {
                // Compiling takes minutes, and all that is missing until then is the end of the name.
                let here = installation::find_source(spec.engine, source, &lab.catalog, &lab.cache);
                let here = here.with_context(|| format!("build {spec}"))?;
                let name = match &here {
                    Some(facts) => facts.name.clone(),
                    None => name_of_source(lab, spec.engine, source)?,
                };
                resolved.push(ResolvedBuild { name, storage: here.as_ref().map(storage_engines) });
                found.push(here);
            }
            _ => {
                let facts = lab.install(spec, Trust::Program, notify)?;
                let storage = Some(storage_engines(&facts));
                resolved.push(ResolvedBuild { name: facts.name.clone(), storage });
                found.push(Some(facts));
            }
        }
    }
    tell_same_sources(campaign.builds(), &found, notify);
    let place = lab.data_place(data);
    let resolved = Resolved {
        builds: resolved,
        host: this_machine()?,
        disk_free_bytes: free_bytes(&place).ok(),
        copies_share_blocks: matches!(copy::detect(&place), Ok(CopyMethod::Reflink)),
    };
    let plan = campaign.expand(&resolved).map_err(|faults| Faults([notes.clone(), faults].concat()))?;
    let of_treatment = |treatment: &rqps_model::plan::TreatmentPlan| {
        let find = |is: &dyn Fn(&BuildSpec) -> bool| campaign.builds().iter().position(is);
        // The base that is measured twice has another name the second time.
        let is_same =
            |spec: &BuildSpec| (spec.engine, &spec.source) == (treatment.build.engine, &treatment.build.source);
        let at = find(&|spec| *spec == treatment.build).or_else(|| find(&is_same))?;
        let facts = found[at].clone()?;
        // The user's own name wins, in the record as in the tables.
        Some(BuildFacts { name: treatment.build.name.clone().unwrap_or(facts.name.clone()), ..facts })
    };
    let of_treatments = plan.treatments.iter().map(|treatment| (treatment, of_treatment(treatment)));
    let mut builds = Vec::new();
    for (treatment, facts) in of_treatments {
        let Some(facts) = facts else { continue };
        let checked = lab.profiles.check_build(&treatment.profile, &facts);
        checked.with_context(|| format!("build {}", treatment.build))?;
        builds.push(facts);
    }
    let is_named = reading.request.name.as_ref().is_some_and(|name| !matches!(name.place, Place::Preset(_)));
    Ok(Prepared { plan, builds, campaign_toml: to_toml(&reading.request), is_named, notes })
}

/// Refuses sources that cannot be compiled before the first of them is.
pub(crate) fn check_sources(lab: &Lab, builds: &[BuildSpec]) -> Result<()> {
    for spec in builds {
        if let BuildSource::Source(source) = &spec.source {
            let checked = installation::check_source(spec.engine, source, &lab.catalog, &lab.cache);
            checked.with_context(|| format!("build {spec}"))?;
        }
    }
    Ok(())
}

/// Says where sources that were named apart have the same content: a base that is what it is compared with is rarely
/// meant.
fn tell_same_sources(builds: &[BuildSpec], found: &[Option<BuildFacts>], notify: &mut Notify<'_>) {
    let compiled: Vec<(&BuildSpec, &str)> = std::iter::zip(builds, found)
        .filter(|(spec, _)| matches!(spec.source, BuildSource::Source(_)))
        .filter_map(|(spec, facts)| Some((spec, facts.as_ref()?.sha256.as_str())))
        .collect();
    for (at, (later, digest)) in compiled.iter().enumerate() {
        let same = compiled[..at].iter().find(|(spec, other)| other == digest && spec.source != later.source);
        if let Some((earlier, _)) = same {
            let warning = format!("{earlier} and {later} are one build: their sources do not differ");
            notify(Notice::Warning(warning));
        }
    }
}

/// The beginning of the name that the build of a source will have, as far as it is known.
fn name_of_source(lab: &Lab, engine: Engine, source: &SourceSpec) -> Result<String> {
    let flavour = lab.catalog.recipes().flavour(engine, source.flavour.as_deref())?;
    let version = match &source.place {
        SourcePlace::Release(version) => version.compact(engine),
        _ => engine.prefix().to_owned(),
    };
    Ok(format!("{version}_{}", flavour.name))
}

fn read_source(path: &Path) -> Result<Source> {
    let bytes =
        std::fs::read(path).map_err(|error| anyhow!("the campaign file cannot be read: {}", why(path, &error)))?;
    Ok(Source::new(path.display().to_string(), &bytes))
}

/// The flags with each `--set @FILE` replaced by the settings of that configuration file; what is wrong with such a
/// file.
fn with_settings_files(flags: &[Flag]) -> (Vec<Flag>, Vec<Diagnostic>) {
    let (mut all, mut unread) = (Vec::new(), Vec::new());
    for flag in flags {
        let Some(file) = flag.value.strip_prefix('@').filter(|_| flag.name == "set") else {
            all.push(flag.clone());
            continue;
        };
        match read_settings(file) {
            Ok(settings) => all.extend(settings.into_iter().map(|setting| Flag::new("set", setting))),
            Err(error) => {
                // Where the settings of the file would stand.
                let place = Place::Flag { order: all.len(), flag: flag.name.clone(), value: flag.value.clone() };
                unread.push(Diagnostic::error(place, format!("{error:#}")));
            }
        }
    }
    (all, unread)
}

fn read_settings(file: &str) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(file).map_err(|error| anyhow!("{}", why(Path::new(file), &error)))?;
    let settings = parse_conf(file, &text)?;
    Ok(settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
}
