//! What is run of TPROC-C: whether profile, forms and quirks go together and with the engines.
//!
//! In: a request that presets and defaults have filled. Out: what is run, with its tests, or every fault at the word
//! that causes it.

use super::Checker;
use crate::diagnostic::Fault;
use crate::request::place_of;
use crate::vocabulary::did_you_mean;
use rqps_model::plan::{SuitePlan, TestPlan};
use rqps_model::tproc_c::{Form, Profile, Quirk, TprocC};
use rqps_model::{Engine, Interleave};
use std::collections::{BTreeMap, BTreeSet};

impl Checker<'_> {
    /// What is asked for, and a test for each number of warehouses. `None` where something is wrong with it.
    pub(super) fn transactions(&mut self, interleave: Option<Interleave>) -> Option<(SuitePlan, Vec<TestPlan>)> {
        let request = self.request;
        let profile = request.tproc_c_profile.as_ref().map(|profile| profile.value);
        let (quirks, forms) = (self.quirks(profile), self.forms(profile?));
        let shape = TprocC {
            profile: profile?,
            warehouses: request.warehouses.as_ref()?.value.iter().map(|number| number.value).collect(),
            forms: forms?,
            quirks: quirks?,
            partitioned: request.partitioned.as_ref()?.value,
            isolation: request.isolation.as_ref()?.value,
            all_warehouses: request.all_warehouses.as_ref()?.value,
            keying_and_thinking: request.keying_and_thinking.as_ref()?.value,
            check: request.check.as_ref()?.value,
        };
        Some(rqps_suites::of_transactions(shape, interleave, request.seconds.as_ref()?.value))
    }

    /// The quirks that are kept: all of them where nothing is said.
    fn quirks(&mut self, profile: Option<Profile>) -> Option<BTreeSet<Quirk>> {
        let all = || Quirk::ALL.into_iter().collect();
        let Some(said) = &self.request.quirks else {
            return Some(if profile == Some(Profile::Hammerdb) { all() } else { BTreeSet::new() });
        };
        let mut quirks = BTreeSet::new();
        let errors = self.faults.errors();
        for word in &said.value {
            match (word.value.as_str(), Quirk::find(&word.value)) {
                ("all", _) => quirks = all(),
                ("none", _) => {}
                (_, Some(quirk)) => _ = quirks.insert(quirk),
                (unknown, None) => {
                    let fault = Fault::error(format!("unknown quirk `{unknown}`"))
                        .expected("all, none, or names of quirks (docs/tproc-c.md)")
                        .help_if(did_you_mean(unknown, Quirk::ALL.map(Quirk::name)));
                    self.error(&word.place, fault);
                }
            }
        }
        if profile == Some(Profile::Tpcc) && !quirks.is_empty() {
            let fault = Fault::error("profile tpcc has no quirks").expected("none");
            self.error(&said.place, fault.help("they are HammerDB's: tproc-c-profile = \"hammerdb\""));
        }
        (self.faults.errors() == errors).then_some(quirks)
    }

    /// The form on each engine: as said, or the usual one of the profile.
    fn forms(&mut self, profile: Profile) -> Option<BTreeMap<Engine, Form>> {
        let builds = self.request.build.iter().flat_map(|builds| &builds.value);
        let engines: BTreeSet<Engine> = builds.map(|build| build.spec.value.engine).collect();
        let Some(said) = &self.request.form else {
            return Some(engines.into_iter().map(|engine| (engine, Form::usual(profile, engine))).collect());
        };
        let errors = self.faults.errors();
        let mut forms = BTreeMap::new();
        for engine in &engines {
            let of_engine: Vec<_> = said.value.iter().filter(|form| form.value.is_of(*engine)).collect();
            let having: Vec<&str> =
                Form::ALL.iter().filter(|form| form.is_of(*engine)).map(|form| form.name()).collect();
            let expected = format!("one of {} for {engine}", having.join(", "));
            match of_engine[..] {
                [form] => _ = forms.insert(*engine, form.value),
                [] => {
                    let fault = Fault::error(format!("no form of transactions for {engine}")).expected(expected);
                    self.error(
                        &place_of(Some(said)),
                        fault.help("give one for each engine: form = [\"function\", \"call\"]"),
                    );
                }
                [_, second, ..] => {
                    let fault = Fault::error(format!("two forms of transactions for {engine}")).expected(expected);
                    self.error(&second.place, fault);
                }
            }
        }
        for form in said.value.iter().filter(|form| !engines.iter().any(|engine| form.value.is_of(*engine))) {
            let fault = format!("no build has transactions of the form `{}`", form.value);
            self.error(&form.place, Fault::error(fault).help("leave it out"));
        }
        (self.faults.errors() == errors).then_some(forms)
    }
}

#[cfg(test)]
mod tests;
