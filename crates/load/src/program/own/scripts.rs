//! pgbench scripts as programs of the timed loop: what is made of them before anything runs.
//!
//! In: scripts of a test with their weights, scale and definitions. Out: statements in the form that the test's
//! protocol wants, and their kinds: each statement of a script is one, each of its pipelines is another, and what fails
//! in the client counts for a kind of its own. What a client does with them, `session` knows; `walk` is for plans.

mod session;
mod shell;
mod walk;

pub use session::ScriptSession;
pub(crate) use walk::Filled;

use crate::error::LoadError;
use crate::program::{StatementForm, Workload};
use rqps_model::own::{Own, OwnTest, Protocol, Scripts};
use rqps_pgbench::{Choice, Names, Script, Sql, Streams, What};
use rqps_wire::{ParameterType, Target};
use std::collections::BTreeMap;

/// The kind of the statement that ends a failed transaction.
const ROLLBACK: &str = "rollback";

/// The kind of errors that are the client's: an expression without a value, a command of the shell.
const COMMANDS: &str = "commands";

/// Room for the values of a statement that is sent as text.
const VALUES_BYTES: usize = 256;

/// PostgreSQL settles on a plan at the sixth execution.
const EVENTS_TO_SETTLE: u32 = 6;

/// As in pgbench: an event is not tried again unless that is wanted.
const TRIES_MAX: u32 = 1;

/// Scripts, compiled for every server.
#[derive(Debug)]
pub struct ScriptWorkload {
    scripts: Vec<Script>,
    weights: Vec<u32>,
    choice: Choice,
    names: Names,
    define: Vec<(usize, String)>,
    scale: u32,
    seed: u64,
    /// What clients draw from.
    streams: Streams,
    protocol: Protocol,
    tries_max: u32,
    /// The statement of a script's command, which is also its kind, by script and command.
    statements: Vec<BTreeMap<usize, usize>>,
    /// The kind of a pipeline by script and the command that begins it.
    pipelines: Vec<BTreeMap<usize, usize>>,
    kinds: Vec<String>,
    forms: Vec<StatementForm>,
    /// What sessions to each server are told.
    openings: Vec<Vec<String>>,
    rollback: usize,
    /// The kind of errors of the client.
    commands: usize,
}

impl ScriptWorkload {
    /// Compiles the scripts of a test.
    pub fn compile(
        own: &Own,
        test: &OwnTest,
        scripts: &Scripts,
        targets: &[Target],
        (seed, clients): (u64, u32),
    ) -> Result<ScriptWorkload, LoadError> {
        let mut names = Names::new();
        let mut parsed = Vec::new();
        for script in &scripts.scripts {
            let read = Script::parse(&script.name, &script.text, &mut names);
            let fault = |faults: Vec<_>| LoadError::Shape(format!("{}: {} faults", script.name, faults.len()));
            parsed.push(read.map_err(fault)?);
        }
        if !scripts.allow_shell && parsed.iter().any(Script::runs_commands) {
            return Err(LoadError::Shape(format!("`{}` runs commands of the shell: allow it", test.name)));
        }
        let define: Vec<(usize, String)> =
            scripts.define.iter().map(|(name, value)| (names.intern(name), value.clone())).collect();
        let is_defined = define.iter().any(|(slot, _)| *slot == Names::DEFAULT_SEED);
        let weights: Vec<u32> = scripts.scripts.iter().map(|script| script.weight).collect();
        let choice = Choice::new(&weights).map_err(|error| LoadError::Shape(error.to_string()))?;
        let mut workload = ScriptWorkload {
            weights,
            choice,
            names,
            define,
            scale: scripts.scale,
            seed,
            // As with a thread for each client, so that each chooses scripts by itself.
            streams: Streams::seeded(seed, clients as usize, clients as usize, is_defined),
            protocol: test.protocol,
            tries_max: test.max_tries.unwrap_or(TRIES_MAX),
            statements: Vec::new(),
            pipelines: Vec::new(),
            kinds: Vec::new(),
            forms: Vec::new(),
            openings: targets.iter().map(|target| crate::own::opening(own, test, target)).collect(),
            rollback: 0,
            commands: 0,
            scripts: parsed,
        };
        workload.add_statements();
        workload.add_pipelines()?;
        workload.commands = workload.add_kind(COMMANDS.to_owned());
        Ok(workload)
    }

    fn add_statements(&mut self) {
        let has_others = self.scripts.len() > 1;
        for (script, weight) in self.scripts.iter().zip(&self.weights) {
            // What never runs need not be anything that a server can prepare.
            let protocol = if *weight == 0 { Protocol::Simple } else { self.protocol };
            let mut of_script = BTreeMap::new();
            for (at, command) in script.commands.iter().enumerate() {
                let What::Sql(sql) = &command.what else { continue };
                of_script.insert(at, self.forms.len());
                self.kinds.push(kind(script, command.line, &words(sql), has_others, &self.kinds));
                self.forms.push(form(sql, protocol));
            }
            self.statements.push(of_script);
        }
        self.rollback = self.forms.len();
        self.kinds.push(ROLLBACK.to_owned());
        self.forms.push(StatementForm::prepared("ROLLBACK", &[]));
    }

    fn add_pipelines(&mut self) -> Result<(), LoadError> {
        let has_others = self.scripts.len() > 1;
        for script in &self.scripts {
            let mut of_script = BTreeMap::new();
            for (at, command) in script.commands.iter().enumerate() {
                if command.what != What::StartPipeline {
                    continue;
                }
                if self.protocol == Protocol::Simple {
                    let why = format!("{}: a pipeline needs protocol extended or prepared", script.name);
                    return Err(LoadError::Shape(why));
                }
                of_script.insert(at, self.kinds.len());
                self.kinds.push(kind(script, command.line, "pipeline", has_others, &self.kinds));
            }
            self.pipelines.push(of_script);
        }
        Ok(())
    }

    fn add_kind(&mut self, name: String) -> usize {
        self.kinds.push(name);
        self.kinds.len() - 1
    }
}

/// The first words of a statement.
fn words(sql: &Sql) -> String {
    let is_word = |word: &&str| {
        // A number may be a value.
        !word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let words = sql.text().split_whitespace().filter(is_word);
    words.take(2).collect::<Vec<_>>().join("-").to_lowercase()
}

/// A name for a statement or a pipeline, with its line where that alone would name two.
fn kind(script: &Script, line: usize, name: &str, has_others: bool, taken: &[String]) -> String {
    let name = if name.is_empty() { format!("line-{line}") } else { name.to_owned() };
    let name = if has_others { format!("{}.{name}", script.name) } else { name };
    if taken.contains(&name) { format!("{name}.{line}") } else { name }
}

fn form(sql: &Sql, protocol: Protocol) -> StatementForm {
    let types = vec![ParameterType::Any; sql.slots().len()];
    let form = match protocol {
        Protocol::Simple => StatementForm::text(sql.text(), sql.text().len() + VALUES_BYTES),
        Protocol::Extended => StatementForm::parsed_each_time(sql.numbered(), &types),
        Protocol::Prepared => StatementForm::prepared(sql.numbered(), &types),
    };
    StatementForm { keeps_last_rows: sql.store.is_some(), ..form }
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
        ScriptSession::new(self, &self.openings[arm], client)
    }

    fn events_to_settle(&self, _: usize) -> u32 {
        EVENTS_TO_SETTLE * self.scripts.len() as u32
    }
}
