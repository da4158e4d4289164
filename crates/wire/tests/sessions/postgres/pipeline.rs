//! Statements that are parsed each time, several in one pipeline, and answers with the names of their columns.

use rqps_wire::{AnyValue, ParameterType, Reply, Session, Statement, TransactionStatus, wait_readable};

use super::shared;

fn reply(session: &mut Session) -> Reply {
    loop {
        wait_readable(&*session, None).unwrap();
        if let Some(reply) = session.receive().unwrap() {
            return reply;
        }
    }
}

fn set(statement: &mut Statement, number: i64) {
    statement.set_any(|_| AnyValue::Integer(number));
}

#[test]
fn a_pipeline_is_answered_as_one_and_allocates_nothing() {
    let mut session = shared().session();
    session.execute("create temp table p (id int primary key, note text)").unwrap();
    let mut insert =
        session.parsed_each_time("insert into p values ($1, repeat('x', 9000))", &[ParameterType::Any]).unwrap();
    let mut select = session.prepare("select note from p where id < $1::int", &[ParameterType::Any]).unwrap();
    let mut pipeline = |session: &mut Session, number: i64| {
        set(&mut insert, number);
        session.queue(&insert).unwrap();
        session.queue_sync().unwrap();
        set(&mut select, 10);
        session.queue(&select).unwrap();
        session.queue(&select).unwrap();
        session.submit_queue().unwrap();
        assert!(session.is_pending());
        reply(session)
    };
    for number in 0..20 {
        let reply = pipeline(&mut session, number);
        assert_eq!((reply.error, reply.rows), (None, 2 * (number as u64 + 1).min(10)));
    }
    let counted = allocation_counter::measure(|| assert_eq!(pipeline(&mut session, 20).rows, 20));
    assert_eq!(counted.count_total, 0);
    // What fails before a Sync leaves what follows alone.
    let failed = pipeline(&mut session, 1);
    assert_eq!((failed.error.unwrap().state.as_str(), failed.rows), ("23505", 20));
    assert_eq!(failed.in_transaction, TransactionStatus::Idle);
    // What was forgotten is not sent, and a text is no part of a pipeline.
    set(&mut insert, 500);
    session.queue(&insert).unwrap();
    session.drop_queue();
    set(&mut select, 1);
    assert_eq!(session.run(&select).unwrap().rows, 1);
    assert_eq!(session.query("select count(*) from p").unwrap().single(), Some("21"));
    let text = session.text_statement(10);
    assert!(session.queue(&text).is_err());
}

#[test]
fn what_is_wrong_with_a_statement_that_is_parsed_each_time_its_execution_says() {
    let mut session = shared().session();
    let wrong = session.parsed_each_time("selekt 1", &[]).unwrap();
    assert_eq!(session.run(&wrong).unwrap().error.unwrap().state.as_str(), "42601");
    let mut right = session.parsed_each_time("select $1::int + $2", &[ParameterType::Any; 2]).unwrap();
    right.keep_rows(1);
    for number in [3, 40_000] {
        set(&mut right, number);
        assert_eq!(session.run(&right).unwrap().rows, 1);
        assert_eq!(session.kept_rows().integer(0, 0), Some(2 * number));
    }
}

#[test]
fn last_rows_come_with_their_names_in_every_form() {
    let mut session = shared().session();
    let sql = "select i as id, null as none, repeat('y', 20000) as long from generate_series(1, 3) i";
    let mut text = session.text_statement(200);
    text.set_sql(format!("select 1 as one; create temp table if not exists u (); {sql}").as_bytes());
    let prepared = session.prepare(sql, &[]).unwrap();
    let parsed = session.parsed_each_time(sql, &[]).unwrap();
    for (mut statement, results) in [(text, 3), (prepared, 1), (parsed, 1)] {
        statement.keep_last_rows();
        for _ in 0..2 {
            assert_eq!(session.run(&statement).unwrap().error, None);
            let rows = session.kept_rows();
            assert_eq!(rows.last().count(), results);
            let last = rows.last().next_back().unwrap();
            let columns: Vec<_> = last.columns().map(|(name, value)| (name, value.map(<[u8]>::len))).collect();
            assert_eq!(last.rows(), 3);
            assert_eq!(columns, [(&b"id"[..], Some(1)), (b"none", None), (b"long", Some(20_000))]);
        }
    }
}
