//! The statements that took most time.
//!
//! In: a [`Log`]. Out: the first of them by total time, each as a test needs it, and what is left out with its share.

use crate::context::Context;
use crate::left_out::LeftOut;
use crate::log::{Group, Log, Shape, Share};
use crate::sample::ROWS_MAX;
use crate::template::{Column, Unknown, free, template};
use rqps_sql::Dialect;
use std::collections::BTreeSet;

/// What was chosen, and of what.
#[derive(Debug)]
pub struct Choice {
    /// How the server writes SQL.
    pub dialect: Dialect,
    /// The statements, the one that took most time first.
    pub statements: Vec<Statement>,
    /// What becomes no test, the largest share first.
    pub left_out: Vec<LeftOutShare>,
    /// How many statements there were that could have been chosen.
    pub of: usize,
    /// The time of everything.
    pub milliseconds: f64,
    /// Over how many seconds it was seen.
    pub seconds: Option<f64>,
    /// What is worth telling.
    pub notes: Vec<String>,
}

/// A reason with its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOutShare {
    /// The reason.
    pub why: LeftOut,
    /// The share of the total time, or of all calls where no time is known.
    pub share: f64,
    /// How often.
    pub calls: f64,
}

/// A statement that becomes a test.
#[derive(Debug)]
pub struct Statement {
    /// Its name.
    pub name: String,
    /// How often it was done.
    pub calls: f64,
    /// How long that took.
    pub milliseconds: f64,
    /// The share of the total time, or of all calls where no time is known.
    pub share: f64,
    /// Its text with `:name` where values go.
    pub sql: String,
    /// The name of the source of its rows.
    pub source: String,
    /// The columns of its rows.
    pub columns: Vec<Column>,
    /// Values that it was called with.
    pub rows: Vec<Vec<Option<String>>>,
    /// Names whose values are not known.
    pub unknown: Vec<Unknown>,
    /// Whether it was mostly sent as text, without being prepared.
    pub is_text: bool,
    /// What is worth telling of it.
    pub notes: Vec<String>,
}

/// Chooses so many statements.
pub fn choose(log: &Log, top: usize) -> Choice {
    let mut ranked: Vec<(&String, &Group)> = log.groups.iter().collect();
    ranked.sort_by(|(one_key, one), (other_key, other)| {
        let by_time = other.share.milliseconds.total_cmp(&one.share.milliseconds);
        by_time.then(other.share.calls.total_cmp(&one.share.calls)).then(one_key.cmp(other_key))
    });
    let groups = ranked.iter().map(|(_, group)| group.share);
    let total = sum(groups.chain(log.left_out.values().copied()));
    let share = |share: Share| match total.milliseconds > 0.0 {
        true => share.milliseconds / total.milliseconds,
        false => share.calls / total.calls.max(1.0),
    };
    let names = names(&ranked[..top.min(ranked.len())], log.dialect);
    let sources: BTreeSet<String> = names.iter().map(|name| source(name)).collect();
    let statements = ranked
        .iter()
        .zip(names)
        .map(|((_, group), name)| statement(group, name, share(group.share), log.dialect, &sources));
    let statements: Vec<Statement> = statements.collect();
    let mut left_out = log.left_out.clone();
    if let Some(rest) = ranked.get(top..).filter(|rest| !rest.is_empty()) {
        let rest = sum(rest.iter().map(|(_, group)| group.share));
        let below = left_out.entry(LeftOut::Below).or_default();
        *below = sum([*below, rest].into_iter());
    }
    let mut left_out: Vec<LeftOutShare> = left_out
        .iter()
        .map(|(why, found)| LeftOutShare { why: *why, share: share(*found), calls: found.calls })
        .collect();
    left_out.sort_by(|one, other| other.share.total_cmp(&one.share).then(one.why.cmp(&other.why)));
    Choice {
        dialect: log.dialect,
        statements,
        left_out,
        of: ranked.len(),
        milliseconds: total.milliseconds,
        seconds: log.seconds(),
        notes: notes(log),
    }
}

fn sum(shares: impl Iterator<Item = Share>) -> Share {
    shares.fold(Share::default(), |sum, share| Share {
        calls: sum.calls + share.calls,
        milliseconds: sum.milliseconds + share.milliseconds,
    })
}

fn notes(log: &Log) -> Vec<String> {
    let mut notes = log.notes.clone();
    let databases: Vec<&str> = log.databases.iter().map(String::as_str).collect();
    if databases.len() > 1 && log.filter.database.is_none() {
        let databases = databases.join(", ");
        notes.push(format!("these are statements of several databases ({databases}); --database takes those of one"));
    }
    notes
}

/// A name for each statement, no two alike.
fn names(ranked: &[(&String, &Group)], dialect: Dialect) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, group) in ranked {
        let shape = most_frequent(group);
        let wished = Context::with_slots(&shape.example, &shape.slots, dialect).name();
        // The mix has this name.
        let is_taken = |name: &str| name == "mix" || names.iter().any(|other| source(other) == source(name));
        names.push(free(&wished, is_taken).replace(&format!("{wished}_"), &format!("{wished}-")));
    }
    names
}

/// The name of the source of a test's values.
fn source(name: &str) -> String {
    let plain: String = name.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_alphabetic()) { plain } else { format!("v_{plain}") }
}

/// The shape that most calls have, of those whose values are known if there are any.
fn most_frequent(group: &Group) -> &Shape {
    let has_values = |shape: &Shape| !shape.sample.rows().is_empty();
    let by_calls = |one: &&Shape, other: &&Shape| {
        has_values(one).cmp(&has_values(other)).then(one.share.calls.total_cmp(&other.share.calls))
    };
    group.shapes.values().rev().max_by(by_calls).expect("a statement that was seen has a shape")
}

/// What its words say that its user must know.
fn notes_of(shape: &Shape, dialect: Dialect) -> Vec<String> {
    let context = Context::with_slots(&shape.example, &shape.slots, dialect);
    let words = context.words();
    let has = |word: &str| words.iter().any(|other| other == word);
    let mut notes = Vec::new();
    if words.first().is_some_and(|first| first == "insert") && !has("conflict") && !has("duplicate") && !has("ignore") {
        let help = "give the key { uniform = [1_000_000_000, 2_000_000_000] }";
        notes.push(format!("a row whose key is there already is refused: {help}"));
    }
    // PostgreSQL's schemas come with the dump.
    let database = context.tables().iter().find_map(|table| table.schema.as_deref());
    if let Some(database) = database.filter(|_| !dialect.is_postgres()) {
        notes.push(format!("it names the database {database}: take that out, since there is one database here"));
    }
    notes
}

fn statement(group: &Group, name: String, share: f64, dialect: Dialect, sources: &BTreeSet<String>) -> Statement {
    let shape = most_frequent(group);
    let source = source(&name);
    let made = template(shape, dialect, &source, sources);
    let mut notes = notes_of(shape, dialect);
    let other = 1.0 - shape.share.calls / group.share.calls;
    if other > 0.0005 {
        notes.push(format!(
            "{:.1} % of its calls have lists of other lengths, or came without their values",
            other * 100.0
        ));
    }
    if made.unknown.iter().any(|unknown| shape.slots[unknown.slot].is_list) {
        notes.push("how long its list is PostgreSQL does not tell: write as many names as yours has values".to_owned());
    }
    if !made.rows.is_empty() && shape.sample.seen() as usize > ROWS_MAX {
        notes.push(format!("{} sets of values of {}", made.rows.len(), shape.sample.seen()));
    }
    if shape.sample.too_long > 0 {
        notes.push(format!("left out for their length: {} sets of values", shape.sample.too_long));
    }
    Statement {
        calls: group.share.calls,
        milliseconds: group.share.milliseconds,
        share,
        sql: made.sql,
        columns: made.columns,
        rows: made.rows,
        unknown: made.unknown,
        is_text: group.text_calls > group.share.calls / 2.0,
        notes,
        source,
        name,
    }
}
