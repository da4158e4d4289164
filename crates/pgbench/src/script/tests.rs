//! How scripts are read, what is refused and where, and which way a script takes.

use super::*;
use crate::command::{Amount, Unit};
use crate::value::Value;
use proptest::prelude::*;

fn faults(text: &str) -> Vec<String> {
    let faults = Script::parse("test", text, &mut Names::new()).expect_err(text);
    faults.iter().map(|fault| format!("{}:{} {}", fault.line, fault.column, fault.message)).collect()
}

fn parsed(text: &str) -> Script {
    Script::parse("test", text, &mut Names::new()).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
}

/// What a script sends in simple mode.
fn sent(text: &str) -> Vec<String> {
    let mut names = Names::new();
    let script = Script::parse("test", text, &mut names).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let (mut variables, mut random) = (Variables::new(&names), Random::seeded(1));
    let mut at = 0;
    let mut sent = Vec::new();
    loop {
        match script.advance(&mut at, &mut variables, &mut random).expect("values") {
            Step::Sql(sql) => {
                let mut out = Vec::new();
                sql.write(&variables, &mut out);
                sent.push(String::from_utf8(out).expect("text"));
            }
            Step::End => return sent,
            _ => {}
        }
    }
}

#[test]
fn commands_know_their_lines() {
    let script = parsed("\n-- one\nSELECT 1;\n\\set a 1\n\n SELECT\n 2; SELECT 3\n\\sleep 1 ms\n");
    let lines: Vec<usize> = script.commands.iter().map(|command| command.line).collect();
    assert_eq!(lines, [3, 4, 6, 7, 8]);
}

#[test]
fn a_line_goes_on_behind_a_backslash() {
    assert_eq!(sent("\\set a 1 + \\\n  2\\\r\n + 3\nSELECT :a;"), ["SELECT 6;"]);
    assert_eq!(sent("\\SET a\\\n 7\nSELECT :a"), ["SELECT 7"]);
    // A backslash alone is nothing.
    assert_eq!(sent("SELECT 1;\\\nSELECT 2;"), ["SELECT 1;", "SELECT 2;"]);
}

#[test]
fn conditions_take_the_first_branch_that_holds() {
    let script = |a: &str| {
        format!(
            "\\set a {a}\n\\if :a = 1\nA\n\\elif :a = 2\nB\n\\if false\nC\n\\else\nD\n\\endif\nE\n\\elif :a\nF\n\\else\n\
             G\n\\endif\nH"
        )
    };
    assert_eq!(sent(&script("1")), ["A\n", "H"]);
    assert_eq!(sent(&script("2")), ["B\n", "D\n", "E\n", "H"]);
    assert_eq!(sent(&script("3")), ["F\n", "H"]);
    assert_eq!(sent(&script("0")), ["G\n", "H"]);
    assert_eq!(sent("\\if null\nA\n\\endif\nB"), ["B"]);
    assert_eq!(sent("\\if true\n\\elif 1 / 0 = 1\nA;\n\\else\nB\n\\endif\nC"), ["C"]);
    // Nothing within what is skipped is evaluated.
    assert_eq!(sent("\\if false\n\\if 1 / 0\nA\n\\elif :b\nB\n\\endif\n\\endif\nC"), ["C"]);
}

#[test]
fn an_answer_is_kept_of_the_statement_before() {
    let script = parsed("SELECT 1 AS a \\gset\nSELECT 2 AS b; \\aset p_\nSELECT 3;");
    let stores: Vec<Option<Store>> = script.commands.iter().map(|command| sql(command).store.clone()).collect();
    let store = |prefix: &str, all| Some(Store { prefix: prefix.to_owned(), all });
    assert_eq!(stores, [store("", false), store("p_", true), None]);
    assert_eq!(sql(&script.commands[0]).text(), "SELECT 1 AS a ");
}

fn sql(command: &Command) -> &Sql {
    match &command.what {
        What::Sql(sql) => sql,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_time_to_sleep_has_a_unit() {
    let sleep = |text: &str| match &parsed(&format!("\\sleep {text}")).commands[0].what {
        What::Sleep(sleep) => *sleep,
        other => panic!("{other:?}"),
    };
    let constant = |amount, unit| Sleep { amount: Amount::Constant(amount), unit };
    assert_eq!(sleep("2"), constant(2, Unit::Seconds));
    assert_eq!(sleep("10ms"), constant(10, Unit::Milliseconds));
    assert_eq!(sleep("+10 US"), constant(10, Unit::Microseconds));
    assert_eq!(sleep(":scale ms"), Sleep { amount: Amount::Variable(Names::SCALE), unit: Unit::Milliseconds });
    let mut variables = Variables::new(&Names::new());
    variables.set(Names::SCALE, Value::Int(3));
    let micros = |text: &str| sleep(text).micros(&variables);
    assert_eq!(micros("-5 s"), Ok(0));
    assert_eq!(micros(":scale ms"), Ok(3000));
    assert_eq!(micros("2"), Ok(2_000_000));
    assert!(micros(":client_id").is_err());
}

#[test]
fn commands_of_the_shell_are_read_and_left_to_the_caller() {
    let script = parsed("\\shell echo :scale ::x\n\\setshell v expr 1");
    let text = |text: &str| Word::Text(text.to_owned());
    let words = vec![text("echo"), Word::Variable(Names::SCALE), text(":x")];
    assert_eq!(script.commands[0].what, What::Shell { words });
    assert!(matches!(&script.commands[1].what, What::SetShell { words, .. } if words.len() == 2));
}

#[test]
fn setrandom_of_old_is_a_function() {
    for (old, new) in [
        ("\\setrandom x 1 :scale", "\\set x random(1, :scale)"),
        ("\\setrandom x -5 5 uniform", "\\set x random(-5, 5)"),
        ("\\setrandom x 1 10 gaussian 2.5", "\\set x random_gaussian(1, 10, 2.5)"),
        ("\\setrandom x 1 10 Exponential :scale", "\\set x random_exponential(1, 10, :scale)"),
    ] {
        assert_eq!(parsed(old), parsed(new));
    }
    assert_eq!(
        faults("\\setrandom x 1"),
        ["1:11 missing argument: a variable with its smallest and its largest value \
        is needed here in command \"setrandom\""]
    );
    assert!(faults("\\setrandom x 1 2 normal")[0].starts_with("1:18 "));
    assert!(faults("\\setrandom x 1 2+3")[0].starts_with("1:16 a number or a variable is needed here"));
}

#[test]
fn all_faults_come_at_once() {
    let text = "\\set\n\\set 1a 5\n\\foo\n\\sleep 0.5\n\\sleep 1 min\n\\if 1 +\nx;\n\\else y\n\\endif\n\\gset\n\\endif\n\\if 1\n\
                \\shell\nSELECT 'a";
    assert_eq!(
        faults(text),
        [
            "1:5 missing argument: the name of a variable is needed here in command \"set\"",
            "2:6 invalid variable name: it has letters, digits and _, and no digit first (1a) in command \"set\"",
            "3:2 invalid command (foo) in command \"foo\"",
            "4:8 invalid sleep time, must be an integer; smaller units are ms and us (0.5) in command \"sleep\"",
            "5:10 unrecognized time unit, must be us, ms or s (min) in command \"sleep\"",
            "6:8 syntax error, a number, a variable or a function is needed here in command \"if\"",
            "8:7 unexpected argument (y) in command \"else\"",
            "10:1 \\gset must follow an SQL command",
            "11:1 \\endif without matching \\if",
            "12:1 \\if without matching \\endif",
            "13:7 missing command in command \"shell\"",
            "14:8 this string does not end",
        ]
    );
    assert_eq!(faults(" -- nothing\n"), ["1:1 empty command list for script \"test\"; it needs a statement"]);
    assert_eq!(
        faults("x\n\\if 1\n\\else\n\\else\n\\elif 1\n\\endif"),
        ["4:1 \\else after \\else", "5:1 \\elif after \\else"]
    );
    assert!(faults("SELECT 1 \\gset 1-\n")[0].starts_with("1:16 invalid variable name"));
    assert_eq!(faults("SELECT 1 \\gset\n\\aset"), ["2:1 \\aset must follow an SQL command"]);
    let many = format!("SELECT {}", vec![":a"; 256].join(","));
    assert_eq!(faults(&many), ["1:1 the statement has 256 variables, the most is 255"]);
}

#[test]
fn a_pipeline_that_can_never_be_right_is_refused() {
    assert_eq!(faults("x;\\endpipeline"), ["1:3 \\endpipeline without matching \\startpipeline"]);
    assert_eq!(faults("\\syncpipeline\nx"), ["1:1 \\syncpipeline outside of a pipeline"]);
    assert_eq!(faults("\\startpipeline\nx"), ["1:1 the script ends with this pipeline open"]);
    let nested = "\\startpipeline\n\\startpipeline\nx;\n\\endpipeline";
    assert_eq!(faults(nested), ["2:1 \\startpipeline within a pipeline; end the one that is open"]);
    let stored = "\\startpipeline\nx \\gset\n\\endpipeline";
    assert_eq!(faults(stored), ["2:1 \\gset and \\aset are not allowed in a pipeline"]);
    parsed("\\startpipeline\nx;\n\\syncpipeline\ny;\n\\endpipeline");
    parsed("\\if :p\n\\startpipeline\n\\endif\nx;\n\\if :p\n\\endpipeline\n\\endif");
    parsed("\\if :p\n\\startpipeline\nx;\n\\endpipeline\n\\elif :q\ny \\gset\n\\else\nz;\n\\endif");
}

#[test]
fn a_failure_names_its_line() {
    let mut names = Names::new();
    let script = Script::parse("test", "\\set a 1\n\\set b :a / 0\n", &mut names).expect("no faults");
    let failure = script.advance(&mut 0, &mut Variables::new(&names), &mut Random::seeded(1));
    assert_eq!(failure.expect_err("by zero").to_string(), "line 2: division by zero");
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_within_itself(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "SELECT ", "'", "\"", "$$", "$a$", "/*", "*/", "--", "\n", ";", "\\;", "\\", "(", ")", ":x", "é", " ",
                "\\set x 1\n", "\\if 1\n", "\\elif 0\n", "\\else\n", "\\endif\n", "\\gset\n", "\\startpipeline\n",
                "\\endpipeline\n", "begin", "end", "create function", "e'\\'", "\r\n", "\\\n", "\\sleep 1us\n",
            ]),
            0..20,
        )
    ) {
        let text = parts.concat();
        let mut names = Names::new();
        match Script::parse("any", &text, &mut names) {
            Ok(script) => {
                // Nothing but white space, comments and backslashes is lost: the script can also be walked to its end.
                let (mut variables, mut random) = (Variables::new(&names), Random::seeded(1));
                let mut at = 0;
                while !matches!(script.advance(&mut at, &mut variables, &mut random), Ok(Step::End) | Err(_)) {
                    prop_assert!(at <= script.commands.len());
                }
            }
            Err(faults) => {
                prop_assert!(!faults.is_empty());
                for fault in faults {
                    prop_assert!((1..=text.lines().count() + 1).contains(&fault.line), "{fault}");
                    prop_assert!((1..=text.chars().count() + 1).contains(&fault.column), "{fault}");
                }
            }
        }
    }
}
