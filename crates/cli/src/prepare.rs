//! From file and flags to a plan whose builds are on this machine.
//!
//! In: what was typed. Out: the plan, the builds of its treatments, and the campaign file that says the same. Faults are
//! shown all at once, and end the command with exit code 2.

use crate::args::CampaignFlags;
use crate::lab::{Lab, this_machine};
use crate::screen::Screen;
use anyhow::{Context, Result};
use rqps_builds::storage::storage_engines;
use rqps_campaign::diagnostic::{Diagnostic, Severity, Spot};
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
    let (source, not_text) = file.map(read_source).transpose()?.unzip();
    let (flags, unread) = words(flags);
    let reading = read(source.as_ref(), &flags, command, &lab.vocabulary()?);
    let own: Vec<Diagnostic> = not_text.flatten().into_iter().chain(unread).collect();
    let is_read = own.is_empty();
    screen.diagnostics(&together(reading.diagnostics, own));
    let campaign = reading.campaign.filter(|_| is_read).ok_or(FaultsShown)?;

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
                let storage = Some(storage_engines(&facts));
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

/// What was found here and what `campaign` found, in the order of the file and of the flags.
fn together(found: Vec<Diagnostic>, own: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut all = [own, found].concat();
    all.sort_by(|a, b| a.spot.cmp(&b.spot));
    all
}

/// The campaign file, and where it is not text, if so: the rest is read all the same.
fn read_source(path: &Path) -> Result<(Source, Option<Diagnostic>)> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the campaign file {}", path.display()))?;
    let name = path.display().to_string();
    let fault = std::str::from_utf8(&bytes).err().map(|error| not_utf8(&name, &bytes, error.valid_up_to()));
    Ok((Source { name, text: String::from_utf8_lossy(&bytes).into_owned() }, fault))
}

fn not_utf8(file: &str, bytes: &[u8], at: usize) -> Diagnostic {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end);
    let spot = Spot::File {
        line: before.matches('\n').count() + 1,
        column: before[begin..].chars().count() + 1,
        length: 1,
        source_line: String::from_utf8_lossy(&bytes[begin..end]).trim_end_matches('\r').to_owned(),
        file: file.to_owned(),
    };
    Diagnostic {
        severity: Severity::Error,
        spot,
        message: format!("invalid UTF-8: byte 0x{:02x}", bytes[at]),
        expected: None,
        help: Some("save the file as UTF-8".to_owned()),
    }
}

/// The flags with `--set @FILE` replaced by the settings of that configuration file, and what is wrong with such files.
pub(crate) fn words(flags: &CampaignFlags) -> (Vec<Flag>, Vec<Diagnostic>) {
    let (mut words, mut unread) = (Vec::new(), Vec::new());
    for flag in &flags.0 {
        let file = flag.value.strip_prefix('@').filter(|_| flag.name == "set");
        match file.map(read_settings) {
            None => words.push(flag.clone()),
            Some(Ok(settings)) => words.extend(settings.into_iter().map(|setting| Flag::new("set", setting))),
            Some(Err(error)) => unread.push(Diagnostic {
                severity: Severity::Error,
                spot: Spot::Flag { order: words.len(), flag: flag.name.clone(), value: flag.value.clone() },
                message: format!("{error:#}"),
                expected: None,
                help: None,
            }),
        }
    }
    (words, unread)
}

fn read_settings(file: &str) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    let settings = parse_conf(file, &text)?;
    Ok(settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_is_no_text_is_shown_in_its_line() {
        let bytes = b"rows = 1\r\n# \xc3\xa4 b\xe4h\r\nrounds = 3\n";
        let at = bytes.iter().position(|byte| *byte == 0xe4).expect("there");
        let told = not_utf8("x.toml", bytes, at).to_string();
        let line = "x.toml:2:6: error: invalid UTF-8: byte 0xe4\n2 | # \u{e4} b\u{fffd}h\n  |      ^";
        assert!(told.starts_with(line), "{told}");
    }
}
