//! From file and flags to a plan whose builds are on this machine.
//!
//! In: a campaign file, flags. Out: the plan, the builds of its treatments, and the campaign file that says the same;
//! or all that is wrong, at once.

use crate::notice::Notify;
use crate::open::{Lab, this_machine};
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

/// Reads, checks, resolves and expands.
pub fn prepare(
    lab: &Lab,
    file: Option<&Path>,
    flags: &[Flag],
    command: Command,
    builds: Builds,
    notify: &mut Notify<'_>,
) -> Result<Prepared> {
    let (source, not_text) = file.map(read_source).transpose()?.unzip();
    let (flags, unread) = with_settings_files(flags);
    let reading = read(source.as_ref(), &flags, command, &lab.vocabulary()?);
    let own: Vec<Diagnostic> = not_text.flatten().into_iter().chain(unread).collect();
    let is_read = own.is_empty();
    let notes = in_order(reading.diagnostics, own);
    let Some(campaign) = reading.campaign.filter(|_| is_read) else { return Err(Faults(notes).into()) };

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
                let facts = lab.install(spec, notify)?;
                let storage = Some(storage_engines(&facts));
                resolved.push(ResolvedBuild { name: facts.name.clone(), storage });
                found.push(Some(facts));
            }
        }
    }
    let resolved = Resolved { builds: resolved, host: this_machine()? };
    let plan = campaign.expand(&resolved).map_err(|faults| Faults([notes.clone(), faults].concat()))?;
    let of_treatment = |treatment: &rqps_model::plan::TreatmentPlan| {
        let at = campaign.builds().iter().position(|spec| *spec == treatment.build)?;
        let facts = found[at].clone()?;
        // The user's own name wins, in the record as in the tables.
        Some(BuildFacts { name: treatment.build.name.clone().unwrap_or(facts.name.clone()), ..facts })
    };
    let builds = plan.treatments.iter().filter_map(of_treatment).collect();
    let is_named = reading.request.name.as_ref().is_some_and(|name| !matches!(name.place, Place::Preset(_)));
    Ok(Prepared { plan, builds, campaign_toml: to_toml(&reading.request), is_named, notes })
}

/// What was found here and what `campaign` found, in the order of the file and of the flags.
fn in_order(found: Vec<Diagnostic>, own: Vec<Diagnostic>) -> Vec<Diagnostic> {
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
            Err(error) => unread.push(Diagnostic {
                severity: Severity::Error,
                // Where the settings of the file would stand.
                spot: Spot::Flag { order: all.len(), flag: flag.name.clone(), value: flag.value.clone() },
                message: format!("{error:#}"),
                expected: None,
                help: None,
            }),
        }
    }
    (all, unread)
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
        let text = not_utf8("x.toml", bytes, at).to_string();
        let line = "x.toml:2:6: error: invalid UTF-8: byte 0xe4\n2 | # \u{e4} b\u{fffd}h\n  |      ^";
        assert!(text.starts_with(line), "{text}");
    }
}
