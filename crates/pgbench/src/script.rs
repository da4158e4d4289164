//! A script: its commands, and how one leads to the next.
//!
//! In: a name and a text. Out: commands, or all faults at once. While it runs, a script does by itself what needs no
//! server, and says what its caller has to do next.

mod branches;
mod meta;
mod pipelines;
mod scanner;

use crate::command::{Command, Sleep, What, Word};
use crate::fault::{Fault, Unplaced};
use crate::names::Names;
use crate::statement::{Sql, Store};
use crate::value::EvalError;
use crate::variables::Variables;
use meta::Meta;
use rqps_draw::Random;
use scanner::{End, Scanner};

/// Most parameters of a statement, as in pgbench.
const PARAMETERS_MAX: usize = 255;

/// A script of pgbench.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Its name: of a file, or of a built-in.
    pub name: String,
    /// Its commands, at least one.
    pub commands: Vec<Command>,
}

/// What a script needs of its caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step<'a> {
    /// Send a statement, and wait for its answer unless in a pipeline.
    Sql(&'a Sql),
    /// Wait as many microseconds.
    Sleep(u64),
    /// Run a command of the shell.
    Shell(&'a [Word]),
    /// Run a command of the shell and keep the number that it prints.
    SetShell {
        /// The variable for it.
        slot: usize,
        /// The command.
        words: &'a [Word],
    },
    /// Send what follows without waiting for answers.
    StartPipeline,
    /// Send a Sync within the pipeline.
    SyncPipeline,
    /// Wait for all answers.
    EndPipeline,
    /// The script is at its end.
    End,
}

/// An expression that has no value, with the line of its command.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("line {line}: {error}")]
pub struct Failure {
    /// The line of the script, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub error: EvalError,
}

impl Script {
    /// Parses a script. The names of its variables join those of the test's other scripts.
    pub fn parse(name: &str, text: &str, names: &mut Names) -> Result<Script, Vec<Fault>> {
        let mut parsing =
            Parsing { names, commands: Vec::new(), offsets: Vec::new(), faults: Vec::new(), line: (0, 1) };
        parsing.read(text);
        let Parsing { mut commands, offsets, mut faults, .. } = parsing;
        faults.extend(branches::resolve(&mut commands, &offsets));
        if faults.is_empty() {
            faults.extend(pipelines::check(&commands, &offsets));
        }
        if commands.is_empty() && faults.is_empty() {
            faults.push(Unplaced::new(0, format!("empty command list for script \"{name}\"; it needs a statement")));
        }
        if faults.is_empty() {
            return Ok(Script { name: name.to_owned(), commands });
        }
        faults.sort_by_key(|fault| fault.offset);
        Err(faults.into_iter().map(|fault| fault.place(text)).collect())
    }

    /// Whether it runs commands of the shell.
    pub fn runs_commands(&self) -> bool {
        self.commands.iter().any(|command| matches!(command.what, What::Shell { .. } | What::SetShell { .. }))
    }

    /// Whether its client does more within it than send and wait for answers: sleep, or run commands.
    pub fn pauses(&self) -> bool {
        self.runs_commands() || self.commands.iter().any(|command| matches!(command.what, What::Sleep(_)))
    }

    /// Goes on from the command `at`, doing what needs no server, to the next thing that does. `at` is then the command
    /// behind it.
    pub fn advance(&self, at: &mut usize, variables: &mut Variables, random: &mut Random) -> Result<Step<'_>, Failure> {
        while let Some(command) = self.commands.get(*at) {
            let failure = |error| Failure { line: command.line, error };
            let step = match &command.what {
                What::Set { slot, expr } => {
                    let value = expr.eval(variables, random).map_err(failure)?;
                    variables.set(*slot, value);
                    *at += 1;
                    continue;
                }
                What::If { .. } | What::Elif { .. } | What::Else { .. } | What::EndIf => {
                    *at = self.branch(*at, variables, random)?;
                    continue;
                }
                What::Sql(sql) => Step::Sql(sql),
                What::Sleep(sleep) => Step::Sleep(Sleep::micros(sleep, variables).map_err(failure)?),
                What::Shell { words } => Step::Shell(words),
                What::SetShell { slot, words } => Step::SetShell { slot: *slot, words },
                What::StartPipeline => Step::StartPipeline,
                What::SyncPipeline => Step::SyncPipeline,
                What::EndPipeline => Step::EndPipeline,
            };
            *at += 1;
            return Ok(step);
        }
        Ok(Step::End)
    }

    /// The command behind a condition or a branch's end. Nothing within a branch that is not taken is evaluated;
    /// pgbench did evaluate an `\if` there until 17.2.
    fn branch(&self, at: usize, variables: &Variables, random: &mut Random) -> Result<usize, Failure> {
        let mut at = at;
        // Who comes to one of these by itself comes from a branch that was taken.
        if let What::Elif { end, .. } | What::Else { end } = self.commands[at].what {
            return Ok(end + 1);
        }
        while let What::If { condition, otherwise } | What::Elif { condition, otherwise, .. } = &self.commands[at].what
        {
            let value = condition.eval(variables, random);
            if value.map_err(|error| Failure { line: self.commands[at].line, error })?.is_true() {
                break;
            }
            at = *otherwise;
        }
        Ok(at + 1)
    }
}

/// A script that is being read.
struct Parsing<'n> {
    names: &'n mut Names,
    commands: Vec<Command>,
    /// Where each command begins.
    offsets: Vec<usize>,
    faults: Vec<Unplaced>,
    /// An offset, and the line that it is in.
    line: (usize, usize),
}

impl Parsing<'_> {
    fn read(&mut self, text: &str) {
        let mut scanner = Scanner::new(text);
        loop {
            let statement = match scanner.next() {
                Ok(statement) => statement,
                // Nothing behind it is what it looks like.
                Err(fault) => return self.faults.push(fault),
            };
            if !statement.text.is_empty() {
                self.statement(text, statement.start, statement.text);
            }
            match statement.end {
                End::Semicolon => {}
                End::Script => return,
                End::Backslash => {
                    let start = scanner.offset();
                    let end = meta::line_end(text, start);
                    scanner.go_to(end);
                    match meta::parse(&text[..end], start, self.names) {
                        Ok(Some(Meta::Command(what))) => self.push(text, start - 1, what),
                        Ok(Some(Meta::Store(store))) => self.store(start - 1, store),
                        Ok(None) => {}
                        Err(fault) => {
                            self.faults.push(fault);
                            // So that its \else and \endif are no faults as well.
                            if let Some(what) = meta::in_place_of(&text[..end], start) {
                                self.push(text, start - 1, what);
                            }
                        }
                    }
                }
            }
        }
    }

    fn statement(&mut self, text: &str, start: usize, sent: String) {
        let sql = Sql::new(sent, self.names);
        let parameters = sql.slots().len();
        if parameters > PARAMETERS_MAX {
            let message = format!("the statement has {parameters} variables, the most is {PARAMETERS_MAX}");
            self.faults.push(Unplaced::new(start, message));
        }
        self.push(text, start, What::Sql(sql));
    }

    fn push(&mut self, text: &str, start: usize, what: What) {
        let (counted, line) = self.line;
        let line = line + text[counted..start].matches('\n').count();
        self.line = (start, line);
        self.offsets.push(start);
        self.commands.push(Command { line, what });
    }

    fn store(&mut self, start: usize, store: Store) {
        match self.commands.last_mut().map(|command| &mut command.what) {
            Some(What::Sql(sql)) if sql.store.is_none() => sql.store = Some(store),
            _ => {
                let command = if store.all { "aset" } else { "gset" };
                self.faults.push(Unplaced::new(start, format!("\\{command} must follow an SQL command")));
            }
        }
    }
}

#[cfg(test)]
mod tests;
