//! What engines force to be different: as the plan states it, and as the statements that were prepared show it.
//!
//! In: the plan and the SQL texts kept of every treatment. Out: [`ForcedForm`]s. A statement whose text differs between
//! engines and of which the plan says nothing is listed too: what was not meant must not stay hidden.

use rqps_model::facts::StatementPlan;
use rqps_model::plan::ForcedForm;
use rqps_model::{Engine, Plan};
use std::collections::BTreeMap;

/// The explanation of a difference that the workload does not explain.
const UNEXPLAINED: &str = "the statements as prepared differ, and the workload does not say why";

/// What a treatment prepared in a test: its engine and the statements.
pub(crate) type Prepared = (Engine, Vec<StatementPlan>);

/// All differences: the stated ones, then those found, by statement and test in the order given.
pub(crate) fn forced<'a>(plan: &Plan, tests: impl IntoIterator<Item = (&'a str, &'a [Prepared])>) -> Vec<ForcedForm> {
    let mut all = plan.forced.clone();
    for (test, prepared) in tests {
        for (statement, forms) in forms(prepared) {
            let what = format!("statement {statement}");
            let is_stated = plan.forced.iter().any(|form| form.what == what);
            let differ = forms.values().any(|form| Some(form) != forms.values().next());
            if is_stated || !differ {
                continue;
            }
            match all.iter_mut().find(|known| known.what == what && known.forms == forms) {
                Some(known) if known.tests.iter().any(|name| name == test) => {}
                Some(known) => known.tests.push(test.to_owned()),
                None => {
                    let (tests, because) = (vec![test.to_owned()], UNEXPLAINED.to_owned());
                    all.push(ForcedForm { what, tests, forms, because });
                }
            }
        }
    }
    all
}

/// Each statement's text by engine, as its first treatment that kept one prepared it.
fn forms(prepared: &[Prepared]) -> Vec<(String, BTreeMap<Engine, String>)> {
    let mut statements: Vec<(String, BTreeMap<Engine, String>)> = Vec::new();
    for (engine, plans) in prepared {
        for plan in plans {
            let at = statements.iter().position(|(name, _)| *name == plan.statement).unwrap_or_else(|| {
                statements.push((plan.statement.clone(), BTreeMap::new()));
                statements.len() - 1
            });
            statements[at].1.entry(*engine).or_insert_with(|| plain(&plan.sql));
        }
    }
    statements
}

/// A statement without what every engine writes in its own way: markers, quotes of names, spaces.
fn plain(sql: &str) -> String {
    let mut plain = String::with_capacity(sql.len());
    let mut letters = sql.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '$' if letters.peek().is_some_and(char::is_ascii_digit) => {
                while letters.next_if(char::is_ascii_digit).is_some() {}
                plain.push('?');
            }
            '`' => {}
            _ => plain.push(letter),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(';').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(statement: &str, sql: &str) -> Vec<StatementPlan> {
        vec![StatementPlan { statement: statement.to_owned(), sql: sql.to_owned(), ..StatementPlan::default() }]
    }

    #[test]
    fn markers_and_quotes_are_no_difference() {
        assert_eq!(
            plain("SELECT c FROM sbtest1  WHERE id=$1 AND k IN ($2,$13);"),
            "SELECT c FROM sbtest1 WHERE id=? AND k IN (?,?)"
        );
        assert_eq!(plain("SELECT `c` FROM `sbtest1` WHERE id=?"), "SELECT c FROM sbtest1 WHERE id=?");
        assert_eq!(plain("SELECT '$' || $1"), "SELECT '$' || ?");
    }

    #[test]
    fn what_the_plan_does_not_state_is_found() {
        let stated = ForcedForm {
            what: "statement insert".to_owned(),
            tests: Vec::new(),
            forms: BTreeMap::new(),
            because: "0 draws the next number".to_owned(),
        };
        let plan = Plan { forced: vec![stated.clone()], ..crate::warnings::campaign::tests::plan(2) };
        let same = (prepared("point", "SELECT c WHERE id=$1"), prepared("point", "SELECT c WHERE id=?"));
        let stated_one = (prepared("insert", "INSERT (k)"), prepared("insert", "INSERT (id, k)"));
        let odd = (prepared("sum", "SELECT SUM(k)"), prepared("sum", "SELECT SUM(k) FORCE INDEX"));
        let both = |pair: &(Vec<StatementPlan>, Vec<StatementPlan>)| -> Vec<(Engine, Vec<StatementPlan>)> {
            vec![(Engine::Postgres, pair.0.clone()), (Engine::Mysql, pair.1.clone())]
        };
        let tests = [("point-query", both(&same)), ("insert", both(&stated_one)), ("a", both(&odd)), ("b", both(&odd))];
        let found = forced(&plan, tests.iter().map(|(name, arms)| (*name, arms.as_slice())));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], stated);
        assert_eq!((found[1].what.as_str(), found[1].because.as_str()), ("statement sum", UNEXPLAINED));
        assert_eq!(found[1].tests, ["a", "b"]);
        assert_eq!(found[1].forms[&Engine::Mysql], "SELECT SUM(k) FORCE INDEX");
    }
}
