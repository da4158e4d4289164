//! The control plane: text results, several statements, errors, deadlines, cancelling, calls out of order.

use std::time::Duration;

use rqps_testkit::PATIENCE;
use rqps_wire::{ParameterType, Session, TransactionStatus, WireError, wait_readable};

use crate::on_each;

#[test]
fn results_come_as_text() {
    on_each(|server| {
        let mut endpoint = server.unix("bench");
        endpoint.options.extend(server.either(None, Some(("charset".into(), "utf8mb4".into()))));
        let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
        let größe = server.either("\"größe\"", "`größe`");
        let table = session
            .query(&format!("select 1 as one, null as nothing, '' as blank, 'Ünï' as {größe} union all select 2, 'x', 'y', 'z' order by 1"))
            .unwrap();
        assert_eq!(table.columns, ["one", "nothing", "blank", "größe"]);
        let text = |values: [Option<&str>; 4]| values.map(|v| v.map(str::to_owned)).to_vec();
        assert_eq!(
            table.rows,
            [text([Some("1"), None, Some(""), Some("Ünï")]), text([Some("2"), Some("x"), Some("y"), Some("z")])]
        );
    });
}

#[test]
fn the_last_result_set_wins_and_rows_are_summed() {
    on_each(|server| {
        let mut session = server.session();
        let set = server.either("set work_mem = '5MB'", "set @x = 5");
        let table = session.query(&format!("select 1 as a; select 2 as b union all select 3; {set}")).unwrap();
        assert_eq!((table.columns, table.rows.len()), (vec!["b".to_owned()], 2));
        let affected = session
            .execute("create temporary table t (id int); insert into t values (1), (2), (3), (4); update t set id = 0 where id > 2; delete from t where id = 1; select * from t")
            .unwrap();
        assert_eq!(affected, 4 + 2 + 1 + 3);
        // PostgreSQL runs the statements of a text as one transaction, MySQL each by itself.
        session
            .execute("create temporary table u (id int); insert into u values (1); select 1 from absent")
            .unwrap_err();
        let count = session.query("select count(*) from u");
        assert_eq!(count.ok().as_ref().and_then(|table| table.single()), server.either(None, Some("1")));
    });
}

#[test]
fn the_columns_of_an_answer_are_known_before_anything_is_executed() {
    on_each(|server| {
        let mut session = server.session();
        session.execute("create temporary table c (id int primary key, n int not null)").unwrap();
        let columns = |session: &mut Session, sql: &str, parameters| session.columns(&server.marked(sql), parameters);
        let two = columns(&mut session, "select id, n as size from c where id = ? or id > ? for update", 2).unwrap();
        assert_eq!(two, ["id", "size"]);
        assert_eq!(columns(&mut session, "select 1 as one", 0).unwrap(), ["one"]);
        assert_eq!(columns(&mut session, "insert into c values (?, ?)", 2).unwrap(), [""; 0]);
        // MariaDB tells none of RETURNING.
        if server.is_postgres() {
            assert_eq!(columns(&mut session, "insert into c values (1, ?) returning id", 1).unwrap(), ["id"]);
            assert_eq!(columns(&mut session, "delete from c where id = ? returning n, id", 1).unwrap().len(), 2);
        }
        assert_eq!(session.query("select count(*) from c").unwrap().single(), Some("0"));
        assert!(matches!(columns(&mut session, "select absent from c", 0), Err(WireError::Server { .. })));
        assert!(matches!(
            columns(&mut session, "select ?", 0),
            Err(WireError::Parameters { declared: 0, found: 1, .. })
        ));
        assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
    });
}

#[test]
fn an_error_is_told_in_full_and_the_session_lives_on() {
    on_each(|server| {
        let mut session = server.session();
        session.execute("create temporary table k (id int primary key)").unwrap();
        session.execute("insert into k values (1)").unwrap();
        let error = session.execute("insert  into k\n values (1)").unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), server.either("23505", "1062 (23000)"));
        let WireError::Server { error, statement, .. } = error else { panic!("{error}") };
        let (start, detail) = server
            .either(("duplicate key", Some("Key (id)=(1) already exists.")), ("Duplicate entry '1' for key", None));
        assert!(error.message().starts_with(start), "{error}");
        assert_eq!((error.detail(), statement.as_str()), (detail, "insert into k values (1)"));
        assert_eq!(session.last_error().unwrap().severity(), "ERROR");
        let error = session.query("select 1 form dual").unwrap_err();
        assert_eq!(error.sql_state().unwrap().as_str(), server.either("42601", "42000"));
        assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
    });
}

#[test]
fn a_missed_deadline_ends_the_session() {
    on_each(|server| {
        let mut session = server.session();
        session.set_deadline(Some(Duration::from_millis(50)));
        let error = session.query(server.either("select pg_sleep(30)", "select sleep(30)")).unwrap_err();
        assert!(matches!(error, WireError::Deadline { .. }), "{error}");
        let error = session.query("select 1").unwrap_err();
        assert!(matches!(error, WireError::Lost { .. }), "{error}");
    });
}

/// The timed path has no deadline of its own, unless it is asked to wait.
#[test]
fn a_statement_that_is_waited_for_keeps_the_deadline_too() {
    on_each(|server| {
        let mut session = server.session();
        let sql = server.either("select pg_sleep(30)", "select sleep(30)");
        let sleep = session.prepare(sql, &[]).unwrap();
        session.set_deadline(Some(Duration::from_millis(50)));
        match session.run(&sleep) {
            Err(WireError::Deadline { deadline, statement, .. }) => {
                assert_eq!((deadline.as_millis(), statement.as_str()), (50, sql));
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(session.submit(&sleep), Err(WireError::Lost { .. })));
    });
}

#[test]
fn a_statement_can_be_cancelled() {
    on_each(|server| {
        let mut session = server.session();
        let (mut other, id) = (server.session(), session.backend_pid());
        let cancel = server.either(format!("select pg_cancel_backend({id})"), format!("KILL QUERY {id}"));
        // MySQL's sleep() ends early without an error on some servers.
        let endless = server.either(
            "select pg_sleep(60)",
            "select count(*) from information_schema.columns a, information_schema.columns b, information_schema.columns c",
        );
        let endless = session.prepare(endless, &[]).unwrap();
        session.submit(&endless).unwrap();
        // A cancel request that comes before the statement runs is lost, so it is repeated.
        let reply = loop {
            other.execute(&cancel).unwrap();
            wait_readable(&session, Some(Duration::from_millis(20))).unwrap();
            if let Some(reply) = session.receive().unwrap() {
                break reply;
            }
        };
        assert_eq!(reply.error.unwrap().to_string(), server.either("57014", "1317 (70100)"));
        assert_eq!(reply.in_transaction, TransactionStatus::Idle);
    });
}

#[test]
fn calls_out_of_order_are_refused() {
    on_each(|server| {
        let mut session = server.session();
        let mut other = server.session();
        let one = session.prepare("select 1", &[]).unwrap();
        assert!(matches!(other.submit(&one), Err(WireError::Misuse(_))));
        session.submit(&one).unwrap();
        assert!(session.is_pending());
        assert!(matches!(session.submit(&one), Err(WireError::Misuse(_))));
        assert!(matches!(session.query("select 1"), Err(WireError::Misuse(_))));
        while session.receive().unwrap().is_none() {}
        assert_eq!(session.run(&one).unwrap().rows, 1);
        assert!(matches!(
            session.prepare(&server.marked("select ? + ? + 1"), &[ParameterType::Int4]),
            Err(WireError::Parameters { declared: 1, found: 2, .. })
        ));
        assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
    });
}
