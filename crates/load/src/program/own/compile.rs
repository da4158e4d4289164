//! From a test of the user's to what its sessions send: statements with the places of their values.
//!
//! In: a test, its sources, a server. Out: forms of statements for the protocol, units of which an event is one, and
//! what a new session is told. What a server refuses, it says when a session prepares it.

use super::literal::push_literal;
use super::values::{Inputs, Place, Resolved, Sources, ValueSet};
use crate::error::LoadError;
use crate::own::{Columns, dialect};
use crate::program::{StatementForm, TRIES_MAX};
use rqps_draw::Random;
use rqps_model::Engine;
use rqps_model::own::{Own, OwnStep, OwnTest, Protocol as Sending, Steps, Values, Work};
use rqps_sql::{Dialect, Piece, Template};
use rqps_wire::{ParameterType, Protocol, Target};
use std::collections::BTreeMap;
use std::time::Duration;

/// The kind of the statement that ends a failed transaction.
const ROLLBACK: &str = "rollback";

/// Room for the values of a statement that is sent as text.
const VALUES_BYTES: usize = 256;

/// A test, compiled for a server.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(super) forms: Vec<StatementForm>,
    pub(super) kinds: Vec<String>,
    pub(super) units: Vec<Unit>,
    pub(super) sources: Sources,
    pub(super) opening: Vec<String>,
    /// How long a statement may take, where the client has to see to that.
    pub(super) timeout: Option<Duration>,
    pub(super) rollback: Option<usize>,
    pub(super) tries_max: u32,
    weights: u64,
    /// Names that stand for something, with their places.
    places: BTreeMap<String, Place>,
    /// The statements of all units, as they are prepared.
    prepared: Vec<Prepared>,
}

/// What an event is: the test itself, or one of a mix.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    weight: u64,
    pub(super) steps: Vec<Sent>,
    /// For each step the columns that are kept, and where.
    pub(super) kept: Vec<Vec<(usize, usize)>>,
    /// The sources that are drawn from.
    pub(super) sources: Vec<usize>,
}

/// How a step is sent.
#[derive(Debug)]
pub(super) enum Sent {
    /// BEGIN and COMMIT.
    Bare { statement: usize, kind: usize },
    /// Prepared, with the places of its values.
    Prepared { statement: usize, kind: usize, slots: Vec<Place> },
    /// As text, in pieces, each with the place of the value behind it.
    Text { statement: usize, kind: usize, pieces: Vec<(String, Option<Place>)>, dialect: Dialect },
}

/// A statement as it is prepared, for who explains it.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Its kind.
    pub(crate) kind: String,
    /// Its text with markers.
    pub(crate) sql: String,
    /// Its text in pieces, each with the place of the value behind it.
    pub(crate) pieces: Vec<(String, Option<Place>)>,
    /// The places of its values, by marker.
    pub(crate) slots: Vec<Place>,
    /// The number of the unit that it belongs to.
    pub(crate) unit: usize,
    /// The columns of its answer that are kept, and where.
    pub(crate) kept: Vec<(usize, usize)>,
    /// How many rows are expected, from and to.
    pub(crate) rows: Option<(u64, u64)>,
}

impl Arm {
    pub(crate) fn compile(own: &Own, test: &OwnTest, inputs: &Inputs, target: &Target) -> Result<Arm, LoadError> {
        let mut arm = Arm {
            forms: Vec::new(),
            kinds: Vec::new(),
            units: Vec::new(),
            sources: Sources::default(),
            opening: crate::own::opening(own, test, target),
            timeout: crate::own::client_timeout(test, target),
            rollback: None,
            tries_max: test.max_tries.unwrap_or(TRIES_MAX),
            weights: 0,
            places: BTreeMap::new(),
            prepared: Vec::new(),
        };
        arm.add_sources(own, inputs)?;
        match &test.work {
            Work::Steps(steps) => arm.add_unit(&test.name, 1, steps, (own, test), target, false)?,
            Work::Mix(mix) => {
                for (name, weight) in mix.iter().filter(|(_, weight)| **weight > 0) {
                    let part = own.test(name);
                    let Some(OwnTest { work: Work::Steps(steps), .. }) = part else {
                        return Err(LoadError::Shape(format!("the mix names no test of statements: `{name}`")));
                    };
                    arm.add_unit(name, u64::from(*weight), steps, (own, part.unwrap_or(test)), target, true)?;
                }
            }
            Work::Pgbench(_) => return Err(LoadError::Shape(format!("`{}` is made of scripts", test.name))),
        }
        if arm.rollback.is_some() || arm.units.iter().any(|unit| unit.steps.len() > 1) {
            let form = StatementForm::prepared("ROLLBACK", &[]);
            arm.rollback = Some(arm.add(ROLLBACK, form).0);
        }
        Ok(arm)
    }

    /// Its statements, without those that begin and end transactions.
    pub(crate) fn prepared(&self) -> &[Prepared] {
        &self.prepared
    }

    /// The name of the test that a unit is an event of.
    pub(crate) fn unit_name(&self, unit: usize) -> &str {
        &self.units[unit].name
    }

    /// A set of values for all statements, drawn from a seed.
    pub(crate) fn values(&self, seed: u64) -> ValueSet {
        let mut values = ValueSet::new(&self.sources);
        let all: Vec<usize> = (0..self.sources.all.len()).collect();
        values.draw(&self.sources, &all, &mut Random::seeded(seed));
        values
    }

    /// Draws which unit an event is.
    #[inline]
    pub(super) fn choose(&self, random: &mut Random) -> usize {
        if self.units.len() == 1 {
            return 0;
        }
        let mut left = random.up_to(self.weights - 1);
        for (index, unit) in self.units.iter().enumerate() {
            match left.checked_sub(unit.weight) {
                Some(rest) => left = rest,
                None => return index,
            }
        }
        0
    }

    fn add_sources(&mut self, own: &Own, inputs: &Inputs) -> Result<(), LoadError> {
        for (number, (name, values)) in own.values.iter().enumerate() {
            let resolved = match values {
                Values::Drawn(spec) => {
                    self.places.insert(name.clone(), Place::Source(number));
                    let resolved = spec.resolve(0).map_err(|error| LoadError::Shape(format!("`{name}`: {error}")))?;
                    Resolved::Drawn(resolved)
                }
                Values::Csv { .. } | Values::Query { .. } => {
                    let tuples = inputs.0.get(name);
                    let tuples = tuples.filter(|tuples| !tuples.rows.is_empty()).ok_or_else(|| {
                        LoadError::Shape(format!("the source `{name}` gave no rows, and statements need its values"))
                    })?;
                    for (at, column) in tuples.columns.iter().enumerate() {
                        let place = match tuples.numbers.contains(column) {
                            true => Place::Number(number, at),
                            false => Place::Column(number, at),
                        };
                        self.places.insert(format!("{name}.{column}"), place);
                        if at == 0 {
                            self.places.insert(name.clone(), place);
                        }
                    }
                    Resolved::Rows(tuples.clone())
                }
            };
            self.sources.all.push(resolved);
        }
        Ok(())
    }

    fn add_unit(
        &mut self,
        name: &str,
        weight: u64,
        steps: &Steps,
        (own, test): (&Own, &OwnTest),
        target: &Target,
        is_mixed: bool,
    ) -> Result<(), LoadError> {
        let engine = target.engine();
        let mut columns = Columns::new(own, test, target);
        let mut unit = Unit { name: name.to_owned(), weight, steps: Vec::new(), kept: Vec::new(), sources: Vec::new() };
        let kind_of = |step: &str| if is_mixed && step != name { format!("{name}.{step}") } else { step.to_owned() };
        if steps.transaction {
            self.add_bare(&mut unit, &kind_of("begin"), "BEGIN".to_owned(), target);
        }
        // What steps keep is known to those behind them.
        let mut places = self.places.clone();
        for step in &steps.steps {
            let sql = step.sql.get(&engine).ok_or_else(|| {
                LoadError::Shape(format!("`{}` of `{name}` has no statement for {}", step.name, engine.title()))
            })?;
            let template = Template::parse(sql, dialect(engine));
            let kind = kind_of(&step.name);
            let unit_number = self.units.len();
            let compiled =
                Prepared { rows: step.rows, unit: unit_number, ..placed(&kind, &template, &places, engine)? };
            for place in compiled.slots.iter() {
                if let Place::Source(source) | Place::Column(source, _) | Place::Number(source, _) = place
                    && !unit.sources.contains(source)
                {
                    unit.sources.push(*source);
                }
            }
            let kept_rows = usize::from(!step.keep.is_empty());
            let (slots, pieces) = (compiled.slots.clone(), compiled.pieces.clone());
            let sent = match test.protocol {
                Sending::Prepared | Sending::Extended => {
                    let types = vec![ParameterType::Any; slots.len()];
                    let form = match test.protocol {
                        Sending::Extended => StatementForm::parsed_each_time(compiled.sql.clone(), &types),
                        _ => StatementForm::prepared(compiled.sql.clone(), &types),
                    };
                    let form = form.keeping(kept_rows);
                    let (statement, kind) = self.add(&kind, form);
                    Sent::Prepared { statement, kind, slots }
                }
                Sending::Simple => {
                    let form = StatementForm::text(sql.clone(), sql.len() + VALUES_BYTES).keeping(kept_rows);
                    let (statement, kind) = self.add(&kind, form);
                    Sent::Text { statement, kind, pieces, dialect: dialect(engine) }
                }
            };
            self.prepared.push(compiled);
            unit.steps.push(sent);
            let mut kept = Vec::new();
            for (column, name) in
                self.kept_columns(step, test.protocol, target, &mut columns)?.into_iter().zip(&step.keep)
            {
                let place = self.sources.kept;
                self.sources.kept += 1;
                places.insert(format!("{}.{name}", step.name), Place::Kept(place));
                kept.push((column, place));
            }
            if let Some(prepared) = self.prepared.last_mut() {
                prepared.kept.clone_from(&kept);
            }
            // BEGIN keeps nothing.
            unit.kept.resize(unit.steps.len() - 1, Vec::new());
            unit.kept.push(kept);
        }
        if steps.transaction {
            self.add_bare(&mut unit, &kind_of("commit"), "COMMIT".to_owned(), target);
        }
        unit.sources.sort_unstable();
        self.weights += weight;
        self.units.push(unit);
        Ok(())
    }

    /// Which columns of its answer a step keeps: the server knows them.
    fn kept_columns(
        &self,
        step: &OwnStep,
        sending: Sending,
        target: &Target,
        columns: &mut Columns<'_>,
    ) -> Result<Vec<usize>, LoadError> {
        let Some(statement) = self.prepared.last().filter(|_| !step.keep.is_empty()) else { return Ok(Vec::new()) };
        let has = match (sending, target.endpoint.protocol()) {
            // What runs as text alone, since its values say their types, PostgreSQL prepares only with values in it.
            (Sending::Simple, Protocol::Postgres) => {
                columns.of(&step.name, &statement.written_out(&self.values(0), dialect(target.engine())), 0)?
            }
            _ => columns.of(&step.name, &statement.sql, statement.slots.len())?,
        };
        let find = |name: &String| {
            let found = has.iter().position(|column| column.eq_ignore_ascii_case(name));
            found.ok_or_else(|| {
                let has = match &has[..] {
                    [] => {
                        "no columns before it runs; of a procedure, SELECT in a step of its own what it sets".to_owned()
                    }
                    has => format!("only {}", has.join(", ")),
                };
                LoadError::Shape(format!("`{}` keeps `{name}`, and its answer has {has}", step.name))
            })
        };
        step.keep.iter().map(find).collect()
    }

    fn add_bare(&mut self, unit: &mut Unit, kind: &str, sql: String, target: &Target) {
        // MySQL cannot prepare BEGIN.
        let is_text = target.endpoint.protocol() == Protocol::Mysql && sql != "COMMIT";
        let capacity = is_text.then_some(sql.len());
        let (statement, kind) = self.add(kind, StatementForm { capacity, ..StatementForm::prepared(sql, &[]) });
        unit.steps.push(Sent::Bare { statement, kind });
    }

    /// Adds a statement; its number, and that of its kind.
    fn add(&mut self, kind: &str, form: StatementForm) -> (usize, usize) {
        self.forms.push(form);
        self.kinds.push(kind.to_owned());
        (self.forms.len() - 1, self.kinds.len() - 1)
    }
}

impl Prepared {
    /// The places of its values, in the order of its text.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        self.pieces.iter().filter_map(|(_, place)| *place)
    }

    /// Whether it needs what an earlier statement returned.
    pub(crate) fn needs_kept(&self) -> bool {
        self.kept_places().next().is_some()
    }

    /// The places of what it needs of earlier statements.
    pub(crate) fn kept_places(&self) -> impl Iterator<Item = Place> {
        self.places().filter(|place| matches!(place, Place::Kept(_)))
    }

    /// Its text with these values in it.
    pub(crate) fn written_out(&self, values: &ValueSet, dialect: Dialect) -> String {
        let mut text = Vec::new();
        for (piece, place) in &self.pieces {
            text.extend_from_slice(piece.as_bytes());
            if let Some(place) = place {
                push_literal(&mut text, values.any(*place), dialect);
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The values by marker, as literals.
    pub(crate) fn literals(&self, values: &ValueSet, dialect: Dialect) -> Vec<String> {
        let literal = |place: &Place| {
            let mut text = Vec::new();
            push_literal(&mut text, values.any(*place), dialect);
            String::from_utf8_lossy(&text).into_owned()
        };
        self.slots.iter().map(literal).collect()
    }
}

/// A statement with the places of its values.
pub(crate) fn placed(
    kind: &str,
    template: &Template,
    places: &BTreeMap<String, Place>,
    engine: Engine,
) -> Result<Prepared, LoadError> {
    let find = |name: &str| {
        let found = places.get(name).copied();
        found.ok_or_else(|| LoadError::Shape(format!("`:{name}` of `{kind}` stands for nothing")))
    };
    let (sql, slots) = template.with_markers(dialect(engine));
    let names = template.names();
    let slots = slots.iter().map(|name| find(names[*name])).collect::<Result<Vec<Place>, LoadError>>()?;
    let mut pieces: Vec<(String, Option<Place>)> = vec![(String::new(), None)];
    for piece in template.pieces() {
        match piece {
            Piece::Text(text) => match pieces.last_mut() {
                Some((last, None)) => last.push_str(text),
                _ => pieces.push((text.clone(), None)),
            },
            Piece::Name(name) => {
                let place = find(name)?;
                match pieces.last_mut() {
                    Some((_, value @ None)) => *value = Some(place),
                    _ => pieces.push((String::new(), Some(place))),
                }
            }
        }
    }
    Ok(Prepared { kind: kind.to_owned(), sql, pieces, slots, unit: 0, kept: Vec::new(), rows: None })
}
