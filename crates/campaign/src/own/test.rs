//! `[[test]]` and `[defaults]` of a workload file.
//!
//! In: the sections, and which sources of values there are. Out: tests whose statements name only what is there.

use super::Reader;
use super::section::{Section, text};
use super::statement::{Names, Statement};
use super::values::{Sources, is_name};
use crate::diagnostic::Fault;
use crate::engine::dialect;
use crate::place::{Place, Spanned};
use crate::raw::Raw;
use crate::vocabulary::did_you_mean;
use rqps_model::Engine;
use rqps_model::own::{OwnStep, OwnTest, PerEngine, Protocol, Scripts, Steps, Work};
use rqps_sql::Template;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The tests that each mix names, and where it is itself among the tests.
type Mixes = Vec<(usize, Vec<Spanned<String>>)>;

/// Seconds that a `timeout` may have: servers count milliseconds, and to some of them 0 is no time-out at all.
const TIMEOUT_BOUNDS: (RangeInclusive<f64>, &str) =
    (1e-3..=86_400.0, "a time from 1 ms to 1 day, such as \"30s\" or \"500ms\"");

/// What holds for tests that say nothing else.
#[derive(Clone)]
struct Defaults {
    /// Prepared; for scripts too, unlike pgbench.
    protocol: Protocol,
    timeout_seconds: f64,
    isolation: Option<String>,
    max_tries: Option<u32>,
    events: Option<u32>,
}

impl Reader<'_> {
    pub(super) fn tests(
        &mut self,
        sections: Vec<Section>,
        defaults: Option<Section>,
        sources: &Sources,
    ) -> Vec<OwnTest> {
        let defaults = self.defaults(defaults);
        if sections.is_empty() {
            let fault = Fault::error("the workload has no test");
            self.faults.add(&Place::Text(0..0), fault.expected("[[test]] with a `name` and its `sql`"));
        }
        let mut tests: Vec<OwnTest> = Vec::new();
        // Of all tests, those with faults among them: whoever names one of these is right.
        let mut names: Vec<String> = Vec::new();
        let mut mixes = Mixes::new();
        for mut section in sections {
            let name = self.name(&mut section, &names);
            let test = self.test(&mut section, name.as_deref(), &defaults, sources, (&mut mixes, tests.len()));
            section.end(self.faults);
            names.extend(name);
            tests.extend(test);
        }
        for (index, named) in mixes {
            self.mix_exists(index, &named, &mut tests, &names);
            self.parts_say_nothing_else(&tests, index, &named, &defaults);
        }
        tests
    }

    /// The name of a test, which no other has.
    fn name(&mut self, section: &mut Section, others: &[String]) -> Option<String> {
        section.needs("name", self.faults);
        let name = section.text("name", self.faults)?;
        if !rqps_model::build::is_plain_name(&name.value) {
            let fault = Fault::error(format!("`{}` cannot be a name, since it becomes a file's name", name.value));
            self.faults.add(&name.place, fault.expected("letters, digits, `.`, `_` and `-`, first a letter or digit"));
        }
        if others.contains(&name.value) {
            self.faults.add(&name.place, Fault::error(format!("two tests are named `{}`", name.value)));
        }
        Some(name.value)
    }

    fn defaults(&mut self, section: Option<Section>) -> Defaults {
        let chosen = self.choices.protocol.as_ref().map(|protocol| protocol.value);
        let mut defaults = Defaults {
            protocol: chosen.unwrap_or(Protocol::Prepared),
            timeout_seconds: OwnTest::TIMEOUT_SECONDS,
            isolation: None,
            max_tries: self.choices.max_tries,
            events: None,
        };
        if let Some(mut section) = section {
            defaults.merge(&mut section, self);
            section.end(self.faults);
        }
        defaults
    }

    fn test(
        &mut self,
        section: &mut Section,
        name: Option<&str>,
        defaults: &Defaults,
        sources: &Sources,
        mixes: (&mut Mixes, usize),
    ) -> Option<OwnTest> {
        let mut own = defaults.clone();
        own.merge(section, self);
        if let (Protocol::Extended, Some(engine)) = (own.protocol, self.choices.without_extended()) {
            let fault = Fault::error(format!("{} has no protocol `extended`", engine.title()));
            let help = "use prepared, or simple, which sends text";
            self.faults.add(&section.place.clone(), fault.help(help));
        }
        let writes = section.switch("writes", self.faults);
        let calls = section.number("calls", self.faults);
        let work = self.work(section, (name.unwrap_or("the test"), own.protocol), sources, mixes)?;
        if let (Some(calls), Work::Pgbench(_)) = (&calls, &work) {
            let note =
                Fault::note("`calls` says nothing here: how many statements an event of scripts has is not known");
            self.faults.add(&calls.place, note.help("it is for tests of statements and their mixes: leave it out"));
        }
        Some(OwnTest {
            name: name?.to_owned(),
            writes: writes.unwrap_or_else(|| self.writes(&work)),
            work,
            protocol: own.protocol,
            timeout_seconds: own.timeout_seconds,
            isolation: own.isolation,
            events: own.events,
            calls: calls.map(|calls| calls.value),
            max_tries: own.max_tries,
        })
    }

    /// What an event is: statements, a mix, or scripts.
    fn work(
        &mut self,
        section: &mut Section,
        (name, protocol): (&str, Protocol),
        sources: &Sources,
        (mixes, index): (&mut Mixes, usize),
    ) -> Option<Work> {
        self.one_kind(section);
        if let Some(mut mix) = section.section("mix", "`mix`", self.faults) {
            let mut weights = BTreeMap::new();
            let mut named = Vec::new();
            for (test, weight) in mix.all() {
                match super::section::whole(&weight.value).and_then(|weight| u32::try_from(weight).ok()) {
                    Some(weight) => _ = weights.insert(test.value.clone(), weight),
                    None => {
                        let fault = Fault::error(format!("the weight of `{}` is no whole number", test.value));
                        self.faults.add(&weight.place, fault);
                    }
                }
                named.push(test);
            }
            let chooses = weights.values().any(|weight| *weight > 0);
            // A weight that is none was told already.
            if !chooses && weights.len() == named.len() {
                let fault = Fault::error("no test of the mix has a weight above 0");
                self.faults.add(&mix.place, fault.help("give it tests: mix = { order-by-id = 80, pay = 20 }"));
            }
            mixes.push((index, named));
            return Some(Work::Mix(weights));
        }
        let scripts = section.texts("pgbench", self.faults);
        if !scripts.is_empty() {
            return self.scripts_of(section, &scripts, protocol).map(Work::Pgbench);
        }
        let transaction = section.switch("transaction", self.faults).unwrap_or(false);
        let mut names = Names { sources, kept: Vec::new() };
        let steps = section.sections("step", "a step", self.faults);
        let steps: Vec<OwnStep> = match steps.is_empty() {
            true => self.step(section, Some(name), &mut names).into_iter().collect(),
            false => {
                let mut read = Vec::new();
                for mut step in steps {
                    read.extend(self.step(&mut step, None, &mut names));
                    step.end(self.faults);
                }
                read
            }
        };
        (!steps.is_empty()).then_some(Work::Steps(Steps { steps, transaction }))
    }

    /// Finds fault with a test that is of several kinds, and goes on with one of them.
    fn one_kind(&mut self, section: &mut Section) {
        const KINDS: [&str; 4] = ["mix", "pgbench", "step", "sql"];
        let mut kinds = KINDS.into_iter().filter(|kind| section.has(kind)).collect::<Vec<_>>().into_iter();
        let Some(first) = kinds.next() else { return };
        for other in kinds {
            if let Some(raw) = section.take(other) {
                let fault = Fault::error(format!("a test has either `{first}` or `{other}`"));
                self.faults.add(&raw.place, fault.help("make a test of each"));
            }
        }
    }

    fn scripts_of(
        &mut self,
        section: &mut Section,
        scripts: &[Spanned<String>],
        protocol: Protocol,
    ) -> Option<Scripts> {
        let scale = section.bounded("scale", 1..=u32::MAX, self.faults);
        let mut define: Vec<(String, String)> = self.choices.define.clone();
        if let Some(mut given) = section.section("define", "`define`", self.faults) {
            for (name, raw) in given.all() {
                let value = match &raw.value {
                    Raw::Whole(number) => number.to_string(),
                    Raw::Number(number) => number.to_string(),
                    other => match text(other).filter(|text| !text.is_empty()) {
                        Some(text) => text,
                        None => {
                            let fault = Fault::error(format!("`{}` cannot be {}", name.value, other.found()));
                            self.faults.add(&raw.place, fault.expected("a number, or text that is not empty"));
                            continue;
                        }
                    },
                };
                define.push((name.value, value));
            }
        }
        let scale = scale.or(self.choices.scale).unwrap_or(1);
        let choices = super::choices::Choices { define, ..self.choices.clone() };
        let folder = self.folder.clone();
        super::scripts::scripts(scripts, (&folder, scale, protocol), &choices, self.files, self.faults)
    }

    /// A statement; one that is a whole test has its name.
    fn step(&mut self, section: &mut Section, test: Option<&str>, names: &mut Names<'_>) -> Option<OwnStep> {
        let name = match test {
            Some(test) => Some(test.to_owned()),
            None => {
                section.needs("name", self.faults);
                section.text("name", self.faults).map(|name| name.value)
            }
        };
        let errors = self.faults.errors();
        section.needs("sql", self.faults);
        let (folder, files) = (self.folder.clone(), self.files);
        let statements: PerEngine<Statement> =
            section.per_engine("sql", &self.choices.engines, self.faults, |raw, faults| {
                Statement::read(raw, &folder, files, faults)
            });
        let errors = self.faults.errors() - errors;
        for engine in &self.choices.engines {
            match statements.get(engine) {
                Some(statement) => statement.check(*engine, names, self.faults),
                None if statements.is_empty() && errors > 0 => {}
                None => {
                    let name = name.as_deref().unwrap_or("the step");
                    let fault = Fault::error(format!("`{name}` has no statement for {}", engine.title()));
                    self.faults.add(&section.place, fault.help(format!("add it: sql = {{ {engine} = \"...\" }}")));
                }
            }
        }
        let is_asked = |(engine, statement): (&Engine, &Statement)| {
            let needs_kept =
                || Template::parse(&statement.sql, dialect(*engine)).names().iter().any(|one| names.keep(one));
            rqps_sql::is_read(&statement.sql, dialect(*engine)) && !needs_kept()
        };
        let is_asked = statements.is_empty() || statements.iter().any(is_asked);
        let sql = statements.into_iter().map(|(engine, statement)| (engine, statement.sql)).collect();
        let keep = section.texts("keep", self.faults);
        if let (Some(name), Some(column)) = (name.as_ref().filter(|name| !is_name(name)), keep.first()) {
            let fault = Fault::error(format!("what `{name}` keeps cannot be named, since `:{name}` is no name"));
            self.faults.add(&column.place, fault.help("name the step with letters, digits and `_`, first a letter"));
        }
        let keep: Vec<String> = keep.into_iter().map(|column| column.value).collect();
        if let Some(name) = name.as_ref().filter(|_| !keep.is_empty()) {
            names.kept.push((name.clone(), keep.clone()));
        }
        let rows = self.rows_expected(section, is_asked);
        Some(OwnStep { name: name?, sql, keep, rows })
    }

    /// How many rows are expected: a number, or from and to. Only of a statement that is asked for answers they are
    /// counted.
    fn rows_expected(&mut self, section: &mut Section, is_asked: bool) -> Option<(u64, u64)> {
        let raw = section.take("rows")?;
        let read = match &raw.value {
            Raw::Whole(_) => super::section::whole(&raw.value).map(|rows| (rows, rows)),
            Raw::List(items) => match &items[..] {
                [from, to] => super::section::whole(&from.value).zip(super::section::whole(&to.value)),
                _ => None,
            },
            _ => None,
        };
        if read.is_none_or(|(from, to)| from > to) {
            self.faults.add(&raw.place, Fault::error("`rows` is no number of rows").expected("such as 1 or [0, 10]"));
        } else if !is_asked {
            let note = Fault::note("`rows` is not looked at here, since the statement is not asked for answers");
            let help = "it is for statements that read, lock nothing and need nothing of earlier steps: leave it out";
            self.faults.add(&raw.place, note.help(help));
        }
        read
    }

    /// Finds fault with a mix that names no test, or another mix, and settles whether it writes.
    fn mix_exists(&mut self, index: usize, named: &[Spanned<String>], tests: &mut [OwnTest], names: &[String]) {
        let mut writes = false;
        for name in named {
            match tests.iter().find(|test| test.name == name.value) {
                Some(test) if matches!(test.work, Work::Steps(_)) => writes |= test.writes,
                Some(_) => {
                    let fault = Fault::error(format!("`{}` is no test of statements", name.value));
                    self.faults.add(&name.place, fault.help("a mix is of tests that have `sql` or steps"));
                }
                None if names.contains(&name.value) => {}
                None => {
                    let known = names.iter().map(String::as_str);
                    let fault = Fault::error(format!("the mix names no test: `{}`", name.value));
                    self.faults.add(&name.place, fault.help_if(did_you_mean(&name.value, known)));
                }
            }
        }
        if let Some(mix) = tests.get_mut(index) {
            mix.writes |= writes;
        }
    }

    /// Notes what parts of a mix say for themselves that does not hold in it: a session has one time-out and one level
    /// of isolation, whatever it sends next.
    fn parts_say_nothing_else(
        &mut self,
        tests: &[OwnTest],
        index: usize,
        named: &[Spanned<String>],
        defaults: &Defaults,
    ) {
        // The fault of another test may have moved it.
        let Some(mix) = tests.get(index).filter(|test| matches!(test.work, Work::Mix(_))) else { return };
        let terms_of = |test: &OwnTest| terms(test.timeout_seconds, test.isolation.as_deref(), test.max_tries);
        let usual = terms(defaults.timeout_seconds, defaults.isolation.as_deref(), defaults.max_tries);
        for name in named {
            let Some(part) = tests.iter().find(|test| test.name == name.value) else { continue };
            for ((said, held), usual) in terms_of(part).into_iter().zip(terms_of(mix)).zip(&usual) {
                if said != held && said != *usual {
                    let (part, mix) = (&part.name, &mix.name);
                    let note = Fault::note(format!("`{part}` has {said}, and in the mix `{mix}` {held} holds"));
                    let help = "what a mix says holds for all of its parts: say it there, or in [defaults]";
                    self.faults.add(&name.place, note.help(help));
                }
            }
        }
    }

    /// Whether some statement changes data, by its words.
    fn writes(&self, work: &Work) -> bool {
        match work {
            Work::Steps(steps) => steps
                .steps
                .iter()
                .any(|step| step.sql.iter().any(|(engine, sql)| !rqps_sql::is_read(sql, dialect(*engine)))),
            Work::Mix(_) => false,
            Work::Pgbench(scripts) => super::scripts::write(scripts),
        }
    }
}

impl Defaults {
    fn merge(&mut self, section: &mut Section, reader: &mut Reader<'_>) {
        if let Some(protocol) = section.choice("protocol", &Protocol::ALL, Protocol::name, reader.faults) {
            self.protocol = protocol;
        }
        if let Some(seconds) = section.seconds("timeout", TIMEOUT_BOUNDS, reader.faults) {
            self.timeout_seconds = seconds;
        }
        self.max_tries = section.bounded("max-tries", 1..=1000, reader.faults).or(self.max_tries);
        self.events = section.bounded("events", 1..=u32::MAX, reader.faults).or(self.events);
        if let Some(level) = section.text("isolation", reader.faults) {
            const LEVELS: [&str; 3] = ["read committed", "repeatable read", "serializable"];
            match LEVELS.contains(&level.value.as_str()) {
                true => self.isolation = Some(level.value),
                false => {
                    let fault = Fault::error(format!("`isolation` cannot be `{}`", level.value));
                    reader.faults.add(&level.place, fault.expected(LEVELS.join(" or ")));
                }
            }
        }
    }
}

/// What holds for all statements of a session, in words.
fn terms(timeout_seconds: f64, isolation: Option<&str>, max_tries: Option<u32>) -> [String; 3] {
    [
        format!("timeout {timeout_seconds} s"),
        isolation.map_or_else(|| "the server's isolation".to_owned(), |level| format!("isolation {level}")),
        max_tries.map_or_else(|| "max-tries as usual".to_owned(), |tries| format!("max-tries {tries}")),
    ]
}
