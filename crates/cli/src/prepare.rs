//! From file and flags to a plan whose builds are on this machine.
//!
//! In: what was typed. Out: the plan, the builds of its treatments, and the campaign file that says the same. Faults are
//! shown all at once, and end the command with exit code 2.

use crate::args::CampaignFlags;
use crate::lab::{Lab, this_machine};
use crate::screen::Screen;
use crate::storage;
use anyhow::{Context, Result};
use rqps_campaign::place::Place;
use rqps_campaign::{Command, Flag, Resolved, ResolvedBuild, Source, read, to_toml};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, Plan};
use rqps_server::profile::parse_conf;
use std::path::Path;

/// A campaign that can run.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    /// By treatment; empty when builds were not to be installed.
    pub(crate) builds: Vec<BuildFacts>,
    /// The campaign file that repeats it.
    pub(crate) campaign_toml: String,
    /// Whether the user gave the campaign its name.
    pub(crate) is_named: bool,
}

/// The user's words were wrong, and it has been shown where.
#[derive(Debug, thiserror::Error)]
#[error("the campaign cannot be run as it is written")]
pub(crate) struct FaultsShown;

/// Whether builds are fetched, or only named from the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builds {
    Install,
    OnlyName,
}

/// Reads, checks, resolves and expands.
pub(crate) fn prepare(
    lab: &Lab,
    file: Option<&Path>,
    flags: &CampaignFlags,
    command: Command,
    builds: Builds,
    screen: Screen,
) -> Result<Prepared> {
    let source = file.map(read_source).transpose()?;
    let reading = read(source.as_ref(), &words(flags)?, command, &lab.vocabulary()?);
    screen.diagnostics(&reading.diagnostics);
    let campaign = reading.campaign.ok_or(FaultsShown)?;

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
            _ => {
                let facts = lab.install(spec, screen)?;
                let storage = Some(storage::of_build(&facts));
                resolved.push(ResolvedBuild { name: facts.name.clone(), storage });
                found.push(Some(facts));
            }
        }
    }
    let resolved = Resolved { builds: resolved, host: this_machine()? };
    let plan = campaign.expand(&resolved).map_err(|faults| {
        screen.diagnostics(&faults);
        FaultsShown
    })?;
    let of_treatment = |treatment: &rqps_model::plan::TreatmentPlan| {
        let at = campaign.builds().iter().position(|spec| *spec == treatment.build)?;
        let facts = found[at].clone()?;
        // The user's own name wins, in the record as in the tables.
        Some(BuildFacts { name: treatment.build.name.clone().unwrap_or(facts.name.clone()), ..facts })
    };
    let builds = plan.treatments.iter().filter_map(of_treatment).collect();
    let is_named = reading.request.name.as_ref().is_some_and(|name| !matches!(name.place, Place::Preset(_)));
    Ok(Prepared { plan, builds, campaign_toml: to_toml(&reading.request), is_named })
}

fn read_source(path: &Path) -> Result<Source> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the campaign file {}", path.display()))?;
    Ok(Source { name: path.display().to_string(), text })
}

/// The flags as words, in the order of the help.
pub(crate) fn words(flags: &CampaignFlags) -> Result<Vec<Flag>> {
    let many =
        |name: &'static str, values: &[String]| values.iter().map(|value| Flag::new(name, value)).collect::<Vec<_>>();
    let list = |name: &'static str, values: &[String]| {
        if values.is_empty() { Vec::new() } else { vec![Flag::new(name, values.join(","))] }
    };
    let one = |name: &'static str, value: &Option<String>| {
        value.iter().map(|value| Flag::new(name, value)).collect::<Vec<_>>()
    };
    let quick = if flags.quick { vec![Flag::new("quick", "true")] } else { Vec::new() };
    Ok([
        one("name", &flags.name),
        many("build", &flags.build),
        one("base", &flags.base),
        one("suite", &flags.suite),
        one("scale", &flags.scale),
        list("tests", &flags.tests),
        one("tables", &flags.tables),
        one("rows", &flags.rows),
        one("rows-written", &flags.rows_written),
        list("clients", &flags.clients),
        list("write-rates", &flags.write_rates),
        one("read-seconds", &flags.read_seconds),
        one("write-seconds", &flags.write_seconds),
        one("rest-seconds", &flags.rest_seconds),
        one("catch-up-seconds", &flags.catch_up_seconds),
        one("warmup", &flags.warmup),
        one("rounds", &flags.rounds),
        one("slice", &flags.slice),
        one("interleave", &flags.interleave),
        one("seed", &flags.seed),
        list("profile", &flags.profile),
        list("storage-engine", &flags.storage_engine),
        many("set", &settings(&flags.set)?),
        one("placement", &flags.placement),
        one("rate", &flags.rate),
        one("machine", &flags.machine),
        one("margin", &flags.margin),
        quick,
    ]
    .concat())
}

/// `--set` words, with `@FILE` replaced by the settings of that configuration file.
fn settings(words: &[String]) -> Result<Vec<String>> {
    let mut settings = Vec::new();
    for word in words {
        match word.strip_prefix('@') {
            None => settings.push(word.clone()),
            Some(file) => {
                let text = std::fs::read_to_string(file).with_context(|| format!("--set @{file}"))?;
                settings.extend(parse_conf(file, &text)?.into_iter().map(|(name, value)| format!("{name}={value}")));
            }
        }
    }
    Ok(settings)
}
