//! The control plane: text results, several statements, notices, deadlines, cancelling.

use std::time::{Duration, Instant};

use rqps_live::PATIENCE;
use rqps_wire::{ParameterType, TransactionStatus, WireError};

use crate::shared;

#[test]
fn results_come_as_text() {
    let mut session = shared().session();
    let table = session
        .query("select 1 as one, null as nothing, '' as empty, 'Ünï' as \"größe\" union all select 2, 'x', 'y', 'z' order by 1")
        .unwrap();
    assert_eq!(table.columns, ["one", "nothing", "empty", "größe"]);
    let text = |values: [Option<&str>; 4]| values.map(|v| v.map(str::to_owned)).to_vec();
    assert_eq!(
        table.rows,
        [text([Some("1"), None, Some(""), Some("Ünï")]), text([Some("2"), Some("x"), Some("y"), Some("z")])]
    );
    assert_eq!(session.query("").unwrap().rows.len(), 0);
    assert_eq!(session.query("select").unwrap().rows, [vec![]]);
}

#[test]
fn the_last_result_set_wins_and_rows_are_summed() {
    let mut session = shared().session();
    let table = session.query("select 1 as a; select 2 as b union all select 3; set work_mem = '5MB'").unwrap();
    assert_eq!((table.columns, table.rows.len()), (vec!["b".to_owned()], 2));
    let affected = session
        .execute("create temp table t (id int); insert into t select generate_series(1, 10); update t set id = 0 where id > 6; delete from t where id = 1")
        .unwrap();
    assert_eq!(affected, 10 + 4 + 1);
}

#[test]
fn an_error_is_told_in_full_and_the_session_lives_on() {
    let mut session = shared().session();
    session.execute("create temp table k (id int primary key)").unwrap();
    session.execute("insert into k values (1)").unwrap();
    let error = session.execute("insert  into k\n values (1)").unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "23505");
    let text = error.to_string();
    assert!(text.contains("duplicate key"), "{text}");
    assert!(text.contains("Key (id)=(1) already exists."), "{text}");
    assert!(text.contains("(statement: insert into k values (1))"), "{text}");
    assert_eq!(session.last_error().unwrap().severity(), "ERROR");
    let error = session.query("select oid form pg_class").unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "42601");
    assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
}

#[test]
fn notices_and_parameters_are_kept() {
    let mut session = shared().session();
    session.execute("do $$ begin raise notice 'hear, hear'; end $$").unwrap();
    let notices = session.take_notices();
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].message(), "hear, hear");
    session.execute("set timezone = 'Asia/Tokyo'").unwrap();
    assert_eq!(session.parameter("TimeZone"), Some("Asia/Tokyo"));
}

#[test]
fn a_missed_deadline_ends_the_session() {
    let mut session = shared().session();
    session.set_deadline(Some(Duration::from_millis(50)));
    let error = session.query("select pg_sleep(30)").unwrap_err();
    assert!(matches!(error, WireError::Deadline { .. }), "{error}");
    let error = session.query("select 1").unwrap_err();
    assert!(matches!(error, WireError::Lost { .. }), "{error}");
    assert!(error.to_string().contains("connect anew"), "{error}");
}

#[test]
fn a_statement_can_be_cancelled() {
    let mut session = shared().session();
    let token = session.cancel_token();
    let sleep = session.prepare("select pg_sleep(60)", &[]).unwrap();
    let start = Instant::now();
    session.submit(&sleep).unwrap();
    // A cancel request that comes before the statement runs is lost, so it is repeated.
    let reply = loop {
        token.cancel(PATIENCE).unwrap();
        let soon = Some(Duration::from_millis(20));
        rqps_wire::wait_readable(&session, soon).unwrap();
        if let Some(reply) = session.receive().unwrap() {
            break reply;
        }
    };
    assert_eq!(reply.error.unwrap().state.as_str(), "57014");
    assert_eq!(reply.in_transaction, TransactionStatus::Idle);
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn calls_out_of_order_are_refused() {
    let mut session = shared().session();
    let mut other = shared().session();
    let one = session.prepare("select 1", &[]).unwrap();
    assert!(matches!(other.submit(&one), Err(WireError::Misuse(_))));
    session.submit(&one).unwrap();
    assert!(session.is_pending());
    assert!(matches!(session.submit(&one), Err(WireError::Misuse(_))));
    assert!(matches!(session.query("select 1"), Err(WireError::Misuse(_))));
    while session.receive().unwrap().is_none() {}
    assert_eq!(session.run(&one).unwrap().rows, 1);
    assert!(matches!(session.query("select '\0'"), Err(WireError::Nul { .. })));
    assert!(matches!(
        session.prepare("select $1 + $2 + 1", &[ParameterType::Int4]),
        Err(WireError::Parameters { declared: 1, found: 2, .. })
    ));
    assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
}

#[test]
fn copy_statements_do_not_hang_a_session_that_has_no_data() {
    let mut session = shared().session();
    session.execute("create temp table c (id int)").unwrap();
    let error = session.execute("copy c from stdin").unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "57014", "{error}");
    let mut copy = session.text_statement(100);
    copy.set_sql(b"copy c from stdin");
    assert_eq!(session.run(&copy).unwrap().error.unwrap().state.as_str(), "57014");
    copy.set_sql(b"copy (select generate_series(1, 1000)) to stdout");
    assert_eq!(session.run(&copy).unwrap().affected, 1000);
    assert_eq!(session.execute("copy (select 1) to stdout").unwrap(), 1);
}
