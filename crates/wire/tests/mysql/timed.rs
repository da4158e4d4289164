//! The timed path: prepared and text statements, transactions, errors, results of all sizes, many sessions.

use std::time::Duration;

use rqps_live::PATIENCE;
use rqps_wire::{Endpoint, ParameterType, Poller, Reply, Session, TransactionStatus, wait_readable};

use crate::shared;

#[test]
fn parameters_are_patched_in_place() {
    for server in shared() {
        let mut session = server.session();
        session.execute("create temporary table t (id int primary key, big bigint, c char(12), v text)").unwrap();
        let types =
            [ParameterType::Int4, ParameterType::Int8, ParameterType::Text { len: 12 }, ParameterType::Text { len: 3 }];
        let mut insert = session.prepare("insert into t values (?, ?, ?, ?)", &types).unwrap();
        for id in [-5, 0, 7] {
            insert.set_i32(0, id);
            insert.set_i64(1, i64::from(id) << 33);
            insert.set_text(2, format!("{id:012}").as_bytes());
            insert.set_text(3, b"a'x");
            let reply = session.run(&insert).unwrap();
            assert_eq!((reply.affected, reply.rows, reply.error), (1, 0, None));
        }
        let rows = session.query("select * from t order by id").unwrap().rows;
        let first: Vec<_> = rows[0].iter().map(|value| value.as_deref().unwrap()).collect();
        assert_eq!(first, ["-5", "-42949672960", "-00000000005", "a'x"]);
        assert_eq!(insert.sql(), "insert into t values (?, ?, ?, ?)");

        // A first execution that fails leaves the types with the server.
        let mut again = session.prepare("insert into t (id) values (?)", &[ParameterType::Int4]).unwrap();
        let codes = [-5, 7, 8].map(|id| {
            again.set_i32(0, id);
            session.run(&again).unwrap().error.map(|code| code.number)
        });
        assert_eq!(codes, [Some(1062), Some(1062), None]);
    }
}

#[test]
fn many_parameters_are_one_statement() {
    for server in shared() {
        let mut session = server.session();
        let marks = vec!["?"; 1000].join(",");
        let sql = format!("select 1 from dual where 999 in ({marks})");
        let mut find = session.prepare(&sql, &[ParameterType::Int4; 1000]).unwrap();
        for slot in 0..1000 {
            find.set_i32(slot, i32::try_from(slot).unwrap());
        }
        for last in [999, 0, 999, 0] {
            find.set_i32(999, last);
            let reply = session.run(&find).unwrap();
            assert_eq!((reply.rows, reply.error), (u64::from(last == 999), None));
        }
        // The values, a bit each for NULL, and a few bytes more; no types.
        let bytes = find.request_bytes();
        assert!(bytes < 4000 + 125 + 20, "{bytes}");
    }
}

#[test]
fn rows_bytes_and_transactions_are_told() {
    for server in shared() {
        let mut session = server.session();
        session.execute("create temporary table t (id int primary key)").unwrap();
        // Not every server can prepare this; it works all the same.
        let begin = session.prepare("begin", &[]).unwrap();
        let commit = session.prepare("commit", &[]).unwrap();
        let series = session.prepare("select repeat('x', 10) from mysql.help_relation limit 100", &[]);
        let series = series.unwrap_or_else(|_| panic!("every server has help"));
        let expected = session.query("select count(*) from mysql.help_relation").unwrap();
        let expected = expected.single().unwrap().parse::<u64>().unwrap().min(100);
        let fail = session.prepare("insert into t values (1), (1)", &[]).unwrap();

        let status = |reply: Reply| reply.in_transaction;
        assert_eq!(status(session.run(&begin).unwrap()), TransactionStatus::InTransaction);
        let reply = session.run(&series).unwrap();
        assert_eq!((reply.rows, reply.affected), (expected, expected));
        assert_eq!(status(reply), TransactionStatus::InTransaction);
        let reply = session.run(&fail).unwrap();
        assert_eq!(reply.error.unwrap().to_string(), "1062 (23000)");
        assert!(session.last_error().unwrap().message().starts_with("Duplicate entry"));
        // The server tells nothing with an error; the transaction goes on.
        assert_eq!(status(reply), TransactionStatus::InTransaction);
        assert_eq!(status(session.run(&commit).unwrap()), TransactionStatus::Idle);
        assert_eq!(status(session.run(&fail).unwrap()), TransactionStatus::Idle);
    }
}

#[test]
fn the_victim_of_a_deadlock_is_idle_and_may_try_again() {
    for server in shared() {
        let mut sessions = [server.session(), server.session()];
        sessions[0]
            .execute("create table if not exists two (id int primary key, v int) engine=innodb; replace into two values (1, 0), (2, 0)")
            .unwrap();
        let mut statements = Vec::new();
        for session in &mut sessions {
            session.execute("begin").unwrap();
            let sql = [1, 2].map(|id| format!("update two set v = v + 1 where id = {id}"));
            statements.push(sql.map(|sql| session.prepare(&sql, &[]).unwrap()));
        }
        assert_eq!(sessions[0].run(&statements[0][0]).unwrap().error, None);
        assert_eq!(sessions[1].run(&statements[1][1]).unwrap().error, None);
        sessions[0].submit(&statements[0][1]).unwrap();
        sessions[1].submit(&statements[1][0]).unwrap();
        let mut replies = Vec::new();
        for session in &mut sessions {
            loop {
                assert!(wait_readable(&*session, Some(PATIENCE)).unwrap());
                if let Some(reply) = session.receive().unwrap() {
                    replies.push(reply);
                    break;
                }
            }
        }
        let (victims, winners): (Vec<Reply>, Vec<Reply>) = replies.into_iter().partition(|reply| reply.error.is_some());
        assert_eq!((victims.len(), winners.len()), (1, 1));
        let code = victims[0].error.unwrap();
        assert_eq!((code.to_string().as_str(), code.is_transient()), ("1213 (40001)", true));
        assert_eq!(victims[0].in_transaction, TransactionStatus::Idle);
        assert_eq!(winners[0].in_transaction, TransactionStatus::InTransaction);
    }
}

#[test]
fn text_statements_are_rewritten() {
    for server in shared() {
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
        assert_eq!((reply.rows, reply.error.unwrap().number), (1, 1146));
    }
}

/// A row of 20 MB takes two packets; so does a statement.
#[test]
fn statements_and_rows_of_more_than_a_packet_pass() {
    for server in shared() {
        for endpoint in [server.unix("bench"), server.tcp("bench", "preferred")] {
            let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
            let mut statement = session.text_statement(0);
            for bytes in [(1 << 24) - 20, (1 << 24) + 5, 20_000_000] {
                let sql = format!("select length('{}')", "x".repeat(bytes));
                statement.set_sql(sql.as_bytes());
                assert_eq!((session.run(&statement).unwrap().rows, statement.sql().len()), (1, sql.len()));
                assert_eq!(session.query(&sql).unwrap().single(), Some(bytes.to_string().as_str()));
                statement.set_sql(format!("select repeat('x', {bytes}), 2 union all select 1, 3").as_bytes());
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
    }
}

#[test]
fn many_sessions_on_one_thread() {
    for server in shared() {
        let mut poller = Poller::new().unwrap();
        let mut sessions: Vec<Session> = (0..20).map(|_| server.session()).collect();
        let mut statements: Vec<_> =
            sessions.iter_mut().map(|session| session.prepare("select ?", &[ParameterType::Int4]).unwrap()).collect();
        for (token, session) in sessions.iter_mut().enumerate() {
            poller.add(&*session, token as u64).unwrap();
            session.submit(&statements[token]).unwrap();
        }
        let mut rounds = vec![0; sessions.len()];
        let mut ready = Vec::new();
        while rounds.iter().any(|&done| done < 50) {
            ready.clear();
            ready.extend(poller.wait(Some(Duration::from_secs(20))).unwrap());
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
    }
}

#[test]
fn an_idle_session_has_nothing_to_receive() {
    for server in shared() {
        let encrypted = Endpoint { user: "bench".into(), ..server.tcp("bench", "preferred") };
        for endpoint in [server.unix("bench"), encrypted] {
            let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
            assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
            assert!(!wait_readable(&session, Some(Duration::ZERO)).unwrap());
            assert_eq!(session.receive().unwrap(), None);
        }
    }
}
