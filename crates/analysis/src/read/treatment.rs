//! Treatments as stored → treatments as found: build, settings, what differs from the base.
//!
//! In: the campaign's folder. Out: [`TreatmentFindings`] in plan order, without sentence and counts, which need the
//! verdicts. A treatment that was never started has a placeholder for a build and says so in a warning; one that has
//! numbers and no build or settings is damage.

use crate::evidence::{cost, settings};
use crate::findings::{TreatmentFindings, peer};
use crate::warnings::treatment::{Side, not_as_asked, unlike, unlike_settings};
use crate::warnings::warning;
use rqps_model::facts::BuildFacts;
use rqps_model::plan::TreatmentPlan;
use rqps_model::sample::ProgramText;
use rqps_model::{BuildSource, Plan, WarningKind};
use rqps_store::{Campaign, Damage, StoreError};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All treatments of a campaign.
pub(crate) fn treatments(campaign: &Campaign) -> Result<Vec<TreatmentFindings>, StoreError> {
    check(campaign)?;
    let find = |plan: &TreatmentPlan| {
        let build = campaign.build(&plan.name)?;
        let not_started =
            build.is_none().then(|| warning(WarningKind::Absent, "this build was never started".to_owned()));
        Ok(TreatmentFindings {
            name: plan.name.clone(),
            build: build.unwrap_or_else(|| placeholder(plan)),
            storage: plan.storage,
            planted: plan.planted,
            settings: campaign.settings(&plan.name)?.unwrap_or_default(),
            settings_diff: BTreeMap::new(),
            sentence: String::new(),
            counts: [0; 4],
            load_seconds: campaign.status().load_seconds.get(&plan.name).copied().unwrap_or(0.0),
            load: campaign.load(&plan.name)?.as_ref().and_then(cost::of_load),
            program_text: program_text(campaign, &plan.name)?,
            warnings: not_started.into_iter().collect(),
        })
    };
    campaign.plan().treatments.iter().map(find).collect()
}

/// Refuses a folder that has lost what its numbers were measured on: build and settings are written before the first
/// sample, so what is compared would be unknown.
fn check(campaign: &Campaign) -> Result<(), StoreError> {
    let mut damages = Vec::new();
    for plan in &campaign.plan().treatments {
        let build = campaign.build(&plan.name)?.is_none().then_some(("build.json", "the facts of the build"));
        let settings =
            campaign.settings(&plan.name)?.is_none().then_some(("settings.json", "the settings as read back"));
        let missing: Vec<_> = build.into_iter().chain(settings).collect();
        if missing.is_empty() || !has_numbers(campaign, &plan.name)? {
            continue;
        }
        let beside = campaign.server_log(&plan.name)?;
        damages.extend(missing.into_iter().map(|(file, expected)| {
            Damage {
                path: beside.with_file_name(file),
                line: None,
                found: "the file is missing, though this treatment was measured".to_owned(),
                expected,
                remedy: "restore it from a copy of the folder, or delete one sample of the treatment: `rqps resume` \
                     measures that again and writes the file"
                    .to_owned(),
            }
        }));
    }
    if damages.is_empty() { Ok(()) } else { Err(StoreError::Damaged(damages)) }
}

/// Whether any sample of a treatment has a number.
fn has_numbers(campaign: &Campaign, treatment: &str) -> Result<bool, StoreError> {
    let plan = campaign.plan();
    for round in 1..=campaign.rounds() {
        for test in plan.tests() {
            for clients in plan.clients() {
                let sample = campaign.sample(round, treatment, &test.name, clients)?;
                if sample.is_some_and(|folder| folder.sample.throughput().is_some()) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// In what pages its program lay, in the round in which the smallest part was in huge ones; as the first sample of a
/// round has it.
fn program_text(campaign: &Campaign, treatment: &str) -> Result<Option<ProgramText>, StoreError> {
    let plan = campaign.plan();
    let mut found: Option<ProgramText> = None;
    for round in 1..=campaign.rounds() {
        let mut first = None;
        for (test, clients) in plan.tests().iter().flat_map(|test| plan.clients().into_iter().map(move |at| (test, at)))
        {
            if first.is_none() {
                first = campaign.sample(round, treatment, &test.name, clients)?.and_then(|it| it.sample.program_text);
            }
        }
        found = found.into_iter().chain(first).min_by(|a, b| a.huge_share().total_cmp(&b.huge_share()));
    }
    Ok(found)
}

/// What is known of a build from the plan alone.
fn placeholder(plan: &TreatmentPlan) -> BuildFacts {
    let (version, folder) = match &plan.build.source {
        BuildSource::Catalog(version) => (Some(version.clone()), PathBuf::new()),
        BuildSource::Folder(path) | BuildSource::Archive(path) => (None, path.clone()),
        BuildSource::Url { .. } | BuildSource::Source(_) => (None, PathBuf::new()),
    };
    let version = version.unwrap_or_else(|| "0".parse().expect("a number is a version"));
    BuildFacts {
        name: plan.name.clone(),
        folder,
        origin: plan.build.to_string(),
        ..BuildFacts::unknown(plan.build.engine, version)
    }
}

/// The shortest name that fits one treatment only: its build's, or else the whole.
pub(crate) fn label(treatments: &[TreatmentFindings], at: usize) -> &str {
    let build = &treatments[at].build.name;
    let is_unique = treatments.iter().filter(|other| other.build.name == *build).count() == 1;
    if is_unique { build } else { &treatments[at].name }
}

/// Fills in what differs from the base, and from the peer where the base is of another engine.
pub(crate) fn relate_to_base(plan: &Plan, treatments: &mut [TreatmentFindings], base: usize) {
    let as_found = treatments.to_vec();
    let side = |at: usize| Side { plan: &plan.treatments[at], found: &as_found[at] };
    // A build that was never started has no settings either: all of them would seem to differ.
    let is_started = |at: usize| !as_found[at].settings.effective.is_empty();
    for (at, treatment) in treatments.iter_mut().enumerate().filter(|(at, _)| is_started(*at)) {
        let peer = peer(&as_found, base, at);
        if at != peer && is_started(peer) {
            treatment.settings_diff = settings::diff(&as_found[peer].settings, &treatment.settings);
            treatment.warnings.extend(unlike_settings(side(at), side(peer), &treatment.settings_diff));
        }
        if at != base && is_started(base) {
            treatment.warnings.extend(unlike(side(at), side(base)));
        }
        treatment.warnings.extend(not_as_asked(side(at)));
    }
}
