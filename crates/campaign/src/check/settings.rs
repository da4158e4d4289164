//! Settings on top of profiles: which builds each goes to, and whether any version knows it.
//!
//! In: the settings for all builds and those of single builds. Out: the settings of one build, or faults. A setting for
//! all goes to the builds whose engine knows it; what a folder or an archive holds may be newer than what is known.

use super::Checker;
use super::treatments::titles;
use crate::diagnostic::Fault;
use crate::engine::words;
use crate::value::{BuildRequest, Setting};
use crate::vocabulary::{KeptSettings, did_you_mean};
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

    /// Finds fault with settings that are not the user's to choose, and says whether there are any.
    fn settings_are_the_users(&mut self) -> Vec<String> {
        let request = self.request;
        let builds = request.build.iter().flat_map(|builds| &builds.value);
        let common = request.set.iter().flat_map(|set| &set.value).map(|setting| (setting, self.engines()));
        let own = builds.flat_map(|build| build.set.iter().map(|setting| (setting, vec![build.spec.value.engine])));
        let mut kept = Vec::new();
        for (setting, engines) in common.chain(own).collect::<Vec<_>>() {
            let why = engines.iter().find_map(|engine| {
                let settings = self.vocabulary.kept_settings.get(engine)?;
                why_kept(settings, *engine, &setting.value)
            });
            if let Some(fault) = why {
                self.error(&setting.place, fault);
                kept.push(setting.value.0.clone());
            }
        }
        kept
    }

    /// Finds fault with settings that no engine of the campaign has, as far as can be told.
    pub(super) fn settings_exist(&mut self) {
        let request = self.request;
        let kept = self.settings_are_the_users();
        let builds: Vec<&BuildRequest> = request.build.iter().flat_map(|builds| &builds.value).collect();
        let is_release = |build: &&BuildRequest| matches!(build.spec.value.source, BuildSource::Catalog(_));
        let all_builds_read = !request.is_faulty("build");
        let engines = if all_builds_read { self.engines() } else { Engine::ALL.to_vec() };
        // One engine's folder may well have a setting of tomorrow; of several engines, nobody could tell which has it.
        if builds.iter().any(is_release) || engines.len() > 1 && !builds.is_empty() {
            for setting in request.set.iter().flat_map(|set| &set.value).filter(|set| !kept.contains(&set.value.0)) {
                self.is_known(setting, &engines);
            }
        }
        for build in builds.into_iter().filter(is_release) {
            for setting in build.set.iter().filter(|set| !kept.contains(&set.value.0)) {
                self.is_known(setting, &[build.spec.value.engine]);
            }
        }
    }

    fn is_known(&mut self, setting: &crate::place::Spanned<Setting>, engines: &[Engine]) {
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

/// Why a setting is not the user's to choose, if so.
fn why_kept(settings: &KeptSettings, engine: Engine, (name, value): &Setting) -> Option<Fault> {
    let name = name.to_ascii_lowercase();
    let plain = name.strip_prefix(words(engine).loose_prefix).unwrap_or(&name);
    let among = |names: &[String]| names.iter().any(|known| known == plain);
    if among(&settings.own) {
        let fault =
            Fault::error(format!("`{name}` is not yours to set: rqps chooses it to keep servers apart and private"));
        return Some(fault.help("leave it out"));
    }
    if among(&settings.files) && (value.contains('/') || value == "..") {
        let fault =
            Fault::error(format!("`{name}` leads away: rqps keeps all files of a server in the server's own folder"));
        return Some(fault.expected("a name without a path"));
    }
    None
}

#[cfg(test)]
mod tests;
