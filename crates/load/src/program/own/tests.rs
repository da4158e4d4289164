//! What sessions of the user's tests send, without a server.

use super::*;
use crate::error::LoadError;
use rqps_draw::Take;
use rqps_model::Engine;
use rqps_model::own::{
    AnswersCheck, Own, OwnData, OwnStep, OwnTest, Protocol, ScriptText, Scripts, Steps, Values, Work,
};
use rqps_wire::{AnyValue, Endpoint, Rows, Target, Transport};
use std::collections::BTreeMap;

/// What was set in a statement.
#[derive(Debug, Clone, Default)]
struct Set(Vec<String>);

impl Parameters for Set {
    fn set_i32(&mut self, _: usize, _: i32) {}
    fn set_i64(&mut self, _: usize, _: i64) {}
    fn set_text(&mut self, _: usize, _: &[u8]) {}
    fn set_sql(&mut self, sql: &[u8]) {
        self.0 = vec![String::from_utf8_lossy(sql).into_owned()];
    }
    fn set_any<'v>(&mut self, value: impl Fn(usize) -> AnyValue<'v>) {
        // Each statement here has two parameters at most.
        self.0 = (0..self.0.len()).map(|slot| format!("{:?}", value(slot))).collect();
    }
}

fn target(engine: Engine) -> Target {
    let endpoint = Endpoint {
        engine,
        transport: Transport::Unix { path: "/nowhere".into() },
        user: "u".to_owned(),
        password: None,
        database: "d".to_owned(),
        options: Vec::new(),
    };
    let version = if engine == Engine::Postgres { "17.11" } else { "8.0.33" };
    Target { endpoint, version: version.parse().expect("a version"), storage: None }
}

fn steps(sql: &[&str], transaction: bool) -> Work {
    let step = |(number, sql): (usize, &&str)| OwnStep {
        name: format!("s{number}"),
        sql: Engine::ALL.into_iter().map(|engine| (engine, (*sql).to_owned())).collect(),
        keep: Vec::new(),
        rows: None,
    };
    Work::Steps(Steps { steps: sql.iter().enumerate().map(step).collect(), transaction })
}

fn own(tests: Vec<OwnTest>) -> Own {
    let spec = |text: &str| Values::Drawn(Box::new(serde_json::from_str(text).expect("a source")));
    let values = [("a", spec(r#"{"sequence": 1}"#)), ("b", spec(r#"{"uniform": [1, 1000]}"#))];
    Own {
        name: "w".to_owned(),
        data: OwnData::default(),
        values: values.map(|(name, values)| (name.to_owned(), values)).into(),
        tests,
        answers: AnswersCheck::OFF,
    }
}

/// A test, compiled for a server of an engine.
fn compile(own: &Own, test: &OwnTest, inputs: &Inputs, engine: Engine) -> Result<OwnWorkload, LoadError> {
    Arm::compile(own, test, inputs, &target(engine)).map(|arm| OwnWorkload::of(vec![arm]))
}

/// The statements of some events, with what was set in them.
fn sent(own: &Own, test: &OwnTest, engine: Engine, events: u64) -> Vec<String> {
    let workload = compile(own, test, &Inputs::default(), engine).expect("it compiles");
    let mut program = workload.program(0, 0, 0);
    let forms = program.statements().to_vec();
    let mut statements: Vec<Set> = forms.iter().map(|form| Set(vec![String::new(); form.parameters.len()])).collect();
    let (none, mut sent) = (Rows::default(), Vec::new());
    for event in 0..events {
        let mut random = Pcg64::new(event.into(), 7);
        let mut cue = Cue::Begin;
        while let Step::Send { statement, .. } = program.next(cue, &mut random, &mut statements) {
            sent.push(format!("{} {:?}", forms[statement].sql, statements[statement].0));
            cue = Cue::Answer(&none);
        }
    }
    sent
}

#[test]
fn statements_have_markers_or_literals() {
    let prepared = OwnTest::new("t", steps(&["SELECT :a, :b, :a"], false), Protocol::Prepared);
    let simple = OwnTest::new("t", steps(&["SELECT :a, ':b'"], false), Protocol::Simple);
    let own = own(vec![prepared.clone(), simple.clone()]);
    let first = |test, engine| sent(&own, test, engine, 1).remove(0);
    assert!(first(&prepared, Engine::Postgres).starts_with("SELECT $1, $2, $1 [\"Integer(1)\", \"Integer("));
    assert!(first(&prepared, Engine::Mysql).starts_with("SELECT ?, ?, ? [\"Integer(1)\", "));
    assert_eq!(first(&simple, Engine::Postgres), "SELECT :a, ':b' [\"SELECT 1, ':b'\"]");
}

#[test]
fn rows_of_a_csv_have_text_numbers_and_nulls() {
    let test = OwnTest::new("t", steps(&["SELECT :r.a, :r.b"], false), Protocol::Prepared);
    let mut own = own(vec![test.clone()]);
    let text = "a,b\n007,007\n\\N,1.5\nx,x\n\"\",-3\n".to_owned();
    let numbers = vec!["b".to_owned()];
    own.values.insert("r".to_owned(), Values::Csv { name: "r.csv".to_owned(), text, take: Take::InOrder, numbers });
    let inputs = Inputs::of_files(&own).expect("a CSV");
    let workload = compile(&own, &test, &inputs, Engine::Mysql).expect("it compiles");
    let mut program = workload.program(0, 0, 0);
    let mut statements = vec![Set(vec![String::new(); 2])];
    let mut next = || {
        program.next(Cue::Begin, &mut Pcg64::new(5, 7), &mut statements);
        statements[0].0.join(" ")
    };
    let bytes = |text: &str| format!("Text({:?})", text.as_bytes());
    assert_eq!(next(), format!("{} Integer(7)", bytes("007")));
    assert_eq!(next(), "Null Float(1.5)");
    assert_eq!(next(), format!("{} {}", bytes("x"), bytes("x")));
    assert_eq!(next(), format!("{} Integer(-3)", bytes("")));
}

#[test]
fn an_event_has_the_same_values_again_and_on_every_engine() {
    let test = OwnTest::new("t", steps(&["SELECT :b", "SELECT :b + 1"], true), Protocol::Prepared);
    let own = own(vec![test.clone()]);
    let all = sent(&own, &test, Engine::Postgres, 3);
    let values = |all: &[String]| -> Vec<String> {
        all.iter().filter_map(|one| one.split_once('[').map(|(_, values)| values.to_owned())).collect()
    };
    assert_eq!(values(&all), values(&sent(&own, &test, Engine::Mysql, 3)));
    assert_eq!(all.len(), 12);
    assert!(all[0].starts_with("BEGIN") && all[3].starts_with("COMMIT"), "{all:?}");
    // Both statements of an event have its one value.
    let value = |text: &str| text.split_once('[').map(|(_, values)| values.to_owned());
    assert_eq!(value(&all[1]), value(&all[2]));
    assert_ne!(value(&all[1]), value(&all[5]));

    let workload = compile(&own, &test, &Inputs::default(), Engine::Postgres).expect("compiles");
    let mut program = workload.program(0, 0, 0);
    let mut statements = vec![Set(vec![String::new()]); program.statements().len()];
    let mut drawn = |cue: Cue<'_>| {
        program.next(cue, &mut Pcg64::new(5, 7), &mut statements);
        program.next(Cue::Answer(&Rows::default()), &mut Pcg64::new(5, 7), &mut statements);
        statements[1].0.clone()
    };
    assert_eq!(drawn(Cue::Begin), drawn(Cue::Again));
}

#[test]
fn a_mix_has_its_weights() {
    let (one, two) = (steps(&["SELECT 1"], false), steps(&["SELECT 2"], false));
    let mix = Work::Mix(BTreeMap::from([("one".to_owned(), 3), ("two".to_owned(), 1)]));
    let mix = OwnTest::new("mix", mix, Protocol::Prepared);
    let own = own(vec![
        OwnTest::new("one", one, Protocol::Prepared),
        OwnTest::new("two", two, Protocol::Prepared),
        mix.clone(),
    ]);
    let all = sent(&own, &mix, Engine::Postgres, 4000);
    let ones = all.iter().filter(|sql| sql.starts_with("SELECT 1")).count();
    assert!((2850..3150).contains(&ones), "{ones}");
}

#[test]
fn a_name_that_stands_for_nothing_is_refused() {
    let test = OwnTest::new("t", steps(&["SELECT :missing"], false), Protocol::Prepared);
    let own = own(vec![test.clone()]);
    let refused = compile(&own, &test, &Inputs::default(), Engine::Postgres);
    assert!(refused.is_err_and(|error| error.to_string().contains("`:missing`")));
}

#[test]
fn clients_of_a_script_have_numbers_of_their_own_and_hash_alike() {
    let text = "\\set aid random(1, 100000 * :scale)\nSELECT :aid, :default_seed;\n".to_owned();
    let scripts = Scripts {
        scripts: vec![ScriptText { name: "s".to_owned(), weight: 1, text }],
        scale: 1,
        define: BTreeMap::new(),
        pauses: false,
        allow_shell: false,
    };
    let test = OwnTest::new("s", Work::Pgbench(scripts.clone()), Protocol::Simple);
    let own = own(vec![test.clone()]);
    let compiled = ScriptWorkload::compile(&own, &test, &scripts, &[target(Engine::Postgres)], (42, 2));
    let workload = compiled.expect("it compiles");
    // As pgbench draws them with two clients.
    for (client, expected) in [(0, 83_532), (1, 81_172)] {
        let mut program = workload.program(0, client, 0);
        let mut statements = vec![Set::default(); program.statements().len()];
        let step = program.next(Cue::Begin, &mut Pcg64::new(1, 7), &mut statements);
        let Step::Send { statement, .. } = step else { panic!("it sends a statement") };
        assert_eq!(statements[statement].0, [format!("SELECT {expected}, 4482733528210176216;")]);
    }
}

#[test]
fn an_event_that_begins_again_has_the_same_values_and_the_next_one_others() {
    let test = OwnTest::new("t", steps(&["SELECT :a, :b"], false), Protocol::Simple);
    let own = own(vec![test.clone()]);
    let compiled = compile(&own, &test, &Inputs::default(), Engine::Postgres);
    let workload = compiled.expect("it compiles");
    let mut program = workload.program(0, 0, 0);
    let mut statements = vec![Set::default(); program.statements().len()];
    let mut sent = |cue| {
        // The loop gives an event that begins again the same stream.
        let step = program.next(cue, &mut Pcg64::new(1, 7), &mut statements);
        let Step::Send { statement, .. } = step else { panic!("it sends a statement") };
        statements[statement].0[0].clone()
    };
    let (first, again, next) = (sent(Cue::Begin), sent(Cue::Again), sent(Cue::Begin));
    assert!(first.starts_with("SELECT 1, "), "{first}");
    assert_eq!(again, first);
    assert!(next.starts_with("SELECT 2, "), "{next}");
}
