//! The `postgres` driver as an oracle: the same SQL gives the same rows, counts and errors through both.

use postgres::{Client, Config, NoTls, SimpleQueryMessage};
use rqps_wire::{ParameterType, Session, Transport};

use super::shared;

fn oracle() -> Client {
    let endpoint = shared().unix("bench");
    let Transport::Unix { path } = &endpoint.transport else {
        unreachable!("asked for a Unix socket");
    };
    let mut config = Config::new();
    config.host_path(path.parent().unwrap()).port(shared().port().unwrap()).user("bench").dbname("sbtest");
    config.connect(NoTls).unwrap()
}

/// A result as both sides can tell it: rows, or the code and text of the error.
type Told = Result<Vec<Vec<Option<String>>>, (String, String)>;

fn told_by_us(session: &mut Session, sql: &str) -> Told {
    session.query(sql).map(|table| table.rows).map_err(|error| {
        let words = session.last_error().unwrap();
        assert_eq!(error.sql_state(), Some(words.code()));
        (words.code().to_string(), words.message().to_owned())
    })
}

fn told_by_oracle(client: &mut Client, sql: &str) -> Told {
    let messages = client.simple_query(sql).map_err(|error| {
        let words = error.as_db_error().unwrap();
        (words.code().code().to_owned(), words.message().to_owned())
    })?;
    let mut rows = Vec::new();
    for message in messages {
        if let SimpleQueryMessage::Row(row) = message {
            rows.push((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect());
        }
    }
    Ok(rows)
}

#[test]
fn rows_and_errors_agree() {
    let mut session = shared().session();
    let mut client = oracle();
    for sql in [
        "select 1, 2.50, null, true, 'x'::char(4), now() - now(), '{1,NULL,3}'::int[]",
        "select name, setting, unit, boot_val from pg_settings where name <> 'application_name' order by name",
        "select oid, relname, relkind, relacl from pg_class where oid < 16384 order by oid",
        "select repeat('ä', 100000)",
        "select g, nullif(g % 3, 0) from generate_series(1, 5000) g",
        "select e'\\x01 tab\\t newline\\n'",
        "values (null), ('')",
        "explain (costs off) select * from pg_class where oid = 1",
        "select 1/0",
        "select * from absent",
        "selec",
        "select 'a'::int",
        "do $$ begin raise exception 'own' using errcode = 'RQ001', detail = 'd', hint = 'h'; end $$",
        "select cast(repeat('9', 400) as float8)",
    ] {
        let expected = told_by_oracle(&mut client, sql);
        let told = told_by_us(&mut session, sql);
        // Not assert_eq, which would print whole results.
        assert!(told == expected, "we differ from the oracle: {sql}");
    }
}

#[test]
fn prepared_statements_agree() {
    let mut session = shared().session();
    let mut client = oracle();
    let sql = "select g, $3::text || g from generate_series($1::int4, $2::int8) g";
    let types = [ParameterType::Int4, ParameterType::Int8, ParameterType::Text { len: 2 }];
    let mut ours = session.prepare(sql, &types).unwrap();
    let theirs = client.prepare(sql).unwrap();
    for (low, high) in [(1_i32, 0_i64), (1, 1), (-3, 40), (1, 3000)] {
        ours.set_i32(0, low);
        ours.set_i64(1, high);
        ours.set_text(2, b"ab");
        let expected = client.query(&theirs, &[&low, &high, &"ab"]).unwrap().len();
        let reply = session.run(&ours).unwrap();
        assert_eq!((reply.rows, reply.affected), (expected as u64, expected as u64));
    }

    for sql in [
        "create table oracle_t (id int primary key)",
        "insert into oracle_t select generate_series(1, 30)",
        "update oracle_t set id = id + 100 where id > 10",
        "delete from oracle_t where id < 5",
        "truncate oracle_t",
        "drop table oracle_t",
    ] {
        let by_us = session.prepare(sql, &[]).map(|statement| session.run(&statement));
        let by_us = by_us.unwrap().unwrap().affected;
        // The oracle runs it on a table of its own.
        let by_oracle = client.execute(&sql.replace("oracle_t", "oracle_u"), &[]).unwrap();
        assert_eq!(by_us, by_oracle, "{sql}");
    }
}
