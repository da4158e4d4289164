//! Golden values of pgbench's own tests and manual, and that nothing makes parsing or evaluating fail badly. What
//! pgbench 15 gives for many more expressions is in `tests/recorded`.

use super::*;
use crate::choice::Streams;
use proptest::prelude::*;

/// The value of an expression for a client with seed 42 in which x is 5 and nothing else is set.
fn eval(text: &str, random: &mut Random) -> Result<Value, EvalError> {
    let mut names = Names::new();
    let x = names.intern("x");
    let expr = Expr::parse(text, &mut names).expect("no fault");
    let mut variables = Variables::new(&names);
    variables.set(x, Value::Int(5));
    expr.eval(&variables, random)
}

fn value(text: &str) -> Result<Value, EvalError> {
    eval(text, &mut Random::seeded(42))
}

fn fault(text: &str) -> (usize, String) {
    let fault = Expr::parse(text, &mut Names::new()).expect_err(text);
    assert_eq!(fault.line, 1);
    (fault.column, fault.message)
}

#[test]
fn one_generator_serves_all_distributions() {
    let mut random = Streams::seeded(5432, 1, 1, false).clients.remove(0);
    let golden = [
        ("random(10, 19)", 17),
        ("random_exponential(100, 199, 10.0)", 104),
        ("random_gaussian(1000, 1999, 10.0)", 1498),
        ("random_zipfian(1, 9, 1.3)", 3),
    ];
    for (text, expected) in golden {
        assert_eq!(eval(text, &mut random), Ok(Value::Int(expected)), "{text}");
    }
}

#[test]
fn hashes_and_permutations_are_pgbenchs() {
    assert_eq!(value("hash(10, 5432)"), Ok(Value::Int(-5_817_877_081_768_721_676)));
    assert_eq!(value("hash_murmur2(10, 5432)"), Ok(Value::Int(-5_817_877_081_768_721_676)));
    assert_eq!(value("hash_fnv1a(10, 5432)"), Ok(Value::Int(-7_793_829_335_365_542_153)));
    let permuted = (0..10).map(|index| value(&format!("permute({index}, 10, 42)")));
    let expected = [1, 7, 0, 4, 3, 8, 6, 5, 9, 2].map(|index| Ok(Value::Int(index)));
    assert_eq!(permuted.collect::<Vec<_>>(), expected);
}

#[test]
fn signs_bind_as_in_pgbench() {
    for (text, expected) in [("~1 + 2", -4), ("~1 | 2", -2), ("1 << 2 + 1", 8), ("- 2 * 3 % 4", -2), ("7 - 3 - 2", 2)] {
        assert_eq!(value(text), Ok(Value::Int(expected)), "{text}");
    }
    for text in ["not 1 = 2 and true", "1 = 1 is true", "false or not false", "null is null is true"] {
        assert_eq!(value(text), Ok(Value::Boolean(true)), "{text}");
    }
}

#[test]
fn only_what_is_needed_is_evaluated() {
    for text in ["false and 1 / 0 = 1", "not (true or :nothing)", "case when :x < 5 then 1 / 0 = 1 else false end"] {
        assert_eq!(value(text), Ok(Value::Boolean(false)), "{text}");
    }
    assert_eq!(value("null and 1 / 0 = 1"), Ok(Value::Null));
    assert_eq!(value("0 * :nothing"), Err(EvalError::Undefined { name: "nothing".to_owned() }));
    assert_eq!(value("null + 1 / 0"), Err(EvalError::DivisionByZero));
}

#[test]
fn a_boolean_has_no_absolute_value() {
    // pgbench 15 takes the bits of the boolean for a double.
    assert_eq!(value("abs(true)"), Err(EvalError::Coerce { from: "boolean", to: "int" }));
}

#[test]
fn faults_say_where() {
    let golden = [
        ("1 +", 4, "syntax error, a number, a variable or a function is needed here"),
        ("1 < 2 < 3", 7, "syntax error, comparisons do not chain; use AND or parentheses"),
        ("(1", 3, "syntax error, an operator or ) is needed here"),
        ("1 1", 3, "syntax error, an operator or the end of the line is needed here"),
        ("5 is 5", 6, "syntax error, NULL, TRUE or FALSE is needed here"),
        ("2 + foo(1)", 5, "unexpected function name (foo)"),
        ("2 + sqrt", 9, "syntax error, ( with arguments is needed here"),
        ("random(1)", 1, "unexpected number of arguments (random): it takes 2, not 1"),
        ("permute(1)", 1, "unexpected number of arguments (permute): it takes 2 or 3, not 1"),
        ("least()", 1, "at least one argument expected (least)"),
        ("case 1 when 1 then 2 end", 6, "syntax error, WHEN is needed here"),
        ("1 ? 2", 3, "unexpected character (?)"),
        ("é ? ü", 1, "unexpected function name (é)"),
        ("1 + 99999999999999999999", 5, "bigint constant overflow (99999999999999999999)"),
        ("1e999", 1, "double constant overflow (1e999)"),
        (" ", 2, "missing argument: an expression is needed here"),
        ("1.5e", 4, "syntax error, an operator or the end of the line is needed here"),
    ];
    for (text, column, message) in golden {
        assert_eq!(fault(text), (column, message.to_owned()), "{text}");
    }
    let many = format!("least({})", vec!["1"; 17].join(", "));
    assert_eq!(fault(&many).1, "too many function arguments, maximum is 16 (least)");
}

#[test]
fn a_deep_expression_is_refused_before_it_overflows_the_stack() {
    for text in [
        format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        "-".repeat(100_000),
        vec!["1"; 100_000].join(" + "),
        "not ".repeat(100_000),
        "case when ".repeat(100_000),
        format!("1{}", " is null".repeat(100_000)),
    ] {
        assert!(fault(&text).1.contains("nested deeper"), "{}", &text[..20]);
    }
    let long = vec!["1"; 200].join(" + ");
    assert_eq!(value(&long), Ok(Value::Int(200)));
}

#[test]
fn debug_shows_what_it_is_given() {
    let mut names = Names::new();
    let expr = Expr::parse("debug(1) + Debug(2.5)", &mut names).expect("no fault");
    let mut shown = Vec::new();
    let value = expr.eval_showing(&Variables::new(&names), &mut Random::seeded(1), &mut |value| shown.push(value));
    assert_eq!(value, Ok(Value::Double(3.5)));
    assert_eq!(shown, [Value::Int(1), Value::Double(2.5)]);
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_within_itself(text in "[-+*/%|&#~()<>=!, .:0-9a-fxé\\\\\n]{0,40}") {
        if let Err(fault) = Expr::parse(&text, &mut Names::new()) {
            prop_assert!(fault.line <= text.lines().count() + 1 && fault.column <= text.chars().count() + 1);
        }
    }

    #[test]
    fn sums_and_products_are_those_of_whole_numbers(a in any::<i64>(), b in any::<i64>()) {
        let checked = |result: Option<i64>, operation| {
            result.map(Value::Int).ok_or(EvalError::OutOfRange { operation })
        };
        prop_assert_eq!(value(&format!("{a} + {b}")), checked(a.checked_add(b), "add"));
        prop_assert_eq!(value(&format!("{a} - ({b})")), checked(a.checked_sub(b), "sub"));
        prop_assert_eq!(value(&format!("{a} * {b}")), checked(a.checked_mul(b), "mul"));
        prop_assert_eq!(value(&format!("({a} < {b}) is true")), Ok(Value::Boolean(a < b)));
        if b != 0 {
            let (quotient, rest) = (format!("{a} / ({b})"), format!("{a} % ({b})"));
            prop_assert_eq!(value(&quotient), checked(a.checked_div(b), "div"));
            prop_assert_eq!(value(&rest), Ok(Value::Int(a.wrapping_rem(b))));
        }
    }
}
