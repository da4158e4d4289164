//! One client of pgbench scripts.
//!
//! In: compiled scripts, answers. Out: what pgbench would send: an event is a script, a client keeps its variables and
//! its stream of numbers from one script to the next, and a script that begins again draws the same numbers again.

use super::super::{FAILURES_IN_A_ROW_MAX, TIMEOUTS_IN_A_ROW_MAX};
use super::{ScriptWorkload, VALUES_BYTES, shell};
use crate::program::{Aside, Cue, Parameters, Program, StatementForm, Step};
use rand_pcg::Pcg64;
use rqps_draw::Random;
use rqps_model::own::Protocol;
use rqps_pgbench::{Command, Sql, Step as Next, Store, Variables, What};
use rqps_wire::{AnyValue, Rows};

/// A column that was seen in the answer to a statement, and the variable that it goes to.
type Column = (Vec<u8>, Option<usize>);

/// One client.
#[derive(Debug)]
pub struct ScriptSession<'w> {
    workload: &'w ScriptWorkload,
    opening: &'w [String],
    variables: Variables,
    random: Random,
    choose: Random,
    /// As the stream stood when the script began.
    begun: Random,
    script: usize,
    /// The next command.
    at: usize,
    /// The statement under way.
    sent: usize,
    /// The kind of the pipeline that is open, and how many statements are in it.
    pipeline: Option<usize>,
    queued: u32,
    /// The command of the shell that is due.
    shell: Option<usize>,
    /// By statement and result: the columns as they were last.
    columns: Vec<Vec<Vec<Column>>>,
    text: Vec<u8>,
    /// Where each value ends in the text.
    ends: Vec<Option<usize>>,
    complaint: String,
}

impl<'w> ScriptSession<'w> {
    pub(super) fn new(workload: &'w ScriptWorkload, opening: &'w [String], client: u32) -> ScriptSession<'w> {
        let streams = &workload.streams;
        let mut variables = Variables::new(&workload.names);
        for (slot, value) in &workload.define {
            variables.set_text(*slot, value);
        }
        let default_seed = streams.default_seed.unwrap_or_default();
        variables.start(i64::from(client), i64::from(workload.scale), workload.seed.cast_signed(), default_seed);
        let random = streams.clients[client as usize].clone();
        ScriptSession {
            workload,
            opening,
            variables,
            begun: random.clone(),
            random,
            choose: streams.threads[client as usize].choose.clone(),
            script: 0,
            at: 0,
            sent: 0,
            pipeline: None,
            queued: 0,
            shell: None,
            columns: vec![Vec::new(); workload.forms.len()],
            text: Vec::with_capacity(VALUES_BYTES),
            ends: Vec::with_capacity(16),
            complaint: String::new(),
        }
    }

    /// Begins a script: what comes first.
    pub(super) fn begin<S: Parameters>(&mut self, script: usize, statements: &mut [S]) -> Step {
        self.script = script;
        self.begun.clone_from(&self.random);
        self.start();
        self.advance(statements)
    }

    /// The command under way.
    pub(super) fn command(&self) -> &'w Command {
        &self.workload.scripts[self.script].commands[self.at - 1]
    }

    /// Whether a variable has a value.
    pub(super) fn is_defined(&self, slot: usize) -> bool {
        self.variables.is_defined(slot)
    }

    /// Does not run the command of the shell that is due: the variable that it would have set, and its line.
    pub(super) fn leave_out_shell(&mut self) -> Option<(usize, usize)> {
        let command = &self.workload.scripts[self.script].commands[self.shell.take()?];
        let What::SetShell { slot, .. } = command.what else { return None };
        Some((slot, command.line))
    }

    /// The script from its first command.
    fn start(&mut self) {
        self.at = 0;
        self.pipeline = None;
        self.queued = 0;
        self.shell = None;
    }

    /// Goes on to what needs more than this client's variables.
    fn advance<S: Parameters>(&mut self, statements: &mut [S]) -> Step {
        let workload = self.workload;
        let script = &workload.scripts[self.script];
        loop {
            let next = match script.advance(&mut self.at, &mut self.variables, &mut self.random) {
                Ok(next) => next,
                Err(failure) => return self.complain(failure.to_string()),
            };
            let command = self.at.saturating_sub(1);
            match (next, self.pipeline) {
                (Next::Sql(sql), pipeline) => {
                    self.sent = workload.statements[self.script][&command];
                    self.fill(sql, &mut statements[self.sent]);
                    if pipeline.is_none() {
                        return Step::Send { statement: self.sent, kind: self.sent };
                    }
                    if sql.store.is_some() {
                        return self.complain("\\gset and \\aset are not allowed in a pipeline".to_owned());
                    }
                    self.queued += 1;
                    return Step::Aside(Aside::Queue(self.sent));
                }
                (Next::Sleep(micros), _) => return Step::Aside(Aside::Sleep(micros.saturating_mul(1000))),
                (Next::Shell(_) | Next::SetShell { .. }, _) => {
                    self.shell = Some(command);
                    return Step::Aside(Aside::Work);
                }
                (Next::StartPipeline, None) => self.pipeline = Some(workload.pipelines[self.script][&command]),
                (Next::SyncPipeline, Some(_)) => return Step::Aside(Aside::Sync),
                (Next::EndPipeline, Some(kind)) => {
                    self.pipeline = None;
                    // Without a statement there is nothing to wait for.
                    if std::mem::take(&mut self.queued) > 0 {
                        return Step::SendQueue { kind };
                    }
                }
                (Next::StartPipeline, Some(_)) => {
                    return self.complain("a pipeline begins within a pipeline".to_owned());
                }
                (Next::SyncPipeline | Next::EndPipeline, None) => {
                    return self.complain("a pipeline ends that has not begun".to_owned());
                }
                (Next::End, None) => return Step::End,
                (Next::End, Some(_)) => return self.complain("the script ends with a pipeline open".to_owned()),
            }
        }
    }

    /// The event cannot go on.
    #[cold]
    fn complain(&mut self, complaint: String) -> Step {
        self.complaint = complaint;
        Step::Aside(Aside::GiveUp { kind: self.workload.commands })
    }

    fn fill<S: Parameters>(&mut self, sql: &Sql, statement: &mut S) {
        self.text.clear();
        if self.workload.protocol == Protocol::Simple {
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

    /// Keeps of an answer what the script wants of it; why that is not there.
    fn keep(&mut self, store: &Store, rows: &Rows) -> Result<(), String> {
        let count = rows.last().count();
        for (number, result) in rows.last().enumerate() {
            let is_wanted = store.all || number + 1 == count;
            if !store.all && is_wanted && result.rows() != 1 {
                return Err(format!("\\gset expected one row, got {}", result.rows()));
            }
            for (column, (name, value)) in result.columns().enumerate().filter(|_| is_wanted) {
                let slot = self.slot(store, (number, column), name)?;
                if let Some(slot) = slot {
                    let text = std::str::from_utf8(value.unwrap_or_default());
                    self.variables.set_text(slot, text.map_err(|_| "a value is not UTF-8".to_owned())?);
                }
            }
        }
        Ok(())
    }

    /// The variable of a column; it is looked up only where the column has another name than in the last answer.
    fn slot(&mut self, store: &Store, (result, column): (usize, usize), name: &[u8]) -> Result<Option<usize>, String> {
        let results = &mut self.columns[self.sent];
        if results.len() <= result {
            results.resize(result + 1, Vec::new());
        }
        let known = &mut results[result];
        if let Some((_, slot)) = known.get(column).filter(|(known, _)| known == name) {
            return Ok(*slot);
        }
        let slot =
            store.slot(&String::from_utf8_lossy(name), &self.workload.names).map_err(|error| error.to_string())?;
        known.truncate(column);
        known.push((name.to_vec(), slot));
        Ok(slot)
    }

    /// Runs the command of the shell that is due, if one is.
    fn run_shell(&mut self) -> Result<(), String> {
        let Some(command) = self.shell.take() else { return Ok(()) };
        let command = &self.workload.scripts[self.script].commands[command];
        let ran = match &command.what {
            What::Shell { words } => shell::run(words, &self.variables).map(drop),
            What::SetShell { slot, words } => {
                shell::run_for_number(words, &self.variables).map(|number| self.variables.set(*slot, number))
            }
            _ => Ok(()),
        };
        ran.map_err(|why| format!("line {}: {why}", command.line))
    }
}

impl Program for ScriptSession<'_> {
    const FAILURES_IN_A_ROW_MAX: u32 = FAILURES_IN_A_ROW_MAX;
    const TIMEOUTS_IN_A_ROW_MAX: u32 = TIMEOUTS_IN_A_ROW_MAX;
    const HAS_ASIDES: bool = true;

    fn opening(&self) -> &[String] {
        self.opening
    }

    fn statements(&self) -> &[StatementForm] {
        &self.workload.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, statements: &mut [S]) -> Step {
        match cue {
            Cue::Begin => {
                let script = self.workload.choice.draw(&mut self.choose);
                return self.begin(script, statements);
            }
            Cue::Again => {
                self.random.clone_from(&self.begun);
                self.start();
            }
            Cue::Answer(rows) => {
                if let What::Sql(Sql { store: Some(store), .. }) = &self.command().what
                    && let Err(why) = self.keep(store, rows)
                {
                    return self.complain(why);
                }
            }
        }
        self.advance(statements)
    }

    fn go_on<S: Parameters>(&mut self, statements: &mut [S]) -> Step {
        match self.run_shell() {
            Ok(()) => self.advance(statements),
            Err(why) => self.complain(why),
        }
    }

    fn complaint(&self) -> String {
        self.complaint.clone()
    }

    fn rollback(&self) -> Option<usize> {
        Some(self.workload.rollback)
    }

    fn tries_max(&self) -> u32 {
        self.workload.tries_max
    }

    fn event(&self) -> usize {
        self.script
    }
}
