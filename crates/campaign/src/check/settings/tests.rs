//! What is told about settings: misspelt, of another engine, or not the user's to choose.

use crate::check::tests::{TWO, check, told};
use expect_test::expect;

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
