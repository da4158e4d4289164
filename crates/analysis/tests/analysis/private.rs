//! What may be shown of the user's own workload: wherever a literal of it may be in findings, none is in sight.

use crate::truth::findings;
use rqps_analysis::findings::{AnswerFindings, AnswerKind, Findings, PlanFindings, RowDifference, Warning};
use rqps_analysis::private::{told_of, without_literals};
use rqps_madeup::Recipe;
use rqps_model::own::{
    AnswersCheck, Own, OwnData, OwnStep, OwnTable, OwnTest, Protocol, ScriptText, Scripts, Steps, Values, Work,
};
use rqps_model::plan::{ForcedForm, SuitePlan};
use rqps_model::sample::ErrorCount;
use rqps_model::{Engine, WarningKind};

/// A statement with literals of every kind.
const SQL: &str = "SELECT /* secret */ a FROM t WHERE b = 'secret' AND c = 47114711 AND d = $$secret$$";

/// A column that MySQL names.
const EXPRESSION: &str = "concat(total + 47114711, 'secret')";

fn take<T: serde::de::DeserializeOwned>() -> T {
    serde_json::from_str("\"random\"").unwrap()
}

/// A workload that has literals wherever it may have them.
fn workload() -> Own {
    let sql: std::collections::BTreeMap<Engine, String> = [(Engine::Postgres, SQL.to_owned())].into();
    let drawn = |text: &str| serde_json::from_str(text).unwrap();
    let pick = drawn(r#"{"pick": ["secret", 47114711]}"#);
    let steps = Steps {
        steps: vec![OwnStep { name: "q".to_owned(), sql: sql.clone(), keep: Vec::new(), rows: None }],
        transaction: false,
    };
    let scripts = Scripts {
        scripts: vec![ScriptText { name: "s".to_owned(), weight: 1, text: format!("\\set x 47114711\n{SQL};\n") }],
        scale: 1,
        define: [("x".to_owned(), "secret".to_owned())].into(),
        pauses: false,
        allow_shell: false,
    };
    Own {
        name: "w".to_owned(),
        data: OwnData {
            tables: vec![OwnTable { name: "t".to_owned(), rows: 1, columns: vec![("a".to_owned(), pick)] }],
            session: [(Engine::Postgres, vec!["SET a = 'secret'".to_owned()])].into(),
            finish: [(Engine::Postgres, vec!["UPDATE t SET a = 47114711".to_owned()])].into(),
            ..OwnData::default()
        },
        values: [
            ("a".to_owned(), Values::Drawn(Box::new(drawn(r#"{"constant": "secret"}"#)))),
            ("b".to_owned(), Values::Query { sql, limit: 10, take: take() }),
            (
                "c".to_owned(),
                Values::Csv {
                    name: "c.csv".to_owned(),
                    text: "a\nsecret\n".to_owned(),
                    take: take(),
                    numbers: Vec::new(),
                },
            ),
        ]
        .into(),
        tests: vec![
            OwnTest::new("q", Work::Steps(steps), Protocol::Prepared),
            OwnTest::new("s", Work::Pgbench(scripts), Protocol::Prepared),
        ],
        answers: AnswersCheck::OFF,
    }
}

fn warning() -> Warning {
    let cause = format!(
        "failed in 2 of 2: x: ERROR 23505: duplicate key value; detail: Key (a)=(secret) exists. (statement: {SQL}); 2 \
         s\nits log ends with:\n1 LOG:  statement: {SQL}\n\tAND secret = 47114711\n2 ERROR:  invalid input: \"secret\""
    );
    Warning { kind: WarningKind::Failed, cause: cause.clone(), advice: None, in_full: Some(cause) }
}

/// Findings with literals wherever they may be.
fn full() -> Findings {
    let (_root, mut found) = findings(&Recipe { seconds: 2, ..Recipe::new(1, 2, 2, 1) });
    found.campaign.suite = SuitePlan::Own(Box::new(workload()));
    found.campaign.command_line =
        ["rqps", "run", "--define", "x=secret --y", "--seed", "7"].map(str::to_owned).to_vec();
    found.campaign.campaign_toml = "define = { x = \"secret\" }\n".to_owned();
    let form = ForcedForm {
        what: "statement q".to_owned(),
        tests: Vec::new(),
        forms: [(Engine::Postgres, SQL.to_owned()), (Engine::Mysql, "SELECT \"secret\", 47114711".to_owned())].into(),
        because: "they differ".to_owned(),
    };
    found.forced = vec![form];
    found.warnings.push(warning());
    found.treatments[1].warnings.push(warning());
    let test = &mut found.tests[0];
    test.statements = vec![("q".to_owned(), SQL.to_owned())];
    for cell in &mut test.cells {
        cell.warnings.push(warning());
        let cause = format!("q gives other values for 1 of 1 set of values: row 2 differs in {EXPRESSION}");
        cell.warnings.push(Warning { kind: WarningKind::AnswersDiffer, cause, advice: None, in_full: None });
        let of =
            |plan: &str| PlanFindings { statement: "q".to_owned(), plan: plan.to_owned(), ..PlanFindings::default() };
        cell.plans = vec![
            of("Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)\n  Filter: (b = 'a\nsecret 47114711'::text)"),
            of("not told: ERROR 22P02: invalid input syntax for type integer: \"secret\" (statement: SELECT 47114711)"),
        ];
        let row = Some(vec![Some("secret".to_owned()), Some("47114711".to_owned())]);
        cell.answers = vec![AnswerFindings {
            statement: "q".to_owned(),
            kind: AnswerKind::Values,
            sets: 1,
            of_sets: 1,
            row: Some(RowDifference { row: 1, columns: vec![EXPRESSION.to_owned()], own: row.clone(), base: row }),
            error: None,
        }];
        cell.errors = vec![ErrorCount {
            statement: "q".to_owned(),
            code: "22003".to_owned(),
            count: 1,
            message: "value \"47114711\" is out of range for type integer".to_owned(),
        }];
    }
    found
}

#[test]
fn no_literal_is_left_in_sight() {
    let is_in_sight = |found: &Findings| -> Option<String> {
        let text = serde_json::to_string(found).unwrap();
        let literal = ["secret", "47114711"].into_iter().find(|literal| text.contains(literal))?;
        let at = text.find(literal).unwrap();
        Some(text[text.floor_char_boundary(at.saturating_sub(200))..at + literal.len()].to_owned())
    };
    let full = full();
    assert!(is_in_sight(&full).is_some());
    let hidden = without_literals(full.clone());
    assert_eq!(is_in_sight(&hidden), None);
    // What is no literal stays.
    let text = serde_json::to_string(&hidden).unwrap();
    assert!(text.contains("row 2 differs in concat(total + ?, ?)") && text.contains("[\"concat(total + ?, ?)\"]"));
    for kept in ["SELECT /* ? */ a FROM t WHERE b = ? AND c = ? AND d = ?", "cost=0.00..1.00", "x=?"] {
        assert!(text.contains(kept), "{kept}");
    }
    assert_eq!(told_of(&full.campaign.suite, "x: 'secret'"), "x: '?'");
}

#[test]
fn what_is_a_name_to_one_engine_and_a_literal_to_another_is_hidden() {
    for engines in [[Engine::Postgres, Engine::Mysql], [Engine::Mysql, Engine::Postgres]] {
        let mut found = full();
        found.treatments.iter_mut().zip(engines).for_each(|(treatment, engine)| treatment.build.engine = engine);
        for sql in ["SELECT a FROM t WHERE b = \"secret\"", "SELECT a FROM t WHERE b = $$secret$$"] {
            found.tests[0].statements = vec![("q".to_owned(), sql.to_owned())];
            let hidden = without_literals(found.clone());
            assert!(!hidden.tests[0].statements[0].1.contains("secret"), "{engines:?}: {sql}");
        }
    }
}
