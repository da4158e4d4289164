//! What is wrong with a workload is told all at once, each fault where it stands.

mod data;

use crate::testing::{TextFiles, vocabulary};
use crate::{Command, Flag, read};
use rqps_model::Interleave;
use rqps_model::own::{Own, Protocol, Work};
use rqps_model::plan::SuitePlan;

const BUILDS: [(&str, &str); 3] = [("suite", "own"), ("build", "postgres:16.15"), ("build", "postgres:17.11")];

/// The faults of a campaign of suite own with these files.
fn faults(files: &[(&str, &str)], more: &[(&str, &str)]) -> String {
    let flags: Vec<Flag> = BUILDS.iter().chain(more).map(|(name, value)| Flag::new(*name, *value)).collect();
    let reading = read(None, &flags, Command::Run, &vocabulary(), &TextFiles::of(files));
    let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
    told.join("\n")
}

fn own(files: &[(&str, &str)], more: &[(&str, &str)]) -> Own {
    let flags: Vec<Flag> = BUILDS.iter().chain(more).map(|(name, value)| Flag::new(*name, *value)).collect();
    let reading = read(None, &flags, Command::Run, &vocabulary(), &TextFiles::of(files));
    let Some(campaign) = reading.campaign else { panic!("{:?}", reading.diagnostics) };
    let SuitePlan::Own(own) = campaign.suite else { panic!("another suite") };
    *own
}

#[test]
fn a_form_that_a_build_or_the_base_lacks_is_told_with_what_to_add() {
    let text = r#"
format = 1
[data]
dump = { mysql = "shop.sql" }
[values]
order = { query = { mysql = "SELECT id FROM orders" } }
[[test]]
name = "one"
sql = { mysql = "SELECT :order" }
[[test]]
name = "steps"
[[test.step]]
name = "first"
sql = { mysql = "SELECT 1", mariadb = "SELECT 2" }
"#;
    let files = [("shop.toml", text), ("shop.sql", "SELECT 1;")];
    let told = faults(&files, &[("from", "shop.toml")]);
    for (place, what) in [
        ("shop.toml:3:1", "`data` has no file for PostgreSQL"),
        ("shop.toml:6:9", "`order` has no query for PostgreSQL, the base's engine"),
        ("shop.toml:7:1", "`one` has no statement for PostgreSQL"),
        ("shop.toml:12:1", "`first` has no statement for PostgreSQL"),
    ] {
        assert!(told.contains(&format!("{place}: error: {what}")), "{place} {what}: {told}");
    }
    for remedy in ["dump", "query", "sql"].map(|key| format!("add it: {key} = {{ postgres = \"...\" }}")) {
        assert!(told.contains(&remedy), "{remedy}: {told}");
    }
    // Only the base is asked for values; the other build has what it needs.
    let both = text
        .replace("{ mysql = \"shop.sql\" }", "\"shop.sql\"")
        .replace("sql = { mysql", "sql = { postgres = \"SELECT 3\", mysql");
    let both = [("shop.toml", both.as_str()), ("shop.sql", "SELECT 1;")];
    let of = |builds: &[(&str, &str)]| {
        let flags = [&[("suite", "own"), ("from", "shop.toml")], builds].concat();
        let flags: Vec<Flag> = flags.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
        let reading = read(None, &flags, Command::Run, &vocabulary(), &TextFiles::of(&both));
        reading.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let (mysql, postgres) = (("build", "mysql:8.0.33"), ("build", "postgres:16.15"));
    assert!(!of(&[mysql, postgres]).contains("error"), "{}", of(&[mysql, postgres]));
    assert!(!of(&[postgres, mysql, ("base", "mysql:8.0.33")]).contains("error"));
    assert!(of(&[postgres, mysql]).contains("`order` has no query for PostgreSQL, the base's engine"));
}

#[test]
fn every_fault_of_a_workload_file_is_told_at_its_place() {
    let text = r#"
format = 1
nmae = "shop"

[data]
dump = "gone.sql"
charest = "utf8mb4"

[values]
order = { unifrom = [1, 2] }
empty = { uniform = [2, 1] }
later = { todo = "orders.id, bigint" }
pair = { csv = "pairs.csv", numbers = ["customer", "product"] }

[defaults]
protocol = "fast"
max-tries = 0

[[test]]
name = "one"
sql = "SELECT :ordre, ':quoted', a::int, :pair.customer, :pair.product, :later, :later.x, :empty"

[[test]]
name = "one"
sql = ""

[[test]]
name = "mixed"
mix = { on = 1, mixed = 2 }

[[test]]
sql = "SELECT 1"

[[test]]
name = "never"
mix = { one = 0, never = 0 }
timeout = "-5s"

[[test]]
name = "nothing"
mix = {}
timeout = "0s"

[[test]]
name = "half"
mix = { one = 0.5 }
timeout = "25h"
"#;
    let told = faults(&[("shop.toml", text), ("pairs.csv", "customer,city\n1,x\n")], &[("from", "shop.toml")]);
    for (place, what) in [
        ("shop.toml:3:1", "unknown key `nmae` in a workload file"),
        ("shop.toml:3:1", "did you mean `name`?"),
        ("shop.toml:6:8", "`gone.sql` cannot be read"),
        ("shop.toml:7:1", "did you mean `charset`?"),
        ("shop.toml:10:11", "did you mean `uniform`?"),
        ("shop.toml:11:9", "the range of `uniform` is empty"),
        ("shop.toml:12:9", "the values of `later` (orders.id, bigint) are still to be filled in"),
        ("shop.toml:13:52", "`pairs.csv` has no column `product`"),
        ("shop.toml:16:12", "`protocol` cannot be `fast`"),
        ("shop.toml:17:13", "`max-tries` cannot be 0"),
        ("shop.toml:21:15", "`:ordre` stands for nothing"),
        ("shop.toml:21:58", "the columns of `pair` are customer, city"),
        ("shop.toml:25:7", "the statement is empty"),
        ("shop.toml:24:8", "two tests are named `one`"),
        ("shop.toml:29:9", "the mix names no test: `on`"),
        ("shop.toml:29:17", "`mixed` is no test of statements"),
        ("shop.toml:31:1", "a test has no `name`"),
        ("shop.toml:36:7", "no test of the mix has a weight above 0"),
        ("shop.toml:37:11", "`timeout` cannot be `-5s`"),
        ("shop.toml:41:7", "no test of the mix has a weight above 0"),
        ("shop.toml:41:7", "give it tests: mix = {"),
        ("shop.toml:42:11", "`timeout` cannot be `0s`"),
        ("shop.toml:42:11", "expected a time from 1 ms to 1 day"),
        ("shop.toml:46:15", "the weight of `one` is no whole number"),
        ("shop.toml:47:11", "`timeout` cannot be `25h`"),
    ] {
        let found = told.split("\nshop.toml:").map(|part| format!("shop.toml:{part}"));
        let found: Vec<String> = found.map(|part| part.replace("shop.toml:shop.toml:", "shop.toml:")).collect();
        let is_told = found.iter().any(|part| part.starts_with(&format!("{place}:")) && part.contains(what));
        assert!(is_told, "{place} {what}:\n{told}");
    }
    assert_eq!(told.matches("no test of the mix").count(), 2, "{told}");
    // A source with a fault is not told again where it is named.
    assert!(!told.contains("`:later") && !told.contains("`:empty"), "{told}");
    assert!(!told.contains(":quoted`") && !told.contains("`:int`"), "{told}");
}

#[test]
fn a_fault_hides_no_other() {
    let text = r#"
format = 1
[data]
collation = 5
ignore = [1.5]
replace = { word = 1 }
pgbench-scale = 0
[values]
pair = { csv = "gone.csv", take = "both", nmubers = ["a"] }
ids = { query = 7 }
one = { unifrom = [1, 2], shufle = true }
plain = 7
[[table]]
name = 1
rows = 1
columns = 2
[[test]]
name = "open"
sql = """SELECT :ordre FROM t WHERE a = 'x AND b = :nope AND c = {"d":true} AND e = 1"""
rows = "many"
colour = "red"
[[test]]
name = "open"
sql = 5
row = 1
[[test]]
name = "empty"
callls = 1
[[test]]
name = "steps"
[[test.step]]
sql = "SELECT :lost"
rows = [2, 1]
[[test.step]]
name = "no-sql"
keep = ["a"]
[[test.step]]
name = "no_sql"
keep = ["a"]
[[test.step]]
name = "after"
sql = "SELECT :no_sql.a, :pair.a"
[[test]]
name = "mixed"
mix = { open = 1, empty = 1, steps = 1 }
sql = "SELECT 1"
[[test]]
sql = "SELECT :nameless"
[[test]]
name = "script"
pgbench = ["tpcb-like"]
scale = 99999999999
define = { a = [] }
[check]
parameters = 0
"#;
    let told = faults(&[("shop.toml", text)], &[("from", "shop.toml")]);
    let found: Vec<&str> = told.lines().filter(|line| line.starts_with("shop.toml:")).collect();
    let wanted = [
        "shop.toml:4:13: error: `collation` cannot be 5",
        "shop.toml:5:11: error: `ignore` cannot hold a number",
        "shop.toml:6:20: error: `word` cannot be 1",
        "shop.toml:7:17: error: `pgbench-scale` cannot be 0",
        "shop.toml:9:16: error: `gone.csv` cannot be used: there is no such file",
        "shop.toml:9:35: error: `take` cannot be `both`",
        "shop.toml:9:43: error: unknown key `nmubers` in a source of values",
        "shop.toml:10:17: error: `query` cannot be 7",
        "shop.toml:11:9: error: unknown key `unifrom` in a source of values",
        "shop.toml:11:27: error: unknown key `shufle` in a source of values",
        "shop.toml:12:9: error: a source of values cannot be a number",
        "shop.toml:14:8: error: `name` cannot be 1",
        "shop.toml:16:11: error: `columns` cannot be a number",
        "shop.toml:19:17: error: `:ordre` stands for nothing",
        "shop.toml:19:41: error: what begins here does not end: a string, a quoted name or a comment",
        "shop.toml:19:52: error: `:nope` stands for nothing",
        "shop.toml:20:8: error: `rows` is no number of rows",
        "shop.toml:21:1: error: unknown key `colour` in a test",
        "shop.toml:23:8: error: two tests are named `open`",
        "shop.toml:24:7: error: a statement cannot be a number",
        "shop.toml:25:1: error: unknown key `row` in a test",
        "shop.toml:26:1: error: a test has no `sql`",
        "shop.toml:28:1: error: unknown key `callls` in a test",
        "shop.toml:31:1: error: a step has no `name`",
        "shop.toml:32:15: error: `:lost` stands for nothing",
        "shop.toml:33:8: error: `rows` is no number of rows",
        "shop.toml:34:1: error: a step has no `sql`",
        "shop.toml:36:9: error: what `no-sql` keeps cannot be named, since `:no-sql` is no name",
        "shop.toml:37:1: error: a step has no `sql`",
        "shop.toml:46:7: error: a test has either `mix` or `sql`",
        "shop.toml:47:1: error: a test has no `name`",
        "shop.toml:48:15: error: `:nameless` stands for nothing",
        "shop.toml:52:9: error: `scale` cannot be 99999999999",
        "shop.toml:53:16: error: `a` cannot be a list",
        "shop.toml:55:14: error: `parameters` cannot be 0",
    ];
    assert_eq!(found, wanted, "{told}");
}

#[test]
fn faults_of_statements_and_values_are_told_in_the_file_in_which_they_stand() {
    let text = r#"
format = 1
[values]
pair = { csv = "pairs.csv" }
one = { csv = "one.csv" }
state = { pick = [] }
[[test]]
name = "open"
sql = """
SELECT 1,
  'it's'"""
[[test]]
name = "two"
sql = "SELECT 1; SELECT 2"
[[test]]
name = "elsewhere"
sql = { file = "q.sql" }
"#;
    let files = [
        ("w.toml", text),
        ("pairs.csv", "a,b\n1,2\n\n3\n4,5,6\n"),
        ("one.csv", "a\n"),
        ("q.sql", "-- of the shop\nSELECT *\nFROM t WHERE id = :id;\n"),
    ];
    let told = faults(&files, &[("from", "w.toml")]);
    for line in [
        "pairs.csv:4:1: error: the row has 1 field, and the header 2",
        "pairs.csv:5:1: error: the row has 3 fields, and the header 2",
        "one.csv:1:1: error: there are no rows below the header",
        "w.toml:6:9: error: `pick` has no values",
        "w.toml:11:8: error: what begins here does not end: a string, a quoted name or a comment",
        "w.toml:14:18: error: a second statement begins here",
        "q.sql:3:19: error: `:id` stands for nothing",
    ] {
        assert!(told.lines().any(|one| one == line), "{line}:\n{told}");
    }
}

#[test]
fn faults_of_scripts_are_told_with_line_and_column() {
    let script = "SELECT 1;\n\\set x 1 +\n\\unknown\n";
    let told = faults(&[("pay.sql", script)], &[("from", "pay.sql@2")]);
    assert!(told.contains("pay.sql:2:") && told.contains("pay.sql:3:"), "{told}");
    let told = faults(&[("a.sql", "\\shell rm x\nSELECT 1;\n")], &[("from", "a.sql")]);
    assert!(told.contains("a.sql:1:1") && told.contains("a command of the shell"), "{told}");
    let shell = [("a.sql", "\\set x 1\n\\setshell n echo :x\nSELECT :n;\n")];
    assert!(faults(&shell, &[("from", "a.sql")]).contains("`allow-shell`"));
    assert!(faults(&shell, &[("from", "a.sql"), ("allow-shell", "true")]).contains("so builds take turns"));
    let pipeline = [("p.sql", "SELECT 1;\n\\startpipeline\nSELECT 1;\n\\endpipeline\n")];
    let told = faults(&pipeline, &[("from", "p.sql"), ("protocol", "simple")]);
    assert!(told.contains("p.sql:2:1") && told.contains("protocol extended or prepared"), "{told}");
    assert_eq!(faults(&pipeline, &[("from", "p.sql"), ("protocol", "extended")]), "");
    for define in ["x", "x="] {
        let told = faults(&[("a.sql", "SELECT 1;")], &[("from", "a.sql"), ("define", define)]);
        assert!(told.contains(&format!("`{define}` does not give a variable its value")), "{told}");
    }
    let told = faults(&[], &[("from", "tpcb-liek")]);
    assert!(told.contains("tpcb-like, simple-update, select-only"), "{told}");
    let told = faults(&[("a.sql", "SELECT 1;")], &[("from", "a.sql@x")]);
    assert!(told.contains("weight"), "{told}");
    assert!(faults(&[], &[]).contains("--from shop.toml"));
    let both = faults(&[("a.sql", "SELECT 1;"), ("s.toml", "format = 1")], &[("from", "a.sql"), ("from", "s.toml")]);
    assert!(both.contains("stands beside the workload file"), "{both}");
}

#[test]
fn what_sleeps_runs_in_turns_and_what_reaches_the_server_how_is_chosen() {
    let files = [("nap.sql", "SELECT 1;\n\\sleep 1 ms\nSELECT 2;\n"), ("look.sql", "SELECT 3;\n")];
    let more = [("from", "nap.sql"), ("from", "look.sql"), ("protocol", "extended"), ("max-tries", "5")];
    let flags: Vec<Flag> = BUILDS.iter().chain(&more).map(|(name, value)| Flag::new(*name, *value)).collect();
    let reading = read(None, &flags, Command::Run, &vocabulary(), &TextFiles::of(&files));
    let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(told.iter().filter(|note| note.contains("so builds take turns")).count(), 2, "{told:?}");
    let campaign = reading.campaign.expect("no fault");
    let tests = campaign.tests.iter();
    let how: Vec<(&str, Option<Interleave>)> = tests.map(|test| (test.name.as_str(), test.interleave)).collect();
    let (turns, slices) = (Some(Interleave::Turns), Some(Interleave::Slices));
    assert_eq!(how, [("nap", turns), ("look", slices), ("mix", turns)]);
    let SuitePlan::Own(own) = &campaign.suite else { panic!("another suite") };
    let chosen: Vec<_> = own.tests.iter().map(|test| (test.protocol, test.max_tries)).collect();
    assert_eq!(chosen, [(Protocol::Extended, Some(5)); 3]);

    // What the file says wins over the flag.
    let text = "format = 1\n[[test]]\nname = \"a\"\nsql = \"SELECT 1\"\nprotocol = \"simple\"\nmax-tries = 2\n\
                [[test]]\nname = \"b\"\nsql = \"SELECT 1\"\n";
    let workload = self::own(&[("w.toml", text)], &[("from", "w.toml"), ("protocol", "extended")]);
    let chosen: Vec<_> = workload.tests.iter().map(|test| (test.protocol, test.max_tries)).collect();
    assert_eq!(chosen, [(Protocol::Simple, Some(2)), (Protocol::Extended, None)]);
}

#[test]
fn what_only_postgres_has_is_refused_of_others() {
    let text = "format = 1\n[[test]]\nname = \"a\"\nsql = \"SELECT 1\"\nprotocol = \"extended\"\n";
    let mysql = [("build", "mysql:8.0.33"), ("from", "w.toml")];
    assert!(faults(&[("w.toml", text)], &mysql).contains("MySQL has no protocol `extended`"));
    assert!(
        faults(&[], &[("build", "mysql:8.0.33"), ("from", "tpcb-like")]).contains("run on PostgreSQL, not on MySQL")
    );
}

#[test]
fn what_writes_is_found_by_its_words_and_runs_behind_what_reads() {
    let text = r#"
format = 1
[values]
a = { uniform = [1, 2] }
[[test]]
name = "write"
sql = "UPDATE t SET a = :a"
[[test]]
name = "read"
sql = "SELECT ':a' FROM t WHERE a = :a"
[[test]]
name = "mix"
mix = { read = 9, write = 1 }
[[test]]
name = "calls-a-function"
sql = "SELECT f(:a)"
writes = true
"#;
    let workload = own(&[("w.toml", text)], &[("from", "w.toml")]);
    let writes: Vec<(&str, bool)> = workload.tests.iter().map(|test| (test.name.as_str(), test.writes)).collect();
    assert_eq!(writes, [("write", true), ("read", false), ("mix", true), ("calls-a-function", true)]);
    assert_eq!(workload.name, "w");

    let scripts = own(&[("look.sql", "SELECT 1;")], &[("from", "look.sql@3"), ("from", "simple-update")]);
    let names: Vec<(&str, bool)> = scripts.tests.iter().map(|test| (test.name.as_str(), test.writes)).collect();
    assert_eq!(names, [("look", false), ("simple-update", true), ("mix", true)]);
    let Work::Pgbench(mix) = &scripts.tests[2].work else { panic!("{:?}", scripts.tests[2].work) };
    assert_eq!(mix.scripts.iter().map(|script| script.weight).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(scripts.data.pgbench_scale, Some(1));
}

#[test]
fn tests_are_chosen_by_name_and_pattern() {
    let text = "format = 1\n[[test]]\nname = \"a-1\"\nsql = \"SELECT 1\"\n[[test]]\nname = \"b\"\nsql = \"SELECT 1\"\n";
    let told = faults(&[("w.toml", text)], &[("from", "w.toml"), ("tests", "a-*,c")]);
    assert!(told.contains("no test `c` in workload w"), "{told}");
    assert_eq!(faults(&[("w.toml", text)], &[("from", "w.toml"), ("tests", "a-*")]), "");
}

#[test]
fn what_a_part_says_and_its_mix_does_not_is_noted() {
    let text = r#"
format = 1
[defaults]
timeout = "10 s"
[[test]]
name = "pay"
sql = "UPDATE t SET a = 1"
timeout = "1 s"
isolation = "serializable"
max-tries = 3
[[test]]
name = "look"
sql = "SELECT 1"
[[test]]
name = "mix"
mix = { look = 9, pay = 1 }
[[test]]
name = "alike"
mix = { look = 9, pay = 1 }
timeout = "1 s"
isolation = "serializable"
max-tries = 3
"#;
    let told = faults(&[("w.toml", text)], &[("from", "w.toml")]);
    let found: Vec<&str> = told.lines().filter(|line| line.starts_with("w.toml:")).collect();
    let wanted = [
        "w.toml:16:19: note: `pay` has timeout 1 s, and in the mix `mix` timeout 10 s holds",
        "w.toml:16:19: note: `pay` has isolation serializable, and in the mix `mix` the server's isolation holds",
        "w.toml:16:19: note: `pay` has max-tries 3, and in the mix `mix` max-tries as usual holds",
    ];
    assert_eq!(found, wanted, "{told}");
    assert!(told.contains("what a mix says holds for all of its parts: say it there, or in [defaults]"), "{told}");
}

#[test]
fn rows_that_nobody_counts_are_noted() {
    let text = r#"
format = 1
[[test]]
name = "look"
sql = { postgres = "SELECT 1", mysql = "SELECT 1 FOR UPDATE" }
rows = 1
[[test]]
name = "lock"
sql = "SELECT 1 FOR UPDATE"
rows = 1
[[test]]
name = "pay"
[[test.step]]
name = "read"
sql = "SELECT 1 AS credit"
keep = ["credit"]
rows = 1
[[test.step]]
name = "again"
sql = "SELECT :read.credit"
rows = [0, 1]
[[test.step]]
name = "write"
sql = "UPDATE t SET a = 1"
rows = 1
"#;
    let told = faults(&[("w.toml", text)], &[("from", "w.toml")]);
    let found: Vec<&str> = told.lines().filter(|line| line.starts_with("w.toml:")).collect();
    let note = "note: `rows` is not looked at here, since the statement is not asked for answers";
    assert_eq!(found, ["10:8", "21:8", "25:8"].map(|place| format!("w.toml:{place}: {note}")), "{told}");
}

#[test]
fn calls_of_scripts_say_nothing_and_a_note_tells_so() {
    let text = "format = 1\n[[test]]\nname = \"a\"\npgbench = [\"select-only\"]\ncalls = 7\n\
                [[test]]\nname = \"b\"\nsql = \"SELECT 1\"\ncalls = 7\n";
    let told = faults(&[("w.toml", text)], &[("from", "w.toml")]);
    assert!(told.contains("w.toml:5:9: note: `calls` says nothing here"), "{told}");
    assert_eq!(told.matches("note: ").count(), 1, "{told}");
}
