//! The transactions as one server gets them: its form, its statements, its rules, and what its sessions count together.
//!
//! In: what is run, and the engine and protocol of a server. Out: an [`Arm`] that its sessions share. SQL is made here,
//! once, from the files of this folder.

use super::client::{NameRow, Rules, Statement};
use super::homes::Homes;
use super::inputs::{Inputs, Transaction};
use super::pause::Pauses;
use super::script::{Sql, Words, section};
use crate::error::LoadError;
use crate::program::StatementForm;
use rqps_model::Engine;
use rqps_model::tproc_c::{Form, Isolation, Profile, Quirk, TprocC};
use rqps_wire::{Endpoint, Protocol};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;

const CLIENT_SQL: &str = include_str!("statements.sql");
const CALLS: &str = include_str!("calls.sql");

/// What a routine's transaction sends, in order; some forms have only some of it.
pub(super) const STEPS: [Statement; 3] = [Statement::Set, Statement::Call, Statement::Results];

/// The steps of a routine: number and SQL.
type Routine = [Option<(usize, Sql)>; STEPS.len()];

/// What sends the transactions.
#[derive(Debug)]
pub(super) enum Flow {
    /// The client, statement by statement.
    Client(Vec<Sql>),
    /// Routines, by type of transaction.
    Routines(Vec<Routine>),
}

impl Flow {
    /// The statement of that number.
    pub(super) fn sql(&self, number: usize) -> &Sql {
        match self {
            Flow::Client(all) => &all[number],
            Flow::Routines(all) => {
                let mut steps = all.iter().flatten().flatten();
                &steps.find(|(of, _)| *of == number).expect("every step has its number").1
            }
        }
    }
}

/// What was acknowledged since the beginning, counted or not.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// By kind of event.
    pub(super) succeeded: [AtomicU64; Transaction::ALL.len() + 1],
    /// Those whose answer never came, by type.
    pub(super) unknown: [AtomicU64; Transaction::ALL.len()],
    /// Orders of all deliveries.
    pub(super) delivered: AtomicU64,
}

/// The transactions of one server.
#[derive(Debug)]
pub(super) struct Arm {
    pub(super) forms: Vec<StatementForm>,
    pub(super) flow: Flow,
    pub(super) opening: Vec<String>,
    pub(super) rules: Rules,
    pub(super) inputs: Inputs,
    pub(super) homes: Homes,
    pub(super) is_mix_drawn: bool,
    pub(super) retries: bool,
    pub(super) pauses: Option<Pauses>,
    /// Bytes of the longest text that is sent.
    pub(super) room: usize,
    pub(super) counts: Counts,
}

/// The form of an engine, and the quirks that mean anything there.
pub(super) fn form_and_quirks(shape: &TprocC, engine: Engine) -> Result<(Form, BTreeSet<Quirk>), LoadError> {
    let form = shape.forms.get(&engine).copied().filter(|form| form.is_of(engine));
    let form =
        form.ok_or_else(|| LoadError::Shape(format!("{engine} has no form of the transactions: give it one")))?;
    let quirks = shape.quirks.iter().copied().filter(|quirk| quirk.is_on(engine)).collect();
    Ok((form, quirks))
}

/// The words that hold in SQL: engine, form, quirks.
pub(super) fn words(protocol: Protocol, form: Form, quirks: &BTreeSet<Quirk>) -> Words {
    let engine = match protocol {
        Protocol::Postgres => "postgres",
        Protocol::Mysql => "mysql",
    };
    let quirks = quirks.iter().map(|quirk| quirk.name());
    quirks.chain([engine, form.name()]).collect()
}

impl Arm {
    /// Compiles the transactions for a server.
    pub(super) fn compile(shape: &TprocC, homes: Homes, server: &Endpoint) -> Result<Arm, LoadError> {
        let protocol = server.protocol();
        let (form, quirks) = form_and_quirks(shape, server.engine)?;
        let words = words(protocol, form, &quirks);
        let has = |quirk| quirks.contains(&quirk);
        let (flow, forms) = match form {
            Form::ClientSql => client_sql(protocol, &words),
            _ => routines(protocol, form, &words),
        };
        let name_row = match (has(Quirk::NameRowOff), protocol) {
            (false, _) => NameRow::Middle,
            (true, Protocol::Postgres) => NameRow::Before,
            (true, Protocol::Mysql) => NameRow::Behind,
        };
        let pauses = Pauses { clients: homes.clients, is_rounded: shape.profile == Profile::Hammerdb };
        let room = forms.iter().filter_map(|form| form.capacity).max();
        Ok(Arm {
            rules: Rules {
                name_row,
                commits_invalid: has(Quirk::CommittedInvalidItem),
                adds_payment: has(Quirk::AddedPayment),
                is_unchecked: has(Quirk::UncheckedDelivery),
            },
            inputs: Inputs::new(homes.warehouses, &quirks, has(Quirk::ServerDraws) && form != Form::ClientSql),
            opening: opening(protocol, shape.isolation).into_iter().collect(),
            homes: Homes { is_drawn: has(Quirk::DrawnHome), ..homes },
            is_mix_drawn: has(Quirk::DrawnMix),
            retries: !has(Quirk::NoRetry),
            pauses: shape.keying_and_thinking.then_some(pauses),
            room: room.unwrap_or(0),
            flow,
            forms,
            counts: Counts::default(),
        })
    }
}

/// The statements of the client, by their numbers.
fn client_sql(protocol: Protocol, words: &Words) -> (Flow, Vec<StatementForm>) {
    let with_text = Statement::ALL.into_iter().filter(|statement| !STEPS.contains(statement));
    let all: Vec<Sql> = with_text
        .map(|statement| section(CLIENT_SQL, statement.name(), words).expect("every statement has its section"))
        .collect();
    let forms = all.iter().map(|sql| sql.form(protocol)).collect();
    (Flow::Client(all), forms)
}

/// The steps of all routines.
fn routines(protocol: Protocol, form: Form, words: &Words) -> (Flow, Vec<StatementForm>) {
    let is_text = |step| match form {
        Form::ClientSql | Form::Function => false,
        Form::Procedure | Form::Call => true,
        Form::PreparedCall => step != Statement::Call,
    };
    let mut forms = Vec::new();
    let routines = Transaction::ALL.iter().map(|transaction| {
        STEPS.map(|step| {
            let sql = section(CALLS, &format!("{transaction}.{step}"), words)?;
            let sql = if is_text(step) { sql.into_text() } else { sql };
            forms.push(sql.form(protocol));
            Some((forms.len() - 1, sql))
        })
    });
    (Flow::Routines(routines.collect()), forms)
}

/// What sets the isolation level of a session.
fn opening(protocol: Protocol, isolation: Isolation) -> Option<String> {
    let level = match isolation {
        Isolation::ServerDefault => return None,
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    };
    let set = match protocol {
        Protocol::Postgres => "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL",
        Protocol::Mysql => "SET SESSION TRANSACTION ISOLATION LEVEL",
    };
    Some(format!("{set} {level}"))
}
