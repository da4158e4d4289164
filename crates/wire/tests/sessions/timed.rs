//! The timed path: prepared and text statements, transactions, errors, results of all sizes, many sessions.

use std::time::{Duration, Instant};

use rqps_model::Engine;
use rqps_model::sample::FailureClass;
use rqps_testkit::PATIENCE;
use rqps_wire::{ParameterType, Poller, Reply, Session, TransactionStatus, wait_readable};

use crate::on_each;

#[test]
fn parameters_are_patched_in_place() {
    on_each(|server| {
        let mut session = server.session();
        session.execute("create temporary table t (id int primary key, big bigint, c char(12), v text)").unwrap();
        let types =
            [ParameterType::Int4, ParameterType::Int8, ParameterType::Text { len: 12 }, ParameterType::Text { len: 3 }];
        let sql = server.marked("insert into t values (?, ?, ?, ?)");
        let mut insert = session.prepare(&sql, &types).unwrap();
        for (id, text) in [(-5, "a'x"), (0, "äx"), (7, "a\\x")] {
            insert.set_i32(0, id);
            insert.set_i64(1, i64::from(id) << 33);
            insert.set_text(2, format!("{id:012}").as_bytes());
            insert.set_text(3, text.as_bytes());
            let reply = session.run(&insert).unwrap();
            assert_eq!((reply.affected, reply.rows, reply.error), (1, 0, None));
        }
        assert_eq!(insert.sql(), sql);
        let rows = session.query("select * from t order by id").unwrap().rows;
        let rows: Vec<_> =
            rows.iter().map(|row| row.iter().flatten().map(String::as_str).collect::<Vec<_>>()).collect();
        assert_eq!(rows[0], ["-5", "-42949672960", "-00000000005", "a'x"]);
        assert_eq!(rows[1], ["0", "0", "000000000000", "äx"]);
        assert_eq!(rows[2], ["7", "60129542144", "000000000007", "a\\x"]);

        // The index is usable: the parameter takes the column's type.
        let sql = server.marked("select id from t where c = ?");
        let mut by_text = session.prepare(&sql, &[ParameterType::Text { len: 12 }]).unwrap();
        assert_eq!(session.run(&by_text).unwrap().rows, 0);
        by_text.set_text(0, b"-00000000005");
        assert_eq!(session.run(&by_text).unwrap().rows, 1);
        assert_eq!(by_text.sql(), sql);

        // A first execution that fails leaves the types with the server.
        let sql = server.marked("insert into t (id) values (?)");
        let mut again = session.prepare(&sql, &[ParameterType::Int4]).unwrap();
        let codes = [-5, 7, 8].map(|id| {
            again.set_i32(0, id);
            session.run(&again).unwrap().error.map(|code| code.to_string())
        });
        let taken = Some(server.either("23505", "1062 (23000)"));
        assert_eq!(codes.each_ref().map(Option::as_deref), [taken, taken, None]);
    });
}

#[test]
fn rows_bytes_and_transactions_are_told() {
    on_each(|server| {
        let mut session = server.session();
        session.execute("create temporary table t (id int primary key)").unwrap();
        session.execute("create temporary table series (id int, note varchar(20))").unwrap();
        let values = (1..=100).map(|id| format!("({id}, 'text {id}')")).collect::<Vec<_>>().join(",");
        session.execute(&format!("insert into series values {values}")).unwrap();
        // Not every server can prepare this; it works all the same.
        let begin = session.prepare("begin", &[]).unwrap();
        let commit = session.prepare("commit", &[]).unwrap();
        let series = session.prepare("select * from series", &[]).unwrap();
        let fail = session.prepare("insert into t values (1), (1)", &[]).unwrap();

        let status = |reply: Reply| reply.in_transaction;
        assert_eq!(status(session.run(&begin).unwrap()), TransactionStatus::InTransaction);
        let reply = session.run(&series).unwrap();
        assert_eq!((reply.rows, reply.affected), (100, 100));
        // With two columns a row of PostgreSQL has 15 bytes beside its values, of MySQL 11.
        assert!(reply.bytes > 1500 && reply.bytes < 3000, "{reply:?}");
        assert_eq!(status(reply), TransactionStatus::InTransaction);
        let reply = session.run(&fail).unwrap();
        assert_eq!(reply.error.unwrap().to_string(), server.either("23505", "1062 (23000)"));
        let message = session.last_error().unwrap().message();
        assert!(message.starts_with(server.either("duplicate key", "Duplicate entry")), "{message}");
        // MySQL tells nothing with an error; the transaction goes on.
        let failed = server.either(TransactionStatus::Failed, TransactionStatus::InTransaction);
        assert_eq!(status(reply), failed);
        let refused = session.run(&series).unwrap().error.map(|code| code.to_string());
        assert_eq!(refused.as_deref(), server.either(Some("25P02"), None));
        assert_eq!(status(session.run(&commit).unwrap()), TransactionStatus::Idle);
        assert_eq!(status(session.run(&fail).unwrap()), TransactionStatus::Idle);
        assert_eq!(session.run(&series).unwrap().error, None);
    });
}

#[test]
fn text_statements_are_rewritten() {
    on_each(|server| {
        let mut session = server.session();
        session.execute("create temporary table w (id int)").unwrap();
        let mut statement = session.text_statement(64);
        for count in [1, 3, 500] {
            let values = vec!["(1)"; count].join(",");
            statement.set_sql(format!("insert into w values {values}").as_bytes());
            assert_eq!(session.run(&statement).unwrap().affected, count as u64);
        }
        statement.set_sql(b"select * from w");
        assert_eq!(session.run(&statement).unwrap().rows, 504);
        statement.set_sql(b"select 1; select 2; delete from w");
        let reply = session.run(&statement).unwrap();
        assert_eq!((reply.rows, reply.affected), (2, 2 + 504));
        statement.set_sql(b"select 1; select 2 from absent; select 3");
        let reply = session.run(&statement).unwrap();
        let absent = server.either("42P01", "1146 (42S02)");
        assert_eq!((reply.rows, reply.error.unwrap().to_string().as_str()), (1, absent));
    });
}

/// On MySQL a row of 20 MB takes two packets; so does a statement.
#[test]
fn large_statements_and_large_rows_pass() {
    on_each(|server| {
        for endpoint in server.ways() {
            let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
            let mut statement = session.text_statement(0);
            for bytes in [5_000_000, (1 << 24) - 20, (1 << 24) + 5, 20_000_000] {
                let sql = format!("select length('{}')", "x".repeat(bytes));
                statement.set_sql(sql.as_bytes());
                assert_eq!((session.run(&statement).unwrap().rows, statement.sql().len()), (1, sql.len()));
                assert_eq!(session.query(&sql).unwrap().single(), Some(bytes.to_string().as_str()));
                statement.set_sql(format!("select repeat('x', {bytes}), 2 union all select '1', 3").as_bytes());
                let reply = session.run(&statement).unwrap();
                assert_eq!((reply.rows, reply.error), (2, None));
                assert!(reply.bytes > bytes as u64);
                let long = session.prepare(&format!("select repeat('x', {bytes}), 2"), &[]).unwrap();
                assert_eq!(session.run(&long).unwrap().rows, 1);
                let table = session.query(&format!("select repeat('y', {bytes})")).unwrap();
                assert_eq!(table.single().map(str::len), Some(bytes));
            }
            // The row is exactly a packet long, which takes an empty one to end.
            let exact = (1 << 24) - 1 - 4;
            statement.set_sql(format!("select repeat('x', {exact})").as_bytes());
            assert_eq!(session.run(&statement).unwrap().rows, 1);
            assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
        }
    });
}

#[test]
fn many_sessions_on_one_thread() {
    on_each(|server| {
        let sql = server.marked("select ?");
        let mut poller = Poller::new().unwrap();
        let mut sessions: Vec<Session> = (0..20).map(|_| server.session()).collect();
        let mut statements: Vec<_> =
            sessions.iter_mut().map(|session| session.prepare(&sql, &[ParameterType::Int4]).unwrap()).collect();
        for (token, session) in sessions.iter_mut().enumerate() {
            poller.add(&*session, token as u64).unwrap();
            session.submit(&statements[token]).unwrap();
        }
        let mut rounds = vec![0; sessions.len()];
        let mut ready = Vec::new();
        while rounds.iter().any(|&done| done < 50) {
            ready.clear();
            ready.extend(poller.wait(Some(PATIENCE)).unwrap());
            assert!(!ready.is_empty(), "no session got a reply: {rounds:?}");
            for &token in &ready {
                let index = usize::try_from(token).unwrap();
                if let Some(reply) = sessions[index].receive().unwrap() {
                    assert_eq!((reply.rows, reply.error), (1, None));
                    rounds[index] += 1;
                    if rounds[index] < 50 {
                        statements[index].set_i32(0, rounds[index]);
                        sessions[index].submit(&statements[index]).unwrap();
                    }
                }
            }
        }
    });
}

#[test]
fn an_idle_session_has_nothing_to_receive() {
    on_each(|server| {
        for endpoint in server.ways() {
            let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
            assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
            assert!(!wait_readable(&session, Some(Duration::ZERO)).unwrap());
            assert_eq!(session.receive().unwrap(), None);
        }
    });
}

#[test]
fn what_takes_longer_than_it_may_fails_with_a_class_of_its_own() {
    on_each(|server| {
        let mut session = server.session();
        let limit = match server.endpoint().engine {
            Engine::Postgres => "set statement_timeout = 50",
            Engine::Mysql => "set max_execution_time = 50",
            Engine::Mariadb => "set max_statement_time = 0.05",
        };
        session.execute(limit).unwrap();
        let mut slow = session.text_statement(200);
        slow.set_sql(server.either::<&[u8]>(
            b"select count(*) from generate_series(1, 1000000000)",
            b"select count(*) from information_schema.collations a, information_schema.collations b, \
              information_schema.collations c, information_schema.collations d",
        ));
        let code = session.run(&slow).unwrap().error.unwrap();
        assert_eq!(code.class(), FailureClass::Timeout, "{code}");
        slow.set_sql(b"select 1");
        let begun = Instant::now();
        let answered = loop {
            let reply = session.run(&slow).unwrap();
            // A server that is kept off the CPU for so long fails this too.
            let Some(error) = &reply.error else { break reply };
            assert!(error.class() == FailureClass::Timeout && begun.elapsed() < PATIENCE, "{error}");
        };
        assert_eq!(answered.rows, 1);
    });
}
