//! Settings on top of profiles: which builds each goes to, and whether any version knows it.
//!
//! In: the settings for all builds and those of single builds. Out: the settings of one build, or faults. A setting for
//! all goes to the builds whose engine knows it; what a folder or an archive holds may be newer than what is known.

use super::Checker;
use super::treatments::titles;
use crate::diagnostic::Fault;
use crate::request::{BuildRequest, Setting};
use crate::vocabulary::did_you_mean;
use rqps_model::{BuildSource, Engine};
use std::collections::BTreeMap;

impl Checker<'_> {
    /// What is set on a build: what is meant for all, as far as its engine has it, and its own, which wins.
    pub(super) fn settings_of(&self, build: &BuildRequest) -> BTreeMap<String, String> {
        let (engine, engines) = (build.spec.value.engine, self.engines());
        let is_for_it = |setting: &&Setting| {
            let knows = |engine: &Engine| self.vocabulary.may_have_setting(*engine, &setting.0);
            knows(&engine) || !engines.iter().any(knows)
        };
        let common = self.request.set.iter().flat_map(|set| &set.value).map(|setting| &setting.value);
        common.filter(is_for_it).chain(build.set.iter().map(|setting| &setting.value)).cloned().collect()
    }

    /// Finds fault with settings that no engine of the campaign has, as far as can be told.
    pub(super) fn settings_exist(&mut self) {
        let request = self.request;
        let builds: Vec<&BuildRequest> = request.build.iter().flat_map(|builds| &builds.value).collect();
        let is_release = |build: &&BuildRequest| matches!(build.spec.value.source, BuildSource::Catalog(_));
        let all_builds_read = !request.is_faulty("build");
        let engines = if all_builds_read { self.engines() } else { Engine::ALL.to_vec() };
        // One engine's folder may well have a setting of tomorrow; of several engines, nobody could tell which has it.
        if builds.iter().any(is_release) || engines.len() > 1 && !builds.is_empty() {
            for setting in request.set.iter().flat_map(|set| &set.value) {
                self.is_known(setting, &engines);
            }
        }
        for build in builds.into_iter().filter(is_release) {
            for setting in &build.set {
                self.is_known(setting, &[build.spec.value.engine]);
            }
        }
    }

    fn is_known(&mut self, setting: &crate::place::Stated<Setting>, engines: &[Engine]) {
        let name = setting.value.0.as_str();
        let knows = |engine: &&Engine| self.vocabulary.may_have_setting(**engine, name);
        if engines.iter().any(|engine| knows(&engine)) {
            return;
        }
        let others: Vec<Engine> = Engine::ALL.iter().filter(knows).copied().collect();
        let names = engines.iter().filter_map(|engine| self.vocabulary.settings.get(engine)).flatten();
        let elsewhere = (!others.is_empty()).then(|| format!("it is a setting of {}", titles(&others, "and")));
        let help = elsewhere.or_else(|| did_you_mean(name, names.map(String::as_str)));
        let fault = Fault::error(format!("no release of {} has a setting `{name}`", titles(engines, "or")));
        self.error(&setting.place, fault.help_if(help));
    }
}
