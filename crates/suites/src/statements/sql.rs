//! From a statement's template to the SQL that a server gets, in the form of its engine.
//!
//! In: a kind, the test's range, a table's number, the engine. Out: SQL with parameters marked `$1`, `$2` for
//! PostgreSQL and `?` for MySQL, or the constant pieces around them for statements sent as text. It draws nothing.

use super::StatementKind;
use crate::forced::of_engine;
use rqps_model::Engine;

const TABLE: &str = "{table}";
const LIST: &str = "{list}";

impl StatementKind {
    /// How many parameters it has in a test of range `range`.
    pub fn parameter_count(&self, range: u32) -> usize {
        self.parameters.iter().map(|generator| generator.width(range)).sum()
    }

    /// The SQL for table `table` (from 1) as a server of that engine prepares it.
    pub fn sql(&self, range: u32, table: u32, engine: Engine) -> String {
        let is_numbered = of_engine(engine, true, false);
        if is_numbered {
            return self.numbered(self.template(engine), range, table);
        }
        self.pieces(range, table, engine).join("?")
    }

    /// The SQL cut at its parameters: one piece more than there are parameters.
    pub fn pieces(&self, range: u32, table: u32, engine: Engine) -> Vec<String> {
        let sql = self.numbered(self.template(engine), range, table);
        cut(&sql, self.parameter_count(range)).expect("parameters are checked when the workload file is read")
    }

    fn template(&self, engine: Engine) -> &str {
        of_engine(engine, &self.sql, self.mysql.as_ref().map_or(&self.sql, |forced| &forced.sql))
    }

    /// A template for a table, its parameters as `$1`, `$2` and so on.
    fn numbered(&self, template: &str, range: u32, table: u32) -> String {
        let mut first = 1;
        let mut list = String::new();
        for generator in &self.parameters {
            let width = generator.width(range);
            if generator.is_list() {
                let numbers: Vec<String> = (first..first + width).map(|number| format!("${number}")).collect();
                list = numbers.join(",");
            }
            first += width;
        }
        template.replace(TABLE, &table_name(table)).replace(LIST, &list)
    }
}

/// The name of table `table`, counted from 1.
pub fn table_name(table: u32) -> String {
    format!("sbtest{table}")
}

/// Cuts SQL at `$1` to `$count`, each of which must stand there once and in order, as MySQL's `?` are counted.
fn cut(sql: &str, count: usize) -> Result<Vec<String>, String> {
    let mut pieces = Vec::with_capacity(count + 1);
    let mut rest = sql;
    for number in 1..=count {
        match rest.split_once(&format!("${number}")) {
            Some((piece, after)) if !after.starts_with(|c: char| c.is_ascii_digit()) => {
                pieces.push(piece.to_owned());
                rest = after;
            }
            _ => return Err(format!("its sql lacks ${number} in its place; parameters are taken in order")),
        }
    }
    pieces.push(rest.to_owned());
    let is_marker = |piece: &str| piece.split('$').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match pieces.iter().any(|piece| is_marker(piece)) {
        true => Err(format!("its sql has another marker than $1 to ${count}; only {count} parameters are generated")),
        false => Ok(pieces),
    }
}

/// Refuses SQL whose parameters are not those that are generated.
pub(super) fn check(kind: &StatementKind, range: u32) -> Result<(), String> {
    let count = kind.parameter_count(range);
    if count > usize::from(u16::MAX) {
        return Err(format!("{count} parameters are more than the protocols carry (65535)"));
    }
    let lists = kind.parameters.iter().filter(|generator| generator.is_list()).count();
    for template in std::iter::once(&kind.sql).chain(kind.mysql.iter().map(|forced| &forced.sql)) {
        if !template.contains(TABLE) {
            return Err(format!("its sql lacks {TABLE}"));
        }
        if template.contains('?') {
            return Err("its sql has a question mark; parameters are written $1, $2 for every engine".to_owned());
        }
        if lists > 1 || (lists == 1) != template.contains(LIST) {
            return Err(format!("a generator of a list and {LIST} in the sql go together, once"));
        }
        cut(&kind.numbered(template, range, 1), count)?;
    }
    let last_is_list = kind.parameters.last().is_some_and(|generator| generator.is_list());
    if lists == 1 && !last_is_list {
        return Err("the generator of a list is the last parameter".to_owned());
    }
    Ok(())
}
