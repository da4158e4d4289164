//! pgbench scripts as programs of the timed loop.
//!
//! In: scripts of a test with their weights, scale and definitions. Out: programs that send what pgbench would send: an
//! event is a script, a client keeps its variables and its stream of numbers from one script to the next, and a script
//! that begins again draws the same numbers again. Each statement of a script is a kind.

use super::FAILURES_IN_A_ROW_MAX;
use crate::error::LoadError;
use crate::program::{Cue, Ended, Parameters, Program, StatementForm, Step, Workload};
use crate::session::{connect, execute};
use rand_pcg::Pcg64;
use rqps_draw::Random;
use rqps_model::own::{Own, OwnTest, Protocol as Sending, Scripts};
use rqps_pgbench::{Choice, Names, Script, Sql, Step as Next, Store, Streams, Variables, What};
use rqps_wire::{AnyValue, ParameterType, Target};
use std::collections::BTreeMap;

/// The kind of the statement that ends a failed transaction.
const ROLLBACK: &str = "rollback";

/// Room for the values of a statement that is sent as text.
const VALUES_BYTES: usize = 256;

/// PostgreSQL settles on a plan at the sixth execution.
const EVENTS_TO_SETTLE: u32 = 6;

/// Scripts, compiled for every server.
#[derive(Debug)]
pub struct ScriptWorkload {
    scripts: Vec<Script>,
    choice: Choice,
    names: Names,
    define: Vec<(usize, String)>,
    scale: u32,
    seed: u64,
    is_prepared: bool,
    /// The statement of a script's command, by script and command.
    statements: Vec<BTreeMap<usize, usize>>,
    kinds: Vec<String>,
    arms: Vec<ScriptArm>,
    rollback: usize,
}

/// What a server has of its own.
#[derive(Debug)]
struct ScriptArm {
    forms: Vec<StatementForm>,
    opening: Vec<String>,
    /// Of statements whose answer is kept: columns and their variables.
    kept: BTreeMap<usize, Vec<(usize, usize)>>,
}

impl ScriptWorkload {
    /// Compiles the scripts of a test.
    pub fn compile(
        own: &Own,
        test: &OwnTest,
        scripts: &Scripts,
        targets: &[Target],
        seed: u64,
    ) -> Result<ScriptWorkload, LoadError> {
        let mut names = Names::new();
        let mut parsed = Vec::new();
        for script in &scripts.scripts {
            let read = Script::parse(&script.name, &script.text, &mut names);
            let fault = |faults: Vec<_>| LoadError::Shape(format!("{}: {} faults", script.name, faults.len()));
            parsed.push(read.map_err(fault)?);
        }
        let define = scripts.define.iter().map(|(name, value)| (names.intern(name), value.clone())).collect();
        let weights: Vec<u32> = scripts.scripts.iter().map(|script| script.weight).collect();
        let choice = Choice::new(&weights).map_err(|error| LoadError::Shape(error.to_string()))?;
        let is_prepared = test.protocol == Sending::Prepared;
        let (mut statements, mut kinds, mut forms) = (Vec::new(), Vec::new(), Vec::new());
        for script in &parsed {
            let mut of_script = BTreeMap::new();
            for (at, command) in script.commands.iter().enumerate() {
                let What::Sql(sql) = &command.what else { continue };
                of_script.insert(at, forms.len());
                kinds.push(kind(script, command.line, sql, parsed.len() > 1, &kinds));
                forms.push(form(sql, is_prepared));
            }
            statements.push(of_script);
        }
        let rollback = forms.len();
        kinds.push(ROLLBACK.to_owned());
        forms.push(StatementForm::prepared("ROLLBACK", &[]));
        let mut workload = ScriptWorkload {
            scripts: parsed,
            choice,
            names,
            define,
            scale: scripts.scale,
            seed,
            is_prepared,
            statements,
            kinds,
            arms: Vec::new(),
            rollback,
        };
        for target in targets {
            let arm = ScriptArm {
                forms: forms.clone(),
                opening: crate::own::opening(own, test, target),
                kept: workload.kept(target)?,
            };
            workload.arms.push(arm);
        }
        Ok(workload)
    }

    /// The columns that statements keep, and the variables that they go to. The server knows the columns: it is asked
    /// once for each such statement, in a transaction that is rolled back.
    fn kept(&self, target: &Target) -> Result<BTreeMap<usize, Vec<(usize, usize)>>, LoadError> {
        let mut kept = BTreeMap::new();
        for (script, statements) in self.scripts.iter().zip(&self.statements) {
            for (at, statement) in statements {
                let What::Sql(sql @ Sql { store: Some(store), .. }) = &script.commands[*at].what else { continue };
                let columns = self.columns(sql, target)?;
                let mut places = Vec::new();
                for (column, name) in columns.iter().enumerate() {
                    if let Some(slot) = slot(store, name, &self.names)? {
                        places.push((column, slot));
                    }
                }
                kept.insert(*statement, places);
            }
        }
        Ok(kept)
    }

    fn columns(&self, sql: &Sql, target: &Target) -> Result<Vec<String>, LoadError> {
        let mut session = connect(&target.endpoint)?;
        execute(&mut session, "BEGIN")?;
        let numbered = sql.numbered().trim_end().trim_end_matches(';');
        let nulls = vec!["NULL"; sql.slots().len()].join(", ");
        let arguments = if sql.slots().is_empty() { String::new() } else { format!("({nulls})") };
        execute(&mut session, &format!("PREPARE rqps_columns AS {numbered}"))?;
        let answer = session.query(&format!("EXECUTE rqps_columns{arguments}"));
        let answer = answer.map_err(LoadError::wire("asking for the columns that \\gset keeps"))?;
        Ok(answer.columns)
    }
}

fn slot(store: &Store, column: &str, names: &Names) -> Result<Option<usize>, LoadError> {
    store.slot(column, names).map_err(|error| LoadError::Shape(error.to_string()))
}

/// A name for a statement: its first words, with its line where that alone would name two.
fn kind(script: &Script, line: usize, sql: &Sql, has_others: bool, taken: &[String]) -> String {
    let words = sql.text().split_whitespace().filter(|word| word.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let name = words.take(2).collect::<Vec<_>>().join("-").to_lowercase();
    let name = if name.is_empty() { format!("line-{line}") } else { name };
    let name = if has_others { format!("{}.{name}", script.name) } else { name };
    if taken.contains(&name) { format!("{name}.{line}") } else { name }
}

fn form(sql: &Sql, is_prepared: bool) -> StatementForm {
    let kept_rows = usize::from(sql.store.is_some());
    match is_prepared {
        true => StatementForm::prepared(sql.numbered(), &vec![ParameterType::Any; sql.slots().len()]),
        false => StatementForm::text(sql.text(), sql.text().len() + VALUES_BYTES),
    }
    .keeping(kept_rows)
}

impl Workload for ScriptWorkload {
    type Program<'w> = ScriptSession<'w>;

    fn kinds(&self) -> Vec<String> {
        self.kinds.clone()
    }

    fn events(&self) -> Vec<String> {
        self.scripts.iter().map(|script| script.name.clone()).collect()
    }

    fn program(&self, arm: usize, client: u32, _: usize) -> ScriptSession<'_> {
        ScriptSession::new(self, &self.arms[arm], client)
    }

    fn events_to_settle(&self, _: usize) -> u32 {
        EVENTS_TO_SETTLE * self.scripts.len() as u32
    }
}

/// One client.
#[derive(Debug)]
pub struct ScriptSession<'w> {
    workload: &'w ScriptWorkload,
    arm: &'w ScriptArm,
    variables: Variables,
    random: Random,
    choose: Random,
    /// As the stream stood when the script began.
    begun: Random,
    script: usize,
    at: usize,
    /// The statement under way.
    sent: usize,
    text: Vec<u8>,
    /// Where each value ends in the text.
    ends: Vec<Option<usize>>,
    failed: bool,
}

impl<'w> ScriptSession<'w> {
    fn new(workload: &'w ScriptWorkload, arm: &'w ScriptArm, client: u32) -> ScriptSession<'w> {
        let is_defined = workload.define.iter().any(|(slot, _)| *slot == Names::DEFAULT_SEED);
        let streams = Streams::seeded(workload.seed, client as usize + 1, 1, is_defined);
        let mut variables = Variables::new(&workload.names);
        for (slot, value) in &workload.define {
            variables.set_text(*slot, value);
        }
        let default_seed = streams.default_seed.unwrap_or_default();
        variables.start(i64::from(client), i64::from(workload.scale), workload.seed.cast_signed(), default_seed);
        let random = streams.clients[client as usize].clone();
        ScriptSession {
            workload,
            arm,
            variables,
            begun: random.clone(),
            random,
            choose: streams.threads[0].choose.clone(),
            script: 0,
            at: 0,
            sent: 0,
            text: Vec::with_capacity(VALUES_BYTES),
            ends: Vec::with_capacity(16),
            failed: false,
        }
    }

    /// Goes on to the next statement.
    fn go_on<S: Parameters>(&mut self, statements: &mut [S]) -> Step {
        let script = &self.workload.scripts[self.script];
        loop {
            let before = self.at;
            match script.advance(&mut self.at, &mut self.variables, &mut self.random) {
                Ok(Next::Sql(sql)) => {
                    self.sent = self.workload.statements[self.script][&(self.at - 1)];
                    self.fill(sql, &mut statements[self.sent]);
                    return Step::Send { statement: self.sent, kind: self.sent };
                }
                Ok(Next::End) => return Step::End,
                // What cannot be done was refused when the scripts were read.
                Ok(_) => {}
                // An expression without a value ends the script; the next one may do better.
                Err(_) => {
                    self.failed = true;
                    return Step::End;
                }
            }
            debug_assert!(self.at > before || self.at == 0);
        }
    }

    fn fill<S: Parameters>(&mut self, sql: &Sql, statement: &mut S) {
        self.text.clear();
        if !self.workload.is_prepared {
            sql.write(&self.variables, &mut self.text);
            statement.set_sql(&self.text);
            return;
        }
        if sql.slots().is_empty() {
            return;
        }
        self.ends.clear();
        for slot in sql.slots() {
            let is_defined = self.variables.write(*slot, &mut self.text);
            self.ends.push(is_defined.then_some(self.text.len()));
        }
        let (text, ends) = (&self.text, &self.ends);
        statement.set_any(|slot| match ends[slot] {
            None => AnyValue::Null,
            Some(end) => {
                let start = ends[..slot].iter().rev().find_map(|end| *end).unwrap_or(0);
                AnyValue::Text(&text[start..end])
            }
        });
    }
}

impl Program for ScriptSession<'_> {
    const FAILURES_IN_A_ROW_MAX: u32 = FAILURES_IN_A_ROW_MAX;

    fn opening(&self) -> &[String] {
        &self.arm.opening
    }

    fn statements(&self) -> &[StatementForm] {
        &self.arm.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, statements: &mut [S]) -> Step {
        match cue {
            Cue::Begin => {
                self.script = self.workload.choice.draw(&mut self.choose);
                self.begun.clone_from(&self.random);
                self.at = 0;
            }
            Cue::Again => {
                self.random.clone_from(&self.begun);
                self.at = 0;
            }
            Cue::Answer(rows) => {
                if let Some(kept) = self.arm.kept.get(&self.sent) {
                    for (column, slot) in kept {
                        let text = rows.text(0, *column).unwrap_or_default();
                        self.variables.set_text(*slot, std::str::from_utf8(text).unwrap_or_default());
                    }
                }
            }
        }
        self.go_on(statements)
    }

    fn rollback(&self) -> Option<usize> {
        Some(self.workload.rollback)
    }

    fn event(&self) -> usize {
        self.script
    }

    fn ended(&mut self, _: &Ended<'_>) {
        self.failed = false;
    }
}
