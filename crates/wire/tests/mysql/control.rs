//! The control plane: text results, several statements, deadlines, cancelling.

use std::time::{Duration, Instant};

use rqps_live::PATIENCE;
use rqps_model::Engine;
use rqps_wire::{Endpoint, ParameterType, Session, TransactionStatus, WireError};

use crate::shared;

#[test]
fn results_come_as_text() {
    for server in shared() {
        let mut endpoint = server.unix("bench");
        endpoint.options.push(("charset".into(), "utf8mb4".into()));
        let mut session = Session::connect(&endpoint, PATIENCE).unwrap();
        let table = session
            .query("select 1 as one, null as nothing, '' as blank, 'Ünï' as `größe` union all select 2, 'x', 'y', 'z' order by 1")
            .unwrap();
        assert_eq!(table.columns, ["one", "nothing", "blank", "größe"]);
        let text = |values: [Option<&str>; 4]| values.map(|v| v.map(str::to_owned)).to_vec();
        assert_eq!(
            table.rows,
            [text([Some("1"), None, Some(""), Some("Ünï")]), text([Some("2"), Some("x"), Some("y"), Some("z")])]
        );
        assert_eq!(session.query("do 0").unwrap().columns.len(), 0);
        assert!(session.query("show variables").unwrap().rows.len() > 200);
        let version = session.query("select version()").unwrap();
        assert_eq!(session.parameter("server_version"), version.single());
        // Latin1 is the default, and its bytes above 127 are no UTF-8.
        let table = server.session().query("select x'e4'").unwrap();
        assert_eq!(table.single(), Some("\u{fffd}"));
    }
}

#[test]
fn the_last_result_set_wins_and_rows_are_summed() {
    for server in shared() {
        let mut session = server.session();
        let table = session.query("select 1 as a; select 2 as b union all select 3; set @x = 5").unwrap();
        assert_eq!((table.columns, table.rows.len()), (vec!["b".to_owned()], 2));
        let affected = session
            .execute("create temporary table t (id int); insert into t values (1), (2), (3), (4); update t set id = 0 where id > 2; delete from t where id = 1; select * from t")
            .unwrap();
        assert_eq!(affected, 4 + 2 + 1 + 3);
        session
            .execute("create temporary table u (id int); insert into u values (1); select 1 from absent")
            .unwrap_err();
        assert_eq!(session.query("select count(*) from u").unwrap().single(), Some("1"));
    }
}

#[test]
fn an_error_is_told_in_full_and_the_session_lives_on() {
    for server in shared() {
        let mut session = server.session();
        session.execute("create temporary table k (id int primary key)").unwrap();
        session.execute("insert into k values (1)").unwrap();
        let error = session.execute("insert  into k\n values (1)").unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), "1062 (23000)");
        let text = error.to_string();
        assert!(text.starts_with("ERROR 1062 (23000): Duplicate entry '1' for key"), "{text}");
        assert!(text.contains("(statement: insert into k values (1))"), "{text}");
        assert_eq!(session.last_error().unwrap().severity(), "ERROR");
        let error = session.query("select 1 form dual").unwrap_err();
        assert_eq!(error.sql_state().unwrap().as_str(), "42000");
        let error = session.query("").unwrap_err();
        assert_eq!(error.code().unwrap().number, 1065);
        assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
    }
}

#[test]
fn a_read_only_server_is_told_with_the_remedy() {
    for server in shared() {
        let mut session = server.session();
        // The read-only mode binds only accounts without privileges, and is global: a read-only transaction is the same case.
        session.execute("create table if not exists sealed (id int)").unwrap();
        session.execute("start transaction read only").unwrap();
        let error = session.execute("insert into sealed values (1)").unwrap_err();
        assert_eq!(error.code().unwrap().number, 1792, "{error}");
        assert!(error.to_string().contains("set read_only and super_read_only to OFF"), "{error}");
        session.execute("rollback").unwrap();
    }
}

#[test]
fn a_missed_deadline_ends_the_session() {
    for server in shared() {
        let mut session = server.session();
        session.set_deadline(Some(Duration::from_millis(50)));
        let error = session.query("select sleep(30)").unwrap_err();
        assert!(matches!(error, WireError::Deadline { .. }), "{error}");
        let error = session.query("select 1").unwrap_err();
        assert!(matches!(error, WireError::Lost { .. }), "{error}");
        assert!(error.to_string().contains("connect anew"), "{error}");
    }
}

#[test]
fn a_statement_can_be_cancelled() {
    for server in shared() {
        let mut session = server.session();
        let token = session.cancel_token();
        // Not sleep(): that ends early without an error on some servers.
        let endless = session
            .prepare("select count(*) from information_schema.columns a, information_schema.columns b, information_schema.columns c", &[])
            .unwrap();
        let start = Instant::now();
        session.submit(&endless).unwrap();
        let reply = loop {
            token.cancel(PATIENCE).unwrap();
            let soon = Some(Duration::from_millis(20));
            rqps_wire::wait_readable(&session, soon).unwrap();
            if let Some(reply) = session.receive().unwrap() {
                break reply;
            }
        };
        assert_eq!(reply.error.unwrap().to_string(), "1317 (70100)");
        assert_eq!(reply.in_transaction, TransactionStatus::Idle);
        assert!(start.elapsed() < Duration::from_secs(30));
        session.close();
        token.cancel(PATIENCE).unwrap();
    }
}

#[test]
fn calls_out_of_order_are_refused() {
    for server in shared() {
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
            session.prepare("select ? + ? + 1", &[ParameterType::Int4]),
            Err(WireError::Parameters { declared: 1, found: 2, .. })
        ));
        assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
    }
}

#[test]
fn a_server_gets_no_file_but_from_copy_in() {
    for server in shared() {
        let mut session = server.session();
        session.execute("create temporary table c (note text)").unwrap();
        let load = "load data local infile '/etc/passwd' into table c";
        let refused = |error: WireError| {
            assert!(matches!(error, WireError::Misuse(text) if text.contains("file")), "{error}");
        };
        refused(session.execute(load).unwrap_err());
        refused(session.copy_in(load, |_| Ok(())).unwrap_err());
        let mut text = session.text_statement(100);
        text.set_sql(load.as_bytes());
        refused(session.run(&text).unwrap_err());
        assert_eq!(session.query("select count(*) from c").unwrap().single(), Some("0"));
    }
}

#[test]
fn explain_is_a_table_like_others() {
    for server in shared() {
        let mut session = server.session();
        let table = session.query("explain select * from mysql.user").unwrap();
        assert!(table.columns.contains(&"select_type".to_owned()), "{:?}", table.columns);
        let format = match server.engine() {
            Engine::Mysql => "explain format=json select * from mysql.user",
            _ => "analyze format=json select * from mysql.user",
        };
        let json = session.query(format).unwrap();
        assert!(json.single().unwrap().trim_start().starts_with('{'));
    }
}

#[test]
fn a_refused_account_names_the_endpoint() {
    for server in shared() {
        let endpoint = Endpoint { password: None, ..server.unix("nobody_here") };
        let error = Session::connect(&endpoint, PATIENCE).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("/s, database sbtest refused user nobody_here"), "{error}");
    }
}
