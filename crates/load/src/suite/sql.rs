//! From a statement's template to the SQL that a server gets.
//!
//! In: a kind, the test's range and a table's number. Out: SQL with numbered parameters, or the constant pieces around
//! them for statements sent as text. It draws nothing.

use super::StatementKind;

const TABLE: &str = "{table}";
const LIST: &str = "{list}";

impl StatementKind {
    /// How many parameters it has in a test of range `range`.
    pub fn parameter_count(&self, range: u32) -> usize {
        self.parameters.iter().map(|generator| generator.width(range)).sum()
    }

    /// The SQL for table `table` (from 1), with parameters as `$1`, `$2` and so on.
    pub fn sql(&self, range: u32, table: u32) -> String {
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
        self.sql.replace(TABLE, &table_name(table)).replace(LIST, &list)
    }

    /// The SQL of a statement sent as text, cut at its parameters: one piece more than there are parameters.
    pub fn text_pieces(&self, range: u32, table: u32) -> Vec<String> {
        let sql = self.sql(range, table);
        let mut pieces = Vec::new();
        let mut rest = sql.as_str();
        for number in 1..=self.parameter_count(range) {
            // `check` has seen that every parameter stands there, in order.
            let (piece, after) = rest.split_once(&format!("${number}")).expect("parameters are checked");
            pieces.push(piece.to_owned());
            rest = after;
        }
        pieces.push(rest.to_owned());
        pieces
    }
}

/// The name of table `table`, counted from 1.
pub(crate) fn table_name(table: u32) -> String {
    format!("sbtest{table}")
}

/// Refuses SQL whose parameters are not those that are generated.
pub(super) fn check(kind: &StatementKind, range: u32) -> Result<(), String> {
    if !kind.sql.contains(TABLE) {
        return Err(format!("its sql lacks {TABLE}"));
    }
    let lists = kind.parameters.iter().filter(|generator| generator.is_list()).count();
    if lists > 1 || (lists == 1) != kind.sql.contains(LIST) {
        return Err(format!("a generator of a list and {LIST} in the sql go together, once"));
    }
    let last_is_list = kind.parameters.last().is_some_and(|generator| generator.is_list());
    if lists == 1 && !last_is_list {
        return Err("the generator of a list is the last parameter".to_owned());
    }
    let count = kind.parameter_count(range);
    if count > usize::from(u16::MAX) {
        return Err(format!("{count} parameters are more than the protocol carries (65535)"));
    }
    let sql = kind.sql(range, 1);
    let mut rest = sql.as_str();
    for number in 1..=count {
        match rest.split_once(&format!("${number}")) {
            Some((_, after)) if !after.starts_with(|c: char| c.is_ascii_digit()) => rest = after,
            _ if kind.text => return Err(format!("its sql lacks ${number} in its place; text takes them in order")),
            _ if !sql.contains(&format!("${number}")) => return Err(format!("its sql lacks ${number}")),
            _ => {}
        }
    }
    match sql.contains(&format!("${}", count + 1)) {
        true => Err(format!("its sql has ${}, and only {count} parameters are generated", count + 1)),
        false => Ok(()),
    }
}
