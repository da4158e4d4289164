//! Every fault that the Insert Benchmark's words can have, as it is shown.

use crate::check::tests::{TWO, check, told};
use crate::testing::NoFiles;
use crate::testing::vocabulary;
use crate::{Command, Flag, read};
use expect_test::expect;

const TWO_INSERT: &str = "build = [\"postgres:16.15\", \"postgres:17.11\"]\nsuite = \"insert\"\n";

#[test]
fn words_of_the_other_suite() {
    check(
        &format!(
            "{TWO_INSERT}tests = \"scan\"\nwrite-seconds = 5\nwarmup = 1\ninterleave = \"turns\"\nslice = 5\nrate = 100\n"
        ),
        expect![[r#"
            campaign.toml:3:9: error: `tests` belongs to suite sysbench and own, and this is suite insert
            3 | tests = "scan"
              |         ^^^^^^
              = help: leave it out: the steps build on each other; choose rates with `write-rates`
            campaign.toml:4:17: error: `write-seconds` belongs to suite sysbench and own, and this is suite insert
            4 | write-seconds = 5
              |                 ^
              = help: leave it out: l.i1 and l.i2 end when their rows are written; use `rows-written`
            campaign.toml:5:10: error: `warmup` belongs to suite sysbench and tproc-c and own, and this is suite insert
            5 | warmup = 1
              |          ^
              = help: leave it out: a step counts from its first row
            campaign.toml:7:9: error: `slice` says nothing here, since interleave is turns
            7 | slice = 5
              |         ^
              = help: leave it out, or take slices
            campaign.toml:8:8: error: `rate` belongs to suite sysbench and own, and this is suite insert
            8 | rate = 100
              |        ^^^
              = help: queries follow each other; the rates of the writes behind them are `write-rates`"#]],
    );
    check(
        &format!(
            "{TWO}scale = \"small\"\nrows-written = \"10k\"\nwrite-rates = 100\nrest-seconds = 5\ncatch-up-seconds = 1\n"
        ),
        expect![[r#"
            campaign.toml:2:9: error: `scale` belongs to suite insert, and this is suite sysbench
            2 | scale = "small"
              |         ^^^^^^^
              = help: use `tables`, `rows` and `clients` in suite sysbench
            campaign.toml:3:16: error: `rows-written` belongs to suite insert, and this is suite sysbench
            3 | rows-written = "10k"
              |                ^^^^^
              = help: the tests of suite sysbench that write run for `write-seconds`
            campaign.toml:4:15: error: `write-rates` belongs to suite insert, and this is suite sysbench
            4 | write-rates = 100
              |               ^^^
              = help: `rate` plans the requests of suite sysbench
            campaign.toml:5:16: error: `rest-seconds` belongs to suite insert, and this is suite sysbench
            5 | rest-seconds = 5
              |                ^
              = help: leave it out: in suite sysbench the work between tests belongs to them
            campaign.toml:6:20: error: `catch-up-seconds` belongs to suite insert, and this is suite sysbench
            6 | catch-up-seconds = 1
              |                    ^
              = help: leave it out: in suite sysbench a late request is never deferred"#]],
    );
    expect![[r#"
        --tests scan: error: `tests` belongs to suite sysbench and own, and this is suite insert
            = help: leave it out: the steps build on each other; choose rates with `write-rates`"#]]
    .assert_eq(&told(TWO, &[("suite", "insert"), ("tests", "scan")]));
    // What a preset says is not what a user says.
    assert!(!told(TWO_INSERT, &[("quick", "true")]).contains("error"));
    assert!(!told(TWO, &[("quick", "true")]).contains("error"));
}

#[test]
fn sizes_that_make_no_sense() {
    check(
        &format!(
            "{TWO_INSERT}scale = \"small:0.5\"\nrows = 10\nrows-written = \"1k\"\nclients = [4, 5000]\ntables = 3\n\
             read-seconds = 0.5\nwrite-rates = [100, 100]\n"
        ),
        expect![[r#"
            campaign.toml:4:8: error: a client needs at least 1000 rows to load and 1000 to write, or its table runs empty
            4 | rows = 10
              |        ^^
            campaign.toml:6:15: error: 5000 clients: there must be 1 to 4096
            6 | clients = [4, 5000]
              |               ^^^^
            campaign.toml:7:10: error: `tables` is 3, and `clients` is 4, 5000
            7 | tables = 3
              |          ^ expected 1, a table that all clients share, or nothing, a table for each client
            campaign.toml:8:16: error: 0.5 seconds of queries: a step needs at least one
            8 | read-seconds = 0.5
              |                ^^^
            campaign.toml:9:21: error: write-rates 100 is listed twice
            9 | write-rates = [100, 100]
              |                     ^^^"#]],
    );
    check(
        &format!("{TWO_INSERT}scale = \"smal:2\"\nrows = 10\n"),
        expect![[r#"
            campaign.toml:3:9: error: unknown scale `smal`
            3 | scale = "smal:2"
              |         ^^^^^^^^
              = expected one of cached-large, cached-small, io-bound, quick, small, with a factor if need be: small:0.1
              = help: did you mean `small`?"#]],
    );
    check(
        &format!("{TWO_INSERT}scale = \"small:much\"\n"),
        expect![[r#"
        campaign.toml:3:9: error: `much` is not a number
        3 | scale = "small:much"
          |         ^^^^^^^^^^^^ expected a size such as small, with a factor if need be: cached-large:0.01"#]],
    );
    check(
        &format!("{TWO_INSERT}scale = \"small:0\"\n"),
        expect![[r#"
        campaign.toml:3:9: error: `scale` is too small
        3 | scale = "small:0"
          |         ^^^^^^^^^ expected a size such as small, with a factor if need be: cached-large:0.01"#]],
    );
    check(&format!("{TWO_INSERT}scale = \"cached-large:50\"\n"), expect![""]);
    check(
        &format!("{TWO_INSERT}rounds = 1\nwrite-rates = 0\n"),
        expect![[r#"
            campaign.toml:3:10: note: one round gives no useful interval, so most verdicts will be undecided
            3 | rounds = 1
              |          ^
              = help: take 3 rounds or more
            campaign.toml:4:15: error: `write-rates` is too small
            4 | write-rates = 0
              |               ^ expected whole numbers from 1 to 10000000"#]],
    );
    for words in [
        "scale = \"cached-large\"\nclients = [1, 8]\ntables = 1\n",
        "clients = 8\ntables = 8\nrows = \"10k\"\nrows-written = \"2k\"\n",
        "profile = \"x10a_io\"\nwrite-rates = [50]\nrest-seconds = 0\n",
    ] {
        assert_eq!(told(&format!("{TWO_INSERT}{words}"), &[]), "", "{words}");
    }
}

#[test]
fn the_demo_is_of_sysbench() {
    let flags = [Flag::new("suite", "insert"), Flag::new("rows", "10k")];
    let reading = read(None, &flags, Command::Demo, &vocabulary(), &NoFiles);
    assert!(reading.campaign.is_none());
    let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
    expect![[r#"
        --suite insert: error: the demo is of suite sysbench
            = help: for this one: rqps run --suite insert --build postgres:16.15 --build postgres:17.11"#]]
    .assert_eq(&told.join("\n"));
}
