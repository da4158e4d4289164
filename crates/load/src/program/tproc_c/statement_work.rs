//! What each type of transaction makes a server do, apart from its virtual users.
//!
//! In: a target with warehouses, what is run. Out: [`StatementWork`] of each type, and where the client sends the
//! statements also of each of these. A transaction is begun and rolled back here, so that it finds the tables as the
//! run does at its beginning. Routines that are to be taken back have no transactions of their own, are given their
//! values by the client whatever the quirks, so that all builds do the same, and are functions on PostgreSQL: EXPLAIN
//! takes no CALL.

use super::arm::{Arm, Flow, form_and_quirks};
use super::client::Statement;
use super::homes::Homes;
use super::inputs::Transaction;
use super::routines::{renamed, with_routines_to_take_back};
use super::session::Session as User;
use crate::error::LoadError;
use crate::plan_capture::SEED;
use crate::plan_capture::postgres::type_name;
use crate::program::{Cue, Literals, Program, StatementForm, Step};
use crate::random::{Purpose, stream};
use crate::session::{connect, execute, first_rows};
use crate::statement_work::{Counter, Counts, Execution, Preparation, add, count_events, counter, none, told};
use rqps_model::statement_work::StatementWork;
use rqps_model::tproc_c::{Form, Quirk, TprocC};
use rqps_wire::{Protocol, Rows, Session, Target};

/// The work of the transactions; of those that a server refuses, why.
pub fn statement_work(target: &Target, shape: &TprocC, warehouses: u32) -> Result<Vec<StatementWork>, LoadError> {
    let engine = target.engine();
    let (form, _) = form_and_quirks(shape, engine)?;
    if form == Form::ClientSql {
        return count(target, shape, warehouses);
    }
    let mut shape = shape.clone();
    shape.quirks.remove(&Quirk::ServerDraws);
    if form == Form::Procedure {
        shape.forms.insert(engine, Form::Function);
    }
    with_routines_to_take_back(target, &shape, || count(target, &shape, warehouses))
}

/// What was counted.
struct Found {
    transactions: Vec<StatementWork>,
    /// By number, where the client sends them.
    statements: Vec<StatementWork>,
}

fn count(target: &Target, shape: &TprocC, warehouses: u32) -> Result<Vec<StatementWork>, LoadError> {
    let homes = Homes { warehouses, clients: 1, is_drawn: false, is_all: false };
    let arm = Arm::compile(shape, homes, &target.endpoint)?;
    let mut session = connect(&target.endpoint)?;
    arm.opening.iter().try_for_each(|sql| execute(&mut session, sql))?;
    let mut counter = counter(&mut session, target, preparations(&arm, target.endpoint.protocol()))?;
    let mut found = Found {
        transactions: Transaction::ALL.iter().map(|transaction| none(transaction.name())).collect(),
        statements: Statement::ALL.iter().map(|statement| none(statement.name())).collect(),
    };
    let event = |session: &mut Session, transaction: usize, number: u32| {
        walk(session, &arm, Transaction::ALL[transaction], number, &mut *counter)
    };
    let counted = |transaction: usize, counts| found.add(transaction, counts, &arm.flow);
    let refused = count_events(&mut session, target, Transaction::ALL.len(), event, counted)?;
    let transactions = found.transactions.into_iter().zip(refused).map(|(work, why)| told(work, why));
    let all = transactions.chain(found.statements);
    Ok(all.filter(|one| one.executions > 0 || one.untold.is_some()).collect())
}

/// How a server prepares the statements, by number.
fn preparations(arm: &Arm, protocol: Protocol) -> Vec<Option<Preparation>> {
    let preparation = |form: &StatementForm| {
        let types = || form.parameters.iter().map(|parameter| type_name(*parameter)).collect();
        let is_prepared = protocol == Protocol::Postgres && form.capacity.is_none();
        is_prepared.then(|| (renamed(&form.sql), types()))
    };
    arm.forms.iter().map(preparation).collect()
}

impl Found {
    fn add(&mut self, transaction: usize, counted: Vec<(Statement, Counts)>, flow: &Flow) {
        let mut whole = StatementWork::default();
        for (statement, counts) in counted {
            if matches!(flow, Flow::Client(_)) {
                add(&mut self.statements[statement as usize], counts.clone());
            }
            add(&mut whole, counts);
        }
        add(&mut self.transactions[transaction], whole.counts);
    }
}

/// Executes a transaction of that number, and says what was counted of its statements.
fn walk(
    session: &mut Session,
    arm: &Arm,
    transaction: Transaction,
    number: u32,
    counter: &mut dyn Counter,
) -> Result<Vec<(Statement, Counts)>, LoadError> {
    let mut counted = Vec::new();
    let mut random = stream(SEED, Purpose::StatementWork, transaction as u64, number.into());
    let mut filled = vec![Literals::default(); arm.forms.len()];
    let mut user = User::new(arm, 0);
    let mut step = user.enter(transaction, &mut random, &mut filled);
    while let Step::Send { statement, kind } = step {
        let (kind, sql) = (Statement::ALL[kind], arm.flow.sql(statement));
        let values = std::mem::take(&mut filled[statement]);
        let execution = Execution { literals: values.list.clone(), text: renamed(&values.written_out(sql.pieces())) };
        let mut answer = Rows::default();
        match kind {
            Statement::Begin => {}
            // What a routine returned, nobody needs.
            Statement::Commit | Statement::Rollback | Statement::Results => break,
            Statement::Set => execute(session, &execution.text)?,
            _ => {
                counted.push((kind, counter.count(session, statement, &execution)?));
                // Counted, it returned nothing; what the client goes on from it reads, so that it can be read again.
                if matches!(arm.flow, Flow::Client(_)) && sql.kept_rows() > 0 {
                    answer = first_rows(session, &execution.text, sql.kept_rows())?;
                }
            }
        }
        step = user.next(Cue::Answer(&answer), &mut random, &mut filled);
    }
    Ok(counted)
}
