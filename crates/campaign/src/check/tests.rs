//! What is told about a campaign as a whole, and about what is run; faults of treatments, settings and sizes are beside
//! their own modules.

use crate::testing::NoFiles;
use crate::testing::vocabulary;
use crate::{Command, Flag, Source, read};
use expect_test::{Expect, expect};

pub(super) fn told(text: &str, flags: &[(&str, &str)]) -> String {
    let source = Source::new("campaign.toml", text.as_bytes());
    let flags: Vec<Flag> = flags.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let reading = read(Some(&source), &flags, Command::Run, &vocabulary(), &NoFiles);
    let told: Vec<String> = reading.diagnostics.iter().map(ToString::to_string).collect();
    let told = told.join("\n");
    assert_eq!(reading.campaign.is_none(), told.contains("error: "), "{told}");
    told
}

pub(super) fn check(text: &str, expected: Expect) {
    expected.assert_eq(&told(text, &[]));
}

pub(super) const TWO: &str = "build = [\"postgres:16.15\", \"postgres:17.11\"]\n";

#[test]
fn one_file_with_many_faults_shows_all() {
    check(
        r#"
name = "my campaign"
build = ["postgres:16.16", "postgre:17.11", { from = "postgres:18.6", profil = "x10b" }]
base = "16.15"
profile = ["x10a", "x10"]
sets = { work_mem = "64MB" }
suite = "sysbnech"
tests = ["hot-point"]
rows = "100000"
clients = [1, 4, 4]
read_seconds = 10
rounds = 0
slice = 5000
interleave = "turn"
rate = 500x
"#,
        expect![[r#"
            campaign.toml:2:8: error: `my campaign` cannot be a name, since it becomes a folder's name
            2 | name = "my campaign"
              |        ^^^^^^^^^^^^^
              = expected letters, digits, `.`, `_` and `-`, first a letter or digit, at most 64 in all
            campaign.toml:3:10: error: the catalog has no PostgreSQL 16.16
            3 | build = ["postgres:16.16", "postgre:17.11", { from = "postgres:18.6", profil = "x10b" }]
              |          ^^^^^^^^^^^^^^^^
              = expected one of 12.22, 13.23, 14.20, 14.24, 15.15, 15.19, 16.11, 16.15, 17.7, 17.11, 18.1, 18.6, or a folder or archive such as postgres:/opt/postgres
              = help: did you mean `postgres:16.15`?
            campaign.toml:3:28: error: unknown engine `postgre`
            3 | build = ["postgres:16.16", "postgre:17.11", { from = "postgres:18.6", profil = "x10b" }]
              |                            ^^^^^^^^^^^^^^^ expected one of postgres, mysql, mariadb
              = help: did you mean `postgres`?
            campaign.toml:3:71: error: unknown key `profil` of a build
            3 | build = ["postgres:16.16", "postgre:17.11", { from = "postgres:18.6", profil = "x10b" }]
              |                                                                       ^^^^^^
              = expected name, from, profile, storage-engine, set
              = help: did you mean `profile`?
            campaign.toml:5:20: error: unknown profile `x10`
            5 | profile = ["x10a", "x10"]
              |                    ^^^^^
              = expected one of x10a, x10b for PostgreSQL, plain or with _io, _sync behind; z12a, z13a for MySQL, plain or with _io, _sync behind; z12a, z12b for MariaDB, plain or with _io, _sync behind
              = help: did you mean `x10a`?
            campaign.toml:6:1: error: unknown key `sets`
            6 | sets = { work_mem = "64MB" }
              | ^^^^
              = help: did you mean `set`?
            campaign.toml:7:9: error: unknown suite `sysbnech`
            7 | suite = "sysbnech"
              |         ^^^^^^^^^^ expected sysbench or insert or tproc-c or own
              = help: did you mean `sysbench`?
            campaign.toml:8:10: error: unknown test `hot-point`
            8 | tests = ["hot-point"]
              |          ^^^^^^^^^^^ expected a test, a pattern with * or ?, or one of 27, 32, 42, all
              = help: did you mean `hot-points`?
            campaign.toml:9:8: error: `rows` cannot be text
            9 | rows = "100000"
              |        ^^^^^^^^ expected a whole number from 1 to 2000000000, or such as "100k" and "50m"
              = help: numbers stand without quotes
            campaign.toml:10:18: error: clients 4 is listed twice
            10 | clients = [1, 4, 4]
               |                  ^
            campaign.toml:11:1: error: unknown key `read_seconds`
            11 | read_seconds = 10
               | ^^^^^^^^^^^^
               = help: did you mean `read-seconds`?
            campaign.toml:12:10: error: `rounds` is too small
            12 | rounds = 0
               |          ^ expected a whole number from 1 to 1000
            campaign.toml:13:9: error: `slice` is too large
            13 | slice = 5000
               |         ^^^^ expected milliseconds from 1 to 1000
            campaign.toml:14:14: error: `interleave` cannot be `turn`
            14 | interleave = "turn"
               |              ^^^^^^ expected slices or turns
               = help: did you mean `turns`?
            campaign.toml:15:8: error: `500x` is not a value; text stands in quotes
            15 | rate = 500x
               |        ^^^^ expected events per second, such as 500, or "even:500" for equal gaps"#]],
    );
}

#[test]
fn unknown_suites_and_tests() {
    check(
        &format!("{TWO}suite = \"tpcc\"\n"),
        expect![[r#"
            campaign.toml:2:9: error: unknown suite `tpcc`
            2 | suite = "tpcc"
              |         ^^^^^^ expected sysbench or insert or tproc-c or own"#]],
    );
    check(
        &format!("{TWO}tests = [\"33\", \"hot-point\", \"zz*\", \"scan\"]\n"),
        expect![[r#"
            campaign.toml:2:10: error: unknown test `33`
            2 | tests = ["33", "hot-point", "zz*", "scan"]
              |          ^^^^ expected a test, a pattern with * or ?, or one of 27, 32, 42, all
              = help: did you mean `32`?
            campaign.toml:2:16: error: unknown test `hot-point`
            2 | tests = ["33", "hot-point", "zz*", "scan"]
              |                ^^^^^^^^^^^ expected a test, a pattern with * or ?, or one of 27, 32, 42, all
              = help: did you mean `hot-points`?
            campaign.toml:2:29: error: no test of sysbench fits the pattern `zz*`
            2 | tests = ["33", "hot-point", "zz*", "scan"]
              |                             ^^^^^ expected a test, a pattern with * or ?, or one of 27, 32, 42, all
              = help: `rqps plan` lists the tests of a set, such as all"#]],
    );
}

#[test]
fn a_base_that_is_no_treatment() {
    check(
        &format!("{TWO}base = \"postgres:16.16\"\n"),
        expect![[r#"
        campaign.toml:2:8: error: the base `postgres:16.16` is none of the builds
        2 | base = "postgres:16.16"
          |        ^^^^^^^^^^^^^^^^ expected one of pg1615_zonky.x10a, pg1711_zonky.x10a
          = help: did you mean `postgres:16.15`?"#]],
    );
    check(
        &format!("{TWO}base = \"17.11\"\nprofile = [\"x10a\", \"x10a_sync\"]\n"),
        expect![[r#"
        campaign.toml:2:8: error: the base `17.11` names 2 treatments
        2 | base = "17.11"
          |        ^^^^^^^ expected one of pg1711_zonky.x10a, pg1711_zonky.x10a_sync"#]],
    );
    check(
        "build = [\"postgres:17.11\", \"postgres:17.11\"]\nbase = \"17.11\"",
        expect![[r#"
        campaign.toml:2:8: error: the base `17.11` names 2 treatments
        2 | base = "17.11"
          |        ^^^^^^^ expected one of pg1711_zonky.x10a, pg1711_zonky.x10a
          = help: give one of them a name: NAME=ENGINE:VERSION"#]],
    );
    for base in ["17.11", "postgres:17.11", "pg1711_zonky", "pg1711_zonky.x10a", "pg1711_zonky.x10a_c2r12"] {
        assert_eq!(told(&format!("{TWO}base = \"{base}\"\n"), &[]), "", "{base}");
    }
    // What a folder's build is called, only its binary can tell.
    assert_eq!(told("build = [\"postgres:/opt/pg\", \"postgres:17.11\"]\nbase = \"pg1711_x\"\n", &[]), "");
}

#[test]
fn contradictions() {
    check(
        &format!("{TWO}slice = 10\ninterleave = \"turns\"\n"),
        expect![[r#"
        campaign.toml:2:9: error: `slice` says nothing here, since interleave is turns
        2 | slice = 10
          |         ^^
          = help: leave it out, or take slices"#]],
    );
    check(
        &format!("{TWO}slice = 10\nprofile = \"x10a_io\"\n"),
        expect![[r#"
        campaign.toml:2:9: note: `slice` says nothing here, since profile x10a_io runs in turns
        2 | slice = 10
          |         ^^
          = help: leave it out, or take slices"#]],
    );
    check(
        &format!("{TWO}turn = 60\ntests = [\"point-query\"]\n"),
        expect![[r#"
        campaign.toml:2:8: error: `turn` says nothing here, since builds run in slices
        2 | turn = 60
          |        ^^
          = help: leave it out, or take `interleave` turns"#]],
    );
    check(&format!("{TWO}turn = 60\ninterleave = \"turns\"\n"), expect![[""]]);
    check(
        &format!("{TWO}rate = 500\ninterleave = \"slices\"\n"),
        expect![[r#"
        campaign.toml:2:8: error: requests at a planned rate need turns, not slices
        2 | rate = 500
          |        ^^^ expected interleave = "turns", or no rate
          = help: while one build has its slice, the requests of the other would all become late"#]],
    );
    check(
        &format!("{TWO}slice = 200\nread-seconds = 0.1\n"),
        expect![[r#"
        campaign.toml:2:9: error: a slice of 200 ms is longer than a test of 0.1 s
        2 | slice = 200
          |         ^^^
          = help: shorten `slice`, or lengthen the tests"#]],
    );
    check(
        &format!("{TWO}rounds = 2\n"),
        expect![[r#"
            campaign.toml:2:10: note: two rounds give no useful interval, so most verdicts will be undecided
            2 | rounds = 2
              |          ^
              = help: take 3 rounds or more, or leave them to `time`"#]],
    );
    // A flag that contradicts the file's slice replaces what the file meant.
    expect![[r#"
        campaign.toml:2:9: note: `slice` says nothing here, since interleave is turns
        2 | slice = 10
          |         ^^
          = help: leave it out, or take slices"#]]
    .assert_eq(&told(&format!("{TWO}slice = 10\n"), &[("interleave", "turns")]));
    expect![[r#"
        campaign.toml:2:8: note: `turn` says nothing here, since builds run in slices
        2 | turn = 60
          |        ^^
          = help: leave it out, or take `interleave` turns"#]]
    .assert_eq(&told(&format!("{TWO}turn = 60\n"), &[("interleave", "slices")]));
}

#[test]
fn flags_win_over_the_file_and_say_so() {
    let text = format!("{TWO}rows = 100\ntables = 3\nseed = 7\n[set]\nwork_mem = \"4MB\"\njit = \"on\"\n");
    let flags = [("rows", "200"), ("seed", "7"), ("set", "work_mem=8MB"), ("tests", "scan")];
    expect![[r#"
        campaign.toml:2:8: note: `rows` of the file is replaced by the flag --rows
        2 | rows = 100
          |        ^^^
        campaign.toml:6:1: note: `set` of the file is replaced by the flag --set
        6 | work_mem = "4MB"
          | ^^^^^^^^"#]]
    .assert_eq(&told(&text, &flags));
}

#[test]
fn a_fault_in_the_file_is_told_even_if_a_flag_replaces_the_key() {
    expect![[r#"
        campaign.toml:2:8: error: `rows` is too small
        2 | rows = 0
          |        ^ expected a whole number from 1 to 2000000000, or such as "100k" and "50m"
        --test scan: error: unknown flag --test
            = help: did you mean `tests`?"#]]
    .assert_eq(&told(&format!("{TWO}rows = 0\n"), &[("rows", "200"), ("test", "scan")]));
}

#[test]
fn a_key_said_wrongly_raises_no_second_complaint() {
    let all = "build = 1\nbase = \"x\"\nprofile = 3\nsuite = 3\ntests = []\nread-seconds = 0\nslice = 0\nrounds = 0\n";
    assert_eq!(told(all, &[]).matches("error: ").count(), 7);
}

#[test]
fn a_wrong_suite_hides_no_fault_of_its_tests() {
    check(
        &format!("{TWO}suite = \"sysbnech\"\ntests = [\"hot-pionts\"]\nslice = 50000\n"),
        expect![[r#"
            campaign.toml:2:9: error: unknown suite `sysbnech`
            2 | suite = "sysbnech"
              |         ^^^^^^^^^^ expected sysbench or insert or tproc-c or own
              = help: did you mean `sysbench`?
            campaign.toml:3:10: error: unknown test `hot-pionts`
            3 | tests = ["hot-pionts"]
              |          ^^^^^^^^^^^^ expected a test, a pattern with * or ?, or one of 27, 32, 42, all
              = help: did you mean `hot-points`?
            campaign.toml:4:9: error: `slice` is too large
            4 | slice = 50000
              |         ^^^^^ expected milliseconds from 1 to 1000"#]],
    );
    check(
        &format!("{TWO}suite = 5\ntests = [\"hot-pionts\"]\n"),
        expect![[r#"
        campaign.toml:2:9: error: `suite` cannot be a number
        2 | suite = 5
          |         ^ expected a name
        campaign.toml:3:10: error: unknown test `hot-pionts`
        3 | tests = ["hot-pionts"]
          |          ^^^^^^^^^^^^ expected a test, a pattern with * or ?, or one of 27, 32, 42, all
          = help: did you mean `hot-points`?"#]],
    );
    // What is meant for the other suite is not judged by this one.
    check(
        &format!("{TWO}suite = \"inserts\"\nscale = \"tiny\"\n"),
        expect![[r#"
            campaign.toml:2:9: error: unknown suite `inserts`
            2 | suite = "inserts"
              |         ^^^^^^^^^ expected sysbench or insert or tproc-c or own
              = help: did you mean `insert`?"#]],
    );
}

#[test]
fn settings_that_are_none_hide_no_wrong_names() {
    let flags = [("build", "postgres:16.15"), ("build", "postgres:17.11"), ("set", "foo"), ("set", "work_memm=1")];
    let told = told("", &[&flags[..], &[("set", "a=1"), ("set", "a=2"), ("set", "=")]].concat());
    for fault in
        ["--set foo: error", "did you mean `work_mem`?", "--set a=2: error: setting `a` is given twice", "--set =: "]
    {
        assert!(told.contains(fault), "{fault} in {told}");
    }
    check(
        &format!("{TWO}[set]\nwork_mem = [1]\nwork_memm = 1\n"),
        expect![[r#"
        campaign.toml:3:12: error: setting `work_mem` cannot be a list
        3 | work_mem = [1]
          |            ^^^ expected text, a number, true or false
        campaign.toml:4:1: error: no release of PostgreSQL has a setting `work_memm`
        4 | work_memm = 1
          | ^^^^^^^^^
          = help: did you mean `work_mem`?"#]],
    );
}

#[test]
fn a_change_is_planted_where_its_size_is_known() {
    let control = format!("{TWO}control = 0.01\n");
    assert_eq!(told(&control, &[]), "");
    assert_eq!(told(&control, &[("clients", "1,8")]), "");
    assert_eq!(told(&control, &[("placement", "split")]), "");
    assert_eq!(told(&control, &[("interleave", "turns")]), "");
    let refused = |flags: &[(&str, &str)]| {
        let told = told(&control, flags);
        told.lines().filter(|line| line.contains("error: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let at = "campaign.toml:2:11: error: ";
    assert_eq!(
        refused(&[("rate", "500")]),
        [format!("{at}at a planned rate wasted time lowers no throughput, so no change can be planted")]
    );
    assert_eq!(
        refused(&[("clients", "1,8"), ("placement", "split")]),
        [format!("{at}with 8 clients and placement split the size of a change is not known")]
    );
    assert_eq!(
        refused(&[("suite", "tproc-c")]),
        [format!("{at}`control` belongs to suite sysbench and own, and this is suite tproc-c")]
    );
}
