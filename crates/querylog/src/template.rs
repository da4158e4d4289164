//! A statement with `:name` where its values stood, and the values by these names.
//!
//! In: a shape of a statement with a sample of its values. Out: text, columns with rows, and what is still to be
//! filled. A literal that was always the same stays where it is. On PostgreSQL a name where a number with decimals
//! stood is cast, since a parameter alone would get the type of what stands beside it.

mod text;

use crate::context::{Belongs, Context};
use crate::log::Shape;
use crate::sample::Value;
use rqps_sql::{Dialect, Literal, Slot, SlotValue};
use std::collections::BTreeSet;
use text::written;

/// A literal that was the same in so many calls is one of the program's.
const CALLS_OF_CONSTANT: u64 = 10;

/// Bytes of so many hexadecimal digits are no number on MySQL; fewer may be one, by where they stand.
const NUMBER_DIGITS_MAX: usize = 16;

/// A column of a statement's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Whether all its values were written as numbers.
    pub is_number: bool,
}

/// A name whose values are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// As it stands behind the colon.
    pub name: String,
    /// What it stands for.
    pub what: String,
    /// A query that may give such values.
    pub query: Option<String>,
    /// The slot where it stands first.
    pub(crate) slot: usize,
}

/// A statement as a workload file has it.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) sql: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Option<String>>>,
    pub(crate) unknown: Vec<Unknown>,
}

/// What becomes of a slot.
#[derive(Debug)]
enum Fate {
    /// It stays as it is.
    Constant,
    /// The column of that number.
    Column(usize),
    /// The unknown of that number.
    Unknown(usize),
}

/// Makes a statement of a shape; `source` is the name of the source that its rows become, `taken` names of others.
pub(crate) fn template(shape: &Shape, dialect: Dialect, source: &str, taken: &BTreeSet<String>) -> Template {
    let context = Context::with_slots(&shape.example, &shape.slots, dialect);
    let belongs = context.slots();
    let mut naming = Naming {
        shape,
        belongs: &belongs,
        source,
        taken,
        columns: Vec::new(),
        places: Vec::new(),
        unknown: Vec::new(),
    };
    let fates: Vec<Fate> = (0..shape.slots.len()).map(|slot| naming.fate(slot)).collect();
    let Naming { columns, places, unknown, .. } = naming;
    let text = |row: &Vec<Value>| places.iter().map(|place| row[*place].as_ref().map(text_of)).collect::<Vec<_>>();
    // What a CSV has for NULL.
    let is_plain = |row: &Vec<Option<String>>| row.iter().flatten().all(|value| value != "\\N");
    let rows =
        if columns.is_empty() { Vec::new() } else { shape.sample.rows().iter().map(text).filter(is_plain).collect() };
    let names: Vec<Option<String>> = fates
        .iter()
        .map(|fate| match fate {
            Fate::Constant => None,
            Fate::Column(column) => Some(format!(":{source}.{}", columns[*column].name)),
            Fate::Unknown(unknown_at) => Some(format!(":{}", unknown[*unknown_at].name)),
        })
        .collect();
    let sql = written(shape, &names, dialect);
    Template { sql, columns, rows, unknown }
}

fn text_of(literal: &Literal) -> String {
    match literal {
        Literal::Number(text) | Literal::Text(text) | Literal::Hex(text) => text.clone(),
    }
}

/// Gives slots their names.
struct Naming<'a> {
    shape: &'a Shape,
    belongs: &'a [Option<Belongs>],
    source: &'a str,
    taken: &'a BTreeSet<String>,
    columns: Vec<Column>,
    /// Of each column the slot that its values are from.
    places: Vec<usize>,
    unknown: Vec<Unknown>,
}

impl Naming<'_> {
    fn fate(&mut self, slot: usize) -> Fate {
        let value = &self.shape.slots[slot].value;
        let is_known = !self.shape.sample.rows().is_empty();
        // The same parameter again is the same value.
        let before = match value {
            SlotValue::Parameter(Some(_)) => self.shape.slots[..slot].iter().position(|before| before.value == *value),
            _ => None,
        };
        if !is_known {
            return match (value, before) {
                (SlotValue::Literal(_) | SlotValue::Null, _) => Fate::Constant,
                (_, Some(before)) => {
                    self.unknown.iter().position(|unknown| unknown.slot == before).map_or(Fate::Constant, Fate::Unknown)
                }
                (_, None) => Fate::Unknown(self.unknown(slot)),
            };
        }
        if let Some(column) = before.and_then(|before| self.places.iter().position(|place| *place == before)) {
            return Fate::Column(column);
        }
        if self.is_constant(slot) {
            return Fate::Constant;
        }
        let wished = self.belongs[slot].as_ref().map_or("p".to_owned(), |belongs| name(&belongs.column));
        let name = free(&wished, |name| self.columns.iter().any(|column| column.name == name));
        let numbers =
            self.values(slot).flatten().all(|value| matches!(value, Literal::Number(number) if is_exact(number)));
        let is_number = numbers
            && matches!(value, SlotValue::Literal(_) | SlotValue::Null)
            && self.values(slot).any(|value| value.is_some());
        self.columns.push(Column { name, is_number });
        self.places.push(slot);
        Fate::Column(self.columns.len() - 1)
    }

    fn values(&self, slot: usize) -> impl Iterator<Item = Option<&Literal>> {
        self.shape.sample.rows().iter().map(move |row| row[slot].as_ref())
    }

    /// Whether what stands there is the program's, not a value: a literal beside parameters, or one that never changed.
    fn is_constant(&self, slot: usize) -> bool {
        let is_same = !self.shape.sample.varies(slot);
        let is_literal = |slot: &Slot| matches!(slot.value, SlotValue::Literal(_) | SlotValue::Null);
        let is_limit =
            self.belongs[slot].as_ref().is_some_and(|belongs| matches!(belongs.column.as_str(), "limit" | "offset"));
        let has_parameters = self.shape.slots.iter().any(|slot| !is_literal(slot));
        let is_settled = self.shape.sample.seen() >= CALLS_OF_CONSTANT || is_limit || has_parameters;
        let may_be_number =
            |value: Option<&Literal>| matches!(value, Some(Literal::Hex(digits)) if digits.len() <= NUMBER_DIGITS_MAX);
        is_literal(&self.shape.slots[slot]) && is_same && is_settled || self.values(slot).any(may_be_number)
    }

    /// Notes that nobody knows the value; its number.
    fn unknown(&mut self, slot: usize) -> usize {
        let belongs = self.belongs[slot].as_ref();
        let (wished, what, query) = match belongs {
            Some(Belongs { table: Some(table), column, .. }) => {
                let query = format!("SELECT {column} FROM {table} ORDER BY {column}");
                (format!("{table}_{column}"), format!("{table}.{column}"), Some(query))
            }
            Some(Belongs { table: None, column, .. }) => (format!("{}_{column}", self.source), column.clone(), None),
            None => (format!("{}_p", self.source), "a value".to_owned(), None),
        };
        let is_taken =
            |name: &str| self.taken.contains(name) || self.unknown.iter().any(|unknown| unknown.name == name);
        let name = free(&name(&wished), is_taken);
        let is_plain = query
            .as_ref()
            .is_some_and(|query| query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _".contains(&byte)));
        self.unknown.push(Unknown { name, what, query: query.filter(|_| is_plain), slot });
        self.unknown.len() - 1
    }
}

/// Whether nothing of a number is lost on its way.
fn is_exact(number: &str) -> bool {
    const DIGITS_MAX: usize = 15;
    number.parse::<i64>().is_ok() || number.bytes().filter(u8::is_ascii_digit).count() <= DIGITS_MAX
}

/// What can stand behind a colon.
fn name(text: &str) -> String {
    let plain: String = text.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let plain = plain.trim_matches('_');
    match plain.chars().next() {
        None => "p".to_owned(),
        Some(first) if first.is_alphabetic() => plain.to_owned(),
        Some(_) => format!("p{plain}"),
    }
}

/// The name, with a number where it is taken.
pub(crate) fn free(wished: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(wished) {
        return wished.to_owned();
    }
    (2..).map(|number| format!("{wished}_{number}")).find(|name| !is_taken(name)).expect("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Bound, Entry, Filter, Log};

    /// What becomes of a statement seen with these texts.
    fn made(texts: &[&str], dialect: Dialect) -> (String, Vec<String>) {
        let mut log = Log::new(dialect, Filter::default());
        for sql in texts {
            let bound = Bound::Unknown;
            log.add(Entry { sql, database: None, calls: 1.0, milliseconds: 1.0, bound, is_text: true, left_out: None });
        }
        let group = log.groups.values().next().unwrap_or_else(|| panic!("{:?}", log.left_out));
        let shape = group.shapes.values().next().expect("a shape");
        let template = template(shape, dialect, "v", &BTreeSet::new());
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
        let rows = template.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect();
        (template.sql, rows)
    }

    #[test]
    fn values_become_names_and_what_a_server_could_not_prepare_is_written_otherwise() {
        use Dialect::{Mysql, Postgres};
        for (texts, dialect, sql, rows) in [
            (
                &["SELECT a FROM t WHERE id = 1 /* x */ AND b = 'it''s' LIMIT 10"][..],
                Postgres,
                "SELECT a FROM t WHERE id = :v.id AND b = :v.b LIMIT 10",
                &["1 it's"][..],
            ),
            (
                &["SELECT a * 1.5 FROM t LIMIT 5", "SELECT a * 2 FROM t LIMIT 6"],
                Postgres,
                "SELECT a * CAST(:v.a AS numeric) FROM t LIMIT :v.limit",
                &["1.5 5", "2 6"],
            ),
            (
                &["SELECT * FROM generate_series(1, -3) WHERE d > DATE '2024-01-01' - interval '2' day"],
                Postgres,
                "SELECT * FROM generate_series(CAST(:v.p AS int), CAST(:v.p_2 AS int)) WHERE d > CAST(:v.d AS DATE) - CAST(:v.p_3 AS interval day)",
                &["1 -3 2024-01-01 2"],
            ),
            (
                &[
                    "SELECT a FROM t WHERE b < DATE '2024-01-01' AND c = x'000102030405060708' AND e = 0x1f AND d > now() - INTERVAL 7 DAY",
                ],
                Mysql,
                "SELECT a FROM t WHERE b < CAST(:v.b AS DATE) AND c = UNHEX(:v.c) AND e = 0x1f AND d > now() - INTERVAL :v.p DAY",
                &["2024-01-01 000102030405060708 7"],
            ),
            (
                &["INSERT INTO t (a, b) VALUES (1, NULL)"],
                Mysql,
                "INSERT INTO t (a, b) VALUES (:v.a, :v.b)",
                &["1 NULL"],
            ),
            (&["SELECT a[1:n] FROM t"], Postgres, "SELECT a[1\\:n] FROM t", &[]),
        ] {
            let (found, found_rows) = made(texts, dialect);
            assert_eq!(
                (found.as_str(), &found_rows[..]),
                (sql, &rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>()[..])
            );
        }
    }

    #[test]
    fn a_literal_that_never_changes_stays() {
        let texts: Vec<String> =
            (0..10).map(|id| format!("SELECT a FROM t WHERE id = {id} AND state = 'new'")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(made(&texts[..9], Dialect::Mysql).0, "SELECT a FROM t WHERE id = :v.id AND state = :v.state");
        assert_eq!(made(&texts, Dialect::Mysql).0, "SELECT a FROM t WHERE id = :v.id AND state = 'new'");
    }
}
