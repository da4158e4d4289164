//! From a test to statements: the program that every client repeats, and one client's place in it.
//!
//! In: a [`Test`], tables and rows, and each event's random stream. Out: which statement comes next, with its parameters
//! filled in. The same stream gives the same event, so that an event that must be retried is the same again. Nothing is
//! allocated once the text buffer has its size.

mod render;
mod sink;

pub(crate) use render::{Rendered, render_parameters};
use sink::{Prepared, Sink, Text};

use crate::error::LoadError;
use crate::mysql::engine;
use crate::random::{Purpose, below, one_to, stream};
use crate::rows::{C_BYTES, PAD_BYTES, fill_digits, parameter_type};
use crate::zipfian::Zipfian;
use rand_pcg::Pcg64;
use rqps_model::plan::DataShape;
use rqps_suites::{Generator, StatementKind, TableChoice, Test};
use rqps_wire::{ParameterType, Protocol};

/// Takes the parameters of a statement.
pub(crate) trait Parameters {
    /// Sets an integer.
    fn set_i32(&mut self, slot: usize, value: i32);
    /// Sets a text.
    fn set_text(&mut self, slot: usize, value: &[u8]);
    /// Sets the whole SQL of a statement that is sent as text.
    fn set_sql(&mut self, sql: &[u8]);
}

/// The most kinds that draw a table of their own in one event.
const DRAWS_MAX: usize = 16;

/// The kind of the statement that ends a failed transaction; it is not part of an event.
const ROLLBACK: &str = "rollback";

/// A statement as a session prepares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatementForm {
    /// SQL with the protocol's markers for parameters.
    pub(crate) sql: String,
    /// Their types.
    pub(crate) parameters: Vec<ParameterType>,
    /// For a statement sent as text: room for its SQL.
    pub(crate) capacity: Option<usize>,
}

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

/// What a test's clients repeat.
#[derive(Debug, Clone)]
pub(crate) struct Program {
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
    random: Pcg64,
    at_start: Pcg64,
    tables: [u32; DRAWS_MAX],
    client_table: u32,
    step: usize,
    last_id: i32,
    text: Vec<u8>,
}

impl Event {
    /// The place of a client before its first event.
    pub(crate) fn new(client: u32, program: &Program) -> Event {
        let random = stream(0, Purpose::Keys, 0, 0);
        Event {
            at_start: random.clone(),
            random,
            tables: [0; DRAWS_MAX],
            client_table: client % program.tables,
            step: 0,
            last_id: 0,
            text: Vec::with_capacity(program.forms.iter().filter_map(|form| form.capacity).max().unwrap_or(0)),
        }
    }

    /// From here on events are drawn from `random`.
    pub(crate) fn reseed(&mut self, random: Pcg64) {
        self.random = random;
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

impl Program {
    /// Compiles a test for a data set and the servers of one protocol. The same stream draws the same numbers for both.
    pub(crate) fn compile(test: &Test, data: DataShape, protocol: Protocol) -> Result<Program, LoadError> {
        let limit = i32::MAX as u64;
        if data.tables == 0 || data.rows == 0 || data.rows + u64::from(test.range) > limit {
            return Err(LoadError::Shape(format!(
                "{} tables of {} rows cannot be tested: give at least one of each, and ids below {limit}",
                data.tables, data.rows
            )));
        }
        let mut program = Program {
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
                    program.draws += 1;
                    Source::Draw(program.draws - 1)
                }
            };
            sources.push(source);
            program.add(kind, source);
        }
        if program.draws > DRAWS_MAX {
            return Err(LoadError::Shape(format!(
                "test `{}` has more than {DRAWS_MAX} kinds of statements",
                test.name
            )));
        }
        program.steps.clone_from(&test.sequence);
        if test.transaction {
            let begin = program.add_bare("begin", "BEGIN");
            let commit = program.add_bare("commit", "COMMIT");
            program.rollback = Some(program.add_bare(ROLLBACK, "ROLLBACK"));
            program.steps.insert(0, begin);
            program.steps.push(commit);
        }
        Ok(program)
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
                self.forms.push(StatementForm { sql, parameters: Vec::new(), capacity });
                Some((1..=self.tables).map(|table| kind.pieces(self.range, table, engine(self.protocol))).collect())
            }
            false => {
                for table in 1..=self.tables {
                    let sql = kind.sql(self.range, table, engine(self.protocol));
                    self.forms.push(StatementForm { sql, parameters: parameters.clone(), capacity: None });
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
        self.forms.push(StatementForm { sql: sql.to_owned(), parameters: Vec::new(), capacity });
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

    /// How many statements each session prepares.
    pub(crate) fn prepared_statements(&self) -> usize {
        self.forms.iter().filter(|form| form.capacity.is_none()).count()
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

    /// Begins a new event.
    #[inline]
    pub(crate) fn begin(&self, event: &mut Event) {
        event.at_start.clone_from(&event.random);
        self.draw_tables(event);
    }

    /// Begins the same event again.
    pub(crate) fn begin_again(&self, event: &mut Event) {
        event.random.clone_from(&event.at_start);
        self.draw_tables(event);
    }

    #[inline]
    fn draw_tables(&self, event: &mut Event) {
        event.step = 0;
        if self.tables > 1 {
            for table in &mut event.tables[..self.draws] {
                *table = below(&mut event.random, u64::from(self.tables)) as u32;
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
    pub(crate) fn fill<P: Parameters>(&self, event: &mut Event, statement: &mut P) {
        let kind = &self.kinds[self.steps[event.step]];
        match &kind.pieces {
            None => {
                let mut sink = Prepared { statement, slot: 0 };
                self.draw(kind, event, &mut sink);
            }
            Some(tables) => {
                let pieces = &tables[Self::table(kind, event) as usize];
                let mut text = std::mem::take(&mut event.text);
                text.clear();
                let mut sink = Text { text: &mut text, pieces: pieces.iter() };
                sink.piece();
                self.draw(kind, event, &mut sink);
                statement.set_sql(&text);
                event.text = text;
            }
        }
    }

    #[inline]
    fn draw(&self, kind: &Kind, event: &mut Event, sink: &mut impl Sink) {
        let random = &mut event.random;
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

#[cfg(test)]
mod tests;
