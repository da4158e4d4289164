//! From a request to a campaign: names are looked up, contradictions found, the matrix of treatments laid out.
//!
//! In: the merged request and the vocabulary. Out: a `Campaign`, or every fault at once. What only the builds
//! themselves can tell (their names, where they come from a folder) is left to `expand`.

use crate::campaign::{Asked, Campaign};
use crate::diagnostic::{Fault, Faults};
use crate::place::{Place, Stated};
use crate::request::{BuildRequest, Request, place_of};
use crate::select::{NoSuchTest, matching, select};
use crate::vocabulary::{ProfileWord, Seconds, SuiteWord, Vocabulary, did_you_mean};
use rqps_model::plan::{Arrival, DataShape, TestPlan};
use rqps_model::{BuildSource, Interleave};
use std::collections::BTreeMap;

/// Fewer rounds than this leave no useful interval.
const ROUNDS_FOR_AN_INTERVAL: u32 = 3;

/// Checks a request that presets and defaults have filled.
pub(crate) fn check(request: &Request, vocabulary: &Vocabulary, faults: &mut Faults) -> Option<Campaign> {
    let mut checker = Checker { request, vocabulary, faults };
    let treatments = checker.treatments();
    checker.settings_exist();
    let interleave = checker.interleave();
    let tests = checker.tests(interleave);
    checker.slice_fits(&tests);
    checker.enough_rounds();
    if let Some(treatments) = &treatments {
        checker.base_exists(treatments);
    }
    if checker.faults.any_error() {
        return None;
    }
    // Nothing is missing where nothing was wrong: defaults fill every key that is not a build or a name.
    Some(Campaign {
        name: request.name.as_ref().map(|name| name.value.clone()),
        suite: request.suite.as_ref()?.value.clone(),
        builds: request.build.as_ref()?.value.iter().map(|build| build.spec.value.clone()).collect(),
        treatments: treatments?,
        base: request.base.clone(),
        tests,
        clients: request.clients.as_ref()?.value.iter().map(|clients| clients.value).collect(),
        data: DataShape { tables: request.tables.as_ref()?.value, rows: request.rows.as_ref()?.value },
        warmup_seconds: request.warmup.as_ref()?.value,
        slice_ms: request.slice.as_ref()?.value,
        arrival: request.rate.as_ref().map_or(Arrival::Closed, |rate| rate.value),
        placement: request.placement.as_ref()?.value,
        machine: request.machine.as_ref().map(|machine| machine.value),
        margin: request.margin.as_ref()?.value,
        rounds: request.rounds.as_ref()?.value,
        seed: request.seed.as_ref()?.value,
        source: request.source.clone(),
    })
}

struct Checker<'a> {
    request: &'a Request,
    vocabulary: &'a Vocabulary,
    faults: &'a mut Faults,
}

impl<'a> Checker<'a> {
    fn error(&mut self, place: &Place, fault: Fault) {
        self.faults.add(place, fault);
    }

    /// Builds times profiles. `None` where something is wrong with them.
    fn treatments(&mut self) -> Option<Vec<Asked>> {
        let profiles = self.request.profile.as_ref().map(|list| list.value.as_slice()).unwrap_or_default();
        let mut known = self.profiles_exist(profiles) && !self.request.is_faulty("profile");
        let Some(builds) = &self.request.build else {
            if !self.request.is_faulty("build") {
                self.error(&Place::Request, no_build(self.vocabulary));
            }
            return None;
        };
        let mut treatments = Vec::new();
        for (index, build) in builds.value.iter().enumerate() {
            known &= self.release_exists(build);
            let own = build.profile.as_ref().map(|list| list.value.as_slice());
            known &= own.is_none_or(|own| self.profiles_exist(own));
            for profile in own.unwrap_or(profiles) {
                treatments.push(self.treatment(index, build, profile));
            }
        }
        if known && treatments.len() < 2 {
            let fault = Fault::error("there is only one treatment, so there is nothing to compare")
                .expected("two builds or more, or one build with two profiles");
            self.error(&builds.place, fault.help("name the same build twice to see the noise of this machine"));
            known = false;
        }
        known.then_some(treatments)
    }

    fn treatment(&self, index: usize, build: &BuildRequest, profile: &Stated<String>) -> Asked {
        let common = self.request.set.iter().flat_map(|set| &set.value);
        // The build's own settings come later, and the later wins.
        let set: BTreeMap<String, String> = common.chain(&build.set).map(|setting| setting.value.clone()).collect();
        let spec = &build.spec.value;
        let release = match &spec.source {
            BuildSource::Catalog(version) => self.vocabulary.release(spec.engine, version),
            BuildSource::Folder(_) => None,
        };
        let build_name = spec.name.clone().or_else(|| release.map(|release| release.build.clone()));
        Asked { build: index, spec: spec.clone(), build_name, profile: profile.value.clone(), set }
    }

    fn release_exists(&mut self, build: &BuildRequest) -> bool {
        let spec = &build.spec.value;
        let BuildSource::Catalog(version) = &spec.source else { return true };
        if self.vocabulary.release(spec.engine, version).is_some() {
            return true;
        }
        let versions = self.vocabulary.versions(spec.engine);
        let listed: Vec<String> = versions.iter().map(ToString::to_string).collect();
        let nearest = self.vocabulary.nearest_version(spec.engine, version);
        let help = nearest.map(|nearest| format!("did you mean `{}:{nearest}`?", spec.engine));
        let fault = Fault::error(format!("the catalog has no {} {version}", spec.engine.title())).expected(format!(
            "one of {}, or a folder such as {}:/opt/pg",
            listed.join(", "),
            spec.engine
        ));
        self.error(&build.spec.place, fault.help_if(help));
        false
    }

    fn profiles_exist(&mut self, profiles: &[Stated<String>]) -> bool {
        let mut right = true;
        for (at, profile) in profiles.iter().enumerate() {
            let names = self.vocabulary.profiles.iter().map(|known| known.name.as_str());
            if !names.clone().any(|name| name == profile.value) {
                let fault = Fault::error(format!("unknown profile `{}`", profile.value))
                    .expected(format!("one of {}", names.clone().collect::<Vec<_>>().join(", ")))
                    .help_if(did_you_mean(&profile.value, names));
                self.error(&profile.place, fault);
                right = false;
            } else if profiles[..at].contains(profile) {
                self.error(&profile.place, Fault::error(format!("profile `{}` is listed twice", profile.value)));
                right = false;
            }
        }
        right
    }

    /// Settings of releases must be among those that are known. What a folder holds may be newer than that.
    fn settings_exist(&mut self) {
        let builds = self.request.build.iter().flat_map(|builds| &builds.value);
        let releases: Vec<&BuildRequest> =
            builds.filter(|build| matches!(build.spec.value.source, BuildSource::Catalog(_))).collect();
        let common = self.request.set.iter().filter(|_| !releases.is_empty()).flat_map(|set| &set.value);
        for setting in common.chain(releases.iter().flat_map(|build| &build.set)) {
            let name = &setting.value.0;
            if !self.vocabulary.may_have_setting(name) {
                let names = self.vocabulary.settings.iter().map(String::as_str);
                let fault = Fault::error(format!("no release has a setting `{name}`"));
                self.faults.add(&setting.place, fault.help_if(did_you_mean(name, names)));
            }
        }
    }

    /// How builds alternate: for all tests alike where that was said or follows, else as each test wants it.
    fn interleave(&mut self) -> Option<Interleave> {
        let (rate, slice) = (self.request.rate.as_ref(), self.request.slice.as_ref());
        let open = rate.filter(|rate| rate.value != Arrival::Closed);
        let said = self.request.interleave.as_ref();
        if let (Some(rate), Some(how)) = (open, said)
            && how.value == Interleave::Slices
        {
            let fault = Fault::error("requests at a planned rate need turns, not slices");
            let fault = fault.help("while one build has its slice, the requests of the other would all become late");
            self.error(&rate.place, fault.expected("interleave = \"turns\", or no rate"));
        }
        let profiles = self.all_profiles();
        let (turns, why) = if let Some(how) = said {
            (how.value == Interleave::Turns, "interleave is turns".to_owned())
        } else if let Some(profile) = profiles.iter().find(|profile| profile.interleave == Interleave::Turns) {
            (true, format!("profile {} runs in turns", profile.name))
        } else {
            (open.is_some(), "requests at a planned rate run in turns".to_owned())
        };
        if let Some(slice) = slice.filter(|slice| turns && !matches!(slice.place, Place::Preset(_))) {
            let fault = format!("`slice` says nothing here, since {why}");
            let together =
                said.is_some_and(|how| std::mem::discriminant(&how.place) == std::mem::discriminant(&slice.place));
            let fault = if together { Fault::error(fault) } else { Fault::note(fault) };
            self.error(&slice.place, fault.help("leave it out, or take slices"));
        }
        match said {
            Some(how) => Some(how.value),
            None => turns.then_some(Interleave::Turns),
        }
    }

    /// Every profile that some treatment runs with, as far as it is known.
    fn all_profiles(&self) -> Vec<&'a ProfileWord> {
        let builds = self.request.build.iter().flat_map(|builds| &builds.value);
        let own = builds.filter_map(|build| build.profile.as_ref());
        let words = own.chain(&self.request.profile).flat_map(|list| &list.value);
        words.filter_map(|word| self.vocabulary.profiles.iter().find(|known| known.name == word.value)).collect()
    }

    fn tests(&mut self, interleave: Option<Interleave>) -> Vec<TestPlan> {
        let Some(suite) = self.suite() else { return Vec::new() };
        let Some(words) = &self.request.tests else { return Vec::new() };
        for word in &words.value {
            if let Err(wrong) = matching(suite, &word.value) {
                self.error(&word.place, no_such_test(suite, wrong));
            }
        }
        let words: Vec<&str> = words.value.iter().map(|word| word.value.as_str()).collect();
        let Ok(selected) = select(suite, &words) else { return Vec::new() };
        let seconds = |time: Seconds| match time {
            Seconds::Read => self.request.read_seconds.as_ref(),
            Seconds::Write => self.request.write_seconds.as_ref(),
        };
        let plan = |selected: crate::select::Selected<'_>| {
            let test = selected.test;
            TestPlan {
                name: test.name.clone(),
                label: test.label.clone(),
                group: test.group,
                unit: test.unit,
                writes: test.writes,
                rank: test.rank,
                interleave: interleave.or(test.interleave).unwrap_or(Interleave::Slices),
                // Open only where the key was said wrongly, and then there is no plan.
                seconds: seconds(test.seconds).map_or(f64::INFINITY, |seconds| seconds.value),
                before: selected.before,
            }
        };
        selected.into_iter().map(plan).collect()
    }

    fn suite(&mut self) -> Option<&'a SuiteWord> {
        let word = self.request.suite.as_ref()?;
        let suite = self.vocabulary.suites.iter().find(|suite| suite.name == word.value);
        if suite.is_none() {
            let names = self.vocabulary.suites.iter().map(|suite| suite.name.as_str());
            let fault = Fault::error(format!("unknown suite `{}`", word.value))
                .expected(names.clone().collect::<Vec<_>>().join(" or "))
                .help_if(did_you_mean(&word.value, names));
            self.error(&word.place, fault);
        }
        suite
    }

    fn slice_fits(&mut self, tests: &[TestPlan]) {
        let Some(slice) = &self.request.slice else { return };
        let sliced = tests.iter().filter(|test| test.interleave == Interleave::Slices);
        let shortest = sliced.map(|test| test.seconds).fold(f64::INFINITY, f64::min);
        if slice.value / 1000.0 > shortest {
            let message = format!("a slice of {} ms is longer than a test of {shortest} s", slice.value);
            self.error(&slice.place, Fault::error(message).help("shorten `slice`, or lengthen the tests"));
        }
    }

    fn enough_rounds(&mut self) {
        let Some(rounds) = &self.request.rounds else { return };
        if rounds.value < ROUNDS_FOR_AN_INTERVAL {
            let told = if rounds.value == 1 { "one round gives" } else { "two rounds give" };
            let help = format!("take {ROUNDS_FOR_AN_INTERVAL} rounds or more; 6 is the usual number");
            self.error(
                &rounds.place,
                Fault::note(format!("{told} no useful interval, so most verdicts will be undecided")).help(help),
            );
        }
    }

    /// Finds fault with a base that cannot be any treatment, as far as the names are known by now.
    fn base_exists(&mut self, treatments: &[Asked]) {
        let Some(base) = &self.request.base else { return };
        if let Err(fault) = crate::campaign::find_base(&base.value, treatments, crate::campaign::Names::SomeKnown) {
            self.error(&place_of(Some(base)), fault);
        }
    }
}

fn no_build(vocabulary: &Vocabulary) -> Fault {
    let engine = rqps_model::Engine::ALL[0];
    let newest = vocabulary.versions(engine).into_iter().next_back();
    let newest = newest.map_or_else(|| "17.11".to_owned(), ToString::to_string);
    Fault::error("no build is named").expected("two builds or more, or one build with two profiles").help(format!(
        "such as --build {engine}:{newest} --build {engine}:/opt/pg; `rqps builds list` shows what there is"
    ))
}

fn no_such_test(suite: &SuiteWord, wrong: NoSuchTest) -> Fault {
    let subsets = suite.subsets().join(", ");
    let fault = if wrong.word.contains(['*', '?']) {
        Fault::error(format!("no test of {} fits the pattern `{}`", wrong.suite, wrong.word))
    } else {
        Fault::error(format!("unknown test `{}`", wrong.word))
    };
    let fault = fault.expected(format!("a test, a pattern with * or ?, or one of {subsets}"));
    fault.help_if(wrong.nearest.map(|nearest| format!("did you mean `{nearest}`?")))
}

#[cfg(test)]
mod tests;
