//! From a test to statements: the program that every client repeats, and one client's place in it.
//!
//! In: a [`Test`], tables and rows, and each event's random stream. Out: which statement comes next, with its
//! parameters filled in. The same stream gives the same event, so that an event that must be retried is the same again.
//! Nothing is allocated once the text buffer has its size.

mod render;
mod sink;
mod statement_work;

pub(crate) use render::render_parameters;
pub use statement_work::statement_work;

use sink::{Prepared, Sink, Text};

use super::{Cue, Parameters, Program, StatementForm, Step, Workload};

use crate::error::LoadError;
use crate::mysql::engine;
use crate::random::{below, one_to};
use crate::rows::{C_BYTES, PAD_BYTES, fill_digits, parameter_type};
use crate::zipfian::Zipfian;
use rand_pcg::Pcg64;
use rqps_model::plan::DataShape;
use rqps_suites::{Generator, StatementKind, TableChoice, Test};
use rqps_wire::{Endpoint, ParameterType, Protocol};

/// The most kinds that draw a table of their own in one event.
const DRAWS_MAX: usize = 16;

/// The kind of the statement that ends a failed transaction; it is not part of an event.
const ROLLBACK: &str = "rollback";

/// How a kind finds its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It has none: BEGIN, COMMIT.
    None,
    /// The event's draw of that number.
    Draw(usize),
    /// The client's own.
    Client,
}

#[derive(Debug, Clone)]
struct Kind {
    name: String,
    parameters: Vec<Generator>,
    source: Source,
    /// Number of its first statement in a session; table i follows i places later, unless it is sent as text.
    first_statement: usize,
    /// For text: the SQL cut at its parameters, for each table.
    pieces: Option<Vec<Vec<String>>>,
}

/// What a test's clients repeat, compiled for one protocol.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    protocol: Protocol,
    kinds: Vec<Kind>,
    /// One event, as indices of kinds.
    steps: Vec<usize>,
    forms: Vec<StatementForm>,
    rollback: Option<usize>,
    draws: usize,
    tables: u32,
    rows: u64,
    range: u32,
    zipfian: Zipfian,
}

/// One client's place in an event.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    tables: [u32; DRAWS_MAX],
    client_table: u32,
    step: usize,
    last_id: i32,
    text: Vec<u8>,
}

impl Event {
    /// The place of a client before its first event.
    pub(crate) fn new(client: u32, script: &Script) -> Event {
        Event {
            tables: [0; DRAWS_MAX],
            client_table: client % script.tables,
            step: 0,
            last_id: 0,
            text: Vec::with_capacity(script.forms.iter().filter_map(|form| form.capacity).max().unwrap_or(0)),
        }
    }

    /// The statement of the event that comes next, from 0.
    #[inline]
    pub(crate) fn step(&self) -> usize {
        self.step
    }

    /// Goes on to the next statement.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.step += 1;
    }
}

impl Script {
    /// Compiles a test for a data set and the servers of one protocol. The same stream draws the same numbers for both.
    pub(crate) fn compile(test: &Test, data: DataShape, protocol: Protocol) -> Result<Script, LoadError> {
        let limit = i32::MAX as u64;
        if data.tables == 0 || data.rows == 0 || data.rows + u64::from(test.range) > limit {
            return Err(LoadError::Shape(format!(
                "{} tables of {} rows cannot be tested: give at least one of each, and ids below {limit}",
                data.tables, data.rows
            )));
        }
        let mut script = Script {
            protocol,
            kinds: Vec::new(),
            steps: Vec::new(),
            forms: Vec::new(),
            rollback: None,
            draws: 0,
            tables: data.tables,
            rows: data.rows,
            range: test.range,
            zipfian: Zipfian::new(data.rows),
        };
        let mut sources: Vec<Source> = Vec::new();
        for kind in &test.kinds {
            let source = match kind.table {
                TableChoice::ByClient => Source::Client,
                TableChoice::SameAs(index) => sources[index],
                TableChoice::Uniform => {
                    script.draws += 1;
                    Source::Draw(script.draws - 1)
                }
            };
            sources.push(source);
            script.add(kind, source);
        }
        if script.draws > DRAWS_MAX {
            return Err(LoadError::Shape(format!(
                "test `{}` has more than {DRAWS_MAX} kinds of statements",
                test.name
            )));
        }
        script.steps.clone_from(&test.sequence);
        if test.transaction {
            let begin = script.add_bare("begin", "BEGIN");
            let commit = script.add_bare("commit", "COMMIT");
            script.rollback = Some(script.add_bare(ROLLBACK, "ROLLBACK"));
            script.steps.insert(0, begin);
            script.steps.push(commit);
        }
        Ok(script)
    }

    fn add(&mut self, kind: &StatementKind, source: Source) {
        let first_statement = self.forms.len();
        let parameters: Vec<ParameterType> = kind
            .parameters
            .iter()
            .flat_map(|generator| std::iter::repeat_n(parameter_type(*generator), generator.width(self.range)))
            .collect();
        let pieces = match kind.text {
            true => {
                // A number has ten digits at most, a string its length and quotes.
                let values: usize = kind.parameters.iter().map(|g| g.width(self.range) * (C_BYTES + 2)).sum();
                let sql = kind.sql(self.range, self.tables, engine(self.protocol));
                let capacity = Some(sql.len() + values);
                self.forms.push(StatementForm { capacity, ..StatementForm::prepared(sql, &[]) });
                Some((1..=self.tables).map(|table| kind.pieces(self.range, table, engine(self.protocol))).collect())
            }
            false => {
                for table in 1..=self.tables {
                    let sql = kind.sql(self.range, table, engine(self.protocol));
                    self.forms.push(StatementForm::prepared(sql, &parameters));
                }
                None
            }
        };
        let (name, parameters) = (kind.kind.clone(), kind.parameters.clone());
        self.kinds.push(Kind { name, parameters, source, first_statement, pieces });
    }

    fn add_bare(&mut self, name: &str, sql: &str) -> usize {
        let first_statement = self.forms.len();
        // MySQL cannot prepare BEGIN (error 1295); its own client sends text then, and COMMIT prepared.
        let is_text = self.protocol == Protocol::Mysql && sql != "COMMIT";
        let capacity = is_text.then_some(sql.len());
        self.forms.push(StatementForm { capacity, ..StatementForm::prepared(sql, &[]) });
        let name = name.to_owned();
        self.kinds.push(Kind { name, parameters: Vec::new(), source: Source::None, first_statement, pieces: None });
        self.kinds.len() - 1
    }

    /// Every statement of a session, by its number.
    pub(crate) fn statements(&self) -> &[StatementForm] {
        &self.forms
    }

    /// The names of the kinds, by number; that of ROLLBACK is the last where there is one.
    pub(crate) fn kind_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.kinds.iter().map(|kind| kind.name.as_str())
    }

    /// Statements of an event.
    #[inline]
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// How many executions of a new session see every prepared statement often enough for its plan to be settled:
    /// PostgreSQL chooses between a generic and a custom plan at the sixth execution; MySQL plans each alike and only
    /// opens each table at its first.
    pub(crate) fn events_to_settle(&self) -> u32 {
        match self.protocol {
            Protocol::Postgres => 6 * self.tables,
            Protocol::Mysql => 3 * self.tables,
        }
    }

    /// The kind of the statement that is due.
    #[inline]
    pub(crate) fn kind(&self, event: &Event) -> usize {
        self.steps[event.step]
    }

    /// The statement that ends a failed transaction.
    pub(crate) fn rollback(&self) -> Option<usize> {
        self.rollback.map(|kind| self.kinds[kind].first_statement)
    }

    /// Begins an event.
    #[inline]
    pub(crate) fn begin(&self, event: &mut Event, random: &mut Pcg64) {
        event.step = 0;
        if self.tables > 1 {
            for table in &mut event.tables[..self.draws] {
                *table = below(random, u64::from(self.tables)) as u32;
            }
        }
    }

    /// The number of the statement that is due.
    #[inline]
    pub(crate) fn statement(&self, event: &Event) -> usize {
        let kind = &self.kinds[self.steps[event.step]];
        match kind.pieces {
            Some(_) => kind.first_statement,
            None => kind.first_statement + Self::table(kind, event) as usize,
        }
    }

    #[inline]
    fn table(kind: &Kind, event: &Event) -> u32 {
        match kind.source {
            Source::None => 0,
            Source::Draw(draw) => event.tables[draw],
            Source::Client => event.client_table,
        }
    }

    /// Fills in the parameters of the statement that is due.
    #[inline]
    pub(crate) fn fill<P: Parameters>(&self, event: &mut Event, random: &mut Pcg64, statement: &mut P) {
        let kind = &self.kinds[self.steps[event.step]];
        match &kind.pieces {
            None => {
                let mut sink = Prepared { statement, slot: 0 };
                self.draw(kind, event, random, &mut sink);
            }
            Some(tables) => {
                let pieces = &tables[Self::table(kind, event) as usize];
                let mut text = std::mem::take(&mut event.text);
                text.clear();
                let mut sink = Text { text: &mut text, pieces: pieces.iter() };
                sink.piece();
                self.draw(kind, event, random, &mut sink);
                statement.set_sql(&text);
                event.text = text;
            }
        }
    }

    #[inline]
    fn draw(&self, kind: &Kind, event: &mut Event, random: &mut Pcg64, sink: &mut impl Sink) {
        let mut first_id = None;
        let mut previous = 0;
        for generator in &kind.parameters {
            match generator {
                Generator::Id => {
                    previous = one_to(random, self.rows) as i32;
                    first_id.get_or_insert(previous);
                    sink.number(previous);
                }
                Generator::IdZipfian => {
                    previous = self.zipfian.draw(random) as i32;
                    first_id.get_or_insert(previous);
                    sink.number(previous);
                }
                Generator::One => sink.number(1),
                Generator::LastOfRange => sink.number(previous + self.range as i32 - 1),
                Generator::FirstPlusRange => sink.number(previous + self.range as i32),
                Generator::Ids | Generator::TenIds => {
                    for _ in 0..generator.width(self.range) {
                        sink.number(one_to(random, self.rows) as i32);
                    }
                }
                Generator::HotIds => {
                    let middle = (self.rows / 2) as i32;
                    for offset in 1..=self.range as i32 {
                        sink.number(middle + offset);
                    }
                }
                Generator::SameId => {
                    previous = event.last_id;
                    first_id.get_or_insert(previous);
                    sink.number(previous);
                }
                Generator::NewC => {
                    let mut text = [0; C_BYTES];
                    fill_digits(random, &mut text);
                    sink.string(&text);
                }
                Generator::NewPad => {
                    let mut text = [0; PAD_BYTES];
                    fill_digits(random, &mut text);
                    sink.string(&text);
                }
            }
        }
        if let Some(id) = first_id {
            event.last_id = id;
        }
    }
}

/// One client's session: the script and its place in it.
#[derive(Debug)]
pub struct Player<'w> {
    script: &'w Script,
    event: Event,
}

impl<'w> Player<'w> {
    /// The session of a client.
    pub(crate) fn new(script: &'w Script, client: u32) -> Player<'w> {
        Player { script, event: Event::new(client, script) }
    }
}

impl Program for Player<'_> {
    fn statements(&self) -> &[StatementForm] {
        self.script.statements()
    }

    #[inline]
    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step {
        let Player { script, event } = self;
        match cue {
            Cue::Begin | Cue::Again => script.begin(event, random),
            Cue::Answer(_) => event.advance(),
        }
        if event.step() >= script.steps() {
            return Step::End;
        }
        let statement = script.statement(event);
        script.fill(event, random, &mut statements[statement]);
        Step::Send { statement, kind: script.kind(event) }
    }

    fn rollback(&self) -> Option<usize> {
        self.script.rollback()
    }
}

/// A test of statements, compiled for every arm.
#[derive(Debug)]
pub struct Statements {
    /// By arm.
    scripts: Vec<Script>,
}

impl Statements {
    /// Compiles a test for tables and rows, which are the same on every arm.
    pub fn compile(test: &Test, data: DataShape, arms: &[Endpoint]) -> Result<Statements, LoadError> {
        let scripts = arms.iter().map(|arm| Script::compile(test, data, arm.protocol()));
        Ok(Statements { scripts: scripts.collect::<Result<_, _>>()? })
    }
}

impl Workload for Statements {
    type Program<'w> = Player<'w>;

    fn kinds(&self) -> Vec<String> {
        // They have the same names on every protocol.
        self.scripts.first().map_or_else(Vec::new, |script| script.kind_names().map(str::to_owned).collect())
    }

    fn program(&self, arm: usize, client: u32, _: usize) -> Player<'_> {
        Player::new(&self.scripts[arm], client)
    }

    fn events_to_settle(&self, arm: usize) -> u32 {
        self.scripts[arm].events_to_settle()
    }
}

#[cfg(test)]
mod tests;
