//! What is run of the user's own workload: which engines its files must serve, which of its tests, for how long.
//!
//! In: a request that presets and defaults have filled, and a way to the files that it names. Out: what is run, with
//! its tests, or every fault at the word that causes it.

use super::Checker;
use crate::campaign::{TreatmentRequest, base_engine};
use crate::diagnostic::Fault;
use crate::own::{Choices, Files};
use crate::place::Place;
use crate::request::place_of;
use crate::vocabulary::did_you_mean;
use rqps_model::Interleave;
use rqps_model::own::{AnswersRule, Own};
use rqps_model::plan::{SuitePlan, TestPlan};
use wildmatch::WildMatch;

/// The word for all tests of a workload.
const ALL: &str = "all";

impl Checker<'_> {
    /// What is asked for, and its tests. `None` where something is wrong with it.
    pub(super) fn workload(
        &mut self,
        files: &dyn Files,
        treatments: Option<&[TreatmentRequest]>,
        interleave: Option<Interleave>,
    ) -> Option<(SuitePlan, Vec<TestPlan>)> {
        let request = self.request;
        let Some(from) = &request.from else {
            let fault = Fault::error("suite own has nothing to run").expected("a workload file or a pgbench script");
            self.error(&Place::Request, fault.help("name it: --from shop.toml, or --from script.sql"));
            return None;
        };
        let builds = || request.build.iter().flat_map(|builds| &builds.value).map(|build| &build.spec.value);
        let choices = Choices {
            engines: builds().map(|build| build.engine).collect(),
            builds: builds().map(|build| (self.build_name(build), build.engine)).collect(),
            base: treatments.and_then(|all| base_engine(request.base.as_ref().map(|base| base.value.as_str()), all)),
            scale: request.data_scale.as_ref().map(|scale| scale.value),
            define: request.define.iter().flat_map(|define| &define.value).map(|one| one.value.clone()).collect(),
            protocol: request.protocol.clone(),
            max_tries: request.max_tries.as_ref().map(|tries| tries.value),
            allow_shell: request.allow_shell.as_ref().is_some_and(|allow| allow.value),
            answers_may_differ: request.answers.as_ref().is_some_and(|rule| rule.value == AnswersRule::MayDiffer),
            pg_restore: request.pg_restore.as_ref().map(|path| path.value.clone().into()),
        };
        let own = crate::own::read(&from.value, &choices, files, self.faults)?;
        if own.tests.iter().any(|test| test.events.is_some()) {
            let at = [request.rate.as_ref().map(|rate| &rate.place), request.control.as_ref().map(|one| &one.place)];
            for place in at.into_iter().flatten() {
                let fault = Fault::error("a test with `events` runs as fast as it can, with nothing planted");
                self.error(place, fault.help("leave out `events` in the workload file, or `rate` and `control` here"));
            }
        }
        let tests = self.tests_of(&own, interleave)?;
        Some((rqps_suites::of_own(own), tests))
    }

    /// The tests that are chosen, those that read before those that write, else in their order.
    fn tests_of(&mut self, own: &Own, interleave: Option<Interleave>) -> Option<Vec<TestPlan>> {
        let request = self.request;
        let is_chosen = |word: &str, name: &str| word == ALL || word == name || WildMatch::new(word).matches(name);
        let words = request.tests.as_ref().map_or(&[][..], |words| &words.value);
        for word in words {
            if !own.tests.iter().any(|test| is_chosen(&word.value, &test.name)) {
                let known = own.tests.iter().map(|test| test.name.as_str());
                let fault = Fault::error(format!("no test `{}` in workload {}", word.value, own.name));
                self.error(&word.place, fault.help_if(did_you_mean(&word.value, known)));
            }
        }
        let seconds = |writes: bool| {
            let key = if writes { &request.write_seconds } else { &request.read_seconds };
            key.as_ref().map_or(f64::INFINITY, |seconds| seconds.value)
        };
        let (read, write): (Vec<_>, Vec<_>) = own
            .tests
            .iter()
            .filter(|test| words.is_empty() || words.iter().any(|word| is_chosen(&word.value, &test.name)))
            .partition(|test| !test.writes);
        for test in read.iter().chain(&write).filter(|test| test.pauses()) {
            let why = format!("clients of `{}` sleep or run commands within an event, so builds take turns", test.name);
            let said = request.interleave.as_ref().filter(|how| how.value == Interleave::Slices);
            let fault = Fault::note(why).help("a client that sleeps in a slice would hold up the other builds");
            self.faults.add(&place_of(said), fault);
        }
        let chosen = read.into_iter().chain(write);
        Some(rqps_suites::own_tests(chosen, interleave, seconds))
    }
}
