//! The blocking side of a session: text results, preparing, and what both need.
//!
//! In: SQL. Out: tables, counts, statements for the timed path, errors with a remedy. It shares the channel with the
//! timed path, and the rule that a broken session stays broken.

use std::sync::Arc;

use crate::channel::Fault;
use crate::error::{WireError, abridge};
use crate::prepared::ParameterType;
use crate::reply::Table;
use crate::socket::Deadline;

use super::collect::Collected;
use super::flags::command;
use super::packet::{PacketError, encode, encode_long, header};
use super::progress::{Prepared, Progress};
use super::remedy;
use super::session::{Session, WANTS_FILE};
use super::statement::Statement;

/// ER_UNSUPPORTED_PS: MySQL does not prepare BEGIN, for example. As sysbench does, it is then sent as text.
const UNSUPPORTED_PS: u16 = 1295;

impl Session {
    pub(crate) fn query(&mut self, sql: &str) -> Result<Table, WireError> {
        let mut collected = self.awaiting();
        collected.keeps_rows = true;
        self.simple(sql, &mut collected, self.state.start_deadline())?;
        Ok(collected.table)
    }

    pub(crate) fn execute(&mut self, sql: &str) -> Result<u64, WireError> {
        let mut collected = self.awaiting();
        self.simple(sql, &mut collected, self.state.start_deadline())?;
        Ok(collected.affected)
    }

    /// A reply to a query that is about to come.
    pub(super) fn awaiting(&self) -> Collected {
        Collected::new(Progress::of_result(self.has_eof), self.in_transaction)
    }

    pub(super) fn simple(&mut self, sql: &str, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        self.begin(sql, collected, deadline)?;
        self.collect_rest(collected, deadline)
    }

    /// Collects a reply to its end. Whatever file the server asks for, it gets an empty one, or it would wait for ever.
    pub(super) fn collect_rest(&mut self, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        let mut has_refused_file = false;
        while !collected.is_done() {
            self.read_into(collected, deadline)?;
            // Each statement of a text may ask for one.
            if collected.wants_file.take().is_some() {
                has_refused_file = true;
                let empty = header(self.channel.next_sequence(), 0);
                self.write_into(&empty, collected, deadline)?;
            }
        }
        self.outcome(collected)?;
        if has_refused_file { Err(WireError::Misuse(WANTS_FILE)) } else { Ok(()) }
    }

    /// Sends a COM_QUERY.
    pub(super) fn begin(&mut self, sql: &str, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        self.send(command::QUERY, sql, collected, deadline)
    }

    fn send(&mut self, command: u8, sql: &str, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        if self.is_pending() || self.state.is_broken {
            return Err(self.state.unusable());
        }
        self.state.last.set_text(sql.as_bytes());
        let bytes = encode_long(&[&[command], sql.as_bytes()].concat());
        self.write_into(&bytes, collected, deadline)
    }

    /// Writes packets; what comes meanwhile is collected.
    pub(super) fn write_into(
        &mut self,
        bytes: &[u8],
        collected: &mut Collected,
        deadline: Deadline,
    ) -> Result<(), WireError> {
        self.channel.write_all(bytes, collected, deadline).map_err(|fault| {
            // A server that refuses what it has not read to the end says so, then hangs up.
            if let Some(error) = &collected.error {
                self.notes.remember(error);
                self.notes.end_with_error();
            }
            self.give_up(fault)
        })
    }

    /// Waits for something to read and collects it.
    pub(super) fn read_into(&mut self, collected: &mut Collected, deadline: Deadline) -> Result<(), WireError> {
        self.channel.wait_and_read(collected, deadline).map_err(|fault| self.give_up(fault))
    }

    /// What the reply amounts to, as far as it has come.
    pub(super) fn outcome(&mut self, collected: &mut Collected) -> Result<(), WireError> {
        self.in_transaction = collected.in_transaction;
        let Some(error) = collected.error.take() else { return Ok(()) };
        if self.notes.remember(&error) {
            return Err(self.give_up(Fault::Closed));
        }
        let remedy = remedy::of_statement(&error);
        Err(self.state.refused(error, remedy))
    }

    pub(crate) fn prepare(&mut self, sql: &str, parameters: &[ParameterType]) -> Result<Statement, WireError> {
        let deadline = self.state.start_deadline();
        let mut collected = self.ask_to_prepare(sql, parameters.len(), deadline)?;
        match self.outcome(&mut collected) {
            Err(WireError::Server { error, .. }) if error.number() == UNSUPPORTED_PS && parameters.is_empty() => {
                let mut statement = Statement::text(sql.len());
                statement.set_sql(sql.as_bytes());
                return Ok(statement);
            }
            outcome => outcome?,
        }
        let found = self.found(&collected, sql, parameters.len(), deadline)?;
        let index = self.state.next_prepared();
        let sql: Arc<str> = sql.into();
        let Some(statement) = Statement::prepared(self.state.id, index, found.id, Arc::clone(&sql), parameters) else {
            self.forget(found.id, deadline)?;
            return Err(WireError::Misuse("the parameters of a statement have less than 16 MiB together"));
        };
        self.state.add_prepared(sql);
        self.is_bound.push(parameters.is_empty());
        Ok(statement)
    }

    /// The names of the columns that a statement's answer has, of what the server says when it prepares it.
    pub(crate) fn columns(&mut self, sql: &str, parameters: usize) -> Result<Vec<String>, WireError> {
        let deadline = self.state.start_deadline();
        let mut collected = self.ask_to_prepare(sql, parameters, deadline)?;
        match self.outcome(&mut collected) {
            Err(WireError::Server { error, .. }) if error.number() == UNSUPPORTED_PS => return Ok(Vec::new()),
            outcome => outcome?,
        }
        let found = self.found(&collected, sql, parameters, deadline)?;
        self.forget(found.id, deadline)?;
        Ok(collected.table.columns)
    }

    /// Sends a COM_STMT_PREPARE and collects the reply.
    fn ask_to_prepare(&mut self, sql: &str, parameters: usize, deadline: Deadline) -> Result<Collected, WireError> {
        if u16::try_from(parameters).is_err() {
            return Err(WireError::Misuse("a statement has at most 65535 parameters: send fewer rows at once"));
        }
        let mut collected = Collected::new(Progress::of_prepare(self.has_eof), self.in_transaction);
        collected.keeps_rows = true;
        self.send(command::STMT_PREPARE, sql, &mut collected, deadline)?;
        while !collected.is_done() {
            self.read_into(&mut collected, deadline)?;
        }
        Ok(collected)
    }

    /// What was prepared, if it has so many parameters.
    fn found(
        &mut self,
        collected: &Collected,
        sql: &str,
        parameters: usize,
        deadline: Deadline,
    ) -> Result<Prepared, WireError> {
        let Some(found) = collected.prepared else {
            return Err(self.give_up(PacketError::Unexpected { head: 0 }.into()));
        };
        if usize::from(found.parameters) != parameters {
            self.forget(found.id, deadline)?;
            let found = found.parameters.into();
            return Err(WireError::Parameters { statement: abridge(sql), declared: parameters, found });
        }
        Ok(found)
    }

    /// Makes the server forget a statement, to which it answers nothing.
    fn forget(&mut self, id: u32, deadline: Deadline) -> Result<(), WireError> {
        let packet = encode(0, &[&[command::STMT_CLOSE], &id.to_le_bytes()[..]].concat());
        let mut nothing = Collected::new(Progress::none(), self.in_transaction);
        self.write_into(&packet, &mut nothing, deadline)
    }
}
