//! The plan of a statement on MySQL and MariaDB: EXPLAIN with the values written out, in every form that the version
//! has.
//!
//! In: a session, its target, a test, one of its kinds. Out: text in parts. First one line for each table of the plan
//! with what was chosen, and under it, indented, what was estimated; these lines look alike on every version. Then
//! `tree:` with MySQL's own tree from 8.0.16 on, then `json:`. A form that a version refuses is replaced by the
//! server's reason.

use super::draw::draw;
use crate::error::LoadError;
use rqps_model::plan::DataShape;
use rqps_model::sample::FailureClass;
use rqps_suites::Test;
use rqps_wire::{Protocol, Session, Table, Target, WireError};

/// What was chosen: the columns of EXPLAIN's table that stand in the first line, with their names there.
const CHOSEN: [(&str, &str); 5] =
    [("type", "type"), ("key", "key"), ("key_len", "key_len"), ("ref", "ref"), ("Extra", "extra")];

/// What was considered and estimated.
const ESTIMATED: [(&str, &str); 4] =
    [("select_type", "select"), ("possible_keys", "possible_keys"), ("rows", "rows"), ("filtered", "filtered")];

/// What the tree says of a statement that it cannot show.
const NO_TREE: &str = "<not executable";

/// The plan of one kind.
pub(super) fn plan(
    session: &mut Session,
    target: &Target,
    test: &Test,
    data: DataShape,
    index: usize,
) -> Result<String, LoadError> {
    let kind = &test.kinds[index];
    let values = draw(test, data, index, Protocol::Mysql, 0)?;
    written_out(session, target, &values.written_out(&kind.pieces(test.range, 1, target.engine())))
}

/// The plan of a statement with its values in it.
pub(super) fn written_out(session: &mut Session, target: &Target, statement: &str) -> Result<String, LoadError> {
    if !statement.starts_with("SELECT") && !target.is_since(Some([5, 6, 3]), Some([10, 0, 5])) {
        return Ok(format!("{} {} explains no statement but SELECT", target.engine().title(), target.version));
    }
    // Without a word for it, the form is a setting, which is a tree by default from MySQL 9.5 on.
    let table = if target.is_since(Some([8, 0, 32]), None) { "FORMAT=TRADITIONAL " } else { "" };
    let mut plan = match explain(session, table, statement)? {
        Ok(table) => lines(&table),
        Err(refusal) => refusal,
    };
    if target.is_since(Some([8, 0, 16]), None) {
        match explain(session, "FORMAT=TREE ", statement)? {
            // 9.7 prints it as an operation.
            Ok(tree) if tree.single().is_some_and(|tree| tree.trim_start_matches("-> ").starts_with(NO_TREE)) => {}
            told => part(&mut plan, "tree:", told),
        }
    }
    if target.is_since(Some([5, 6, 5]), Some([10, 1, 0])) {
        part(&mut plan, "json:", explain(session, "FORMAT=JSON ", statement)?);
    }
    Ok(plan)
}

/// Asks for a plan; a refusal of the server is an answer too, unless it took too long: so would the other forms.
fn explain(session: &mut Session, form: &str, statement: &str) -> Result<Result<Table, String>, LoadError> {
    match session.query(&format!("EXPLAIN {form}{statement}")) {
        Ok(table) => Ok(Ok(table)),
        Err(WireError::Server { error, .. }) if error.error_code().class() != FailureClass::Timeout => {
            Ok(Err(format!("not told: {error}")))
        }
        Err(error) => Err(LoadError::wire("asking for a plan")(error)),
    }
}

fn part(plan: &mut String, title: &str, told: Result<Table, String>) {
    let text = match &told {
        Ok(table) => table.single().unwrap_or_default().trim_end(),
        Err(refusal) => refusal,
    };
    for line in std::iter::once(title).chain(text.lines()) {
        plan.push('\n');
        plan.push_str(line);
    }
}

/// EXPLAIN's table, two lines a row.
fn lines(table: &Table) -> String {
    let mut lines = Vec::new();
    for row in &table.rows {
        // Where one product says nothing, another says NULL.
        let value = |name: &str| {
            let at = table.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
            at.and_then(|at| row.get(at)?.as_deref()).filter(|value| !value.is_empty())
        };
        let values = |columns: &[(&str, &str)]| {
            let shown = columns.iter().filter_map(|(name, shown)| Some(format!("{shown}={}", value(name)?)));
            shown.collect::<Vec<_>>().join(" ")
        };
        lines.push(format!("{}: {}", value("table").unwrap_or("no table"), values(&CHOSEN)));
        lines.push(format!("  {}", values(&ESTIMATED)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_stands_apart_from_what_was_estimated() {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let columns = "id select_type table partitions type possible_keys key key_len ref rows filtered Extra";
        let row =
            ["1", "SIMPLE", "sbtest1", "", "range", "PRIMARY", "PRIMARY", "4", "", "101", "100.00", "Using where"];
        let row = row.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned())).collect();
        let mut plan = lines(&Table { columns: own(&columns.split(' ').collect::<Vec<_>>()), rows: vec![row] });
        let tree = Table { columns: own(&["EXPLAIN"]), rows: vec![vec![Some("-> Sort\n    -> Scan\n".to_owned())]] };
        part(&mut plan, "tree:", Ok(tree));
        part(&mut plan, "json:", Err("not told: ERROR 1064".to_owned()));
        expect_test::expect![[r#"
            sbtest1: type=range key=PRIMARY key_len=4 extra=Using where
              select=SIMPLE possible_keys=PRIMARY rows=101 filtered=100.00
            tree:
            -> Sort
                -> Scan
            json:
            not told: ERROR 1064"#]]
        .assert_eq(&plan);
    }
}
