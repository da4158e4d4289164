//! Expressions, each as if it were all that a client does.

use rqps_pgbench::{Expr, Names, Streams, Value, Variables};

/// What pgbench shows of a value.
fn shown(value: Value) -> String {
    let mut text = Vec::new();
    value.write(&mut text);
    match value {
        Value::Null => "null".to_owned(),
        _ => format!("{} {}", value.type_name(), String::from_utf8(text).expect("text")),
    }
}

/// What is shown first, or why nothing is.
fn first_shown(expression: &str) -> Result<String, String> {
    let mut names = Names::new();
    let expr = Expr::parse(&format!("debug({expression})"), &mut names).map_err(|fault| fault.message)?;
    let mut streams = Streams::seeded(42, 1, 1, false);
    let mut variables = Variables::new(&names);
    variables.start(0, 1, 42, streams.default_seed.expect("drawn"));
    let mut all = Vec::new();
    let value = expr.eval_showing(&variables, &mut streams.clients[0], &mut |value| all.push(shown(value)));
    value.map_err(|error| error.to_string())?;
    Ok(all.remove(0))
}

/// Whether we say at least what pgbench says.
fn says(ours: &str, theirs: &str) -> bool {
    // pgbench says no more of this one.
    ours.starts_with(theirs) || (theirs == "syntax error" && ours.contains("(9223372036854775808)"))
}

#[test]
fn expressions_give_what_pgbench_gives() {
    let mut faults = Vec::new();
    let mut values = 0;
    for line in include_str!("expressions.txt").lines() {
        let (expression, theirs) = line.split_once('\t').expect("two columns");
        let is_value = match theirs.split_once(' ') {
            Some(("int" | "boolean", _)) => true,
            Some(("double", value)) => !value.starts_with(['t', 'c']),
            _ => theirs == "null",
        };
        let ours = first_shown(expression);
        let is_same = match &ours {
            Ok(value) => is_value && value == theirs,
            Err(message) => !is_value && says(message, theirs),
        };
        values += usize::from(is_value);
        if !is_same {
            faults.push(format!("{expression}\n    pgbench: {theirs}\n    we: {ours:?}"));
        }
    }
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
    assert!(values > 350, "most give a value: {values}");
}
