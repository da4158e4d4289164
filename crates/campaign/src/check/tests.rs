//! Every fault that checking can tell, as it is shown.

use crate::sample::vocabulary;
use crate::{Command, Flag, Source, read};
use expect_test::{Expect, expect};

pub(super) fn told(text: &str, flags: &[(&str, &str)]) -> String {
    let source = Source { name: "campaign.toml".to_owned(), text: text.to_owned() };
    let flags: Vec<Flag> = flags.iter().map(|(name, value)| Flag::new(*name, *value)).collect();
    let reading = read(Some(&source), &flags, Command::Run, &vocabulary());
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
              = expected one of 12.22, 13.23, 14.20, 14.24, 15.15, 15.19, 16.11, 16.15, 17.7, 17.11, 18.1, 18.6, or a folder or archive such as postgres:/opt/pg
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
              |         ^^^^^^^^^^ expected sysbench or insert
              = help: did you mean `sysbench`?
            campaign.toml:9:8: error: `rows` cannot be text
            9 | rows = "100000"
              |        ^^^^^^^^ expected a whole number from 1 to 2000000000
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
fn unknown_names() {
    check(
        "build = [\"postgres:16.16\", \"postgres:19beta1\"]",
        expect![[r#"
            campaign.toml:1:10: error: the catalog has no PostgreSQL 16.16
            1 | build = ["postgres:16.16", "postgres:19beta1"]
              |          ^^^^^^^^^^^^^^^^
              = expected one of 12.22, 13.23, 14.20, 14.24, 15.15, 15.19, 16.11, 16.15, 17.7, 17.11, 18.1, 18.6, or a folder or archive such as postgres:/opt/pg
              = help: did you mean `postgres:16.15`?
            campaign.toml:1:28: error: the catalog has no PostgreSQL 19beta1
            1 | build = ["postgres:16.16", "postgres:19beta1"]
              |                            ^^^^^^^^^^^^^^^^^^
              = expected one of 12.22, 13.23, 14.20, 14.24, 15.15, 15.19, 16.11, 16.15, 17.7, 17.11, 18.1, 18.6, or a folder or archive such as postgres:/opt/pg
              = help: did you mean `postgres:18.6`?"#]],
    );
    check(
        &format!("{TWO}profile = \"x10\"\n"),
        expect![[r#"
            campaign.toml:2:11: error: unknown profile `x10`
            2 | profile = "x10"
              |           ^^^^^ expected one of x10a, x10b, plain or with _io, _sync behind
              = help: did you mean `x10a`?"#]],
    );
    check(
        &format!("{TWO}profile = [\"x10a\", \"x10a\"]\n"),
        expect![[r#"
        campaign.toml:2:20: error: profile `x10a` is listed twice
        2 | profile = ["x10a", "x10a"]
          |                    ^^^^^^"#]],
    );
    check(
        &format!("{TWO}suite = \"tpcc\"\n"),
        expect![[r#"
            campaign.toml:2:9: error: unknown suite `tpcc`
            2 | suite = "tpcc"
              |         ^^^^^^ expected sysbench or insert"#]],
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
          |                             ^^^^^ expected a test, a pattern with * or ?, or one of 27, 32, 42, all"#]],
    );
}

#[test]
fn too_few_treatments() {
    check(
        "rows = 5\n",
        expect![[r#"
        campaign: error: no build is named
            = expected two builds or more, or one build with two profiles
            = help: such as --build postgres:18.6 --build postgres:/opt/pg; `rqps builds list` shows what there is"#]],
    );
    check(
        "build = \"postgres:17.11\"\n",
        expect![[r#"
        campaign.toml:1:9: error: there is only one treatment, so there is nothing to compare
        1 | build = "postgres:17.11"
          |         ^^^^^^^^^^^^^^^^ expected two builds or more, or one build with two profiles
          = help: name the same build twice to see the noise of this machine"#]],
    );
    assert_eq!(told("build = \"postgres:17.11\"\nprofile = [\"x10a\", \"x10a_sync\"]\n", &[]), "");
    assert_eq!(told("build = [\"postgres:17.11\", \"postgres:17.11\"]\n", &[]), "");
    assert_eq!(told("build = [{ from = \"postgres:17.11\", profile = [\"x10a\", \"x10b\"] }]\n", &[]), "");
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
          = help: take 3 rounds or more; 6 is the usual number"#]],
    );
    // A flag that contradicts the file's slice replaces what the file meant.
    expect![[r#"
        campaign.toml:2:9: note: `slice` says nothing here, since interleave is turns
        2 | slice = 10
          |         ^^
          = help: leave it out, or take slices"#]]
    .assert_eq(&told(&format!("{TWO}slice = 10\n"), &[("interleave", "turns")]));
}

#[test]
fn settings_that_no_release_has() {
    check(
        "build = [{ from = \"postgres:16.15\", set = { jti = \"on\" } }, \"postgres:17.11\"]\n\
         [set]\nWork_Mem = \"4MB\"\nshared_bufers = \"1GB\"\npg_stat_statements.max = 100\n",
        expect![[r#"
            campaign.toml:1:45: error: no release of PostgreSQL has a setting `jti`
            1 | build = [{ from = "postgres:16.15", set = { jti = "on" } }, "postgres:17.11"]
              |                                             ^^^
              = help: did you mean `jit`?
            campaign.toml:4:1: error: no release of PostgreSQL has a setting `shared_bufers`
            4 | shared_bufers = "1GB"
              | ^^^^^^^^^^^^^
              = help: did you mean `shared_buffers`?"#]],
    );
    expect![[r#"
        --set work_mme=4MB: error: no release of PostgreSQL has a setting `work_mme`
            = help: did you mean `work_mem`?"#]]
    .assert_eq(&told(TWO, &[("set", "work_mme=4MB")]));
    let folders = "build = [\"postgres:/opt/19\", \"new=postgres:/opt/20\"]\n[set]\nof_tomorrow = 1\n";
    assert_eq!(told(folders, &[]), "", "a folder may hold a version that is newer than what is known");
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
          |        ^ expected a whole number from 1 to 2000000000
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
fn a_build_that_cannot_be_read_hides_no_other_fault() {
    check(
        r#"
build = ["postgre:17.11", "mysql:8.0.34", { from = "mariadb:11.4.5", profile = "x10a" }, "8.0.33", "my80334",
         "mysql:mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz", "10.11.5", "/opt/mysql", "mysql:http://x/y.zip#sha256=1"]
profile = ["z12"]
"#,
        expect![[r#"
            campaign.toml:2:10: error: unknown engine `postgre`
            2 | build = ["postgre:17.11", "mysql:8.0.34", { from = "mariadb:11.4.5", profile = "x10a" }, "8.0.33", "…
              |          ^^^^^^^^^^^^^^^ expected one of postgres, mysql, mariadb
              = help: did you mean `postgres`?
            campaign.toml:2:27: error: the catalog has no MySQL 8.0.34
            2 | build = ["postgre:17.11", "mysql:8.0.34", { from = "mariadb:11.4.5", profile = "x10a" }, "8.0.33", "…
              |                           ^^^^^^^^^^^^^^
              = expected one of 5.6.14, 5.7.22, 8.0.15, 8.0.33, or a folder or archive such as mysql:/opt/mysql
              = help: did you mean `mysql:8.0.33`?
            campaign.toml:2:80: error: profile `x10a` is one of PostgreSQL, and what is compared here is MariaDB
            2 | …"postgre:17.11", "mysql:8.0.34", { from = "mariadb:11.4.5", profile = "x10a" }, "8.0.33", "my80334",…
              |                                                                        ^^^^^^
              = expected one of z12a, z12b, plain or with _io, _sync behind
            campaign.toml:2:90: error: `8.0.33` names no engine
            2 | …"postgre:17.11", "mysql:8.0.34", { from = "mariadb:11.4.5", profile = "x10a" }, "8.0.33", "my80334",…
              |                                                                                  ^^^^^^^^
              = expected ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE, or a short form such as my8033
              = help: did you mean `mysql:8.0.33`?
            campaign.toml:2:100: error: `my80334` names no engine
            2 | …"postgre:17.11", "mysql:8.0.34", { from = "mariadb:11.4.5", profile = "x10a" }, "8.0.33", "my80334",…
              |                                                                                            ^^^^^^^^^
              = expected ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE, or a short form such as my8033
            campaign.toml:3:10: error: `mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz` is not a version
            3 |          "mysql:mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz", "10.11.5", "/opt/mysql", "mysql:http://x…
              |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              = help: an archive in this folder is written with a slash: `mysql:./mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz`
            campaign.toml:3:61: error: `10.11.5` names no engine
            3 | …ysql:mysql-9.4.0-linux-glibc2.28-x86_64.tar.xz", "10.11.5", "/opt/mysql", "mysql:http://x/y.zip#sha2…
              |                                                   ^^^^^^^^^
              = expected ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE, or a short form such as my8033
              = help: did you mean `mariadb:10.11.5`?
            campaign.toml:3:72: error: `/opt/mysql` names no engine
            3 | …ysql-9.4.0-linux-glibc2.28-x86_64.tar.xz", "10.11.5", "/opt/mysql", "mysql:http://x/y.zip#sha256=1"]…
              |                                                        ^^^^^^^^^^^^
              = expected ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE, or a short form such as my8033
              = help: did you mean `mysql:/opt/mysql`?
            campaign.toml:3:86: error: `1` is not a SHA-256
            3 | …ysql-9.4.0-linux-glibc2.28-x86_64.tar.xz", "10.11.5", "/opt/mysql", "mysql:http://x/y.zip#sha256=1"]…
              |                                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              = expected 64 hexadecimal digits
            campaign.toml:4:12: error: unknown profile `z12`
            4 | profile = ["z12"]
              |            ^^^^^
              = expected one of x10a, x10b for PostgreSQL, plain or with _io, _sync behind; z12a, z13a for MySQL, plain or with _io, _sync behind; z12a, z12b for MariaDB, plain or with _io, _sync behind
              = help: did you mean `z12a`?"#]],
    );
}

#[test]
fn one_list_of_profiles_serves_all_engines() {
    check(
        "build = [\"postgres:17.11\", \"mysql:8.0.33\", \"my5722\"]\nprofile = \"x10a\"\n",
        expect![[r#"
            campaign.toml:1:28: error: no profile is listed for MySQL
            1 | build = ["postgres:17.11", "mysql:8.0.33", "my5722"]
              |                            ^^^^^^^^^^^^^^
              = expected one of z12a, z13a, plain or with _io, _sync behind as well
              = help: such as profile x10a,z12a"#]],
    );
    check(
        "build = [\"mysql:5.6.14\", \"mysql:8.0.33\"]\nprofile = [\"x10a\", \"z12a\"]\n",
        expect![[r#"
            campaign.toml:2:12: error: profile `x10a` is one of PostgreSQL, and what is compared here is MySQL
            2 | profile = ["x10a", "z12a"]
              |            ^^^^^^ expected one of z12a, z13a, plain or with _io, _sync behind"#]],
    );
    check(
        "build = [\"mysql:5.6.14\", \"mariadb:11.4.5\"]\nprofile = [\"z12c\"]\n",
        expect![[r#"
            campaign.toml:2:12: error: unknown profile `z12c`
            2 | profile = ["z12c"]
              |            ^^^^^^
              = expected one of z12a, z13a for MySQL, plain or with _io, _sync behind; z12a, z12b for MariaDB, plain or with _io, _sync behind
              = help: did you mean `z12a`?"#]],
    );
    for text in [
        "build = [\"postgres:17.11\", \"mysql:8.0.33\"]\n",
        "build = [\"postgres:17.11\", \"mysql:8.0.33\"]\nprofile = [\"x10a_sync\", \"z12a_sync\"]\n",
        "build = [\"postgres:17.11\", { from = \"mysql:8.0.33\", profile = \"z13a\" }]\nprofile = \"x10b\"\n",
        "build = [\"mysql:8.0.33\", \"mariadb:11.4.5\"]\nprofile = [\"z12a\", \"z12b\"]\n",
    ] {
        assert_eq!(told(text, &[]), "");
    }
}

#[test]
fn storage_engines_that_cannot_be() {
    check(
        "build = [\"mysql:8.0.33\", \"mariadb:11.4.5\"]\nstorage-engine = [\"innodb\", \"rocksdb\"]\n",
        expect![[r#"
            campaign.toml:2:29: error: MySQL has no rocksdb tables
            2 | storage-engine = ["innodb", "rocksdb"]
              |                             ^^^^^^^^^ expected innodb for MySQL
              = help: MariaDB has them; say it build by build, in a campaign file: build = ["mysql:8.0.33", { from = "mariadb:11.4.5", storage-engine = ["rocksdb"] }]"#]],
    );
    check(
        &format!("{TWO}storage-engine = \"innodb\"\n"),
        expect![[r#"
        campaign.toml:2:18: error: PostgreSQL leaves no choice of storage engine
        2 | storage-engine = "innodb"
          |                  ^^^^^^^^
          = help: leave `storage-engine` out; it is for builds of MySQL and MariaDB"#]],
    );
    check(
        "build = [{ from = \"postgres:17.11\", storage-engine = \"innodb\" }, \"mariadb:11.4.5\"]\n\
         storage-engine = [\"myisam\", \"innodb\", \"rocksbd\"]\n",
        expect![[r#"
            campaign.toml:1:54: error: PostgreSQL leaves no choice of storage engine
            1 | build = [{ from = "postgres:17.11", storage-engine = "innodb" }, "mariadb:11.4.5"]
              |                                                      ^^^^^^^^
              = help: leave `storage-engine` out; it is for builds of MySQL and MariaDB
            campaign.toml:2:19: error: `storage-engine` cannot be `myisam`
            2 | storage-engine = ["myisam", "innodb", "rocksbd"]
              |                   ^^^^^^^^ expected innodb or rocksdb
            campaign.toml:2:39: error: `storage-engine` cannot be `rocksbd`
            2 | storage-engine = ["myisam", "innodb", "rocksbd"]
              |                                       ^^^^^^^^^ expected innodb or rocksdb
              = help: did you mean `rocksdb`?"#]],
    );
    let twice = [("storage-engine", "rocksdb,rocksdb")];
    expect!["--storage-engine rocksdb: error: storage engine `rocksdb` is listed twice"]
        .assert_eq(&told("build = \"mariadb:11.4.5\"\n", &twice));
    for text in [
        "build = [\"postgres:17.11\", \"mariadb:11.4.5\"]\nstorage-engine = \"rocksdb\"\n",
        "build = \"mariadb:11.4.5\"\nstorage-engine = [\"innodb\", \"rocksdb\"]\n",
        "build = [\"mysql:8.0.33\", { from = \"mariadb:11.4.5\", storage-engine = \"rocksdb\" }]\n",
    ] {
        assert_eq!(told(text, &[]), "");
    }
}

#[test]
fn settings_of_several_engines() {
    check(
        "build = [\"mysql:8.0.33\", { from = \"mariadb:11.4.5\", set = { jit = \"on\", sync-binlgo = 1 } }]\n\
         [set]\nwork_mem = \"4MB\"\nsync_binlogg = 1\nmax_connections = 100\n",
        expect![[r#"
            campaign.toml:1:61: error: no release of MariaDB has a setting `jit`
            1 | build = ["mysql:8.0.33", { from = "mariadb:11.4.5", set = { jit = "on", sync-binlgo = 1 } }]
              |                                                             ^^^
              = help: it is a setting of PostgreSQL
            campaign.toml:1:73: error: no release of MariaDB has a setting `sync_binlgo`
            1 | build = ["mysql:8.0.33", { from = "mariadb:11.4.5", set = { jit = "on", sync-binlgo = 1 } }]
              |                                                                         ^^^^^^^^^^^
              = help: did you mean `sync_binlog`?
            campaign.toml:3:1: error: no release of MySQL or MariaDB has a setting `work_mem`
            3 | work_mem = "4MB"
              | ^^^^^^^^
              = help: it is a setting of PostgreSQL
            campaign.toml:4:1: error: no release of MySQL or MariaDB has a setting `sync_binlogg`
            4 | sync_binlogg = 1
              | ^^^^^^^^^^^^
              = help: did you mean `sync_binlog`?"#]],
    );
    let folders = "build = [\"postgres:/opt/19\", \"mysql:/opt/my.tar.xz\"]\n[set]\nof_tomorrow = 1\n";
    check(
        folders,
        expect![[r#"
        campaign.toml:3:1: error: no release of PostgreSQL or MySQL has a setting `of_tomorrow`
        3 | of_tomorrow = 1
          | ^^^^^^^^^^^"#]],
    );
}

#[test]
fn settings_that_are_not_the_users() {
    check(
        "build = [{ from = \"mysql:/opt/my\", set = { Loose-DataDir = \"/x\", log_bin = \"../x\" } }, \"postgres:17.11\"]\n\
         [set]\nport = 5432\nlog_bin = \"binlog\"\nlisten_addresses = \"*\"\n",
        expect![[r#"
            campaign.toml:1:44: error: `loose_datadir` is not yours to set: rqps chooses it to keep servers apart and private
            1 | build = [{ from = "mysql:/opt/my", set = { Loose-DataDir = "/x", log_bin = "../x" } }, "postgres:17.…
              |                                            ^^^^^^^^^^^^^
              = help: leave it out
            campaign.toml:1:66: error: `log_bin` leads away: rqps keeps all files of a server in the server's own folder
            1 | …d = [{ from = "mysql:/opt/my", set = { Loose-DataDir = "/x", log_bin = "../x" } }, "postgres:17.11"]…
              |                                                               ^^^^^^^ expected a name without a path
            campaign.toml:3:1: error: `port` is not yours to set: rqps chooses it to keep servers apart and private
            3 | port = 5432
              | ^^^^
              = help: leave it out
            campaign.toml:5:1: error: `listen_addresses` is not yours to set: rqps chooses it to keep servers apart and private
            5 | listen_addresses = "*"
              | ^^^^^^^^^^^^^^^^
              = help: leave it out"#]],
    );
    expect![[r#"
        --set port=1: error: `port` is not yours to set: rqps chooses it to keep servers apart and private
            = help: leave it out
        --set datadir=/x: error: no release of PostgreSQL has a setting `datadir`"#]]
    .assert_eq(&told(TWO, &[("set", "port=1"), ("set", "datadir=/x")]));
}

#[test]
fn variants_in_another_order_are_recognised() {
    let told = told(&format!("{TWO}profile = \"x10a_sync_io\"\n"), &[]);
    assert!(told.contains("one of x10a, x10b, plain or with _io, _sync behind"), "{told}");
    let names = ["z12a_bl0_sync", "z12a_sync"];
    let right = names.iter().find(|name| super::treatments::has_same_parts(name, "z12a_sync_bl0"));
    assert_eq!(right, Some(&"z12a_bl0_sync"));
    assert!(!super::treatments::has_same_parts("z12a", "z12b"));
}
