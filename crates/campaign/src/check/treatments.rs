//! The matrix of treatments: builds times profiles times storage engines, each build with those that its engine has.
//!
//! In: the builds, profiles and storage engines of a request. Out: what is compared, or what is wrong with them. One
//! list of profiles serves all engines; none is ever mixed in silently, since that would be unfair to the others.

use super::Checker;
use crate::campaign::{TreatmentRequest, lacks};
use crate::diagnostic::Fault;
use crate::place::{Place, Spanned};
use crate::value::BuildRequest;
use crate::vocabulary::{ProfileWord, Vocabulary, default_profile, did_you_mean};
use rqps_model::{BuildSource, BuildSpec, Engine, StorageEngine};

impl<'a> Checker<'a> {
    /// Every build in every configuration. `None` where something is wrong with them.
    pub(super) fn treatments(&mut self) -> Option<Vec<TreatmentRequest>> {
        let Some(builds) = &self.request.build else {
            if !self.request.is_faulty("build") {
                self.error(&Place::Request, no_build(self.vocabulary));
            }
            self.common_profiles_exist();
            return None;
        };
        let errors = self.faults.errors();
        self.common_profiles_exist();
        self.common_storage_fits();
        let mut treatments = Vec::new();
        for (index, build) in builds.value.iter().enumerate() {
            self.release_exists(build);
            self.own_profiles_exist(build);
            self.own_storage_fits(build);
            self.storage_is_brought(build);
            for (word, _) in self.profiles_of(build) {
                let storage: Vec<Option<StorageEngine>> = match self.storage_of(build) {
                    [] => vec![None],
                    engines => engines.iter().map(|engine| Some(engine.value)).collect(),
                };
                treatments.extend(storage.into_iter().map(|storage| self.treatment(index, build, word, storage)));
            }
        }
        let is_whole = !["build", "profile", "storage-engine", "set"].iter().any(|key| self.request.is_faulty(key));
        let has_base_again = self.request.measures_base_twice() || self.request.control().is_some();
        if is_whole && self.faults.errors() == errors && treatments.len() < 2 && !has_base_again {
            let fault = Fault::error("there is only one treatment, so there is nothing to compare")
                .expected("two builds or more, or one build with two profiles");
            self.error(&builds.place, fault.help("or `aa`, to see the noise of this machine"));
        }
        (is_whole && self.faults.errors() == errors).then_some(treatments)
    }

    fn treatment(
        &self,
        index: usize,
        build: &BuildRequest,
        profile: &Spanned<String>,
        storage: Option<StorageEngine>,
    ) -> TreatmentRequest {
        let spec = &build.spec.value;
        TreatmentRequest {
            build: index,
            spec: spec.clone(),
            place: build.spec.place.clone(),
            build_name: self.build_name(spec),
            profile: profile.value.clone(),
            storage,
            set: self.settings_of(build),
            planted: None,
        }
    }

    /// What a build is called, where user or catalog tell it.
    pub(super) fn build_name(&self, spec: &BuildSpec) -> Option<String> {
        let release = match &spec.source {
            BuildSource::Catalog(version) => self.vocabulary.release(spec.engine, version),
            _ => None,
        };
        spec.name.clone().or_else(|| release.map(|release| release.build.clone()))
    }

    /// The engines of the builds that could be read, in the order in which engines are listed.
    pub(super) fn engines(&self) -> Vec<Engine> {
        let builds = self.request.build.iter().flat_map(|builds| &builds.value);
        let named: Vec<Engine> = builds.map(|build| build.spec.value.engine).collect();
        Engine::ALL.into_iter().filter(|engine| named.contains(engine)).collect()
    }

    fn release_exists(&mut self, build: &BuildRequest) {
        let spec = &build.spec.value;
        let BuildSource::Catalog(version) = &spec.source else { return };
        if self.vocabulary.release(spec.engine, version).is_some() {
            return;
        }
        let versions = self.vocabulary.versions(spec.engine);
        let listed: Vec<String> = versions.iter().map(ToString::to_string).collect();
        let nearest = self.vocabulary.nearest_version(spec.engine, version);
        let help = nearest.map(|nearest| format!("did you mean `{}:{nearest}`?", spec.engine));
        let folder = format!("a folder or archive such as {0}:/opt/{0}", spec.engine);
        let expected = match listed.as_slice() {
            [] => folder,
            listed => format!("one of {}, or {folder}", listed.join(", ")),
        };
        let fault = Fault::error(format!("the catalog has no {} {version}", spec.engine.title())).expected(expected);
        self.error(&build.spec.place, fault.help_if(help));
    }

    /// The profiles that a build runs with, and where they were said: its own or the campaign's, as far as its engine
    /// has them.
    pub(super) fn profiles_of(&self, build: &'a BuildRequest) -> Vec<(&'a Spanned<String>, &'a ProfileWord)> {
        let listed = build.profile.as_ref().or(self.request.profile.as_ref());
        let words = listed.into_iter().flat_map(|list| &list.value);
        let engine = build.spec.value.engine;
        words.filter_map(|word| Some((word, self.vocabulary.profile(engine, &word.value)?))).collect()
    }

    /// Each profile for all builds is one of some engine of the campaign, and each engine has one.
    fn common_profiles_exist(&mut self) {
        let (engines, request) = (self.engines(), self.request);
        let listed = request.profile.as_ref().map(|list| list.value.as_slice()).unwrap_or_default();
        // Which engines a build that could not be read would bring, nobody knows.
        let all_builds_read = !request.is_faulty("build") && request.build.is_some();
        let of = if all_builds_read { engines.clone() } else { Engine::ALL.to_vec() };
        let errors = self.faults.errors();
        self.profiles_exist(listed, &of);
        // Beside a profile that is misspelt, a missing one is no news.
        let is_right = self.faults.errors() == errors && !listed.is_empty();
        let engines = if is_right { engines } else { Vec::new() };
        for engine in engines {
            let mut builds = request.build.iter().flat_map(|builds| &builds.value);
            let lacking = builds.find(|build| {
                build.spec.value.engine == engine && build.profile.is_none() && self.profiles_of(build).is_empty()
            });
            if let Some(build) = lacking {
                let fault = Fault::error(format!("no profile is listed for {}", engine.title()))
                    .expected(format!("{} as well", self.profile_families(&[engine])));
                let words: Vec<&str> = listed.iter().map(|word| word.value.as_str()).collect();
                let example = format!("such as profile {},{}", words.join(","), default_profile(engine));
                self.error(&build.spec.place, fault.help(example));
            }
        }
    }

    fn own_profiles_exist(&mut self, build: &BuildRequest) {
        let own = build.profile.as_ref().map(|list| list.value.as_slice());
        self.profiles_exist(own.unwrap_or_default(), &[build.spec.value.engine]);
    }

    fn profiles_exist(&mut self, profiles: &[Spanned<String>], engines: &[Engine]) {
        for (at, profile) in profiles.iter().enumerate() {
            let word = profile.value.as_str();
            let having: Vec<Engine> =
                Engine::ALL.into_iter().filter(|engine| self.vocabulary.profile(*engine, word).is_some()).collect();
            let fault = if having.is_empty() {
                let known = self.profile_names(engines);
                let reordered = known.iter().copied().find(|known| has_same_parts(known, word));
                let help = reordered.map(|right| format!("did you mean `{right}`?"));
                let help = help.or_else(|| did_you_mean(word, known.iter().copied()));
                Fault::error(format!("unknown profile `{word}`")).help_if(help)
            } else if !having.iter().any(|engine| engines.contains(engine)) {
                let (of, here) = (titles(&having, "and"), titles(engines, "and"));
                Fault::error(format!("profile `{word}` is one of {of}, and what is compared here is {here}"))
            } else if profiles[..at].contains(profile) {
                self.error(&profile.place, Fault::error(format!("profile `{word}` is listed twice")));
                continue;
            } else {
                continue;
            };
            self.error(&profile.place, fault.expected(self.profile_families(engines)));
        }
    }

    /// The families of profiles engine by engine, and what may stand behind their names: all combinations would be
    /// hundreds.
    fn profile_families(&self, engines: &[Engine]) -> String {
        let told = engines.iter().map(|engine| {
            let names = self.profile_names(&[*engine]);
            let (plain, made): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| !name.contains('_'));
            let mut variants: Vec<String> = Vec::new();
            for part in made.iter().flat_map(|name| name.split('_').skip(1)) {
                let variant = format!("_{part}");
                if !variants.contains(&variant) {
                    variants.push(variant);
                }
            }
            let whose = if engines.len() > 1 { format!(" for {}", engine.title()) } else { String::new() };
            let behind = match variants.as_slice() {
                [] => String::new(),
                variants => format!(", plain or with {} behind", variants.join(", ")),
            };
            format!("{}{whose}{behind}", plain.join(", "))
        });
        format!("one of {}", told.collect::<Vec<_>>().join("; "))
    }

    /// The names of some engines' profiles, each once.
    fn profile_names(&self, engines: &[Engine]) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for profile in self.vocabulary.profiles.iter().filter(|profile| engines.contains(&profile.engine)) {
            if !names.contains(&profile.name.as_str()) {
                names.push(&profile.name);
            }
        }
        names
    }

    /// What stores a build's tables, treatment by treatment; nothing where its engine leaves no choice.
    fn storage_of(&self, build: &'a BuildRequest) -> &'a [Spanned<StorageEngine>] {
        if build.spec.value.engine.storage_engines().is_empty() {
            return &[];
        }
        build.storage.as_ref().or(self.request.storage_engine.as_ref()).map_or(&[], |list| list.value.as_slice())
    }

    fn common_storage_fits(&mut self) {
        let Some(listed) = &self.request.storage_engine else { return };
        let engines = self.engines();
        let choosing: Vec<Engine> =
            engines.iter().copied().filter(|engine| !engine.storage_engines().is_empty()).collect();
        if choosing.is_empty() && !self.request.is_faulty("build") {
            self.error(&listed.place, no_choice(&engines));
        }
        let builds = self.request.build.iter().flat_map(|builds| &builds.value);
        let without_own: Vec<Engine> =
            builds.filter(|build| build.storage.is_none()).map(|build| build.spec.value.engine).collect();
        for engine in choosing.into_iter().filter(|engine| without_own.contains(engine)) {
            self.storage_fits(engine, &listed.value);
        }
    }

    fn own_storage_fits(&mut self, build: &BuildRequest) {
        let (engine, Some(listed)) = (build.spec.value.engine, &build.storage) else { return };
        if engine.storage_engines().is_empty() {
            return self.error(&listed.place, no_choice(&[engine]));
        }
        self.storage_fits(engine, &listed.value);
    }

    /// Finds fault with a release that is known to lack what shall store its tables; of what is no release, and of
    /// those not yet installed, `expand` hears.
    fn storage_is_brought(&mut self, build: &'a BuildRequest) {
        let spec = &build.spec.value;
        let BuildSource::Catalog(version) = &spec.source else { return };
        let Some(release) = self.vocabulary.release(spec.engine, version) else { return };
        let Some(brought) = &release.storage else { return };
        let engine_has = spec.engine.storage_engines();
        // What no release of the engine has was told where it was listed.
        let asked = self.storage_of(build).iter().map(|stated| stated.value).filter(|s| engine_has.contains(s));
        for storage in asked.filter(|storage| !brought.contains(storage)).collect::<Vec<_>>() {
            let having = self.vocabulary.builds_with(storage);
            self.error(&build.spec.place, lacks(&release.build, storage, &having));
        }
    }

    /// How to say it for those builds alone whose engine has the storage engine.
    fn storage_by_build(&self, storage: StorageEngine) -> Option<String> {
        let has = |engine: &Engine| engine.storage_engines().contains(&storage);
        let having: Vec<Engine> = Engine::ALL.into_iter().filter(has).collect();
        let builds = self.request.build.iter().flat_map(|builds| &builds.value).map(|build| &build.spec.value);
        let with = |build: String| format!("{{ from = \"{build}\", storage-engine = [\"{storage}\"] }}");
        let listed: Vec<String> = builds
            .clone()
            .map(|build| if has(&build.engine) { with(build.to_string()) } else { format!("\"{build}\"") })
            .collect();
        let example = match builds.clone().any(|build| has(&build.engine)) {
            true => listed.join(", "),
            false => with(format!("{}:VERSION", having.first()?)),
        };
        let titles = titles(&having, "and");
        Some(format!("{titles} has them; say it build by build, in a campaign file: build = [{example}]"))
    }

    fn storage_fits(&mut self, engine: Engine, listed: &[Spanned<StorageEngine>]) {
        let has = engine.storage_engines();
        for storage in listed.iter().filter(|storage| !has.contains(&storage.value)) {
            let names: Vec<&str> = has.iter().map(|storage| storage.name()).collect();
            let fault = Fault::error(format!("{} has no {} tables", engine.title(), storage.value)).expected(format!(
                "{} for {}",
                names.join(" or "),
                engine.title()
            ));
            let table = self.storage_by_build(storage.value);
            self.error(&storage.place, fault.help_if(table));
        }
    }
}

/// Whether two names of profiles differ in the order of their variants alone.
pub(super) fn has_same_parts(known: &str, word: &str) -> bool {
    let parts = |name: &str| {
        let (first, rest) = name.split_once('_')?;
        let mut rest: Vec<String> = rest.split('_').map(str::to_owned).collect();
        rest.sort();
        Some((first.to_owned(), rest))
    };
    parts(known).is_some() && parts(known) == parts(word)
}

fn no_choice(engines: &[Engine]) -> Fault {
    let fault = Fault::error(format!("{} leaves no choice of storage engine", titles(engines, "and")));
    fault.help("leave `storage-engine` out; it is for builds of MySQL and MariaDB")
}

/// Engines as a sentence has them: `PostgreSQL, MySQL and MariaDB`.
pub(super) fn titles(engines: &[Engine], last: &str) -> String {
    let titles: Vec<&str> = engines.iter().map(|engine| engine.title()).collect();
    match titles.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [front @ .., end] => format!("{} {last} {end}", front.join(", ")),
    }
}

fn no_build(vocabulary: &Vocabulary) -> Fault {
    let engine = Engine::ALL[0];
    let newest = vocabulary.versions(engine).into_iter().rfind(|version| version.is_final());
    let newest = newest.map_or_else(|| "17.11".to_owned(), ToString::to_string);
    Fault::error("no build is named").expected("two builds or more, or one build with two profiles").help(format!(
        "such as --build {engine}:{newest} --build {engine}:/opt/{engine}; `rqps builds list` shows what there is"
    ))
}

#[cfg(test)]
mod tests;
