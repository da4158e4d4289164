//! Treatments as stored → treatments as found: build, settings, what differs from the base.
//!
//! In: the campaign's folder. Out: [`TreatmentFindings`] in plan order, without sentence and counts, which need the
//! verdicts. A treatment that was never started has a placeholder for a build and says so in a warning.

use crate::findings::{TreatmentFindings, Warning};
use crate::settings;
use crate::warnings::treatment::{Side, unlike};
use rqps_model::facts::BuildFacts;
use rqps_model::plan::TreatmentPlan;
use rqps_model::{BuildSource, Plan, Version};
use rqps_store::{Campaign, StoreError};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All treatments of a campaign.
pub(crate) fn treatments(campaign: &Campaign) -> Result<Vec<TreatmentFindings>, StoreError> {
    let find = |plan: &TreatmentPlan| {
        let build = campaign.build(&plan.name)?;
        let not_started = build.is_none().then(|| Warning {
            kind: "absent".to_owned(),
            message: "this build was never started".to_owned(),
            remedy: Some("finish the campaign with `rqps resume`".to_owned()),
        });
        Ok(TreatmentFindings {
            name: plan.name.clone(),
            build: build.unwrap_or_else(|| placeholder(plan)),
            settings: campaign.settings(&plan.name)?.unwrap_or_default(),
            settings_diff: BTreeMap::new(),
            sentence: String::new(),
            counts: [0; 4],
            load_seconds: campaign.status().load_seconds.get(&plan.name).copied().unwrap_or(0.0),
            warnings: not_started.into_iter().collect(),
        })
    };
    campaign.plan().treatments.iter().map(find).collect()
}

/// What the plan alone tells of a build.
fn placeholder(plan: &TreatmentPlan) -> BuildFacts {
    let (version, folder) = match &plan.build.source {
        BuildSource::Catalog(version) => (version.clone(), PathBuf::new()),
        BuildSource::Folder(folder) => ("0".parse::<Version>().expect("a number is a version"), folder.clone()),
    };
    BuildFacts {
        name: plan.name.clone(),
        engine: plan.build.engine,
        version,
        banner: String::new(),
        folder,
        origin: plan.build.to_string(),
        sha256: String::new(),
        compiler: String::new(),
        flags: String::new(),
        configure: String::new(),
        extensions: Vec::new(),
        size_bytes: 0,
        symbols: String::new(),
    }
}

/// Fills in what differs from the base.
pub(crate) fn relate_to_base(plan: &Plan, treatments: &mut [TreatmentFindings], base: usize) {
    let of_base = treatments[base].clone();
    // A build that was never started has no settings either: all of them would seem to differ.
    let is_started = |treatment: &TreatmentFindings| !treatment.settings.effective.is_empty();
    for (at, treatment) in treatments.iter_mut().enumerate() {
        if at == base || !is_started(treatment) || !is_started(&of_base) {
            continue;
        }
        treatment.settings_diff = settings::diff(&of_base.settings, &treatment.settings);
        let this = Side { plan: &plan.treatments[at], found: treatment };
        let warnings = unlike(this, Side { plan: &plan.treatments[base], found: &of_base });
        treatment.warnings.extend(warnings);
    }
}
