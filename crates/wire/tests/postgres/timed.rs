//! The timed path: prepared and text statements, transactions, errors, results of all sizes, many sessions.

use std::time::Duration;

use rqps_wire::{ParameterType, Poller, Reply, Session, TransactionStatus, wait_readable};

use crate::shared;

#[test]
fn parameters_are_patched_in_place() {
    let mut session = shared().session();
    session.execute("create temp table t (id int primary key, big bigint, c char(12), v text)").unwrap();
    let types =
        [ParameterType::Int4, ParameterType::Int8, ParameterType::Text { len: 12 }, ParameterType::Text { len: 3 }];
    let mut insert = session.prepare("insert into t values ($1, $2, $3, $4)", &types).unwrap();
    for id in [-5, 0, 7] {
        insert.set_i32(0, id);
        insert.set_i64(1, i64::from(id) << 33);
        insert.set_text(2, format!("{id:012}").as_bytes());
        insert.set_text(3, "äx".as_bytes());
        let reply = session.run(&insert).unwrap();
        assert_eq!((reply.affected, reply.rows, reply.error), (1, 0, None));
    }
    let rows = session.query("select * from t order by id").unwrap().rows;
    let first: Vec<_> = rows[0].iter().map(|value| value.as_deref().unwrap()).collect();
    assert_eq!(first, ["-5", "-42949672960", "-00000000005", "äx"]);

    // The index is usable: the parameter takes the column's type.
    let by_text = session.prepare("select id from t where c = $1", &[ParameterType::Text { len: 12 }]).unwrap();
    assert_eq!(session.run(&by_text).unwrap().rows, 0);
    assert_eq!(by_text.sql(), "select id from t where c = $1");
}

#[test]
fn rows_bytes_and_transactions_are_told() {
    let mut session = shared().session();
    let begin = session.prepare("begin", &[]).unwrap();
    let commit = session.prepare("commit", &[]).unwrap();
    let series = session.prepare("select g, 'text ' || g from generate_series(1, 100) g", &[]).unwrap();
    let fail = session.prepare("select 1 / $1", &[ParameterType::Int4]).unwrap();

    let status = |reply: Reply| reply.in_transaction;
    assert_eq!(status(session.run(&begin).unwrap()), TransactionStatus::InTransaction);
    let reply = session.run(&series).unwrap();
    assert_eq!((reply.rows, reply.affected), (100, 100));
    // A DataRow with two columns has 15 bytes beside its values.
    assert!(reply.bytes > 1500 && reply.bytes < 3000, "{reply:?}");
    let reply = session.run(&fail).unwrap();
    assert_eq!(reply.error.unwrap().state.as_str(), "22012");
    assert_eq!(session.last_error().unwrap().message(), "division by zero");
    assert_eq!(status(reply), TransactionStatus::Failed);
    assert_eq!(session.run(&series).unwrap().error.unwrap().state.as_str(), "25P02");
    assert_eq!(status(session.run(&commit).unwrap()), TransactionStatus::Idle);
    assert_eq!(session.run(&series).unwrap().error, None);
}

#[test]
fn text_statements_are_rewritten() {
    let mut session = shared().session();
    session.execute("create temp table w (id int)").unwrap();
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
}

#[test]
fn large_statements_and_large_rows_pass() {
    let mut session = shared().session();
    let mut statement = session.text_statement(0);
    let text = "x".repeat(5_000_000);
    statement.set_sql(format!("select '{text}', length('{text}')").as_bytes());
    let reply = session.run(&statement).unwrap();
    assert_eq!(reply.rows, 1);
    assert!(reply.bytes > 5_000_000);
    assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
}

#[test]
fn many_sessions_on_one_thread() {
    let mut poller = Poller::new().unwrap();
    let mut sessions: Vec<Session> = (0..20).map(|_| shared().session()).collect();
    let mut statements: Vec<_> = sessions
        .iter_mut()
        .map(|session| session.prepare("select $1::int4", &[ParameterType::Int4]).unwrap())
        .collect();
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

#[test]
fn an_idle_session_has_nothing_to_receive() {
    let mut session = shared().session();
    assert!(!wait_readable(&session, Some(Duration::ZERO)).unwrap());
    assert_eq!(session.receive().unwrap(), None);
}
