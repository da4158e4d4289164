//! The `mysql` driver as an oracle: the same SQL gives the same rows, counts and errors through both.

use mysql::prelude::Queryable;
use mysql::{Conn, Error, OptsBuilder, Row, Value};
use rqps_wire::{ParameterType, Session, Transport};

use super::shared;
use crate::server::Server;

fn oracle(server: &Server) -> Conn {
    let Transport::Unix { path } = server.unix("bench").transport else {
        unreachable!("asked for a Unix socket");
    };
    let options = OptsBuilder::new()
        .socket(Some(path.display().to_string()))
        .prefer_socket(false)
        .user(Some("bench"))
        .db_name(Some("sbtest"));
    Conn::new(options).unwrap()
}

/// A result as both sides can tell it: rows, or the number, state and text of the error.
type Told = Result<Vec<Vec<Option<String>>>, (u16, String, String)>;

fn told_by_us(session: &mut Session, sql: &str) -> Told {
    session.query(sql).map(|table| table.rows).map_err(|error| {
        let words = session.last_error().unwrap();
        let code = error.code().unwrap();
        assert_eq!(code, words.error_code());
        (code.number, code.state.to_string(), words.message().to_owned())
    })
}

fn in_words(error: &Error) -> (u16, String, String) {
    let Error::MySqlError(error) = error else { panic!("the oracle fails: {error}") };
    (error.code, error.state.clone(), error.message.clone())
}

fn told_by_oracle(conn: &mut Conn, sql: &str) -> Told {
    let rows: Vec<Row> = conn.query(sql).map_err(|error| in_words(&error))?;
    let text = |value: Value| match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => panic!("a text result holds {other:?}"),
    };
    Ok(rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect())
}

#[test]
fn rows_and_errors_agree() {
    for server in shared() {
        let mut session = server.session();
        let mut conn = oracle(server);
        conn.query_drop("set names latin1").unwrap();
        for sql in [
            "select 1, 2.50, null, true, cast('x' as char(4)), date '2020-01-02', 1e100",
            "select * from information_schema.character_sets order by 1",
            "select table_schema, table_name, engine from information_schema.tables where table_schema = 'mysql' order by 2",
            "select repeat('ä', 100000)",
            "select concat('tab\\t newline\\n nul', char(0), 'x')",
            "select x'00ff80e4'",
            "show variables like 'innodb_%'",
            "select '' union all select null",
            "explain select * from mysql.user",
            "do 1",
            "select 1/0",
            "select * from absent",
            "selec",
            "select 18446744073709551615 + 1",
            "signal sqlstate 'RQ001' set message_text = 'own', mysql_errno = 30001",
            "use absent",
        ] {
            let expected = told_by_oracle(&mut conn, sql);
            let told = told_by_us(&mut session, sql);
            // Not assert_eq, which would print whole results.
            assert!(told == expected, "we differ from the oracle: {sql}");
        }
    }
}

#[test]
fn prepared_statements_agree() {
    for server in shared() {
        let mut session = server.session();
        let mut conn = oracle(server);
        let sql = "select character_set_name, ? from information_schema.collations where id between ? and ?";
        let types = [ParameterType::Text { len: 2 }, ParameterType::Int4, ParameterType::Int8];
        let mut ours = session.prepare(sql, &types).unwrap();
        let theirs = conn.prep(sql).unwrap();
        for (low, high) in [(1_i32, 0_i64), (1, 1), (-3, 40), (1, 3000)] {
            ours.set_text(0, b"ab");
            ours.set_i32(1, low);
            ours.set_i64(2, high);
            let expected: Vec<Row> = conn.exec(&theirs, ("ab", low, high)).unwrap();
            let reply = session.run(&ours).unwrap();
            assert_eq!((reply.rows, reply.affected), (expected.len() as u64, expected.len() as u64));
        }

        for sql in [
            "create table oracle_t (id int primary key)",
            "insert into oracle_t values (1), (2), (3), (4), (5), (6), (7), (8), (9), (30)",
            "update oracle_t set id = id + 100 where id > 6 order by id desc",
            "update oracle_t set id = id",
            "delete from oracle_t where id < 4",
            "replace into oracle_t values (5), (6), (77)",
            "insert into oracle_t values (5)",
            "truncate oracle_t",
            "drop table oracle_t",
        ] {
            let reply = session.prepare(sql, &[]).map(|statement| session.run(&statement)).unwrap().unwrap();
            // The oracle runs it on a table of its own.
            let by_oracle = conn.exec_drop(sql.replace("oracle_t", "oracle_u"), ());
            match by_oracle {
                Ok(()) => assert_eq!((reply.affected, reply.error), (conn.affected_rows(), None), "{sql}"),
                Err(error) => assert_eq!(reply.error.unwrap().number, in_words(&error).0, "{sql}"),
            }
        }
    }
}
