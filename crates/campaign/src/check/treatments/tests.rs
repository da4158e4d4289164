//! What is told about builds, profiles and storage engines that cannot be compared.

use super::has_same_parts;
use crate::check::tests::{TWO, check, told};
use expect_test::expect;

#[test]
fn too_few_treatments() {
    check(
        "rows = 5\n",
        expect![[r#"
        campaign: error: no build is named
            = expected two builds or more, or one build with two profiles
            = help: such as --build postgres:18.6 --build postgres:/opt/postgres; `rqps builds list` shows what there is"#]],
    );
    check(
        "build = \"postgres:17.11\"\n",
        expect![[r#"
            campaign.toml:1:9: error: there is only one treatment, so there is nothing to compare
            1 | build = "postgres:17.11"
              |         ^^^^^^^^^^^^^^^^ expected two builds or more, or one build with two profiles
              = help: or `aa`, to see the noise of this machine"#]],
    );
    assert_eq!(told("build = \"postgres:17.11\"\nprofile = [\"x10a\", \"x10a_sync\"]\n", &[]), "");
    assert_eq!(told("build = [\"postgres:17.11\", \"postgres:17.11\"]\n", &[]), "");
    assert_eq!(told("build = [{ from = \"postgres:17.11\", profile = [\"x10a\", \"x10b\"] }]\n", &[]), "");
}

#[test]
fn releases_that_the_catalog_does_not_have() {
    check(
        "build = [\"postgres:16.16\", \"postgres:19beta1\"]",
        expect![[r#"
            campaign.toml:1:10: error: the catalog has no PostgreSQL 16.16
            1 | build = ["postgres:16.16", "postgres:19beta1"]
              |          ^^^^^^^^^^^^^^^^
              = expected one of 12.22, 13.23, 14.20, 14.24, 15.15, 15.19, 16.11, 16.15, 17.7, 17.11, 18.1, 18.6, or a folder or archive such as postgres:/opt/postgres
              = help: did you mean `postgres:16.15`?
            campaign.toml:1:28: error: the catalog has no PostgreSQL 19beta1
            1 | build = ["postgres:16.16", "postgres:19beta1"]
              |                            ^^^^^^^^^^^^^^^^^^
              = expected one of 12.22, 13.23, 14.20, 14.24, 15.15, 15.19, 16.11, 16.15, 17.7, 17.11, 18.1, 18.6, or a folder or archive such as postgres:/opt/postgres
              = help: did you mean `postgres:18.6`?"#]],
    );
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
fn profiles_that_are_unknown_or_listed_twice() {
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
fn variants_in_another_order_are_recognised() {
    let told = told(&format!("{TWO}profile = \"x10a_sync_io\"\n"), &[]);
    assert!(told.contains("one of x10a, x10b, plain or with _io, _sync behind"), "{told}");
    let names = ["z12a_bl0_sync", "z12a_sync"];
    let right = names.iter().find(|name| has_same_parts(name, "z12a_sync_bl0"));
    assert_eq!(right, Some(&"z12a_bl0_sync"));
    assert!(!has_same_parts("z12a", "z12b"));
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
fn a_release_without_the_plugin_is_refused_where_that_is_known() {
    check(
        "build = [\"mariadb:10.2.11\", \"mariadb:11.4.5\", \"mariadb:10.11.18\"]\n\
         storage-engine = [\"innodb\", \"rocksdb\"]\nrowz = 5\n",
        expect![[r#"
            campaign.toml:1:10: error: build ma100211_rel has no rocksdb tables: it comes without their plugin
            1 | build = ["mariadb:10.2.11", "mariadb:11.4.5", "mariadb:10.11.18"]
              |          ^^^^^^^^^^^^^^^^^ expected a build that has them, such as mariadb:10.11.18
              = help: or leave `rocksdb` out of `storage-engine`; `rqps builds show BUILD` tells what a build has
            campaign.toml:3:1: error: unknown key `rowz`
            3 | rowz = 5
              | ^^^^
              = help: did you mean `rows`?"#]],
    );
    let one = "build = [\"mariadb:10.11.18\", { from = \"mariadb:10.2.11\", storage-engine = \"rocksdb\" }]\n";
    assert_eq!(told(one, &[]).matches("it comes without their plugin").count(), 1);
    let either = "build = [\"mariadb:10.2.11\", { from = \"mariadb:11.4.5\", storage-engine = \"rocksdb\" }]\n";
    assert_eq!(told(either, &[]), "", "of a release that is not installed, nobody knows");
}

#[test]
fn words_that_are_nearly_a_build() {
    let build = |word: &str| told(&format!("build = [\"{word}\", \"postgres:17.11\"]\n"), &[]);
    for (word, fault, remedy) in [
        ("postgres", "`postgres` names no version", "postgres:VERSION, postgres:/FOLDER"),
        ("MariaDB", "`MariaDB` names no version", "rqps builds list"),
        ("pg", "`pg` names no version", "postgres:VERSION"),
        ("pg1615_zonky", "`pg1615_zonky` names no engine", "did you mean `postgres:16.15`?"),
        ("pg1711,pg1615", "`pg1711,pg1615` names no engine", "repeat --build"),
        ("my_own", "`my_own` names no engine", "or a short form such as my8033"),
    ] {
        let told = build(word);
        assert!(told.contains(fault) && told.contains(remedy), "{told}");
    }
}
