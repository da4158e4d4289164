//! A script walked once, as the first client would run it, for who asks about its statements one by one.
//!
//! In: compiled scripts, which of them, the answer to each statement. Out: the statements in the order in which the
//! script comes to them, with the values that they have then. What a client does by itself is done but for two things:
//! it does not sleep, and runs no command of the shell. A pipeline's statements are given out like others.

use super::{ScriptSession, ScriptWorkload};
use crate::program::{Aside, Cue, Parameters, Program, StatementForm, Step};
use crate::random::{Pcg64, Purpose, stream};
use rqps_pgbench::What;
use rqps_wire::{AnyValue, Rows};

impl ScriptWorkload {
    /// Walks the script of that number.
    pub(crate) fn walk(&self, script: usize) -> Walk<'_> {
        let opening = self.openings.first().map_or(&[][..], Vec::as_slice);
        Walk {
            session: ScriptSession::new(self, opening, 0),
            script,
            filled: self.forms.iter().map(Filled::new).collect(),
            random: stream(0, Purpose::Plans, 0, 0),
            last: None,
            left_out: Vec::new(),
        }
    }

    /// The numbers of the scripts that run, whatever their weight is.
    pub(crate) fn running(&self) -> impl Iterator<Item = usize> {
        self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0).map(|(script, _)| script)
    }

    /// The statements of a script, in its order: their numbers and their lines.
    pub(crate) fn statements_of(&self, script: usize) -> impl Iterator<Item = (usize, usize)> {
        let commands = &self.scripts[script].commands;
        self.statements[script].iter().map(|(command, statement)| (*statement, commands[*command].line))
    }

    /// The name of a statement's kind, and the form in which it is sent.
    pub(crate) fn statement(&self, number: usize) -> (&str, &StatementForm) {
        (&self.kinds[number], &self.forms[number])
    }
}

/// A script on its way.
pub(crate) struct Walk<'w> {
    session: ScriptSession<'w>,
    script: usize,
    filled: Vec<Filled>,
    /// Scripts have streams of their own: nothing is drawn from this one.
    random: Pcg64,
    last: Option<Step>,
    /// Variables that a command of the shell would have set, and its line.
    left_out: Vec<(usize, usize)>,
}

impl Walk<'_> {
    /// The number of the next statement, given the answer to the one before; `None` at the end. Where the client cannot
    /// go on: why.
    pub(crate) fn next(&mut self, answer: &Rows) -> Result<Option<usize>, String> {
        let (session, filled) = (&mut self.session, &mut self.filled[..]);
        let mut step = match self.last {
            None => session.begin(self.script, filled),
            Some(Step::Aside(_)) => session.go_on(filled),
            Some(_) => session.next(Cue::Answer(answer), &mut self.random, filled),
        };
        loop {
            self.last = Some(step);
            step = match step {
                Step::Send { statement, .. } | Step::Aside(Aside::Queue(statement)) => return Ok(Some(statement)),
                Step::SendQueue { .. } => session.next(Cue::Answer(&Rows::default()), &mut self.random, filled),
                Step::Aside(Aside::Work) => {
                    self.left_out.extend(session.leave_out_shell());
                    session.go_on(filled)
                }
                Step::Aside(Aside::Sync | Aside::Sleep(_)) => session.go_on(filled),
                Step::Aside(Aside::GiveUp { .. }) => return Err(session.complaint()),
                Step::End => return Ok(None),
            };
        }
    }

    /// The values of a statement.
    pub(crate) fn filled(&self, statement: usize) -> &Filled {
        &self.filled[statement]
    }

    /// The line of a command of the shell that was left out, and on whose number the statement under way depends.
    pub(crate) fn lacks(&self) -> Option<usize> {
        let What::Sql(sql) = &self.session.command().what else { return None };
        let is_lacking = |slot: &usize| sql.slots().contains(slot) && !self.session.is_defined(*slot);
        self.left_out.iter().find(|(slot, _)| is_lacking(slot)).map(|(_, line)| *line)
    }
}

/// A statement's values, as a session would send them.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// The whole text of a statement that is sent as text.
    pub(crate) sql: String,
    /// Else its values in order; `None` is NULL.
    pub(crate) values: Vec<Option<Vec<u8>>>,
}

impl Filled {
    fn new(form: &StatementForm) -> Filled {
        Filled { sql: form.sql.clone(), values: vec![None; form.parameters.len()] }
    }

    /// The value of a place.
    pub(crate) fn any(&self, slot: usize) -> AnyValue<'_> {
        self.values[slot].as_deref().map_or(AnyValue::Null, AnyValue::Text)
    }
}

impl Parameters for Filled {
    fn set_i32(&mut self, slot: usize, value: i32) {
        self.set_i64(slot, value.into());
    }

    fn set_i64(&mut self, slot: usize, value: i64) {
        self.set_text(slot, value.to_string().as_bytes());
    }

    fn set_text(&mut self, slot: usize, value: &[u8]) {
        self.values[slot] = Some(value.to_vec());
    }

    fn set_sql(&mut self, sql: &[u8]) {
        self.sql = String::from_utf8_lossy(sql).into_owned();
    }

    fn set_any<'v>(&mut self, value: impl Fn(usize) -> AnyValue<'v>) {
        for (slot, place) in self.values.iter_mut().enumerate() {
            *place = match value(slot) {
                AnyValue::Null => None,
                AnyValue::Integer(number) => Some(number.to_string().into_bytes()),
                AnyValue::Float(number) => Some(number.to_string().into_bytes()),
                AnyValue::Text(text) => Some(text.to_vec()),
            };
        }
    }
}
