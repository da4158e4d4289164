//! The workload file: TOML as written, checked and joined into a [`Suite`].
//!
//! In: text. Out: the suite, or the first fault with the name of the table it stands in. The types here are the file's
//! shape and nothing else sees them.

use super::{ForcedSql, Generator, SecondsClass, StatementKind, TableChoice, Test, Work, sql};
use crate::forced::Forced;
use crate::suite::Suite;
use rqps_model::{Group, Interleave, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The only version of the workload format.
const FORMAT: u32 = 1;

/// The most statements of one event and parameters of one statement: a limit against slips, far above need.
const STATEMENTS_MAX: usize = 1000;

/// Why a workload file was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SuiteError {
    /// It is not TOML of the expected shape.
    #[error("workload file: {0}")]
    Syntax(String),
    /// It has another format version.
    #[error("workload file has format {found}, this program reads format {FORMAT}")]
    Format {
        /// The version it says.
        found: u32,
    },
    /// A name refers to nothing.
    #[error("{place} names {what} `{name}`, which the workload file does not have; it has: {known}")]
    Unknown {
        /// Where, such as `test `hot-points``.
        place: String,
        /// What kind of thing, such as `event`.
        what: &'static str,
        /// The name.
        name: String,
        /// What there is.
        known: String,
    },
    /// A statement, event or test makes no sense.
    #[error("{place}: {fault}")]
    Nonsense {
        /// Where.
        place: String,
        /// What is wrong, with the remedy.
        fault: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    format: u32,
    name: String,
    #[serde(default)]
    forced: Vec<Forced>,
    forced_in_transactions: Option<Forced>,
    statement: BTreeMap<String, FileStatement>,
    #[serde(default)]
    event: BTreeMap<String, FileEvent>,
    test: Vec<FileTest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileStatement {
    sql: String,
    mysql: Option<ForcedSql>,
    parameters: Vec<String>,
    #[serde(default)]
    text: bool,
    table: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEvent {
    #[serde(default)]
    transaction: bool,
    statements: Vec<FileStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileStep {
    kind: String,
    #[serde(default = "once")]
    times: usize,
}

const fn once() -> usize {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTest {
    name: String,
    event: String,
    group: Group,
    rank: u32,
    range: u32,
    #[serde(default)]
    sets: Vec<String>,
    seconds: SecondsClass,
    #[serde(default)]
    writes: bool,
    unit: Option<Unit>,
    interleave: Option<Interleave>,
    #[serde(default)]
    before: Vec<String>,
}

impl Suite {
    /// Reads and checks a workload file.
    pub fn parse(text: &str) -> Result<Suite, SuiteError> {
        let file: File = toml::from_str(text).map_err(|error| SuiteError::Syntax(error.to_string()))?;
        if file.format != FORMAT {
            return Err(SuiteError::Format { found: file.format });
        }
        let tests = file.test.iter().map(|test| check_test(test, &file)).collect::<Result<Vec<_>, _>>()?;
        let mut names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(nonsense(&format!("test `{}`", twice[0]), "stands there twice; give each its own name"));
        }
        let forced = forced(file.forced, file.forced_in_transactions.as_ref(), &tests);
        Ok(Suite { name: file.name, tests, scales: BTreeMap::new(), forced })
    }
}

/// What engines force in tables and data, then in statements and transactions, each with the tests that have it.
fn forced(of_data: Vec<Forced>, of_transactions: Option<&Forced>, tests: &[Test]) -> Vec<Forced> {
    let mut all = of_data;
    for test in tests {
        let of_statements = test.kinds.iter().filter_map(StatementKind::forced);
        let of_transaction = of_transactions.filter(|_| test.transaction).cloned();
        for form in of_statements.chain(of_transaction) {
            match all.iter_mut().find(|known| known.what == form.what && !known.tests.is_empty()) {
                Some(known) => known.tests.push(test.name.clone()),
                None => all.push(Forced { tests: vec![test.name.clone()], ..form }),
            }
        }
    }
    all
}

fn check_test(test: &FileTest, file: &File) -> Result<Test, SuiteError> {
    let place = format!("test `{}`", test.name);
    let single;
    let event = match file.event.get(&test.event) {
        Some(event) => event,
        None if file.statement.contains_key(&test.event) => {
            single =
                FileEvent { transaction: false, statements: vec![FileStep { kind: test.event.clone(), times: 1 }] };
            &single
        }
        None => return Err(unknown(place, "event", &test.event, file.event.keys().chain(file.statement.keys()))),
    };
    let mut kinds: Vec<StatementKind> = Vec::new();
    let mut sequence = Vec::new();
    for step in &event.statements {
        let index = match kinds.iter().position(|kind| kind.kind == step.kind) {
            Some(index) => index,
            None => {
                kinds.push(check_statement(&step.kind, file, test.range, &kinds, &place)?);
                kinds.len() - 1
            }
        };
        sequence.extend(std::iter::repeat_n(index, step.times.min(STATEMENTS_MAX + 1)));
    }
    if sequence.is_empty() || sequence.len() > STATEMENTS_MAX {
        return Err(nonsense(&place, &format!("an event has 1 to {STATEMENTS_MAX} statements")));
    }
    if test.range == 0 {
        return Err(nonsense(&place, "range is at least 1"));
    }
    let before = test
        .before
        .iter()
        .map(|word| {
            let known = Work::ALL.map(Work::name).join(", ");
            Work::find(word)
                .ok_or_else(|| nonsense(&place, &format!("unknown work `{word}`; expected one of: {known}")))
        })
        .collect::<Result<Vec<Work>, _>>()?;
    let label = match test.name.contains("_range=") {
        true => test.name.clone(),
        false => format!("{}_range={}", test.name, test.range),
    };
    Ok(Test {
        name: test.name.clone(),
        label,
        group: test.group,
        rank: test.rank,
        range: test.range,
        unit: test.unit.unwrap_or(Unit::QueriesPerSecond),
        writes: test.writes,
        seconds: test.seconds,
        sets: test.sets.clone(),
        before,
        interleave: test.interleave,
        transaction: event.transaction,
        kinds,
        sequence,
    })
}

fn check_statement(
    name: &str,
    file: &File,
    range: u32,
    earlier: &[StatementKind],
    place: &str,
) -> Result<StatementKind, SuiteError> {
    let Some(statement) = file.statement.get(name) else {
        return Err(unknown(place.to_owned(), "statement", name, file.statement.keys()));
    };
    let place = format!("statement `{name}`");
    let mut parameters = Vec::new();
    for word in &statement.parameters {
        let known = Generator::WORDS.iter().map(|(word, _)| word);
        parameters.push(Generator::parse(word).ok_or_else(|| unknown(place.clone(), "parameter", word, known))?);
    }
    let needs_one_before = |generator: &Generator| match generator {
        Generator::LastOfRange | Generator::FirstPlusRange => true,
        Generator::SameId => earlier.is_empty(),
        _ => false,
    };
    if parameters.first().is_some_and(needs_one_before) {
        return Err(nonsense(&place, "its first parameter refers to one before it, and there is none"));
    }
    let table = match statement.table.as_deref() {
        None | Some("uniform") => TableChoice::Uniform,
        Some("by-client") => TableChoice::ByClient,
        Some(other) => match earlier.iter().position(|kind| kind.kind == other) {
            Some(index) => TableChoice::SameAs(index),
            None => {
                return Err(unknown(place, "earlier statement of its event", other, earlier.iter().map(|k| &k.kind)));
            }
        },
    };
    let kind = StatementKind {
        kind: name.to_owned(),
        sql: statement.sql.clone(),
        mysql: statement.mysql.clone(),
        parameters,
        text: statement.text,
        table,
    };
    sql::check(&kind, range).map_err(|fault| nonsense(&place, &fault))?;
    Ok(kind)
}

fn nonsense(place: &str, fault: &str) -> SuiteError {
    SuiteError::Nonsense { place: place.to_owned(), fault: fault.to_owned() }
}

fn unknown<T: AsRef<str>>(
    place: String,
    what: &'static str,
    name: &str,
    known: impl IntoIterator<Item = T>,
) -> SuiteError {
    let known: Vec<String> = known.into_iter().map(|word| word.as_ref().to_owned()).collect();
    SuiteError::Unknown { place, what, name: name.to_owned(), known: known.join(", ") }
}
