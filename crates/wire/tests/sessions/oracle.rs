//! Each engine's own driver as an oracle: the same SQL gives the same rows, counts and errors through both.

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row, Value};
use postgres::{Client, Config, NoTls, SimpleQueryMessage};
use rqps_wire::{ParameterType, Session, Transport};

use crate::on_each;
use crate::server::Server;

const POSTGRES: &[&str] = &[
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
];

const MYSQL: &[&str] = &[
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
];

/// Prepared statements on a table, which each side has of its own.
const POSTGRES_CHANGES: &[&str] = &[
    "create table oracle_t (id int primary key)",
    "insert into oracle_t select generate_series(1, 30)",
    "update oracle_t set id = id + 100 where id > 10",
    "delete from oracle_t where id < 5",
    "insert into oracle_t values (5)",
    "truncate oracle_t",
    "drop table oracle_t",
];

const MYSQL_CHANGES: &[&str] = &[
    "create table oracle_t (id int primary key)",
    "insert into oracle_t values (1), (2), (3), (4), (5), (6), (7), (8), (9), (30)",
    "update oracle_t set id = id + 100 where id > 6 order by id desc",
    "update oracle_t set id = id",
    "delete from oracle_t where id < 4",
    "replace into oracle_t values (5), (6), (77)",
    "insert into oracle_t values (5)",
    "truncate oracle_t",
    "drop table oracle_t",
];

/// The driver of a server's engine.
enum Oracle {
    Postgres(Box<Client>),
    Mysql(Conn),
}

/// The code and the text of an error.
type Refusal = (String, String);

type Rows = Vec<Vec<Option<String>>>;

fn postgres_refusal(error: &postgres::Error) -> Refusal {
    let error = error.as_db_error().unwrap();
    (error.code().code().to_owned(), error.message().to_owned())
}

fn mysql_refusal(error: &mysql::Error) -> Refusal {
    let mysql::Error::MySqlError(error) = error else { panic!("the oracle fails: {error}") };
    (format!("{} ({})", error.code, error.state), error.message.clone())
}

impl Oracle {
    fn of(server: &Server) -> Oracle {
        let Transport::Unix { path } = server.unix("bench").transport else {
            unreachable!("asked for a Unix socket");
        };
        if server.is_postgres() {
            let mut config = Config::new();
            config.host_path(path.parent().unwrap()).port(server.port().unwrap()).user("bench").dbname("sbtest");
            return Oracle::Postgres(Box::new(config.connect(NoTls).unwrap()));
        }
        let options = OptsBuilder::new().socket(Some(path.display().to_string())).prefer_socket(false);
        let mut conn = Conn::new(options.user(Some("bench")).db_name(Some("sbtest"))).unwrap();
        conn.query_drop("set names latin1").unwrap();
        Oracle::Mysql(conn)
    }

    fn query(&mut self, sql: &str) -> Result<Rows, Refusal> {
        match self {
            Oracle::Postgres(client) => {
                let messages = client.simple_query(sql).map_err(|error| postgres_refusal(&error))?;
                let rows = messages.into_iter().filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => {
                        Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
                    }
                    _ => None,
                });
                Ok(rows.collect())
            }
            Oracle::Mysql(conn) => {
                let text = |value: Value| match value {
                    Value::NULL => None,
                    Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                    other => panic!("a text result holds {other:?}"),
                };
                let rows: Vec<Row> = conn.query(sql).map_err(|error| mysql_refusal(&error))?;
                Ok(rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect())
            }
        }
    }

    /// How many rows a prepared statement returns.
    fn rows(&mut self, sql: &str, text: &str, low: i32, high: i64) -> usize {
        match self {
            Oracle::Postgres(client) => client.query(sql, &[&text, &low, &high]).unwrap().len(),
            Oracle::Mysql(conn) => conn.exec::<Row, _, _>(sql, (text, low, high)).unwrap().len(),
        }
    }

    /// How many rows a statement changes, or the code of its error.
    fn affected(&mut self, sql: &str) -> Result<u64, String> {
        match self {
            Oracle::Postgres(client) => client.execute(sql, &[]).map_err(|error| postgres_refusal(&error).0),
            Oracle::Mysql(conn) => {
                conn.exec_drop(sql, ()).map_err(|error| mysql_refusal(&error).0)?;
                Ok(conn.affected_rows())
            }
        }
    }
}

fn our_query(session: &mut Session, sql: &str) -> Result<Rows, Refusal> {
    session.query(sql).map(|table| table.rows).map_err(|error| {
        let last = session.last_error().unwrap();
        assert_eq!(error.code(), Some(last.error_code()));
        (last.error_code().to_string(), last.message().to_owned())
    })
}

#[test]
fn rows_and_errors_agree() {
    on_each(|server| {
        let mut session = server.session();
        let mut oracle = Oracle::of(server);
        for sql in server.either(POSTGRES, MYSQL) {
            // Not assert_eq, which would print whole results.
            assert!(our_query(&mut session, sql) == oracle.query(sql), "we differ from the oracle: {sql}");
        }
    });
}

#[test]
fn prepared_statements_agree() {
    on_each(|server| {
        let mut session = server.session();
        let mut oracle = Oracle::of(server);
        let sql = server.either(
            "select g, $1::text || g from generate_series($2::int4, $3::int8) g",
            "select character_set_name, ? from information_schema.collations where id between ? and ?",
        );
        let types = [ParameterType::Text { len: 2 }, ParameterType::Int4, ParameterType::Int8];
        let mut ours = session.prepare(sql, &types).unwrap();
        for (low, high) in [(1_i32, 0_i64), (1, 1), (-3, 40), (1, 3000)] {
            ours.set_text(0, b"ab");
            ours.set_i32(1, low);
            ours.set_i64(2, high);
            let expected = oracle.rows(sql, "ab", low, high) as u64;
            let reply = session.run(&ours).unwrap();
            assert_eq!((reply.rows, reply.affected), (expected, expected));
        }
        for sql in server.either(POSTGRES_CHANGES, MYSQL_CHANGES) {
            let statement = session.prepare(sql, &[]).unwrap();
            let reply = session.run(&statement).unwrap();
            let ours = reply.error.map_or(Ok(reply.affected), |code| Err(code.to_string()));
            assert_eq!(ours, oracle.affected(&sql.replace("oracle_t", "oracle_u")), "{sql}");
        }
    });
}
