//! Every fault that reading a file can tell, as it is shown.

use super::*;
use crate::testing::read_text;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let (_, told) = read_text(text);
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    expected.assert_eq(&told.join("\n"));
}

#[test]
fn unknown_keys() {
    check(
        "row = 5\nread_seconds = 3\nbananas = 1\nresults = \"x\"\n[campaign]\nrows = 1\n",
        expect![[r#"
            campaign.toml:1:1: error: unknown key `row`
            1 | row = 5
              | ^^^
              = help: did you mean `rows`?
            campaign.toml:2:1: error: unknown key `read_seconds`
            2 | read_seconds = 3
              | ^^^^^^^^^^^^
              = help: did you mean `read-seconds`?
            campaign.toml:3:1: error: unknown key `bananas`
            3 | bananas = 1
              | ^^^^^^^
              = expected one of: name, build, base, aa, control, suite, preset, tproc-c-profile, warehouses, form, quirks, isolation, all-warehouses, keying-and-thinking, partitioned, check, from, data-scale, define, protocol, max-tries, allow-shell, answers, pg-restore, scale, tests, tables, rows, rows-written, clients, write-rates, read-seconds, write-seconds, seconds, rest-seconds, catch-up-seconds, warmup, time, until-decided, rounds, slice, turn, interleave, seed, profile, storage-engine, set, placement, program-pages, cpu-events, rate, machine, margin, quick
            campaign.toml:4:1: error: `results` does not belong in a campaign file
            4 | results = "x"
              | ^^^^^^^
              = help: give it on the command line: --results
            campaign.toml:5:2: error: unknown key `campaign`
            5 | [campaign]
              |  ^^^^^^^^
              = expected one of: name, build, base, aa, control, suite, preset, tproc-c-profile, warehouses, form, quirks, isolation, all-warehouses, keying-and-thinking, partitioned, check, from, data-scale, define, protocol, max-tries, allow-shell, answers, pg-restore, scale, tests, tables, rows, rows-written, clients, write-rates, read-seconds, write-seconds, seconds, rest-seconds, catch-up-seconds, warmup, time, until-decided, rounds, slice, turn, interleave, seed, profile, storage-engine, set, placement, program-pages, cpu-events, rate, machine, margin, quick"#]],
    );
}

#[test]
fn wrong_types() {
    check(
        r#"
rows = "100000"
tables = 1.5
rounds = 1979-05-27
slice = "10"
tests = [true, {}]
clients = [1, "4"]
quick = "yes"
base = 17
margin = true
machine = 8
set = 5
build = [1]
"#,
        expect![[r#"
            campaign.toml:2:8: error: `rows` cannot be text
            2 | rows = "100000"
              |        ^^^^^^^^ expected a whole number from 1 to 2000000000, or such as "100k" and "50m"
              = help: numbers stand without quotes
            campaign.toml:3:10: error: 1.5 is not a whole number
            3 | tables = 1.5
              |          ^^^ expected a whole number from 1 to 1000
            campaign.toml:4:10: error: `rounds` cannot be a date
            4 | rounds = 1979-05-27
              |          ^^^^^^^^^^ expected a whole number from 1 to 1000
            campaign.toml:5:9: error: `slice` cannot be text
            5 | slice = "10"
              |         ^^^^ expected milliseconds from 1 to 1000
            campaign.toml:6:10: error: `tests` cannot be true or false
            6 | tests = [true, {}]
              |          ^^^^ expected a list of names
            campaign.toml:6:16: error: `tests` cannot be a table
            6 | tests = [true, {}]
              |                ^^ expected a list of names
            campaign.toml:7:15: error: `clients` cannot be text
            7 | clients = [1, "4"]
              |               ^^^ expected whole numbers from 1 to 10000
              = help: numbers stand without quotes
            campaign.toml:8:9: error: `quick` cannot be text
            8 | quick = "yes"
              |         ^^^^^ expected true or false
            campaign.toml:9:8: error: `base` cannot be a number
            9 | base = 17
              |        ^^ expected a name
            campaign.toml:10:10: error: `margin` cannot be true or false
            10 | margin = true
               |          ^^^^ expected a fraction from 0.001 to 0.5, such as 0.02, or "2%"
            campaign.toml:11:11: error: `machine` cannot be a number
            11 | machine = 8
               |           ^ expected a class such as "c8r32", or { cores = 8, memory = "32GB" }
            campaign.toml:12:7: error: `set` cannot be a number
            12 | set = 5
               |       ^ expected server settings, such as work_mem=64MB
            campaign.toml:13:10: error: `build` cannot be a number
            13 | build = [1]
               |          ^ expected a build, such as "postgres:17.11""#]],
    );
}

#[test]
fn out_of_range() {
    check(
        r#"
rows = 0
tables = -1
rounds = 1001
slice = 0.5
clients = [0, 10_001, 4, 4]
read-seconds = 0
warmup = -1
seed = 9223372036854775808
margin = "90%"
rate = 0
machine = { cores = 0, memory = "1GB" }
tests = []
name = ""
"#,
        expect![[r#"
            campaign.toml:2:8: error: `rows` is too small
            2 | rows = 0
              |        ^ expected a whole number from 1 to 2000000000, or such as "100k" and "50m"
            campaign.toml:3:10: error: `tables` is too small
            3 | tables = -1
              |          ^^ expected a whole number from 1 to 1000
            campaign.toml:4:10: error: `rounds` is too large
            4 | rounds = 1001
              |          ^^^^ expected a whole number from 1 to 1000
            campaign.toml:5:9: error: `slice` is too small
            5 | slice = 0.5
              |         ^^^ expected milliseconds from 1 to 1000
            campaign.toml:6:12: error: `clients` is too small
            6 | clients = [0, 10_001, 4, 4]
              |            ^ expected whole numbers from 1 to 10000
            campaign.toml:6:15: error: `clients` is too large
            6 | clients = [0, 10_001, 4, 4]
              |               ^^^^^^ expected whole numbers from 1 to 10000
            campaign.toml:7:16: error: `read-seconds` is too small
            7 | read-seconds = 0
              |                ^ expected seconds from 0.1 to 86400
            campaign.toml:8:10: error: `warmup` is too small
            8 | warmup = -1
              |          ^^ expected seconds from 0 to 3600
            campaign.toml:9:8: error: `seed` is too large
            9 | seed = 9223372036854775808
              |        ^^^^^^^^^^^^^^^^^^^ expected a whole number from 0 to 9223372036854775807
            campaign.toml:10:10: error: `margin` is too large
            10 | margin = "90%"
               |          ^^^^^ expected a fraction from 0.001 to 0.5, such as 0.02, or "2%"
            campaign.toml:11:8: error: `rate` is too small
            11 | rate = 0
               |        ^ expected events per second, such as 500, or "even:500" for equal gaps
            campaign.toml:12:11: error: no machine has that many cores
            12 | machine = { cores = 0, memory = "1GB" }
               |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected from 1 to 4096
            campaign.toml:13:9: error: `tests` is an empty list
            13 | tests = []
               |         ^^ expected a list of names
            campaign.toml:14:8: error: `name` is empty
            14 | name = ""
               |        ^^ expected a name"#]],
    );
}

#[test]
fn machines() {
    for text in [
        "machine = { cores = 2, memory = 24 }",
        "machine = { cores = 2, ram = \"24GB\" }",
        "machine = { cores = 2 }",
        "machine = { cores = 2, memory = \"1MB\" }",
        "machine = { cores = \"2\", memory = \"1GB\" }",
    ] {
        let (request, told) = read_text(text);
        assert!(request.machine.is_none() && told.len() == 1, "{text}: {told:?}");
    }
    check(
        "machine = \"2 cores\"",
        expect![[r#"
        campaign.toml:1:11: error: `2 cores` is not a machine
        1 | machine = "2 cores"
          |           ^^^^^^^^^ expected a class such as "c8r32", or { cores = 8, memory = "32GB" }"#]],
    );
    check(
        "machine = { cores = 2, ram = \"24GB\" }",
        expect![[r#"
        campaign.toml:1:24: error: unknown key `ram` of a machine
        1 | machine = { cores = 2, ram = "24GB" }
          |                        ^^^ expected cores, memory"#]],
    );
    check(
        "machine = { cores = 2, memory = \"1MB\" }",
        expect![[r#"
        campaign.toml:1:11: error: a machine's memory is out of range
        1 | machine = { cores = 2, memory = "1MB" }
          |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected from 256MB to 64TB"#]],
    );
}

#[test]
fn builds_as_tables() {
    check(
        r#"
build = [
    { from = "postgres:17.11", nam = "x" },
    { name = "a b", from = "postgres:17" },
    { name = "a", from = "b=postgres:17.11" },
    { profile = "x10a" },
    { from = "postgres:17.x", set = { "work mem" = 1 } },
]
"#,
        expect![[r#"
            campaign.toml:3:32: error: unknown key `nam` of a build
            3 |     { from = "postgres:17.11", nam = "x" },
              |                                ^^^ expected name, from, profile, storage-engine, set
              = help: did you mean `name`?
            campaign.toml:4:14: error: `a b` cannot be a name, since it becomes a folder's name
            4 |     { name = "a b", from = "postgres:17" },
              |              ^^^^^
              = expected letters, digits, `.`, `_` and `-`, first a letter or digit, at most 64 in all
            campaign.toml:5:5: error: this build is named twice, `a` and `b`
            5 |     { name = "a", from = "b=postgres:17.11" },
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              = help: leave `b=` out of `from`
            campaign.toml:6:5: error: a build without `from`
            6 |     { profile = "x10a" },
              |     ^^^^^^^^^^^^^^^^^^^^ expected from = "ENGINE:VERSION" or "ENGINE:/FOLDER"
            campaign.toml:7:14: error: `17.x` is not a version
            7 |     { from = "postgres:17.x", set = { "work mem" = 1 } },
              |              ^^^^^^^^^^^^^^^
              = expected numbers such as 17.11, 8.0.33 or 19beta1, or a folder or archive with a slash, such as /usr/lib/postgresql/17
            campaign.toml:7:39: error: `work mem` cannot be the name of a setting
            7 |     { from = "postgres:17.x", set = { "work mem" = 1 } },
              |                                       ^^^^^^^^^^ expected letters, digits, `_` and `.`"#]],
    );
    check(
        "build = [\"a=postgres:17.11\", \"a=postgres:16.15\"]",
        expect![[r#"
        campaign.toml:1:30: error: two builds are named `a`
        1 | build = ["a=postgres:17.11", "a=postgres:16.15"]
          |                              ^^^^^^^^^^^^^^^^^^
          = help: give each its own name, or leave the names out"#]],
    );
}

#[test]
fn settings() {
    check(
        "set = [\"work_mem\"]",
        expect![[r#"
        campaign.toml:1:8: error: `work_mem` is not a setting
        1 | set = ["work_mem"]
          |        ^^^^^^^^^^ expected NAME=VALUE
          = help: such as work_mem=64MB"#]],
    );
    check(
        "set = [\"work_mem=1\", \"work_mem=2\"]",
        expect![[r#"
        campaign.toml:1:22: error: setting `work_mem` is given twice
        1 | set = ["work_mem=1", "work_mem=2"]
          |                      ^^^^^^^^^^^^"#]],
    );
    check(
        "[set]\nwork_mem = [1]",
        expect![[r#"
        campaign.toml:2:12: error: setting `work_mem` cannot be a list
        2 | work_mem = [1]
          |            ^^^ expected text, a number, true or false"#]],
    );
    check(
        "[set]\nwork_mem = \"1\\nport = 5\"",
        expect![[r#"
        campaign.toml:2:12: error: the value of setting `work_mem` is more than one line
        2 | work_mem = "1\nport = 5"
          |            ^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn a_broken_line_is_told_once_and_the_rest_is_still_read() {
    let text = "rows = \nslice = 5 6\nrounds = 0\nrounds = 3\ntests = [\"a\", \"b\"\nclients = 10M\n";
    check(
        text,
        expect![[r#"
            campaign.toml:1:8: error: a value is missing
            1 | rows = 
              |        ^ expected a whole number from 1 to 2000000000, or such as "100k" and "50m"
            campaign.toml:2:9: error: `5 6` is not a value; text stands in quotes
            2 | slice = 5 6
              |         ^^^ expected milliseconds from 1 to 1000
            campaign.toml:3:10: error: `rounds` is too small
            3 | rounds = 0
              |          ^ expected a whole number from 1 to 1000
            campaign.toml:4:1: error: `rounds` is given twice; the first is in line 3
            4 | rounds = 3
              | ^^^^^^
              = help: leave one of them out
            campaign.toml:5:9: error: the list of `tests` is not closed
            5 | tests = ["a", "b"
              |         ^ expected `]` at its end
            campaign.toml:6:11: error: `10M` is not a value; text stands in quotes
            6 | clients = 10M
              |           ^^^ expected whole numbers from 1 to 10000"#]],
    );
    check(
        "name = \"abc\nrows = 0\n",
        expect![[r#"
            campaign.toml:1:12: error: invalid basic string
            1 | name = "abc
              |            ^ expected `"`
            campaign.toml:2:8: error: `rows` is too small
            2 | rows = 0
              |        ^ expected a whole number from 1 to 2000000000, or such as "100k" and "50m""#]],
    );
    check(
        "rate = even:500\n",
        expect![[r#"
        campaign.toml:1:8: error: `even:500` is not a value; text stands in quotes
        1 | rate = even:500
          |        ^^^^^^^^ expected events per second, such as 500, or "even:500" for equal gaps"#]],
    );
    check(
        "= 3\n",
        expect![[r#"
        campaign.toml:1:1: error: unquoted keys cannot be empty
        1 | = 3
          | ^ expected letters, numbers, `-`, `_`"#]],
    );
}

#[test]
fn an_empty_file_asks_for_nothing() {
    for text in ["", "\n", "# nothing\n", "\u{feff}# with a mark\n"] {
        let (mut request, told) = read_text(text);
        request.source = None;
        assert_eq!((request, told), (Request::default(), vec![]), "{text:?}");
    }
}

#[test]
fn a_file_of_another_kind_is_told_once() {
    check(
        "#!/bin/sh\nset -e\nrqps run --quick\nexit 0\n",
        expect![[r#"
        campaign.toml:2:5: error: key with no value
        2 | set -e
          |     ^ expected `=`
          = help: is this a campaign file? docs/campaign-file.md shows one"#]],
    );
    let (request, _) = read_text("rows = \nrowz = 5\n");
    assert!(request.is_faulty("build"), "a broken file raises no complaint that builds are missing");
}

/// What follows an open list is read as what it was meant to be.
#[test]
fn a_list_that_is_not_closed_is_told_once_where_it_opens() {
    check(
        "rounds = 0\nbuild = [\n  \"postgres:16.15\",\n  \"postgres:17.11\"\nrows = 5x\ntests = [\"scan\"\n\n[set]\nwork_mem = [1]\n",
        expect![[r#"
            campaign.toml:1:10: error: `rounds` is too small
            1 | rounds = 0
              |          ^ expected a whole number from 1 to 1000
            campaign.toml:2:9: error: the list of `build` is not closed
            2 | build = [
              |         ^ expected `]` at its end
            campaign.toml:5:8: error: `5x` is not a value; text stands in quotes
            5 | rows = 5x
              |        ^^ expected a whole number from 1 to 2000000000, or such as "100k" and "50m"
            campaign.toml:6:9: error: the list of `tests` is not closed
            6 | tests = ["scan"
              |         ^ expected `]` at its end
            campaign.toml:9:12: error: setting `work_mem` cannot be a list
            9 | work_mem = [1]
              |            ^^^ expected text, a number, true or false"#]],
    );
    check(
        "build = [\"postgres:16.15\", \"postgres:17.11\"",
        expect![[r#"
        campaign.toml:1:9: error: the list of `build` is not closed
        1 | build = ["postgres:16.15", "postgres:17.11"
          |         ^ expected `]` at its end"#]],
    );
    check(
        "tests = [\"a\",\nbuild = [\"postgres:16.15\"]\nrounds = 0\n",
        expect![[r#"
        campaign.toml:1:9: error: the list of `tests` is not closed
        1 | tests = ["a",
          |         ^ expected `]` at its end
        campaign.toml:3:10: error: `rounds` is too small
        3 | rounds = 0
          |          ^ expected a whole number from 1 to 1000"#]],
    );
}

#[test]
fn a_key_that_is_said_twice_is_told_with_the_line_of_the_first() {
    check(
        "rows = 1\n[set]\nrows = 2\nwork_mem = 1\nwork_mem = 2\n[set]\nb = 1\n",
        expect![[r#"
            campaign.toml:5:1: error: `work_mem` is given twice; the first is in line 4
            5 | work_mem = 2
              | ^^^^^^^^
              = help: leave one of them out
            campaign.toml:6:2: error: `set` is given twice; the first is in line 2
            6 | [set]
              |  ^^^
              = help: leave one of them out"#]],
    );
    check(
        "build = [{ from = \"postgres:16.15\" },\n  { from = \"a\",\n from = \"b\" }]\n",
        expect![[r#"
            campaign.toml:3:2: error: `from` is given twice; the first is in line 2
            3 |  from = "b" }]
              |  ^^^^
              = help: leave one of them out"#]],
    );
}
