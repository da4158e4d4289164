//! From a request to a campaign: names are looked up, contradictions found, the matrix of treatments laid out.
//!
//! In: the merged request and the vocabulary. Out: a `Campaign`, or every fault at once. What only the builds
//! themselves can tell (their names, where they come from a folder) is left to `expand`.

use crate::budget::{Budget, Open};
use crate::campaign::{Campaign, TreatmentRequest};
use crate::diagnostic::{Fault, Faults};
use crate::own::Files;
use crate::place::Place;
use crate::request::{Command, Request, place_of};
use crate::select::{NoSuchTest, matching, select};
use crate::vocabulary::{ProfileWord, Vocabulary, did_you_mean, nearest};
use rqps_model::plan::{Arrival, DataShape, SuitePlan, TestPlan};
use rqps_model::{Interleave, Placement};
use rqps_suites::key::DefaultValue;
use rqps_suites::{Choice, KEYS, Key, SecondsClass, Suite, SuiteName};

mod alternation;
mod forced;
mod own;
mod scale;
mod settings;
mod transactions;
mod treatments;

/// Fewer rounds than this leave no useful interval.
const ROUNDS_FOR_AN_INTERVAL: u32 = 3;

/// Whether a command serves the suite asked for.
pub(crate) fn fits_command(request: &Request, command: Command, faults: &mut Faults) -> bool {
    let suite = request.suite_name();
    let fits = command == Command::Run || suite.preset("demo").is_some();
    if !fits {
        let having: Vec<&str> =
            SuiteName::ALL.into_iter().filter(|suite| suite.preset("demo").is_some()).map(SuiteName::name).collect();
        let fault = Fault::error(format!("the demo is of suite {}", having.join(", ")));
        let help = format!("for this one: rqps run --suite {suite} --build postgres:16.15 --build postgres:17.11");
        faults.add(&place_of(request.suite.as_ref()), fault.help(help));
    }
    fits
}

/// Checks a request that presets and defaults have filled.
pub(crate) fn check(
    request: &Request,
    vocabulary: &Vocabulary,
    files: &dyn Files,
    faults: &mut Faults,
) -> Option<Campaign> {
    let mut checker = Checker { request, vocabulary, faults };
    let treatments = checker.treatments();
    checker.settings_exist();
    let suite = checker.suite();
    checker.words_fit(suite);
    // One slip does not hide others: what is no suite is taken for the usual one, unless it is rather the other.
    let suite = suite.or_else(|| checker.usual_suite());
    let interleave = checker.interleave();
    let choice = suite.and_then(|suite| SuiteName::find(&suite.name)).map(SuiteName::choice);
    let (plan, tests) = match (suite, choice) {
        (Some(suite), Some(Choice::Scale)) => (checker.shape(suite).map(rqps_suites::of_shape), None),
        (Some(_), Some(Choice::Warehouses)) => checker.transactions(interleave).unzip(),
        (Some(_), Some(Choice::Files)) => checker.workload(files, treatments.as_deref(), interleave).unzip(),
        (suite, _) => (checker.tables(), suite.map(|suite| checker.tests(suite, interleave))),
    };
    let tests = tests.unwrap_or_default();
    checker.slice_fits(&tests);
    checker.turn_fits(&tests);
    checker.control_fits();
    checker.enough_rounds();
    checker.end_has_a_limit();
    if let Some(treatments) = &treatments {
        checker.base_exists(treatments);
    }
    if checker.faults.errors() > 0 {
        return None;
    }
    let treatments = treatments?;
    let aging = suite.zip(plan.as_ref()).and_then(|(suite, plan)| rqps_suites::aging(plan, suite));
    let forced = forced::forced(suite?, &tests, &treatments);
    let storage = treatments.iter().filter_map(|treatment| treatment.storage);
    let builds_with = storage.map(|storage| (storage, vocabulary.builds_with(storage))).collect();
    // Nothing is missing where nothing was wrong: defaults fill every key that is not a build or a name.
    Some(Campaign {
        name: request.name.as_ref().map(|name| name.value.clone()),
        suite: plan?,
        builds: request.build.as_ref()?.value.iter().map(|build| build.spec.value.clone()).collect(),
        treatments,
        base: request.base.clone(),
        measures_base_twice: request.measures_base_twice(),
        control: request.control.clone(),
        tests,
        aging,
        interleave,
        clients: request.clients.as_ref()?.value.iter().map(|clients| clients.value).collect(),
        // Without slices and warm-up, where the suite has none.
        warmup_seconds: request.warmup.as_ref().map_or(0.0, |warmup| warmup.value),
        budget: budget(request),
        slice_ms: request.slice.as_ref().map_or(0.0, |slice| slice.value),
        turn_seconds: request.turn.as_ref().map(|turn| turn.value),
        arrival: request.rate.as_ref().map_or(Arrival::Closed, |rate| rate.value),
        placement: request.placement.as_ref()?.value,
        program_pages: request.program_pages.as_ref()?.value,
        cpu_events: request.cpu_events.as_ref()?.value,
        machine: request.machine.as_ref().map(|machine| machine.value),
        margin: request.margin.as_ref()?.value,
        rounds: request.rounds.as_ref().map_or(1, |rounds| rounds.value),
        seed: request.seed.as_ref()?.value,
        forced,
        builds_with,
        source: request.source.clone(),
    })
}

/// What follows from the time, where one is given.
fn budget(request: &Request) -> Option<Budget> {
    let suite = request.suite_name();
    let is_open = |name: &str| {
        let follows = Key::find(name).is_some_and(|key| key.follows_from_time.contains(&suite));
        follows && request.given(name).is_none()
    };
    Some(Budget {
        time: request.time.clone()?,
        rounds_max: request.rounds.as_ref().map(|rounds| rounds.value),
        open: Open {
            read_seconds: is_open("read-seconds"),
            write_seconds: is_open("write-seconds"),
            warmup: is_open("warmup"),
        },
        until_decided: request.until_decided.clone().filter(|until| until.value),
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

    /// What ends once everything is decided may never end.
    fn end_has_a_limit(&mut self) {
        let until_decided = self.request.until_decided.as_ref().filter(|until| until.value);
        let Some(until) = until_decided else { return };
        if self.request.time.is_none() {
            let fault = Fault::error("some tests may never be decided, and there is no time at which to end");
            self.error(&until.place, fault.help("add a time as its limit, such as `time` 8h"));
        }
        if self.request.rate.as_ref().is_some_and(|rate| rate.value != Arrival::Closed) {
            let fault = Fault::error("nothing is decided at a rate, since throughput is that rate");
            self.error(&until.place, fault.help("leave `rate` or `until-decided` out"));
        }
    }

    /// Every profile that some treatment runs with, as far as it is known.
    fn all_profiles(&self) -> Vec<&'a ProfileWord> {
        let builds = self.request.build.iter().flat_map(|builds| &builds.value);
        builds.flat_map(|build| self.profiles_of(build)).map(|(_, profile)| profile).collect()
    }

    /// What is run where tests query tables.
    fn tables(&self) -> Option<SuitePlan> {
        let (tables, rows) = (self.request.tables.as_ref()?.value, self.request.rows.as_ref()?.value);
        Some(rqps_suites::of_tables(DataShape { tables, rows }))
    }

    fn tests(&mut self, suite: &'a Suite, interleave: Option<Interleave>) -> Vec<TestPlan> {
        let Some(words) = &self.request.tests else { return Vec::new() };
        for word in &words.value {
            if let Err(wrong) = matching(suite, &word.value) {
                self.error(&word.place, no_such_test(suite, wrong));
            }
        }
        let words: Vec<&str> = words.value.iter().map(|word| word.value.as_str()).collect();
        let Ok(selected) = select(suite, &words) else { return Vec::new() };
        let seconds = |time: SecondsClass| match time {
            SecondsClass::Read => self.request.read_seconds.as_ref(),
            SecondsClass::Write => self.request.write_seconds.as_ref(),
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
                interleave: Some(interleave.or(test.interleave).unwrap_or(Interleave::Slices)),
                // Open where the key was said wrongly, and then there is no plan, and where it follows from the time.
                seconds: seconds(test.seconds).map_or(f64::INFINITY, |seconds| seconds.value),
                timed: true,
                before: selected.before.iter().map(ToString::to_string).collect(),
            }
        };
        selected.into_iter().map(plan).collect()
    }

    /// Finds fault with words that say nothing to the suite asked for.
    fn words_fit(&mut self, suite: Option<&Suite>) {
        let Some(suite) = suite else { return };
        let Some(name) = SuiteName::find(&suite.name) else { return };
        for key in KEYS.iter().filter(|key| !key.is_of(name)) {
            let stated = self.request.given(&key.name).map(|(_, place)| place);
            let stated = stated.filter(|place| !matches!(place, Place::Preset(_)));
            if let Some(place) = stated {
                let owners: Vec<&str> = key.suites.iter().map(|suite| suite.name()).collect();
                let owners = owners.join(" and ");
                let fault = format!("`{}` belongs to suite {owners}, and this is suite {name}", key.name);
                self.error(place, Fault::error(fault).help(key.remedy_in(name)));
            }
        }
    }

    fn suite(&mut self) -> Option<&'a Suite> {
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

    /// The usual suite, unless the word is rather another's.
    fn usual_suite(&self) -> Option<&'a Suite> {
        let suites = &self.vocabulary.suites;
        let word = self.request.suite.as_ref().map_or("", |suite| suite.value.as_str());
        let near = nearest(word, suites.iter().map(|suite| suite.name.as_str()));
        let usual = SuiteName::ALL[0].name();
        suites.iter().find(|suite| suite.name == usual).filter(|_| near.is_none_or(|near| near == usual))
    }

    /// Finds fault with a planted change whose size would not be known.
    fn control_fits(&mut self) {
        let request = self.request;
        let is_of_suite = Key::find("control").is_some_and(|key| key.is_of(request.suite_name()));
        let Some(control) = request.control.as_ref().filter(|_| is_of_suite) else { return };
        let rate = request.rate.as_ref().filter(|rate| rate.value != Arrival::Closed);
        let several = request.clients.iter().flat_map(|clients| &clients.value).find(|clients| clients.value > 1);
        let apart = request.placement.as_ref().filter(|placement| placement.value != Placement::Same);
        let fault = if rate.is_some() {
            Fault::error("at a planned rate wasted time lowers no throughput, so no change can be planted")
                .expected("no `rate`, or no `control`")
        } else if let (Some(clients), Some(placement)) = (several, apart) {
            let (clients, placement) = (clients.value, placement.value);
            Fault::error(format!("with {clients} clients and placement {placement} the size of a change is not known"))
                .help("while a thread of the client wastes time, the server goes on working for its other sessions")
                .expected("placement = \"same\", clients = 1, or no `control`")
        } else {
            return;
        };
        self.error(&control.place, fault);
    }

    fn enough_rounds(&mut self) {
        let Some(rounds) = &self.request.rounds else { return };
        if rounds.value < ROUNDS_FOR_AN_INTERVAL {
            let told = if rounds.value == 1 { "one round gives" } else { "two rounds give" };
            let usual = Key::find("rounds").and_then(|key| key.default_in(self.request.suite_name()));
            let usual = match usual {
                Some(DefaultValue::Is(usual)) if *usual != ROUNDS_FOR_AN_INTERVAL.to_string() => {
                    format!("; {usual} is the usual number")
                }
                Some(DefaultValue::Means(_)) => ", or leave them to `time`".to_owned(),
                _ => String::new(),
            };
            let help = format!("take {ROUNDS_FOR_AN_INTERVAL} rounds or more{usual}");
            self.error(
                &rounds.place,
                Fault::note(format!("{told} no useful interval, so most verdicts will be undecided")).help(help),
            );
        }
    }

    /// Finds fault with a base that cannot be any treatment, as far as the names are known by now.
    fn base_exists(&mut self, treatments: &[TreatmentRequest]) {
        let Some(base) = &self.request.base else { return };
        if let Err(fault) = crate::campaign::find_base(&base.value, treatments, crate::campaign::Names::SomeKnown) {
            self.error(&place_of(Some(base)), fault);
        }
    }
}

fn no_such_test(suite: &Suite, wrong: NoSuchTest) -> Fault {
    let sets = suite.sets().join(", ");
    let fault = if wrong.word.contains(['*', '?']) {
        Fault::error(format!("no test of {} fits the pattern `{}`", wrong.suite, wrong.word))
    } else {
        Fault::error(format!("unknown test `{}`", wrong.word))
    };
    let fault = fault.expected(format!("a test, a pattern with * or ?, or one of {sets}"));
    let near = wrong.nearest.map(|nearest| format!("did you mean `{nearest}`?"));
    fault.help(near.unwrap_or_else(|| "`rqps plan` lists the tests of a set, such as all".to_owned()))
}

#[cfg(test)]
mod tests;
