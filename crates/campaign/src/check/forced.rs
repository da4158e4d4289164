//! What the engines and storage engines of a campaign force to be different, for the plan.
//!
//! In: the suite's list, the tests that were chosen, the treatments. Out: the entries in which treatments differ.

use crate::campaign::TreatmentRequest;
use rqps_model::plan::{ForcedForm, TestPlan};
use rqps_model::{Engine, StorageEngine};
use rqps_suites::{Forced, Suite};
use std::collections::BTreeMap;

/// The forms of those tests on those treatments. Where the suite has no tests to choose, all its steps are run.
pub(super) fn forced(suite: &Suite, tests: &[TestPlan], treatments: &[TreatmentRequest]) -> Vec<ForcedForm> {
    let is_chosen = |name: &String| suite.tests.is_empty() || tests.iter().any(|test| test.name == *name);
    let of_campaign = |form: &Forced| {
        let of_tests: Vec<String> = form.tests.iter().filter(|name| is_chosen(name)).cloned().collect();
        let is_in_use = form.tests.is_empty() || !of_tests.is_empty();
        let forms = forms(form, treatments).filter(|_| is_in_use)?;
        Some(ForcedForm { what: form.what.clone(), tests: of_tests, forms, because: form.because.clone() })
    };
    suite.forced.iter().filter_map(of_campaign).collect()
}

/// The form on each engine; `None` where all treatments have the same.
fn forms(form: &Forced, treatments: &[TreatmentRequest]) -> Option<BTreeMap<Engine, String>> {
    let mut used: BTreeMap<Engine, Vec<(Option<StorageEngine>, &str)>> = BTreeMap::new();
    for treatment in treatments {
        let text = form.form(treatment.spec.engine, treatment.storage)?;
        let of_engine = used.entry(treatment.spec.engine).or_default();
        if !of_engine.iter().any(|(_, known)| *known == text) {
            of_engine.push((treatment.storage, text));
        }
    }
    let mut texts = used.values().flatten().map(|(_, text)| text);
    let first = texts.next();
    if texts.all(|text| Some(text) == first) {
        return None;
    }
    let told = |forms: &[(Option<StorageEngine>, &str)]| match forms {
        [(_, form)] => (*form).to_owned(),
        several => {
            let name = |storage: &Option<StorageEngine>| storage.map_or("", StorageEngine::name);
            let told = several.iter().map(|(storage, form)| format!("{}: {form}", name(storage)));
            told.collect::<Vec<_>>().join("; ")
        }
    };
    Some(used.iter().map(|(engine, forms)| (*engine, told(forms))).collect())
}
